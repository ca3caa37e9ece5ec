// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What the parser makes of single constructs of the language.
#include "ptx/ast.hpp"
#include "ptx/print.hpp"
#include "ptx/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <stdexcept>
#include <string>

namespace sluice::ptx {
namespace {

using Kind = Operand::Kind;
using testing::ElementsAre;

Module parse_or_fail(const std::string& text) {
  auto module = parse(text, "test.ptx");
  if (!module.has_value()) throw std::runtime_error(module.error().text());
  return *std::move(module);
}

Module parse_body(const std::string& body) {
  return parse_or_fail(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 param)\n{\n" + body +
      "\nret;\n}\n");
}

const Function& kernel(const Module& module) {
  return *module.find_function("k");
}

TEST(Module, version_target_and_options) {
  const Module m = parse_or_fail(".version 8.5\n.target sm_90a, debug\n.address_size 64\n");
  EXPECT_EQ(m.version_major, 8);
  EXPECT_EQ(m.version_minor, 5);
  EXPECT_EQ(m.target.sm, 90u);
  EXPECT_EQ(m.target.suffix, 'a');
  EXPECT_THAT(m.target.options, ElementsAre("debug"));
}

TEST(Scopes, inner_names_hide_outer_ones_and_get_ids_of_their_own) {
  const Module m = parse_body(R"(
.reg .b32 %r<3>;
.reg .pred p;
{ .reg .pred p; setp.eq.u32 p, %r0, 0; @p mov.b32 %r1, 1; }
{ .reg .pred p; setp.eq.u32 p, %r0, 1; @!p mov.b32 %r1, 2; }
setp.eq.u32 p, %r0, 2;
)");
  const Function& f = kernel(m);
  ASSERT_EQ(f.regs.size(), 6u);
  const auto dest = [&](size_t i) { return f.operands_of(f.code[i])[0].index; };
  EXPECT_NE(dest(0), dest(2));
  EXPECT_NE(dest(0), dest(4));
  EXPECT_EQ(f.code[1].guard.reg, int32_t(dest(0)));
  EXPECT_FALSE(f.code[1].guard.negate);
  EXPECT_EQ(f.code[3].guard.reg, int32_t(dest(2)));
  EXPECT_TRUE(f.code[3].guard.negate);
  EXPECT_EQ(f.regs[dest(4)].name, "p");
}

TEST(Scopes, each_scope_has_labels_of_its_own_and_may_jump_out) {
  const Module m = parse_body(R"(
.reg .pred %p<2>;
{ wait: @%p0 bra done; bra wait; done: }
{ wait: @%p0 bra done; bra wait; done: }
bra end;
{ bra end; }
end:
)");
  const Function& f = kernel(m);
  const auto target = [&](size_t i) { return f.labels[f.operands_of(f.code[i])[0].index].target; };
  EXPECT_EQ(target(0), 2u);
  EXPECT_EQ(target(1), 0u);
  EXPECT_EQ(target(2), 4u);
  EXPECT_EQ(target(3), 2u);
  EXPECT_EQ(target(4), 6u);
  EXPECT_EQ(target(5), 6u);
}

TEST(Registers, ranges_vectors_and_components) {
  const Module m = parse_body(R"(
.reg .b32 %r<20>, %x;
.reg .v4 .f32 v;
.reg .b64 %rd;
mov.b32 %r19, %x;
ld.global.v4.f32 v, [%rd];
add.f32 v.y, v.x, v.w;
)");
  const Function& f = kernel(m);
  EXPECT_EQ(f.regs[f.operands_of(f.code[0])[0].index].name, "%r19");
  const Operand& whole = f.operands_of(f.code[1])[0];
  ASSERT_EQ(whole.kind, Kind::Vector);
  ASSERT_EQ(whole.count, 4u);
  EXPECT_EQ(f.regs[f.parts_of(whole)[2].index].name, "v.z");
  EXPECT_EQ(f.regs[f.operands_of(f.code[2])[0].index].name, "v.y");
  EXPECT_EQ(f.operands_of(f.code[2])[2].index, f.parts_of(whole)[3].index);
}

TEST(Operands, addresses) {
  const Module m = parse_body(R"(
.reg .b32 %r<4>; .reg .b64 %rd<4>;
.shared .align 16 .b8 tile[64];
ld.global.u32 %r0, [%rd0+-8];
ld.shared.u32 %r0, [tile+4*3];
ld.param.u64 %rd1, [param];
ld.shared.u32 %r0, [1024];
st.shared.u32 [%r1], %r0;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0, {%r2, 7}], [%r3];
)");
  const Function& f = kernel(m);
  const auto address = [&](size_t i, size_t n) { return f.operands_of(f.code[i])[n]; };
  EXPECT_EQ(address(0, 1).value, -8);
  EXPECT_EQ(f.parts_of(address(0, 1))[0].kind, Kind::Register);
  EXPECT_EQ(address(1, 1).value, 12);
  EXPECT_EQ(f.parts_of(address(1, 1))[0].kind, Kind::Variable);
  EXPECT_FALSE(f.parts_of(address(1, 1))[0].is_module);
  EXPECT_EQ(f.variables[f.parts_of(address(2, 1))[0].index].name, "param");
  EXPECT_EQ(f.parts_of(address(3, 1))[0].kind, Kind::ImmInt);
  EXPECT_EQ(address(3, 1).value, 1024);
  const Operand tensor = address(5, 1);
  ASSERT_EQ(tensor.count, 3u);
  EXPECT_EQ(f.parts_of(tensor)[2].value, 7);
  EXPECT_EQ(form(f.code[5].form).id, FormId::cp_async_bulk_tensor_g2s);
}

TEST(Operands, constants) {
  const Module m = parse_body(R"(
.reg .b32 %r; .reg .b64 %rd; .reg .f32 %f; .reg .f64 %fd;
mov.b32 %r, 0xFFFFFFFF;
mov.s32 %r, -5;
mov.b32 %r, (1 << 4) | 3;
mov.f32 %f, 0f3F800000;
mov.f32 %f, 1.5;
mov.f64 %fd, 0d3FF0000000000000;
mov.f64 %fd, -2.5e3;
mov.b32 %r, WARP_SZ;
mov.u64 %rd, 0b101;
mov.u32 %r, 017U;
mov.b32 %r, 7 > 3 ? 10 : 20;
)");
  const Function& f = kernel(m);
  const auto value = [&](size_t i) { return f.operands_of(f.code[i])[1]; };
  EXPECT_EQ(value(0).value, 0xffffffffll);
  EXPECT_EQ(value(1).value, -5);
  EXPECT_EQ(value(2).value, 19);
  EXPECT_EQ(value(3).kind, Kind::ImmF32);
  EXPECT_EQ(value(3).value, 0x3f800000ll);
  EXPECT_EQ(value(4).kind, Kind::ImmF32);
  EXPECT_EQ(uint32_t(value(4).value), std::bit_cast<uint32_t>(1.5f));
  EXPECT_EQ(value(5).kind, Kind::ImmF64);
  EXPECT_EQ(std::bit_cast<double>(value(6).value), -2500.0);
  EXPECT_EQ(value(7).value, 32);
  EXPECT_EQ(value(8).value, 5);
  EXPECT_EQ(value(9).value, 15);
  EXPECT_EQ(value(10).value, 10);
}

TEST(Operands, special_registers_pairs_sinks_and_selectors) {
  const Module m = parse_body(R"(
.reg .b32 %r<4>; .reg .pred %p<3>; .reg .b64 %rd;
mov.u32 %r0, %cluster_ctaid.y;
mov.u32 %r0, %envreg7;
mov.pred %p0, %is_explicit_cluster;
elect.sync _|%p1, -1;
setp.lt.s32 %p0|%p1, %r0, %r1;
vadd4.u32.u32.u32 %r0.b10, %r1.b3210, %r2.b7654, %r3;
mbarrier.arrive.shared::cta.b64 _, [%r0];
mov.b64 {%r0, _}, %rd;
)");
  const Function& f = kernel(m);
  const auto operand = [&](size_t i, size_t n) { return f.operands_of(f.code[i])[n]; };
  EXPECT_EQ(operand(0, 1).kind, Kind::Special);
  EXPECT_EQ(static_cast<SpecialReg>(operand(0, 1).index), SpecialReg::cluster_ctaid);
  EXPECT_EQ(operand(0, 1).component, 1);
  EXPECT_EQ(operand(1, 1).value, 7);
  EXPECT_EQ(operand(3, 0).kind, Kind::Pair);
  EXPECT_EQ(f.parts_of(operand(3, 0))[0].kind, Kind::Sink);
  EXPECT_EQ(f.parts_of(operand(4, 0)).size(), 2u);
  EXPECT_TRUE(Selector::is_byte(operand(5, 0).component));
  EXPECT_EQ(Selector::digits(operand(5, 0).component), 2u);
  EXPECT_EQ(Selector::lane(operand(5, 2).component, 3), 7u);
  EXPECT_EQ(operand(6, 0).kind, Kind::Sink);
  EXPECT_EQ(f.parts_of(operand(7, 0))[1].kind, Kind::Sink);
}

TEST(Operands, one_value_in_braces_is_that_value) {
  const Module m = parse_body(
      ".reg .b32 %r<2>; .reg .b64 %rd;\nld.global.b32 { %r0 }, [ %rd + 0 ];\n"
      "st.global.b32 [ %rd + 4 ], { %r1 };");
  const Function& f = kernel(m);
  EXPECT_EQ(f.operands_of(f.code[0])[0].kind, Kind::Register);
  EXPECT_EQ(f.operands_of(f.code[1])[1].kind, Kind::Register);
}

TEST(Calls, are_brought_to_one_shape) {
  const Module m = parse_or_fail(R"(.version 9.0
.target sm_90a
.address_size 64
.extern .func (.param .b32 func_retval0) vprintf (.param .b64 a, .param .b64 b);
.func nothing;
.visible .entry k()
{
  .reg .b32 %r<2>; .reg .b64 %rd<3>;
  {
  .param .b64 param0;
  st.param.b64 [param0], %rd0;
  .param .b64 param1;
  st.param.b64 [param1], %rd1;
  .param .b32 retval0;
  call.uni (retval0), vprintf, (param0, param1);
  ld.param.b32 %r0, [retval0];
  }
  call nothing;
  prototype_0 : .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[24]);
  .param .b32 r; .param .b64 a; .param .align 8 .b8 s[24];
  call (r), %rd2, (a, s), prototype_0;
  targets: .calltargets nothing;
  call %rd2, targets;
  ret;
}
)");
  const Function& f = kernel(m);
  const auto ops = f.operands_of(f.code[2]);
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(ops[0].kind, Kind::Vector);
  EXPECT_EQ(ops[0].count, 1u);
  EXPECT_EQ(m.functions[ops[1].index].name, "vprintf");
  EXPECT_EQ(ops[2].count, 2u);
  const auto plain = f.operands_of(f.code[4]);
  ASSERT_EQ(plain.size(), 3u);
  EXPECT_EQ(plain[0].count, 0u);
  EXPECT_EQ(plain[2].count, 0u);
  const auto indirect = f.operands_of(f.code[5]);
  ASSERT_EQ(indirect.size(), 4u);
  EXPECT_EQ(indirect[1].kind, Kind::Register);
  EXPECT_EQ(indirect[3].kind, Kind::Prototype);
  EXPECT_EQ(f.prototypes[indirect[3].index].params[1].size, 24u);
  const auto listed = f.operands_of(f.code[6]);
  EXPECT_EQ(listed[3].kind, Kind::CallTargets);
  EXPECT_EQ(form(f.code[6].form).id, FormId::call_indirect);
}

TEST(Branches, tables_may_stand_before_or_behind_their_use) {
  const Module m = parse_body(R"(
.reg .b32 %r;
ts: .branchtargets L0, L1, L0;
brx.idx %r, ts;
L0: brx.idx.uni %r, later;
L1: later: .branchtargets L1;
)");
  const Function& f = kernel(m);
  const Operand& table = f.operands_of(f.code[0])[1];
  ASSERT_EQ(table.kind, Kind::BranchTable);
  EXPECT_THAT(f.branch_tables[table.index].labels, ElementsAre(0u, 1u, 0u));
  EXPECT_EQ(f.operands_of(f.code[1])[1].index, 1u);
}

TEST(Variables, initialisers_and_relocations) {
  const Module m = parse_or_fail(R"(.version 9.0
.target sm_90a
.address_size 64
.func f;
.global .align 4 .u32 one = 42;
.global .f32 third[2] = {0f3EAAAAAB, 0.25};
.global .align 8 .u64 table[3] = {f, one+4, generic(one)};
.global .u8 bytes[8] = {0xff(one), 0xff00(one), 0xff0000(one), 0xff000000(one), 0, 1, 2, 3};
.const .s16 grid[2][3] = {{1, 2, 3}, {-1}};
.global .v4 .f32 v = {1.0, 2.0, 3.0, 4.0};
.global .b8 open[] = {1, 2, 3};
.extern .shared .align 128 .b8 smem[];
.const[3] .u32 banked;
.global .u64 forward = later;
.visible .global .attribute(.managed) .u32 later;
.visible .entry k() { ret; }
)");
  const auto& one = *m.find_variable("one");
  EXPECT_EQ(one.size, 4u);
  EXPECT_EQ(one.init[0], std::byte{42});
  const auto& third = *m.find_variable("third");
  EXPECT_EQ(third.align, 4u);
  EXPECT_EQ(third.init[7], std::byte{0x3e});
  const auto& table = *m.find_variable("table");
  ASSERT_EQ(table.relocations.size(), 3u);
  EXPECT_EQ(table.relocations[0].target, Relocation::Target::Function);
  EXPECT_EQ(table.relocations[1].addend, 4);
  EXPECT_FALSE(table.relocations[1].is_generic);
  EXPECT_TRUE(table.relocations[2].is_generic);
  EXPECT_EQ(table.relocations[2].offset, 16u);
  const auto& bytes = *m.find_variable("bytes");
  ASSERT_EQ(bytes.relocations.size(), 4u);
  EXPECT_EQ(bytes.relocations[2].shift, 16);
  EXPECT_EQ(bytes.relocations[2].size, 1);
  EXPECT_EQ(bytes.init[7], std::byte{3});
  const auto& grid = *m.find_variable("grid");
  EXPECT_THAT(grid.dims, ElementsAre(2u, 3u));
  EXPECT_EQ(grid.size, 12u);
  EXPECT_EQ(grid.init[6], std::byte{0xff});
  EXPECT_EQ(m.find_variable("v")->align, 16u);
  EXPECT_EQ(m.find_variable("v")->size, 16u);
  EXPECT_EQ(m.find_variable("open")->size, 3u);
  EXPECT_TRUE(m.find_variable("smem")->is_array_unsized);
  EXPECT_EQ(m.find_variable("smem")->size, 0u);
  EXPECT_EQ(m.find_variable("banked")->const_bank, 3u);
  EXPECT_EQ(m.variables[m.find_variable("forward")->relocations[0].index].name, "later");
  EXPECT_TRUE(m.find_variable("later")->is_managed);
}

TEST(Functions, heads_parameters_and_directives) {
  const Module m = parse_or_fail(R"(.version 9.0
.target sm_90a
.address_size 64
.weak .func (.param .align 8 .b8 out[16]) helper (.param .b32 a, .reg .f32 b) .noreturn
{ trap; }
.visible .entry k(
  .param .align 64 .b8 map[128],
  .param .u64 .ptr .global .align 16 q
)
.explicitcluster
.reqnctapercluster 2, 1, 1
.maxntid 384
.minnctapersm 1
.maxnreg 168
.maxclusterrank 8
.pragma "nounroll";
{ ret; }
.visible .func other;
.alias other, helper;
)");
  const Function& f = kernel(m);
  EXPECT_TRUE(f.is_entry);
  EXPECT_TRUE(f.directives.explicitcluster);
  EXPECT_THAT(f.directives.reqnctapercluster, ElementsAre(2u, 1u, 1u));
  EXPECT_THAT(f.directives.maxntid, ElementsAre(384u, 1u, 1u));
  EXPECT_EQ(f.directives.maxnreg, 168u);
  EXPECT_EQ(f.directives.maxclusterrank, 8u);
  EXPECT_THAT(f.directives.pragmas, ElementsAre("nounroll"));
  ASSERT_EQ(f.params.size(), 2u);
  EXPECT_EQ(f.variables[f.params[0].index].align, 64u);
  const Variable& q = f.variables[f.params[1].index];
  EXPECT_TRUE(q.is_pointer);
  EXPECT_EQ(q.pointee_space, Space::global);
  EXPECT_EQ(q.pointee_align, 16u);
  const Function& helper = *m.find_function("helper");
  EXPECT_EQ(helper.linkage, Linkage::weak);
  EXPECT_TRUE(helper.directives.noreturn);
  EXPECT_TRUE(helper.params[1].is_reg);
  EXPECT_EQ(m.find_function("other")->alias_of, "helper");
}

TEST(Functions, a_declaration_is_merged_with_its_definition) {
  const Module m = parse_or_fail(R"(.version 9.0
.target sm_90a
.address_size 64
.visible .func (.param .b32 r) f (.param .b32 a);
.visible .entry k() { .param .b32 x; .param .b32 y; call (y), f, (x); ret; }
.visible .func (.param .b32 r) f (.param .b32 a) { ret; }
)");
  EXPECT_EQ(m.functions.size(), 2u);
  EXPECT_TRUE(m.find_function("f")->is_defined);
  EXPECT_EQ(m.find_function("f")->code.size(), 1u);
}

TEST(Instructions, sync_may_stand_behind_other_modifiers) {
  const Module m = parse_body(
      "  .reg .pred %p; .reg .b32 %r;\n  vote.ballot.sync.b32 %r, %p, 0xffffffff;\n"
      "  vote.sync.ballot.b32 %r, %p, 0xffffffff;\n  match.any.sync.b32 %r, %r, -1;\n");
  const Function& f = kernel(m);
  EXPECT_EQ(f.code[0].op, Opcode::vote_sync);
  EXPECT_EQ(f.code[0].form, f.code[1].form);
  EXPECT_EQ(f.code[2].op, Opcode::match_any_sync);
}

TEST(Lines, inlined_frames_and_names) {
  const Module m = parse_or_fail(R"(.version 9.0
.target sm_90a
.address_size 64
.visible .entry k()
{
  .reg .b32 %r;
  .loc 1 10 3
  mov.u32 %r, 1;
  .loc 2 55 7, function_name $L__info_string0, inlined_at 1 10 3
  mov.u32 %r, 2;
  .loc 2 80 1, function_name $L__info_string1+0, inlined_at 2 55 7
  mov.u32 %r, 3;
  .loc 1 11 3
  ret;
}
  .file 1 "kernel.cu"
  .file 2 "build/../include/./pipe.hpp", 1700000000, 1234
  .section .debug_str
  {
$L__info_string0:
.b8 102,111,111,0
$L__info_string1:
.b8 98
.b8 97
.b8 114
.b8 0
  }
  .section .debug_abbrev { .b8 1 .b8 17 }
)");
  const Function& f = kernel(m);
  ASSERT_EQ(f.code.size(), 4u);
  const Location& innermost = m.locations[f.code[2].loc];
  EXPECT_EQ(m.files[innermost.file].path, "include/pipe.hpp");
  EXPECT_EQ(innermost.line, 80u);
  EXPECT_EQ(m.names[innermost.function_name], "bar");
  const Location& middle = m.locations[innermost.inlined_at];
  EXPECT_EQ(middle.line, 55u);
  EXPECT_EQ(m.names[middle.function_name], "foo");
  const Location& outer = m.locations[middle.inlined_at];
  EXPECT_EQ(m.files[outer.file].path, "kernel.cu");
  EXPECT_EQ(outer.line, 10u);
  EXPECT_EQ(outer.inlined_at, kNone);
  EXPECT_EQ(m.locations[f.code[3].loc].line, 11u);
}

TEST(Lines, inlined_frames_in_comments) {
  const Module m = parse_or_fail(R"(.version 9.0
.target sm_90a
.address_size 64
.visible .entry k()
{
  .reg .b32 %r;
  .loc 2 19 3                          // /opt/include/init.h:19:3 @[ dir:1/kernel.cu:48:7 @[ ./other.cu:90:5 ] ]
  mov.u32 %r, 1;
  .loc 2 20 3                          // /opt/include/init.h:20:3
  mov.u32 %r, 2;
  .loc 2 21 3                          // /opt/include/init.h:22:3 @[ kernel.cu:48:7 ]
  mov.u32 %r, 3;
  .loc 2 23 3                          // /opt/include/init.h:23:3 @[ kernel.cu:48:7
  mov.u32 %r, 4;
  .loc 2 24 3                          // note @[ us ]
  ret;
}
  .file 1 "/home/dir:1/kernel.cu"
  .file 2 "/opt/include/init.h"
)");
  const Function& f = kernel(m);
  ASSERT_EQ(f.code.size(), 5u);
  const Location& inner = m.locations[f.code[0].loc];
  EXPECT_EQ(inner.line, 19u);
  ASSERT_NE(inner.inlined_at, kNone);
  const Location& middle = m.locations[inner.inlined_at];
  EXPECT_EQ(m.files[middle.file].path, "/home/dir:1/kernel.cu");
  EXPECT_EQ(middle.line, 48u);
  EXPECT_EQ(middle.column, 7u);
  ASSERT_NE(middle.inlined_at, kNone);
  const Location& outer = m.locations[middle.inlined_at];
  EXPECT_EQ(m.files[outer.file].path, "other.cu");
  EXPECT_EQ(outer.line, 90u);
  EXPECT_EQ(outer.inlined_at, kNone);
  for (size_t i = 1; i < 5; ++i) EXPECT_EQ(m.locations[f.code[i].loc].inlined_at, kNone) << i;
}

TEST(Lines, instructions_know_their_place_in_the_text) {
  const Module m = parse_body("  .reg .pred %p;\n  @!%p bra end;\nend:");
  const Instruction& bra = kernel(m).code[0];
  EXPECT_EQ(bra.line, 7u);
  EXPECT_EQ(bra.column, 3u);
  EXPECT_EQ(m.text.substr(bra.text_begin, bra.text_end - bra.text_begin), "@!%p bra end;");
  EXPECT_EQ(bra.loc, kNone);
}

TEST(Text, comments_white_space_and_broken_words) {
  const Module m = parse_body("/* a\n b */ .reg .b32 %r<2>; // c\nld.shared\n  .b32 %r0, [%r1]; ;\n\t");
  EXPECT_EQ(print_word(kernel(m).code[0]), "ld.shared.b32");
}

TEST(Text, dialects_of_other_producers) {
  // Triton, CuTe DSL and LLVM write these forms.
  const Module m = parse_body(R"(
.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b16 %rs<4>; .reg .pred %p<3>; .reg .f32 %f<4>;
$L__BB0_1:                              // %loop
	.pragma "nounroll";
	// begin inline asm
	@%p1 ld.global.v4.b32 { %r0, %r1, %r2, %r3 }, [ %rd0 + 0 ];
	// end inline asm
	mov.b32 	{%rs0, %rs1}, %r0;
	cvt.rn.f16x2.f32 %r1, %f1, %f0;
	@%p2 bra 	$L__BB0_1;
	bra.uni 	$L__BB0_2;
$L__BB0_2:
	wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %rd0, %rd1, 1, 1, 1, 0, 0;
	mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r1], %r2, 10000000;
	setmaxnreg.dec.sync.aligned.u32 40;
	fence.proxy.async.shared::cta;
	st.shared.v2.b64 [%r1], {%rd1, %rd2};
)");
  EXPECT_EQ(kernel(m).code.size(), 11u);
}

TEST(Print, a_printed_module_parses_to_the_same) {
  const Module m = parse_or_fail(R"(.version 9.0
.target sm_90a
.address_size 64
.func f;
.global .align 8 .u64 table[2] = {f, generic(data)+8};
.global .align 4 .u32 data[2][2] = {{1, 2}, {3, 4}};
.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd;
  .reg .pred %p;
  .local .align 8 .b8 depot[16];
  ld.param.u64 %rd, [p];
  mov.u64 %rd, data+4;
  mov.u64 %rd, depot;
  @!%p bra L;
  call f;
L:
  st.global.v2.u32 [%rd+-4], {%r1, %r2};
  ret;
}
)");
  const std::string once = print(m);
  const auto again = parse(once, "printed");
  ASSERT_TRUE(again.has_value()) << again.error().text();
  EXPECT_EQ(again->find_variable("data")->init, m.find_variable("data")->init);
  EXPECT_EQ(again->find_variable("table")->relocations[1].addend, 8);
  EXPECT_EQ(kernel(*again).code.size(), kernel(m).code.size());
}

}  // namespace
}  // namespace sluice::ptx
