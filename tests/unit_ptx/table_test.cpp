// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The instruction table as a whole: every row is well formed, can be written, parsed, found again as itself,
// and printed back. New rows are covered by being rows.
#include "ptx/table.hpp"
#include "ptx/print.hpp"
#include "ptx/samples.hpp"
#include "ptx/tokens.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace sluice::ptx {
namespace {

constexpr size_t kVariants = 60;

TEST(Table, every_opcode_has_a_row) {
  for (uint16_t i = 0; i < kOpcodeCount; ++i)
    EXPECT_FALSE(forms_of(static_cast<Opcode>(i)).empty()) << spelling(static_cast<Opcode>(i));
}

TEST(Table, every_row_states_version_target_and_section) {
  for (const Form& form : forms()) {
    EXPECT_GE(form.ptx, 10) << form.name;
    EXPECT_LE(form.ptx, 91) << form.name;
    EXPECT_GE(form.sm.number, 10) << form.name;
    EXPECT_NE(form.section.find(": "), std::string_view::npos) << form.name;
    EXPECT_FALSE(syntax(form).empty());
  }
}

TEST(Table, row_names_follow_their_opcodes) {
  for (const Form& form : forms()) {
    std::string opcode(spelling(form.opcode));
    std::replace(opcode.begin(), opcode.end(), '.', '_');
    const bool is_family = form.name.starts_with(opcode.substr(0, opcode.find('_')));
    EXPECT_TRUE(is_family) << form.name << " is a row of " << opcode;
  }
}

/// A module that allows everything the row asks for.
std::string module_for(const Form& form, const std::vector<std::string>& statements) {
  std::string target = "sm_90a";
  if (form.sm.number > 90) target = form.sm.number >= 120 ? "sm_120a" : "sm_100a";
  unsigned ptx = 91;
  if (const Mods none{}; requirement(form, none).removed_ptx != 0) {
    ptx = requirement(form, none).removed_ptx - 1;
    target = "sm_70";
  }
  return samples::module_with(statements, target, ptx);
}

TEST(Table, every_variant_of_every_row_parses_to_its_row_and_prints_back) {
  size_t count = 0;
  for (const Form& form : forms()) {
    const std::vector<Mods> all = variants(form, kVariants);
    ASSERT_FALSE(all.empty()) << form.name;
    std::vector<std::string> statements;
    for (const Mods& mods : all) statements.push_back(samples::statement(form, mods));
    const std::string text = module_for(form, statements);
    const auto module = parse(text, "sample.ptx");
    ASSERT_TRUE(module.has_value()) << form.name << "\n" << module.error().text();
    const Function& kernel = *module->find_function("kernel");
    ASSERT_EQ(kernel.code.size(), statements.size() + 2) << form.name;  // the load in front, `ret` behind
    for (size_t i = 0; i < statements.size(); ++i) {
      const Instruction& instruction = kernel.code[i + 1];
      const Form& found = ptx::form(instruction.form);
      // A row may be a special case of an earlier one that means the same; then the earlier one is found.
      EXPECT_EQ(found.opcode, form.opcode) << statements[i];
      EXPECT_TRUE(found.id == form.id || found.family == form.family)
          << statements[i] << " became " << found.name;
      std::string word = statements[i].substr(0, statements[i].find_first_of(" ;"));
      EXPECT_EQ(print_word(instruction), word);
      ++count;
    }
    const std::string printed = print(*module);
    const auto again = parse(printed, "printed.ptx");
    ASSERT_TRUE(again.has_value()) << form.name << "\n" << again.error().text();
    const Function& second = *again->find_function("kernel");
    ASSERT_EQ(second.code.size(), kernel.code.size());
    for (size_t i = 0; i < kernel.code.size(); ++i) {
      EXPECT_EQ(second.code[i].form, kernel.code[i].form) << print_word(kernel.code[i]);
      EXPECT_EQ(second.code[i].mods.all().size(), kernel.code[i].mods.all().size());
      EXPECT_EQ(second.code[i].operand_count, kernel.code[i].operand_count);
    }
  }
  EXPECT_GT(count, 8000u);
}

TEST(Table, rows_are_reachable_under_their_own_name) {
  // The plainest variant of a row must not be swallowed by an earlier row, or the row is dead text. These few
  // are special cases that an earlier row's grammar contains as well.
  const std::set<std::string_view> contained = {"cvt_f16_f32_relu", "mbarrier_arrive_remote"};
  for (const Form& form : forms()) {
    if (form.takes_anything) continue;
    bool reached = false;
    for (const Mods& mods : variants(form, kVariants)) {
      const std::vector<std::string> one{samples::statement(form, mods)};
      const auto module = parse(module_for(form, one), "sample.ptx");
      ASSERT_TRUE(module.has_value()) << module.error().text();
      reached |= module->find_function("kernel")->code[1].form == static_cast<uint16_t>(form.id);
      if (reached) break;
    }
    EXPECT_TRUE(reached || contained.contains(form.name)) << form.name;
  }
}

TEST(Table, modifiers_may_stand_in_any_order_and_come_out_in_the_row_s) {
  const std::string text = samples::module_with(
      std::vector<std::string>{
          "atom.add.global.relaxed.gpu.u32 %r0, [%l390], %r1;", "ld.u32.nc.global %r0, [%l390];",
          "mbarrier.arrive.shared::cta.release.cta.b64 %l0, [%l390];", "cvt.sat.rzi.u8.f32 %r0, %f0;"},
      "sm_90a", 90);
  const auto module = parse(text, "order.ptx");
  ASSERT_TRUE(module.has_value()) << module.error().text();
  const auto& code = module->find_function("kernel")->code;
  EXPECT_EQ(print_word(code[1]), "atom.relaxed.gpu.global.add.u32");
  EXPECT_EQ(print_word(code[2]), "ld.global.nc.u32");
  EXPECT_EQ(print_word(code[3]), "mbarrier.arrive.release.cta.shared::cta.b64");
  EXPECT_EQ(print_word(code[4]), "cvt.rzi.sat.u8.f32");
}

TEST(Table, types_keep_their_order) {
  const std::string text =
      samples::module_with(std::vector<std::string>{"cvt.u64.s32 %l0, %r1;", "cvt.s32.u64 %r0, %l1;",
                                                    "set.lt.f32.s32 %f0, %r0, %r1;"},
                           "sm_90a", 90);
  const auto module = parse(text, "types.ptx");
  ASSERT_TRUE(module.has_value()) << module.error().text();
  const auto& code = module->find_function("kernel")->code;
  EXPECT_EQ(code[1].mods.type(0), ScalarType::u64);
  EXPECT_EQ(code[1].mods.type(1), ScalarType::s32);
  EXPECT_EQ(code[2].mods.type(0), ScalarType::s32);
  EXPECT_EQ(code[3].mods.type(1), ScalarType::s32);
}

TEST(Tokens, the_longest_mnemonic_wins) {
  const auto prefix = find_opcode_prefix("cp.async.bulk.prefetch.tensor.2d.L2.global");
  ASSERT_TRUE(prefix.has_value());
  EXPECT_EQ(prefix->opcode, Opcode::cp_async_bulk_prefetch_tensor);
  EXPECT_EQ(find_opcode_prefix("cp.async.ca.shared.global")->opcode, Opcode::cp_async);
  EXPECT_EQ(find_opcode_prefix("barrier.cta.sync.aligned")->opcode, Opcode::barrier_sync);
  EXPECT_EQ(find_opcode_prefix("add")->length, 3u);
  EXPECT_FALSE(find_opcode_prefix("addx.u32").has_value());
}

TEST(Tokens, shapes_and_special_registers) {
  EXPECT_EQ(*find_shape("m64n256k16"), (Shape{64, 256, 16}));
  EXPECT_EQ(*find_shape("m8n8"), (Shape{8, 8, 0}));
  EXPECT_FALSE(find_shape("m8n8x"));
  EXPECT_FALSE(find_shape("m99999n8k4"));
  EXPECT_EQ(find_special("envreg31")->number, 31u);
  EXPECT_FALSE(find_special("envreg32"));
  EXPECT_EQ(find_special("pm3_64")->reg, SpecialReg::pm_64);
  EXPECT_FALSE(find_special("tid.x"));
}

TEST(Types, sizes_and_kinds) {
  EXPECT_EQ(size_of(ScalarType::b128), 16u);
  EXPECT_EQ(size_of(ScalarType::pred), 1u);
  EXPECT_EQ(bits_of(ScalarType::e2m1), 4u);
  EXPECT_EQ(size_of(ScalarType::none), 0u);
  EXPECT_TRUE(is_signed(ScalarType::s4));
  EXPECT_FALSE(is_signed(ScalarType::s16x2));
  EXPECT_TRUE(is_float(ScalarType::tf32));
  EXPECT_FALSE(is_integer(ScalarType::b32));
}

}  // namespace
}  // namespace sluice::ptx
