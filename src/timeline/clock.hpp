// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The virtual time of a run on the engine. The engine executes one warp after the other and copies at once;
// here the same events get the times at which they would happen if all warps ran side by side, one step per
// instruction, and copies and products took as long as the figures below say. Time follows from causes alone:
// a wait ends when what it waits for has happened. What each rule is stands in docs/trace-format.md.
//
// What it leaves out: waits through global memory take no time, and the instructions that one group of lanes
// executes between two events of another group of the same warp are counted for the latter.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "event/event.hpp"

namespace sluice::timeline {

/// Figures that stand for an H200, in steps.
constexpr uint64_t kCopyLatency = 600;
constexpr uint64_t kCopyBytesPerStep = 32;     ///< of all copies of a CTA together
constexpr uint64_t kProductBytesPerStep = 64;  ///< of B, of all products of a CTA together

/// An mbarrier: linear CTA and offset in its shared memory.
struct BarrierPlace {
  uint32_t cta = 0, offset = 0;
  auto operator<=>(const BarrierPlace&) const = default;
};

/// Lanes that a barrier of threads has let go.
struct Released {
  uint32_t warp = 0, lanes = 0;
  uint64_t since = 0;
};

/// When the thing that an event tells happened.
struct Moment {
  uint64_t begin = 0;                ///< of a wait: when it was asked; of a copy: when it was issued
  uint64_t end = 0;                  ///< of a wait: when it went on; of a copy: when it has landed
  BarrierPlace barrier{};            ///< of events about an mbarrier
  std::vector<Released> released{};  ///< of NamedComplete
};

/// Gives each event its time. Events come in the order of effects; those of CTAs that are of no interest are
/// left out, but a cluster must be told as a whole.
class Clock {
 public:
  void begin_launch();
  /// Must be called for every event of the CTAs of interest, from CtaBegin on.
  Moment time_of(const event::Event& e);
  /// The barrier that an address in an event of `cta` means.
  BarrierPlace place_of(uint32_t cta, uint64_t address) const;
  /// When the lanes that wait at this barrier began to; `fallback` where they have not been seen waiting.
  uint64_t waiting_since(uint32_t cta, uint32_t warp, BarrierPlace place, uint64_t fallback) const;
  /// The phase that a wait with this parity stands for which has not been satisfied.
  uint64_t open_phase(BarrierPlace place, uint64_t parity) const;
  /// When the lanes of the event are at its instruction, which may be one that has no time of its own.
  uint64_t time_at(const event::Event& e) const;
  /// The latest time that has been given out in this launch.
  uint64_t now() const { return now_; }

 private:
  static constexpr uint32_t kLanes = 32;

  /// Asynchronous operations of a lane, in groups: when each group is over.
  struct Groups {
    uint64_t open = 0;                ///< of the group that is being filled
    uint64_t earlier = 0;             ///< of groups that the list no longer holds
    std::vector<uint64_t> committed;  ///< the last ones
    void commit();
    uint64_t all_but(size_t allowed) const;
  };
  struct Lane {
    uint64_t time = 0;
    uint64_t copies = 0;  ///< when all its cp.async so far have landed
    Groups cp_async, bulk, bulk_read;
  };
  struct WarpTime {
    uint64_t steps = 0;  ///< instructions told so far
    std::array<Lane, kLanes> lanes;
    // The wait that has found nothing yet.
    BarrierPlace waits_at;
    uint32_t waiting = 0;
    uint64_t since = 0;
    std::vector<uint64_t> product_groups;  ///< products issued up to each commit
    uint64_t products = 0;
  };
  struct Warpgroup {
    std::map<uint64_t, std::pair<uint32_t, uint64_t>> issuing;  ///< ordinal -> warps that have, the latest
    std::vector<std::pair<uint64_t, uint64_t>> products;        ///< begin and end of each
  };
  struct Named {
    uint64_t latest = 0;
    std::vector<Released> waiting;
  };
  struct Cta {
    uint32_t cluster = 0, rank = 0;
    uint64_t copies_until = 0, products_until = 0;
    std::map<uint32_t, WarpTime> warps;
    std::map<uint32_t, Warpgroup> warpgroups;
    std::map<int64_t, Named> named;
  };
  struct Barrier {
    std::vector<uint64_t> flips;  ///< when each phase completed
    uint64_t latest = 0;          ///< of what has counted in the open phase
    uint64_t begun = 0;
  };
  struct Cluster {
    std::map<uint32_t, uint32_t> ctas;      ///< rank -> linear CTA
    std::map<uint64_t, uint64_t> arrivals;  ///< phase of barrier.cluster -> the latest
  };

  WarpTime& warp_of(const event::Event& e) { return ctas_[e.cta].warps[e.warp]; }
  uint64_t advance(const event::Event& e);
  void set(WarpTime& warp, uint32_t lanes, uint64_t time);
  uint64_t move_bytes(Cta& cta, uint64_t issued, uint64_t bytes, uint64_t* read);
  Moment contribute(const event::Event& e);
  Moment flip(const event::Event& e);
  Moment look(const event::Event& e);
  Moment pass(const event::Event& e);
  Moment issue(const event::Event& e);
  void issue_share(const event::Event& e);
  Moment named(const event::Event& e);
  Moment cluster(const event::Event& e);
  void commit(const event::Event& e);
  Moment wait_for_group(const event::Event& e);

  std::unordered_map<uint32_t, Cta> ctas_;
  std::unordered_map<uint32_t, Cluster> clusters_;
  std::map<BarrierPlace, Barrier> barriers_;
  std::unordered_map<uint64_t, uint64_t> landings_;  ///< operation -> when
  uint64_t now_ = 0;
};

}  // namespace sluice::timeline
