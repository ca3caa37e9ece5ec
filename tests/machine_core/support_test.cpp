// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What the engine says it executes (support.hpp) against what it does.
#include "machine/support.hpp"

#include <gtest/gtest.h>

#include "machine/bind.hpp"
#include "ptx/table.hpp"

namespace {

using namespace sluice;
using machine::RowSupport;
using machine::Support;

TEST(support, every_row_in_scope_is_judged_and_refusals_say_why) {
  const std::vector<RowSupport> rows = machine::row_support();
  ASSERT_EQ(rows.size(), ptx::forms().size());
  for (const ptx::Form& form : ptx::forms()) {
    const auto& [support, refused] = rows[static_cast<size_t>(form.id)];
    EXPECT_EQ(support == Support::OutOfScope, !form.in_scope()) << form.name;
    const bool complete = support == Support::Executed || support == Support::OutOfScope;
    EXPECT_EQ(refused.empty(), complete) << form.name << ": " << refused;
    // The samples themselves are fine: what is refused is refused by the bind function.
    EXPECT_EQ(refused.find("samples.ptx"), std::string::npos) << form.name << ": " << refused;
  }
}

TEST(support, is_that_of_the_bind_functions) {
  const std::vector<RowSupport> rows = machine::row_support();
  for (const ptx::Form& form : ptx::forms()) {
    if (form.in_scope() && machine::find_bind(form.opcode) == nullptr) {
      EXPECT_EQ(rows[static_cast<size_t>(form.id)].support, Support::Missing) << form.name;
    }
  }
  EXPECT_EQ(rows[static_cast<size_t>(ptx::FormId::add_int)].support, Support::Executed);
  EXPECT_EQ(rows[static_cast<size_t>(ptx::FormId::multimem_red_add)].support, Support::Missing);
}

}  // namespace
