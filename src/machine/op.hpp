// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The executable form of one instruction, and where its values lie. A kernel's code is an array of Op; the
// step loop calls `run` and does nothing else. Operands are locations: byte offsets of 32-lane vectors, in
// the frame of the running function or in the function's constants (bit 0 set). Predicates are lane masks,
// one word each, at the start of the frame; predicate 0 is always true and predicate 1 takes results that
// nobody wants.
//
// Vector layout by register width: 8, 16 and 32 bits take one 32-bit word per lane (upper bits zero), 64 bits
// one 64-bit word per lane, 128 bits two of them.
#pragma once

#include <cstdint>

namespace sluice::machine {

struct Warp;
struct Op;

/// What the step loop does after a handler.
enum class Step : uint8_t {
  Next,     ///< go on with the next instruction
  Jumped,   ///< the handler has set `warp.pc`
  Resplit,  ///< the handler has changed the splits: choose again
  Blocked,  ///< the handler has parked the current split; it runs this instruction again when woken
  Parked,   ///< the same, but it goes on with the next instruction when woken
  Yield,    ///< a spinning loop closed its round: let others run, then go on at `warp.pc`
  Exited,   ///< no lane of the split is left
  Fault,    ///< `warp.fault()` was called: the launch ends
};

/// Executes `op` for the lanes of the mask (never empty).
using Handler = Step (*)(Warp& warp, const Op& op, uint32_t lanes);

/// A location: offset in bytes, bit 0 tells the constants from the frame.
using Location = uint32_t;
constexpr Location kConstantBit = 1;

constexpr uint32_t kTruePredicate = 0;
constexpr uint32_t kSinkPredicate = 1;

struct Op {
  Handler run = nullptr;
  uint32_t guard = kTruePredicate;
  uint32_t guard_flip = 0;       ///< all ones for a negated guard
  Location d = 0;                ///< destination
  Location a = 0, b = 0, c = 0;  ///< sources
  int64_t imm = 0;               ///< address offset, immediate, target
  const void* extra = nullptr;   ///< what else the handler needs; owned by the kernel, immutable
  uint32_t small = 0;            ///< flags or a small number, as the handler likes
  Location e = 0;                ///< a fourth source, or a second destination
  uint32_t more = 0;
  uint32_t form = 0;  ///< row of the instruction table
};
static_assert(sizeof(Op) == 64, "one cache line");

}  // namespace sluice::machine
