// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What a pipeline tells about itself when nobody listens: nothing. Pipelines have a last template argument,
// NotTraced or Traced (sluice/trace.hpp), and call its hooks; those of NotTraced are empty, so that not one
// instruction of them exists.
#pragma once

#include "sluice/arch/config.hpp"
#include "sluice/pipeline/wait.hpp"

namespace sluice {

/// The last template argument of a pipeline that is not recorded. The hooks of Traced, without effect.
class NotTraced {
 public:
  /// Blocks until the phase of `barrier` with parity `parity` has completed. Which one that is, by its number
  /// or by the stage's use, only records want to know.
  template <class Barrier, class Which>
  SLUICE_DEVICE static void wait(Barrier const& barrier, uint32_t parity, Which, detail::WaitSite site) {
    barrier.wait(parity, site);
  }

  template <class Barrier, class Which>
  SLUICE_DEVICE static void passed(Barrier const&, uint32_t, Which) {}
  template <class Barrier, class Which>
  SLUICE_DEVICE static void arrives(Barrier const&, Which) {}
  template <class Barrier, class Which>
  SLUICE_DEVICE static void arrives_at(Barrier const&, Which, uint32_t) {}
  template <class Barrier, class Which>
  SLUICE_DEVICE static void arrives_spread(Barrier const&, Which, uint32_t, bool) {}
  template <class Barrier, class Which>
  SLUICE_DEVICE static void arms(Barrier const&, Which, uint32_t) {}
  template <class Barrier, class Which>
  SLUICE_DEVICE static void expects(Barrier const&, Which, uint32_t) {}

  SLUICE_DEVICE static void store_wait_begins() {}
  SLUICE_DEVICE static void store_wait_ends() {}
  SLUICE_DEVICE static void commits_stores() {}

  /// How often something has happened, where only records need it.
  struct Count {
    SLUICE_DEVICE static int value() { return 0; }
    SLUICE_DEVICE static void next() {}
  };

  /// A role that a typed ring's cursor has while it lives.
  struct Role {
    template <class Letters>
    SLUICE_DEVICE Role(NotTraced const&, Letters const&, bool) {}
  };
};

}  // namespace sluice
