// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Between memory and registers.
#include <algorithm>
#include <bit>
#include <cstring>

#include "machine/definedness_watch.hpp"
#include "machine/state.hpp"
#include "machine/tracked.hpp"
#include "machine/units/emit.hpp"

namespace sluice::machine {
namespace {

bool all_defined(const uint8_t* marks, uint32_t bytes) {
  return marks == nullptr || std::all_of(marks, marks + bytes, [](uint8_t mark) { return mark == kDefined; });
}

/// Whether bytes with these marks are worth telling in global memory: something was made of undefined ones,
/// or none of them is defined.
bool are_told(const uint8_t* marks, uint64_t bytes) {
  return std::find(marks, marks + bytes, kComputed) != marks + bytes ||
         std::find(marks, marks + bytes, kDefined) == marks + bytes;
}

/// Bytes of a row of an 8 x 8 matrix: `part` is what lane `lane` of the result holds there.
struct MatrixPart {
  uint32_t row, first, bytes;
};
MatrixPart matrix_part(bool transposed, uint32_t lane, uint32_t half) {
  if (transposed) return {2 * (lane % 4) + half, 2 * (lane / 4), 2};
  return {lane / 4, 4 * (lane % 4) + 2 * half, 2};
}

}  // namespace

// --- memory -------------------------------------------------------------------------------------------

uint8_t* DefinednessWatch::marks(Cta& cta, const void* host) {
  if (uint8_t* const found = global_.marks(host)) return found;
  const auto* const at = static_cast<const uint8_t*>(host);
  const auto in = [&](Cta& owner) -> uint8_t* {
    const uint8_t* const first = owner.shared.data();
    if (at < first || at >= first + owner.shared.size()) return nullptr;
    if (owner.shared_marks.empty()) {
      owner.shared_marks.assign(owner.shared.size(), kUndefined);
      std::fill_n(owner.shared_marks.begin(), kReservedShared, kDefined);
    }
    return owner.shared_marks.data() + (at - first);
  };
  if (uint8_t* const found = in(cta)) return found;
  for (const auto& other : cta.cluster->ctas)
    if (uint8_t* const found = in(*other)) return found;
  return nullptr;
}

void DefinednessWatch::defined(Cta& cta, void* first, uint64_t bytes) {
  if (uint8_t* const at = marks(cta, first)) std::memset(at, kDefined, bytes);
}

void DefinednessWatch::copied(Cta& cta, void* to, const void* from, uint64_t bytes, bool combines) {
  uint8_t* const target = marks(cta, to);
  if (target == nullptr) return;
  const uint8_t* const source = marks(cta, from);
  if (combines) {
    for (uint64_t i = 0; source != nullptr && i < bytes; ++i)
      if (source[i] != kDefined) target[i] = kComputed;
  } else if (source != nullptr) {
    std::memmove(target, source, bytes);
  } else {
    std::memset(target, kDefined, bytes);
  }
}

bool DefinednessWatch::captured_is_defined(Warp& w) {
  for (uint32_t m = captured_; m != 0; m &= m - 1) {
    if (!all_defined(marks(*w.cta, pointers_[std::countr_zero(m)]), captured_bytes_)) return false;
  }
  return true;
}

// --- loads --------------------------------------------------------------------------------------------

Step DefinednessWatch::load(Warp& w, const Tracked& x, uint32_t lanes) {
  captured_ = 0;
  const Step s = x.op.run(w, x.op, lanes);
  if (s != Step::Next) return s;
  for (const RegisterPlace place : x.writes) w.marks.clear(w.frame_base(), place, lanes);
  if (captured_is_defined(w)) return s;
  if (x.opcode == ptx::Opcode::ldmatrix) {
    take_matrices(w, x);
  } else if (!x.elements.empty()) {
    take_elements(w, x);
  } else {
    for (const RegisterPlace place : x.writes)
      w.marks.set(w.frame_base(), place, lanes, kRegisterComputed, origin_here(w));
  }
  return s;
}

void DefinednessWatch::take_elements(Warp& w, const Tracked& x) {
  const uint32_t base = w.frame_base();
  for (size_t v = 0; v < x.elements.size(); ++v) {
    const RegisterPlace place = x.elements[v];
    if (place.at == Tracked::kNowhere) continue;
    for (uint32_t m = captured_; m != 0; m &= m - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(m));
      const uint8_t* const from = marks(*w.cta, pointers_[lane]);
      uint8_t bytes[16] = {};
      const uint32_t count = std::min(place.width, x.element_bytes);
      for (uint32_t i = 0; from != nullptr && i < count; ++i)
        bytes[i] = static_cast<uint8_t>(~from[v * x.element_bytes + i]);
      if (x.sign_extends) std::fill(bytes + count, bytes + place.width, bytes[count - 1]);
      w.marks.put(base, place, lane, 0, place.width, bytes);
    }
    w.marks.settle(base, place, origin_here(w));
  }
}

void DefinednessWatch::take_matrices(Warp& w, const Tracked& x) {
  const uint32_t base = w.frame_base();
  for (uint32_t i = 0; i < x.elements.size(); ++i) {
    const RegisterPlace place = x.elements[i];
    if (place.at == Tracked::kNowhere) continue;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      for (uint32_t half = 0; half < 2; ++half) {
        const MatrixPart part = matrix_part(x.transposed, lane, half);
        const uint8_t* const row = marks(*w.cta, pointers_[8 * i + part.row]);
        uint8_t bytes[2] = {};
        for (uint32_t b = 0; row != nullptr && b < 2; ++b)
          bytes[b] = static_cast<uint8_t>(~row[part.first + b]);
        w.marks.put(base, place, lane, 2 * half, 2, bytes);
      }
    }
    w.marks.settle(base, place, origin_here(w));
  }
}

// --- stores -------------------------------------------------------------------------------------------

Step DefinednessWatch::store(Warp& w, const Tracked& x, uint32_t lanes) {
  captured_ = 0;
  const Step s = x.op.run(w, x.op, lanes);
  if (s != Step::Next || captured_ == 0) return s;
  if (!w.marks.any() || x.elements.empty()) {
    for (uint32_t m = captured_; m != 0; m &= m - 1)
      defined(*w.cta, pointers_[std::countr_zero(m)], captured_bytes_);
  } else if (x.opcode == ptx::Opcode::stmatrix) {
    give_matrices(w, x);
  } else {
    give_elements(w, x);
  }
  return s;
}

void DefinednessWatch::give_elements(Warp& w, const Tracked& x) {
  const uint32_t base = w.frame_base();
  uint32_t wrong = 0, cause = 0;
  for (uint32_t m = captured_; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    uint8_t* const to = marks(*w.cta, pointers_[lane]);
    if (to == nullptr) continue;
    std::memset(to, kDefined, captured_bytes_);
    for (size_t v = 0; v < x.elements.size(); ++v) {
      const RegisterPlace place = x.elements[v];
      const uint8_t* const from = place.at == Tracked::kNowhere ? nullptr : w.marks.lane(base, place, lane);
      if (from == nullptr) continue;
      const uint32_t count = std::min(place.width, x.element_bytes);
      for (uint32_t i = 0; i < count; ++i) to[v * x.element_bytes + i] = static_cast<uint8_t>(~from[i]);
      if (std::any_of(from, from + count, [](uint8_t mark) { return mark != kRegisterDefined; }))
        cause = w.marks.origin(base, place);
    }
    if (are_told(to, captured_bytes_) && global_.marks(pointers_[lane]) != nullptr)
      wrong |= uint32_t{1} << lane;
  }
  if (wrong != 0) tell(w, Use::Store, wrong, cause);
}

void DefinednessWatch::give_matrices(Warp& w, const Tracked& x) {
  const uint32_t base = w.frame_base();
  for (uint32_t i = 0; i < x.elements.size(); ++i) {
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const RegisterPlace place = x.elements[i];
      const uint8_t* const from = place.at == Tracked::kNowhere ? nullptr : w.marks.lane(base, place, lane);
      for (uint32_t half = 0; half < 2; ++half) {
        const MatrixPart part = matrix_part(x.transposed, lane, half);
        uint8_t* const row = marks(*w.cta, pointers_[8 * i + part.row]);
        if (row == nullptr) continue;
        for (uint32_t b = 0; b < 2; ++b)
          row[part.first + b] = from == nullptr ? kDefined : static_cast<uint8_t>(~from[2 * half + b]);
      }
    }
  }
}

Step DefinednessWatch::combine(Warp& w, const Tracked& x, uint32_t lanes) {
  captured_ = 0;
  const uint32_t base = w.frame_base();
  uint32_t undefined = 0, cause = 0;
  for (const RegisterPlace place : x.values) {
    const uint32_t found = w.marks.undefined(base, place, lanes);
    if (found != 0) cause = w.marks.origin(base, place);
    undefined |= found;
  }
  const Step s = x.op.run(w, x.op, lanes);
  if (s != Step::Next) return s;
  for (const RegisterPlace place : x.writes) w.marks.clear(base, place, lanes);
  uint32_t old = 0, wrong = 0;
  for (uint32_t m = captured_; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    uint8_t* const at = marks(*w.cta, pointers_[lane]);
    if (!all_defined(at, captured_bytes_)) old |= uint32_t{1} << lane;
    if (at == nullptr) continue;
    if ((undefined >> lane & 1) != 0) {
      std::memset(at, kComputed, captured_bytes_);
      if (global_.marks(pointers_[lane]) != nullptr) wrong |= uint32_t{1} << lane;
    } else if (x.replaces) {
      std::memset(at, kDefined, captured_bytes_);
    }
  }
  if (wrong != 0) tell(w, Use::Store, wrong, cause);
  for (const RegisterPlace place : x.writes)
    if (old != 0) w.marks.set(base, place, old, kRegisterComputed, origin_here(w));
  return s;
}

void DefinednessWatch::judge_store(Worker& worker, const AsyncOp& op, const uint8_t* stored, uint64_t bytes) {
  if (stored == nullptr || bytes == 0 || !are_told(stored, bytes)) return;
  event::Event e = operation_event(worker, op, event::Kind::BrokenRule);
  if (!told_.insert(uint64_t{e.origin} << 2 | static_cast<uint64_t>(Use::Store)).second) return;
  const event::BrokenRule rule = undefined_rule(Use::Store, event::kNoIndex);
  e.rule = &rule;
  if (event::Sink* const sink = listener_for(worker, event::Kind::BrokenRule)) sink->receive(e);
}

}  // namespace sluice::machine
