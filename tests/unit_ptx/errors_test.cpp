// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Bad input and what is said about it. errors.golden holds the cases: a line `### name`, the text, a line
// `---`, the message. SLUICE_BLESS=1 rewrites the messages; the diff is for people to judge. A `$` stands for
// a module head.
#include "ptx/ast.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace sluice::ptx {
namespace {

struct Case {
  std::string name, input, expected;
};

std::vector<Case> read_cases(const std::string& path) {
  std::ifstream file(path);
  std::vector<Case> out;
  std::string line;
  bool in_expected = false;
  while (std::getline(file, line)) {
    if (line.starts_with("### ")) {
      out.push_back({line.substr(4), "", ""});
      in_expected = false;
    } else if (line == "---") {
      in_expected = true;
    } else if (!out.empty()) {
      (in_expected ? out.back().expected : out.back().input) += line + "\n";
    }
  }
  return out;
}

/// `$` alone on a line: the head of a module; `$k` a kernel with registers of all kinds, closed at the end.
std::string expand(const std::string& input) {
  std::string text = input;
  bool close = false;
  if (text.starts_with("$k\n")) {
    text =
        "$\n.visible .entry k(.param .u64 p) { .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %l<9>; .reg .f32 "
        "%f<9>; "
        ".reg .f64 %d<9>; .reg .pred %p<9>;\n" +
        text.substr(3);
    close = true;
  }
  if (text.starts_with("$\n")) text = ".version 9.0 .target sm_90a .address_size 64\n" + text.substr(2);
  if (close) text += "}\n";
  return text;
}

TEST(Errors, match_the_golden_file) {
  const std::string path = std::string(SLUICE_TEST_DIR) + "/errors.golden";
  std::vector<Case> cases = read_cases(path);
  ASSERT_GT(cases.size(), 40u);
  const bool bless = std::getenv("SLUICE_BLESS") != nullptr;
  for (Case& c : cases) {
    const auto module = parse(expand(c.input), c.name + ".ptx");
    ASSERT_FALSE(module.has_value()) << c.name << " was accepted";
    const std::string message = module.error().text() + "\n";
    if (!bless) {
      EXPECT_EQ(message, c.expected) << c.name;
    }
    c.expected = message;
  }
  if (!bless) return;
  std::ofstream out(path);
  for (const Case& c : cases) out << "### " << c.name << "\n" << c.input << "---\n" << c.expected;
}

}  // namespace
}  // namespace sluice::ptx
