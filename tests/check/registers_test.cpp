// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// setmaxnreg: what the pool of a CTA can give.
#include "check/kernels.hpp"

namespace {

using namespace sluice;
using namespace sluice::test;

/// What is found in a kernel of two warpgroups; `bounds` are its directives.
std::vector<report::Diagnostic> check_registers(const std::string& bounds, const std::string& first,
                                                const std::string& second) {
  check::Checker checker;
  Launch launch{.block = 256};
  launch.listener = &checker;
  run(module_of(
          ".visible .entry k()" + bounds +
          " {\n .reg .pred %p<2>; .reg .b32 %r<2>;\n mov.u32 %r1, %tid.x;\n setp.ge.u32 %p1, %r1, 128;\n"
          "@%p1 bra SECOND;\n" +
          first + "ret;\n SECOND:\n" + second + "ret; }\n"),
      "k", {}, launch);
  return checker.take();
}

std::string set(const std::string& way, int count) {
  return "setmaxnreg." + way + ".sync.aligned.u32 " + std::to_string(count) + ";\n";
}

TEST(registers, more_than_the_pool_has) {
  const auto told = check_registers(" .reqntid 256, 1, 1 .maxnreg 128", set("inc", 240), set("dec", 96));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].name, "register-budget");
  EXPECT_NE(told[0].state.find("maxnreg"), std::string::npos) << told[0].state;
  EXPECT_TRUE(check_registers(" .reqntid 256, 1, 1 .maxnreg 128", set("inc", 216), set("dec", 40)).empty());
}

TEST(registers, without_a_bound_it_has_no_effect) {
  const auto told = check_registers("", set("inc", 240), set("dec", 40));
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told[0].name, "register-budget");
  EXPECT_EQ(told[0].level, report::Level::Warning);
}

}  // namespace
