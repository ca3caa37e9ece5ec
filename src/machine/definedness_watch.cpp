// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Instructions by role; what is told.
#include "machine/definedness_watch.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "machine/state.hpp"
#include "machine/tracked.hpp"
#include "machine/units/emit.hpp"

namespace sluice::machine {

using program::Role;

namespace {

bool flow_ends(const Tracked& x) {
  using ptx::Opcode;
  return x.opcode == Opcode::bra || x.opcode == Opcode::brx_idx || x.opcode == Opcode::call;
}

void clear_results(Warp& w, const Tracked& x, uint32_t lanes) {
  if (!w.marks.any()) return;
  for (const RegisterPlace place : x.writes) w.marks.clear(w.frame_base(), place, lanes);
}

}  // namespace

bool DefinednessWatch::access(Warp&, uint32_t lanes, uint8_t* const (&pointers)[kLanes], uint32_t bytes) {
  captured_ = lanes;
  captured_bytes_ = bytes;
  std::copy(std::begin(pointers), std::end(pointers), std::begin(pointers_));
  return true;
}

Step DefinednessWatch::step(Warp& w, const Tracked& x, uint32_t active) {
  const uint32_t lanes = active & (w.predicate(x.op.guard) ^ x.op.guard_flip);
  if (w.marks.any()) {
    const bool decides = x.role != Role::Value && x.role != Role::Load;
    if (x.is_guarded && decides) report(w, Use::Branch, x.guard, active);
    const Use use = flow_ends(x) ? Use::Branch : Use::Address;
    for (const RegisterPlace place : x.steering) report(w, use, place, lanes);
  }
  if (lanes == 0) return Step::Next;
  switch (x.role) {
    case Role::Value:
      return value(w, x, lanes);
    case Role::Load:
      return load(w, x, lanes);
    case Role::Store:
      return store(w, x, lanes);
    case Role::Combine:
    case Role::Atomic:
      return combine(w, x, lanes);
    case Role::Collective:
      return x.moves ? value(w, x, lanes) : collective(w, x, lanes);
    case Role::Product:
      return x.op.run(w, x.op, lanes);  // results come when the product is performed
    default: {
      const Step s = x.op.run(w, x.op, lanes);
      if (s == Step::Next) clear_results(w, x, lanes);
      return s;
    }
  }
}

// --- values -------------------------------------------------------------------------------------------

Step DefinednessWatch::value(Warp& w, const Tracked& x, uint32_t lanes) {
  if (!w.marks.any()) return x.op.run(w, x.op, lanes);
  // A collective takes values from all lanes.
  const uint32_t from = x.role == Role::Collective ? kAllLanes : lanes;
  const bool undefined = std::any_of(x.values.begin(), x.values.end(), [&](RegisterPlace place) {
    return w.marks.undefined(w.frame_base(), place, from) != 0;
  });
  if (undefined) return x.compares ? compare(w, x, lanes) : vary(w, x, lanes);
  const Step s = x.op.run(w, x.op, lanes);
  if (s == Step::Next) clear_results(w, x, lanes);
  return s;
}

Step DefinednessWatch::compare(Warp& w, const Tracked& x, uint32_t lanes) {
  const uint32_t base = w.frame_base();
  uint32_t undefined = 0, cause = 0;
  for (const RegisterPlace place : x.values) {
    if (cause == 0) cause = w.marks.origin(base, place);
    undefined |= w.marks.undefined(base, place, lanes);
  }
  if (x.is_combined) {
    const uint32_t known = ~w.marks.undefined(base, x.combined, kAllLanes);
    uint32_t bits = 0;
    std::memcpy(&bits, w.bank[0] + x.combined.at, 4);
    undefined &= ~(known & (x.deciding ? bits : ~bits));
  }
  const Step s = x.op.run(w, x.op, lanes);
  if (s != Step::Next) return s;
  clear_results(w, x, lanes);
  for (const RegisterPlace place : x.writes)
    if (undefined != 0) w.marks.set(base, place, undefined, kRegisterComputed, cause);
  return s;
}

/// Other values in place of the undefined bits of a register.
void DefinednessWatch::patch(Warp& w, RegisterPlace place, uint32_t trial) {
  const uint8_t* const marks = w.marks.vector(w.frame_base(), place);
  if (marks == nullptr) return;
  uint8_t* const bytes = w.bank[0] + place.at;
  for (uint32_t i = 0; i < place.bytes(); ++i) {
    const uint8_t bits = place.width == 0 ? marks[i] : marks[i] != kRegisterDefined ? 0xff : 0;
    if (bits == 0) continue;
    random_ = random_ * 6364136223846793005ull + 1442695040888963407ull;
    const uint8_t other = trial == 0   ? static_cast<uint8_t>(~bytes[i])
                          : trial == 1 ? uint8_t{0}
                          : trial == 2 ? uint8_t{0xff}
                                       : static_cast<uint8_t>(random_ >> 40);
    bytes[i] = static_cast<uint8_t>((bytes[i] & ~bits) | (other & bits));
  }
}

Step DefinednessWatch::vary(Warp& w, const Tracked& x, uint32_t lanes) {
  constexpr uint32_t kTrials = 5;
  const uint32_t base = w.frame_base();
  uint32_t cause = 0;
  bool computed = !x.moves;
  saved_.clear();
  for (const RegisterPlace place : x.values) {
    saved_.insert(saved_.end(), w.bank[0] + place.at, w.bank[0] + place.at + place.bytes());
    if (cause == 0) cause = w.marks.origin(base, place);
    computed |= w.marks.is_computed(base, place, lanes);
  }
  const auto restore = [&] {
    size_t at = 0;
    for (const RegisterPlace place : x.values) {
      std::memcpy(w.bank[0] + place.at, saved_.data() + at, place.bytes());
      at += place.bytes();
    }
  };

  const Step s = x.op.run(w, x.op, lanes);
  if (s != Step::Next) return s;
  event::Sink* const listener = std::exchange(w.worker().launch().listener, nullptr);
  const uint32_t carry = w.carry;
  result_.clear();
  for (const RegisterPlace place : x.writes)
    result_.insert(result_.end(), w.bank[0] + place.at, w.bank[0] + place.at + place.bytes());
  changed_.assign(result_.size(), 0);
  for (uint32_t trial = 0; trial < kTrials; ++trial) {
    restore();
    for (const RegisterPlace place : x.values) patch(w, place, trial);
    x.op.run(w, x.op, lanes);
    size_t at = 0;
    for (const RegisterPlace place : x.writes) {
      for (uint32_t i = 0; i < place.bytes(); ++i, ++at)
        changed_[at] |= result_[at] ^ w.bank[0][place.at + i];
    }
  }
  restore();
  w.carry = carry;
  w.worker().launch().listener = listener;

  const uint8_t mark = computed ? kRegisterComputed : kRegisterUndefined;
  size_t at = 0;
  for (const RegisterPlace place : x.writes) {
    std::memcpy(w.bank[0] + place.at, result_.data() + at, place.bytes());
    uint8_t* const changed = changed_.data() + at;
    at += place.bytes();
    w.marks.clear(base, place, lanes);
    if (place.width == 0) {
      uint32_t mask = 0;
      std::memcpy(&mask, changed, 4);
      if ((mask & lanes) != 0) w.marks.set(base, place, mask & lanes, mark, cause);
      continue;
    }
    for (uint32_t i = 0; i < place.bytes(); ++i) changed[i] = changed[i] != 0 ? mark : kRegisterDefined;
    for (uint32_t m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(m));
      w.marks.put(base, place, lane, 0, place.width, changed + lane * place.width);
    }
    w.marks.settle(base, place, cause);
  }
  return s;
}

Step DefinednessWatch::collective(Warp& w, const Tracked& x, uint32_t lanes) {
  const uint32_t base = w.frame_base();
  uint32_t cause = 0;
  bool undefined = false;
  for (const RegisterPlace place : x.values) {
    if (w.marks.undefined(base, place, lanes) == 0) continue;
    undefined = true;
    cause = w.marks.origin(base, place);
  }
  const Step s = x.op.run(w, x.op, lanes);
  if (s != Step::Next) return s;
  clear_results(w, x, lanes);
  for (const RegisterPlace place : x.writes)
    if (undefined) w.marks.set(base, place, lanes, kRegisterComputed, cause);
  return s;
}

// --- what is told -------------------------------------------------------------------------------------

void DefinednessWatch::report(Warp& w, Use use, RegisterPlace place, uint32_t lanes) {
  const uint32_t base = w.frame_base();
  const uint32_t undefined = w.marks.undefined(base, place, lanes);
  if (undefined == 0) return;
  tell(w, use, undefined, w.marks.origin(base, place));
  w.marks.clear(base, place, undefined);  // what follows from it is no finding of its own
}

void DefinednessWatch::tell(Warp& w, Use use, uint32_t lanes, uint32_t cause) {
  if (!told_.insert(uint64_t{origin_here(w)} << 2 | static_cast<uint64_t>(use)).second) return;
  emit_broken_rule(w, lanes, undefined_rule(use, cause));
}

event::BrokenRule DefinednessWatch::undefined_rule(Use use, uint32_t cause) const {
  event::BrokenRule rule;
  rule.name = "uninitialised-read";
  rule.is_warning = !is_error_;
  switch (use) {
    case Use::Branch:
      rule.headline = "a branch depends on bytes that nobody has written";
      rule.label = "decided here";
      break;
    case Use::Address:
      rule.headline = "an address, or an operand that synchronises, depends on bytes that nobody has written";
      rule.label = "used here";
      break;
    case Use::Store:
      rule.headline = "bytes that nobody has written, or what was computed from them, reach global memory";
      rule.label = "stored here";
      break;
  }
  rule.cause = cause;
  rule.cause_label = "read from memory here";
  rule.why =
      "shared memory and fresh allocations hold arbitrary bytes until somebody writes them, so what happens "
      "here "
      "changes from run to run";
  rule.help = "write the bytes before they are read, or keep them out of what is decided and stored";
  return rule;
}

}  // namespace sluice::machine
