// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Moves registers between warpgroups (PTX ISA, "setmaxnreg"), and orders dependent grids (PTX ISA,
// "griddepcontrol").
#pragma once

#include "sluice/arch/config.hpp"

namespace sluice::ptx {

/// Asks for `Registers` per thread and blocks until the pool can give them. All warps of a warpgroup; a
/// multiple of 8 from 24 to 256. The kernel needs a maximum register count at compile time. PTX:
/// setmaxnreg.inc.sync.aligned.u32
template <int Registers>
SLUICE_DEVICE void setmaxnreg_inc() {
  static_assert(Registers >= 24 && Registers <= 256 && Registers % 8 == 0,
                "setmaxnreg: a multiple of 8, 24 to 256");
  SLUICE_PTX_SM90A("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

/// Gives registers back, down to `Registers` per thread. PTX: setmaxnreg.dec.sync.aligned.u32
template <int Registers>
SLUICE_DEVICE void setmaxnreg_dec() {
  static_assert(Registers >= 24 && Registers <= 256 && Registers % 8 == 0,
                "setmaxnreg: a multiple of 8, 24 to 256");
  SLUICE_PTX_SM90A("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}

/// Lets a dependent grid start. PTX: griddepcontrol.launch_dependents
SLUICE_DEVICE void griddepcontrol_launch_dependents() {
  SLUICE_PTX("griddepcontrol.launch_dependents;" ::: "memory");
}

/// Blocks until the grids that this one depends on have completed and their writes are visible.
/// PTX: griddepcontrol.wait
SLUICE_DEVICE void griddepcontrol_wait() {
  SLUICE_PTX("griddepcontrol.wait;" ::: "memory");
}

}  // namespace sluice::ptx
