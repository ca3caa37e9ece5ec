// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX bodies for the tests of the passes: fixed shapes, and random ones from a seed.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>

#include "program/blocks.hpp"

namespace sluice::program::test {

/// A module with one kernel, lowered; keeps the module alive.
struct Lowered {
  std::unique_ptr<ptx::Module> module;
  Function function;
};

inline Lowered lower_body(const std::string& body) {
  const std::string text =
      ".version 8.6\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 tile[256];\n"
      ".visible .entry k(.param .u64 out)\n{\n"
      ".reg .pred %p<40>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<40>;\n.reg .f32 %f<9>;\n" +
      body + "}\n";
  Result<ptx::Module> parsed = ptx::parse(text, "test.ptx");
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message) << "\n" << text;
  Lowered result;
  if (!parsed) return result;
  result.module = std::make_unique<ptx::Module>(std::move(*parsed));
  Result<Function> lowered = lower(*result.module, 0);
  EXPECT_TRUE(lowered) << (lowered ? "" : lowered.error().message) << "\n" << text;
  if (lowered) result.function = std::move(*lowered);
  return result;
}

/// Nested conditions and loops with early exits over forty registers of a kind, so that many may share a
/// place. With `jumps`, also jumps to any label, which make loops with two entries.
class RandomBody {
 public:
  RandomBody(uint32_t seed, bool jumps) : random_(seed), jumps_(jumps) {}

  std::string text() {
    std::string body = "mov.u32 %r0, %tid.x;\n";
    sequence(body, 4);
    return body + "ret;\n";
  }

 private:
  uint32_t below(uint32_t n) { return random_() % n; }
  std::string label() { return "L" + std::to_string(labels_++); }
  std::string guard() { return (below(2) != 0 ? "@%p" : "@!%p") + std::to_string(below(40)) + " "; }

  void sequence(std::string& out, uint32_t depth) {
    for (uint32_t n = 1 + below(4); n-- > 0;) statement(out, depth);
  }
  void straight(std::string& out) {
    const auto r = [&] { return "%r" + std::to_string(below(40)); };
    const auto p = [&] { return "%p" + std::to_string(below(40)); };
    if (below(4) == 0) out += guard();
    switch (below(4)) {
      case 0:
        out += "add.s32 " + r() + ", " + r() + ", " + r() + ";\n";
        break;
      case 1:
        out += "setp.lt.s32 " + p() + "|" + p() + ", " + r() + ", " + r() + ";\n";
        break;
      case 2:
        out += "mad.wide.s32 %rd" + std::to_string(below(40)) + ", " + r() + ", " + r() + ", %rd1;\n";
        break;
      default:
        out += "ld.shared.v2.b32 {" + r() + ", _}, [tile+8];\n";
        break;
    }
  }
  void statement(std::string& out, uint32_t depth) {
    const uint32_t kind = depth == 0 ? 0 : below(5);
    if (kind == 1) {  // if, else
      const std::string otherwise = label(), join = label();
      out += guard() + "bra " + otherwise + ";\n";
      sequence(out, depth - 1);
      out += "bra " + join + ";\n" + otherwise + ":\n";
      sequence(out, depth - 1);
      out += join + ":\n";
    } else if (kind == 2) {  // loop, left in the middle and at the end
      const std::string head = label(), behind = label();
      out += head + ":\n";
      sequence(out, depth - 1);
      out += guard() + "bra " + behind + ";\n";
      sequence(out, depth - 1);
      out += guard() + "bra " + head + ";\n" + behind + ":\n";
    } else if (kind == 3 && jumps_ && labels_ != 0) {
      out += guard() + "bra L" + std::to_string(below(labels_)) + ";\n";
    } else if (kind == 4 && below(4) == 0) {
      out += guard() + "exit;\n";
    } else {
      straight(out);
    }
  }

  std::mt19937 random_;
  bool jumps_;
  uint32_t labels_ = 0;
};

}  // namespace sluice::program::test
