// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous operations in flight, in the order in which they were issued, and by the lane that issued
// them: a wait for groups asks about one lane, however many operations the others have in flight. When an
// operation lands is the worker's decision.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "event/event.hpp"

namespace sluice::machine {

struct Cta;
class Worker;

/// Kinds of asynchronous operations, as the groups that wait for them tell them apart.
using AsyncKind = event::OperationKind;

/// An asynchronous operation in flight. `perform` reads the source, writes the destination and signals
/// completion; it may do one piece and return false to be called again. `args` is a trivially copyable struct
/// of the unit's own.
struct AsyncOp {
  static constexpr size_t kArgBytes = 320;
  using Perform = bool (*)(Worker& worker, AsyncOp& op);

  uint64_t id = 0;
  AsyncKind kind{};
  bool source_read = false;  ///< the source may be overwritten (`cp.async.bulk.wait_group.read`)
  Cta* cta = nullptr;        ///< issuing CTA
  uint32_t warp = 0;
  uint32_t lane = 0;
  uint32_t group = 0;            ///< bulk or cp.async group of the issuing lane
  uint32_t bytes = 0;            ///< all that it moves, for events
  uint32_t ranks = 0;            ///< multicast mask as given, for events; 0 = none
  bool reduces = false;          ///< it combines with what lies at its destination
  uint64_t signals = 0;          ///< generic address of the mbarrier that it signals, for events; 0 = none
  uint32_t origin_function = 0;  ///< place of the instruction
  uint32_t origin_pc = 0;
  Perform perform = nullptr;
  alignas(16) std::array<std::byte, kArgBytes> args{};

  template <class T>
  T& as() {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kArgBytes && alignof(T) <= 16);
    return *reinterpret_cast<T*>(args.data());
  }
};

/// The operations in flight. Places are counted from the oldest operation, 0.
class AsyncQueue {
 public:
  bool empty() const { return order_.empty(); }
  size_t size() const { return order_.size(); }

  void push(const AsyncOp& op);
  const AsyncOp& at(size_t place) const { return slots_[order_[place]]; }
  /// Writes back an operation that has done a piece and stays in flight.
  void update(size_t place, const AsyncOp& op) { slots_[order_[place]] = op; }
  void remove(size_t place);

  /// Whether `matches(op)` holds for an operation that the lane has in flight.
  template <class Matches>
  bool any_of_lane(const Cta* cta, uint32_t warp, uint32_t lane, Matches matches) const {
    const auto found = by_lane_.find(Issuer{cta, warp, lane});
    if (found == by_lane_.end()) return false;
    for (const uint32_t slot : found->second) {
      if (matches(slots_[slot])) return true;
    }
    return false;
  }

 private:
  struct Issuer {
    const Cta* cta = nullptr;
    uint32_t warp = 0;
    uint32_t lane = 0;
    bool operator==(const Issuer&) const = default;
  };
  struct Hash {
    size_t operator()(const Issuer& issuer) const {
      const auto cta = reinterpret_cast<uintptr_t>(issuer.cta);
      return (cta ^ (uint64_t{issuer.warp} << 5 | issuer.lane)) * 0x9e3779b97f4a7c15ull >> 16;
    }
  };

  std::vector<AsyncOp> slots_;
  std::vector<uint32_t> free_;                                       ///< slots
  std::deque<uint32_t> order_;                                       ///< slots, oldest first
  std::unordered_map<Issuer, std::vector<uint32_t>, Hash> by_lane_;  ///< slots, oldest first
};

}  // namespace sluice::machine
