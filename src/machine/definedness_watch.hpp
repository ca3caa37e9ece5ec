// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Follows which bytes are undefined: from memory that nobody has written, through registers, copies, shuffles
// and matrix products, and tells where such a byte decides a branch, is part of an address, or is stored to
// global memory. Moving undefined bytes about is no mistake (padding, rows of a tile that are masked later),
// so nothing else is told.
//
// How operations propagate: what an instruction makes of undefined bits is found by running it again with
// other values in their place; result bytes that change are undefined. A comparison is undefined if an
// operand is. Of a matrix product, a row of the result is undefined where A's row is, a column where B's
// column is.
//
// Limits: local memory counts as defined; so does what atomics on floating-point vectors and special
// instructions make. A store of bytes that were only copied is told where all bytes of the access are
// undefined, since structs have padding.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "event/event.hpp"
#include "machine/access_watch.hpp"
#include "machine/defined_bytes.hpp"
#include "machine/op.hpp"
#include "machine/register_marks.hpp"

namespace sluice::machine {

struct AsyncOp;
struct Cta;
struct Tracked;
class Worker;

class DefinednessWatch : public AccessWatch {
 public:
  DefinednessWatch(DefinedBytes& global, bool is_error) : global_(global), is_error_(is_error) {}

  /// Runs an instruction. `active`: lanes before the guard.
  Step step(Warp& w, const Tracked& x, uint32_t active);
  bool access(Warp& warp, uint32_t lanes, uint8_t* const (&pointers)[kLanes], uint32_t bytes) override;

  // --- memory, for asynchronous operations of a CTA -----------------------------------------------------
  /// Marks of memory that the CTA can reach; null where everything is defined.
  uint8_t* marks(Cta& cta, const void* host);
  /// Bytes were copied. `combines`: with what lies at `to`.
  void copied(Cta& cta, void* to, const void* from, uint64_t bytes, bool combines = false);
  void defined(Cta& cta, void* first, uint64_t bytes);
  /// An asynchronous store has put these marks to global memory.
  void judge_store(Worker& worker, const AsyncOp& op, const uint8_t* marks, uint64_t bytes);

 private:
  enum class Use : uint8_t { Branch, Address, Store };

  Step value(Warp& w, const Tracked& x, uint32_t lanes);
  Step compare(Warp& w, const Tracked& x, uint32_t lanes);
  Step vary(Warp& w, const Tracked& x, uint32_t lanes);
  Step collective(Warp& w, const Tracked& x, uint32_t lanes);
  Step load(Warp& w, const Tracked& x, uint32_t lanes);
  Step store(Warp& w, const Tracked& x, uint32_t lanes);
  Step combine(Warp& w, const Tracked& x, uint32_t lanes);
  void take_elements(Warp& w, const Tracked& x);
  void take_matrices(Warp& w, const Tracked& x);
  void give_elements(Warp& w, const Tracked& x);
  void give_matrices(Warp& w, const Tracked& x);
  void patch(Warp& w, RegisterPlace place, uint32_t trial);
  bool captured_is_defined(Warp& w);
  void report(Warp& w, Use use, RegisterPlace place, uint32_t lanes);
  event::BrokenRule undefined_rule(Use use, uint32_t cause) const;
  void tell(Warp& w, Use use, uint32_t lanes, uint32_t cause);

  DefinedBytes& global_;
  bool is_error_;
  // The access of the running instruction.
  uint32_t captured_ = 0;  ///< lanes
  uint32_t captured_bytes_ = 0;
  uint8_t* pointers_[kLanes] = {};
  uint64_t random_ = 0x9e3779b97f4a7c15ull;
  std::vector<uint8_t> saved_, result_, changed_;
  std::unordered_set<uint64_t> told_;  ///< by origin and use
};

}  // namespace sluice::machine
