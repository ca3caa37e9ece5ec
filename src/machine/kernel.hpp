// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel ready to run: its functions as arrays of Op with their constants, the layout of its parameters and
// shared memory, and what a launch must know about it. Immutable after `Device::kernel` made it; shared by
// all workers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "event/origins.hpp"
#include "machine/op.hpp"
#include "program/payload_flow.hpp"
#include "program/program.hpp"

namespace sluice::machine {

/// One function of a kernel: index 0 is the entry, the others are what it can call.
struct BoundFunction {
  const program::Function* lowered = nullptr;
  std::vector<Op> code;            ///< the same indices as lowered->code
  std::vector<uint8_t> constants;  ///< 32-lane vectors, 64-byte aligned from `constants_shift`
  uint32_t constants_shift = 0;
  uint32_t frame_bytes = 0;   ///< multiple of 128
  uint32_t local_bytes = 0;   ///< of one activation: .local and .param variables
  uint32_t first_origin = 0;  ///< of its first instruction in the kernel's table of origins
  bool allocates = false;     ///< contains alloca
  std::vector<std::shared_ptr<const void>> extras;
  std::unique_ptr<program::PayloadFlow> payload;  ///< with KernelOptions::without_data
  /// The code for launches that someone listens to, if it differs (watch.hpp); made at the first such launch.
  mutable std::vector<Op> watched;
  mutable std::vector<std::shared_ptr<const void>> watched_extras;
  mutable bool watched_made = false;
  mutable std::vector<Op> tracked;  ///< the code for checks that follow definedness (tracked.hpp), likewise

  uint8_t* constant_base() const { return const_cast<uint8_t*>(constants.data()) + constants_shift; }
};

struct KernelParameter {
  std::string name;
  uint32_t offset = 0;
  uint32_t bytes = 0;
  uint32_t align = 1;
};

struct Kernel {
  std::string name;  ///< as in the PTX (mangled)
  uint32_t module = 0;
  std::vector<std::unique_ptr<BoundFunction>> functions;
  std::vector<KernelParameter> parameters;
  uint32_t parameter_bytes = 0;
  uint32_t static_shared = 0;  ///< bytes, without the reserved part
  uint32_t dynamic_shared_align = 16;
  bool has_dynamic_shared = false;
  uint32_t registers = 0;        ///< per thread; 0 = unknown
  std::string registers_source;  ///< "embedded sm_90a code", ".maxnreg", "launch bounds", ...
  ptx::Directives directives;
  /// CTAs may run on several host threads: no atomics, volatile or wider-than-CTA synchronisation on global
  /// memory.
  bool independent = false;
  std::string dependent_because;                    ///< the first instruction that forbids it
  bool narrow_scopes = false;                       ///< scopes.hpp
  std::vector<event::SharedSymbol> shared_symbols;  ///< by offset

  uint32_t max_threads() const {
    const auto& d = directives;
    if (d.reqntid[0] != 0) return d.reqntid[0] * d.reqntid[1] * d.reqntid[2];
    if (d.maxntid[0] != 0) return d.maxntid[0] * d.maxntid[1] * d.maxntid[2];
    return 1024;
  }
};

}  // namespace sluice::machine
