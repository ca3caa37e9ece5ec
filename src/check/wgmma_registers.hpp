// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Registers of wgmma: accumulators and registers of A. Ordinary instructions and products touch the same
// registers; `wgmma.fence` orders ordinary accesses before a product, `wgmma.wait_group` a product before
// ordinary accesses. Moves are no accesses: the assembler takes them out; what they copy keeps its state.
// Where a constant is moved into a register says nothing of the program, since compilers do that wherever
// they like: it counts as written before the last fence, unless a product has been issued since.
//
// Limits: a warp's lanes are taken together; registers that other functions touch through calls are not seen.
#pragma once

#include <unordered_map>
#include <vector>

#include "check/findings.hpp"
#include "event/event.hpp"

namespace sluice::check {

class WgmmaRegisters {
 public:
  explicit WgmmaRegisters(Findings& findings) : findings_(findings) {}
  void begin_launch() { warps_.clear(); }
  void apply(const event::Event& e);

 private:
  struct Register {
    uint32_t written_at = event::kNoIndex;  ///< origin of an ordinary write since the last fence
    uint64_t product = 0;                   ///< the last product that writes it, plus one
    uint64_t source_of = 0;                 ///< the last product that reads it, plus one
    uint32_t product_at = 0;                ///< origin of that product
  };
  struct WarpState {
    std::unordered_map<uint64_t, Register> registers;
    std::vector<uint64_t> operands;  ///< of the product that is issued next
    uint32_t a_count = 0;
    bool fenced = false;            ///< since the last product
    uint64_t issued = 0, done = 0;  ///< products of the warp; those that it has waited for
    std::vector<uint64_t> commits;  ///< products issued up to each commit
  };

  void issue(const event::Event& e, WarpState& w);
  void access(const event::Event& e, WarpState& w, bool writes);
  void move(const event::Event& e, WarpState& w);

  Findings& findings_;
  std::unordered_map<uint64_t, WarpState> warps_;  ///< by CTA and warp
};

}  // namespace sluice::check
