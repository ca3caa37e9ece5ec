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
  /// Blocks until phase `phase` (its number since init; the parity is `parity`) of `barrier` has completed.
  template <class Barrier>
  SLUICE_DEVICE static void wait(Barrier const& barrier, uint32_t parity, int, detail::WaitSite site) {
    barrier.wait(parity, site);
  }

  template <class Barrier>
  SLUICE_DEVICE static void passed(Barrier const&, uint32_t, int) {}
  template <class Barrier>
  SLUICE_DEVICE static void arrives(Barrier const&, int) {}
  template <class Barrier>
  SLUICE_DEVICE static void arrives_at(Barrier const&, int, uint32_t) {}
  template <class Barrier>
  SLUICE_DEVICE static void arrives_spread(Barrier const&, int, uint32_t, bool) {}
  template <class Barrier>
  SLUICE_DEVICE static void arms(Barrier const&, int, uint32_t) {}
  template <class Barrier>
  SLUICE_DEVICE static void expects(Barrier const&, int, uint32_t) {}

  SLUICE_DEVICE static void store_wait_begins() {}
  SLUICE_DEVICE static void store_wait_ends() {}
  SLUICE_DEVICE static void commits_stores() {}

  /// The lanes of the calling warp are about to do something together.
  SLUICE_DEVICE static void gather() {}

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
