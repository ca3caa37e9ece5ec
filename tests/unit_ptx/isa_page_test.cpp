// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// docs/isa/instructions.md is the instruction table as a page. It is generated; this test fails when table
// and page disagree and rewrites the page under SLUICE_BLESS=1.
#include "ptx/table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace sluice::ptx {
namespace {

/// Table cells may not hold a bare `|`.
std::string cell(std::string text) {
  std::string out;
  for (char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string page() {
  size_t in_scope = 0;
  std::map<Family, std::vector<const Form*>> families;
  for (const Form& form : forms()) {
    families[form.family].push_back(&form);
    in_scope += form.in_scope();
  }
  std::string text = fmt::format(
      "# Instruction forms\n\n"
      "Generated from the instruction table (`src/ptx/instructions.def`); run `docs/isa/generate.sh` after a "
      "change.\n\n"
      "{} forms of {} mnemonics, {} of them for sm_90a; the others belong to textures and surfaces or to "
      "later\n"
      "architectures and are refused by name. What the engine executes today: `sluice isa`.\n\n"
      "A modifier in braces may be left out, `a|b` is a choice. *exact*: the ISA fixes every bit of the "
      "result;\n"
      "*bounded*: it states a largest error; *implementation*: it leaves order or precision open.\n",
      forms().size(), size_t(kOpcodeCount), in_scope);
  for (const auto& [family, rows] : families) {
    text += fmt::format("\n## {}\n\n| form | PTX | target | result | ISA section |\n|---|---|---|---|---|\n",
                        spelling(family));
    for (const Form* form : rows)
      text += fmt::format("| `{}` | {}.{} | sm_{}{} | {} | {} |\n", cell(syntax(*form)), form->ptx / 10,
                          form->ptx % 10, form->sm.number,
                          form->sm.suffix != 0 ? std::string(1, form->sm.suffix) : "",
                          spelling(form->exactness), form->section.substr(form->section.find(": ") + 2));
  }
  return text;
}

TEST(IsaPage, is_that_of_the_table) {
  const std::string path = std::string(SLUICE_DOCS_DIR) + "/isa/instructions.md";
  if (std::getenv("SLUICE_BLESS") != nullptr) std::ofstream(path) << page();
  std::ifstream file(path);
  const std::string committed((std::istreambuf_iterator<char>(file)), {});
  EXPECT_TRUE(committed == page())
      << "docs/isa/instructions.md is not that of the table; run docs/isa/generate.sh";
}

}  // namespace
}  // namespace sluice::ptx
