// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Changes of mbarrier objects and the completion of their phases.
#include "machine/units/mbarrier.hpp"

#include <fmt/format.h>

#include <cstring>

#include "machine/units/emit.hpp"

namespace sluice::machine {
namespace {

constexpr uint32_t kCountMask = kMostArrivals;
constexpr uint64_t kTxMask = (uint64_t{1} << 21) - 1;

// The layout of the word is an H200's (docs/results/h200-behaviour.txt): counts are kept negated, so that a
// GPU can count up to zero. Bit 42 and bit 0 are zero.
constexpr int kExpectedShift = 1;
constexpr int kTxShift = 21;
constexpr int kPendingShift = 43;
constexpr int kPhaseShift = 63;

uint32_t negated(uint32_t count) {
  return (0u - count) & kCountMask;
}

/// The tx-count of the negated 21 bits in a word.
int32_t tx_of(uint64_t field) {
  const auto negated_tx = static_cast<int32_t>((field & kTxMask) ^ (1 << 20)) - (1 << 20);
  return -negated_tx;
}

void store(MbarrierPlace place, const MbarrierWord& word) {
  const uint64_t packed = word.pack();
  std::memcpy(place.cta->shared.data() + place.offset, &packed, sizeof packed);
}

// Before the ordinal behind a barrier is forgotten.
void record_ended(MbarrierPlace place) {
  if (!place.cta->cluster->worker->launch().request->options.record_phases) return;
  const auto found = place.cta->mbarrier_phases.find(place.offset);
  if (found == place.cta->mbarrier_phases.end() || found->second == 0) return;
  place.cta->ended_mbarriers.push_back({place.cta->linear, place.offset, found->second});
}

}  // namespace

MbarrierWord MbarrierWord::unpack(uint64_t word) {
  MbarrierWord w;
  w.pending = negated(static_cast<uint32_t>(word >> kPendingShift) & kCountMask);
  w.expected = negated(static_cast<uint32_t>(word >> kExpectedShift) & kCountMask);
  w.tx = tx_of(word >> kTxShift);
  w.phase = (word >> kPhaseShift & 1) != 0;
  return w;
}

uint64_t MbarrierWord::pack() const {
  return uint64_t{negated(pending)} << kPendingShift | uint64_t{negated(expected)} << kExpectedShift |
         (static_cast<uint64_t>(-int64_t{tx}) & kTxMask) << kTxShift | uint64_t{phase} << kPhaseShift;
}

uint64_t mbarrier_load(MbarrierPlace place) {
  uint64_t word;
  std::memcpy(&word, place.cta->shared.data() + place.offset, sizeof word);
  return word;
}

void mbarrier_init(MbarrierPlace place, uint32_t count) {
  // As compiled code computes it, 32 bits at a time and without a mask.
  const uint32_t missing = (1u << 20) - count;
  const uint64_t word = uint64_t{missing << (kPendingShift - 32)} << 32 | missing << kExpectedShift;
  std::memcpy(place.cta->shared.data() + place.offset, &word, sizeof word);
  record_ended(place);
  place.cta->mbarrier_phases[place.offset] = 0;
}

void mbarrier_add_pending(MbarrierPlace place) {
  MbarrierWord word = MbarrierWord::unpack(mbarrier_load(place));
  word.pending = (word.pending + 1) & kCountMask;
  store(place, word);
}

void mbarrier_invalidate(MbarrierPlace place) {
  // MODEL: the memory is left as it is; only the ordinals forget the barrier.
  record_ended(place);
  place.cta->mbarrier_phases.erase(place.offset);
}

uint64_t mbarrier_completed(MbarrierPlace place) {
  const auto found = place.cta->mbarrier_phases.find(place.offset);
  return found == place.cta->mbarrier_phases.end() ? 0 : found->second;
}

namespace {

MbarrierWord changed(MbarrierWord word, MbarrierChange change) {
  word.tx += static_cast<int32_t>(change.expect);
  word.expected = (word.expected - change.drop) & kCountMask;
  word.pending = (word.pending - change.arrivals) & kCountMask;
  return word;
}

bool is_complete(const MbarrierWord& word) {
  return word.pending == 0 && word.tx == 0;
}

MbarrierViolation violation_of(const MbarrierWord& word, MbarrierChange change) {
  constexpr int64_t kMost = kMostTx;
  if (change.arrivals > kMostArrivals || change.expect > kMost || change.expect < -kMost)
    return MbarrierViolation::Operand;
  if (change.arrivals > word.pending) return MbarrierViolation::OverArrival;
  const int64_t tx = word.tx + change.expect;
  return tx < -kMost || tx > kMost + 1 ? MbarrierViolation::TxRange : MbarrierViolation::None;
}

}  // namespace

std::string mbarrier_violation_text(const MbarrierResult& result, MbarrierChange change) {
  const MbarrierWord word = MbarrierWord::unpack(result.before);
  const char* const verb = change.expect < 0 ? "complete" : "expect";
  const int64_t bytes = change.expect < 0 ? -change.expect : change.expect;
  switch (result.violation) {
    case MbarrierViolation::None:
      return {};
    case MbarrierViolation::Operand:
      if (change.arrivals > kMostArrivals)
        return fmt::format("an mbarrier cannot count {} arrivals at once; the most are {}", change.arrivals,
                           kMostArrivals);
      return fmt::format("an mbarrier cannot {} {} bytes at once; the most are {}", verb, bytes, kMostTx);
    case MbarrierViolation::OverArrival:
      return fmt::format(
          "{} arrival{} on an mbarrier whose phase misses {} of {}{}; initialise it with the number of "
          "threads "
          "that arrive, and arrive once per phase",
          change.arrivals, change.arrivals == 1 ? "" : "s", word.pending, word.expected,
          word.pending == 0 && word.tx != 0 ? fmt::format(" and waits for {} bytes", word.tx) : "");
    case MbarrierViolation::TxRange:
      return fmt::format(
          "the tx-count of an mbarrier is {} and cannot {} {} bytes more, since it must stay within {} and "
          "{}; "
          "expect what the copies of a phase bring, and not more than that",
          word.tx, verb, bytes, -static_cast<int32_t>(kMostTx), kMostTx + 1);
  }
  return {};
}

bool mbarrier_completes(MbarrierPlace place, MbarrierChange change) {
  const MbarrierWord word = MbarrierWord::unpack(mbarrier_load(place));
  return violation_of(word, change) == MbarrierViolation::None && is_complete(changed(word, change));
}

MbarrierResult mbarrier_apply(Worker& worker, MbarrierPlace place, MbarrierChange change,
                              const event::Event& agent) {
  MbarrierResult result;
  result.before = mbarrier_load(place);
  MbarrierWord word = MbarrierWord::unpack(result.before);
  result.violation = violation_of(word, change);
  if (result.violation != MbarrierViolation::None) return result;
  word = changed(word, change);
  if (!is_complete(word)) {
    store(place, word);
    return result;
  }

  // The phase completes.
  result.completed = true;
  word.pending = word.expected;
  word.phase = !word.phase;
  store(place, word);
  const uint64_t ordinal = place.cta->mbarrier_phases[place.offset]++;
  ++worker.statistics().mbarrier_phases;
  if (event::Sink* const sink = listener_for(worker, event::Kind::MbarrierFlip)) {
    event::Event e = agent;
    const uint64_t address = shared_event_address(*place.cta, place.offset);
    e.kind = event::Kind::MbarrierFlip;
    e.space = event::Space::Shared;
    e.phase = ordinal;
    e.value = 0;
    e.addresses = std::span<const uint64_t>(&address, 1);
    sink->receive(e);
  }
  worker.wake_mbarrier(*place.cta, place.offset);
  return result;
}

void mbarrier_complete_tx(Worker& worker, const AsyncOp& op, MbarrierPlace place, uint32_t bytes) {
  event::Event agent;
  if (worker.listener() != nullptr) {
    agent = operation_event(worker, op, event::Kind::MbarrierCompleteTx);
    const uint64_t address = shared_event_address(*place.cta, place.offset);
    agent.space = event::Space::Shared;
    agent.bytes = bytes;
    agent.value = bytes;
    agent.phase = mbarrier_completed(place);
    agent.addresses = std::span<const uint64_t>(&address, 1);
    if (event::Sink* const sink = listener_for(worker, event::Kind::MbarrierCompleteTx)) sink->receive(agent);
    agent.addresses = {};
  }
  mbarrier_apply_operation(worker, op, place, MbarrierChange{.expect = -int64_t{bytes}}, agent);
}

void mbarrier_apply_operation(Worker& worker, const AsyncOp& op, MbarrierPlace place, MbarrierChange change,
                              const event::Event& agent) {
  const MbarrierResult result = mbarrier_apply(worker, place, change, agent);
  if (result.violation == MbarrierViolation::None) return;
  fail_operation(worker, op, FaultKind::LaunchFailure, mbarrier_violation_text(result, change),
                 shared_event_address(*place.cta, place.offset));
}

void fail_operation(Worker& worker, const AsyncOp& op, FaultKind kind, std::string message, uint64_t address,
                    const char* name) {
  Fault fault{.kind = kind, .message = std::move(message)};
  fault.name = name;
  fault.function = op.origin_function;
  fault.instruction = op.origin_pc;
  fault.origin = origin_at(worker, op.origin_function, op.origin_pc);
  std::copy(op.cta->index, op.cta->index + 3, fault.cta);
  fault.warp = op.warp;
  fault.lane = op.lane;
  fault.address = address;
  worker.fail(std::move(fault));
}

}  // namespace sluice::machine
