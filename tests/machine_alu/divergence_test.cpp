// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Instructions under divergence and predicates: lanes outside the mask keep their values, carry flags belong
// to lanes, destinations may be sources. The values themselves are the business of tests/parity.
#include <gtest/gtest.h>

#include <cstring>

#include "machine/device.hpp"

namespace sluice::machine {
namespace {

/// Runs a kernel of one warp whose body may use %lane and %out (a pointer to the lane's 8 bytes).
std::vector<uint64_t> run(const std::string& body) {
  const std::string text =
      ".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
      "  .reg .b32 %lane, %a, %b, %c, %d;\n  .reg .b64 %out, %w, %x;\n  .reg .pred %p, %q;\n"
      "  mov.u32 %lane, %tid.x;\n  ld.param.u64 %out, [p];\n  mad.wide.u32 %out, %lane, 8, %out;\n" +
      body + "  ret;\n}\n";
  std::vector<uint64_t> result(32);
  Device device;
  auto parsed = ptx::parse(text, "test.ptx");
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().text());
  if (!parsed) return result;
  const auto module = device.load(std::move(*parsed));
  EXPECT_TRUE(module);
  if (!module) return result;
  const auto kernel = device.kernel(*module, "k");
  EXPECT_TRUE(kernel) << (kernel ? "" : kernel.error().text());
  if (!kernel) return result;
  const auto at = device.memory().allocate(256, 256, AllocationKind::Device);
  EXPECT_TRUE(at);
  if (!at) return result;
  LaunchRequest request;
  request.kernel = *kernel;
  request.block[0] = 32;
  request.parameters.resize((*kernel)->parameter_bytes);
  std::memcpy(request.parameters.data(), &*at, 8);
  const auto launched = device.launch(request);
  EXPECT_TRUE(launched);
  if (launched) EXPECT_EQ(launched->fault.kind, FaultKind::None) << launched->fault.message;
  std::memcpy(result.data(), reinterpret_cast<const void*>(*at), 256);
  return result;
}

TEST(Divergence, predicated_lanes_alone_are_written) {
  const auto r =
      run("  mul.lo.u32 %a, %lane, 3;\n  and.b32 %b, %lane, 1;\n  setp.eq.u32 %p, %b, 1;\n"
          "  @%p add.u32 %a, %a, 1000;\n  @!%p not.b32 %a, %a;\n  cvt.u64.u32 %w, %a;\n  st.global.u64 "
          "[%out], %w;\n");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(r[lane], lane & 1 ? lane * 3 + 1000 : uint32_t(~(lane * 3))) << lane;
}

TEST(Divergence, carry_flags_belong_to_lanes) {
  // Lanes below 16 produce a carry in one branch, the others none in the other; both read it behind the join.
  const auto r =
      run("  setp.lt.u32 %p, %lane, 16;\n  mov.u32 %c, 0;\n"
          "  @%p bra LOW;\n  add.cc.u32 %a, %lane, 1;\n  addc.u32 %c, 0, 0;\n  bra JOIN;\n"
          "LOW:\n  add.cc.u32 %a, %lane, -1;\n  addc.u32 %c, 0, 0;\n"
          "JOIN:\n  cvt.u64.u32 %w, %c;\n  st.global.u64 [%out], %w;\n");
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(r[lane], lane != 0 && lane < 16 ? 1u : 0u) << lane;
}

TEST(Divergence, a_destination_may_be_every_source) {
  const auto r =
      run("  add.u32 %a, %lane, 7;\n  mad.lo.u32 %a, %a, %a, %a;\n  mul.wide.u32 %w, %a, %a;\n  add.u64 %w, "
          "%w, %w;\n"
          "  lop3.b32 %a, %a, %a, %a, 0x96;\n  cvt.u64.u32 %x, %a;\n  add.u64 %w, %w, %x;\n  st.global.u64 "
          "[%out], %w;\n");
  for (uint64_t lane = 0; lane < 32; ++lane) {
    const uint64_t a = (lane + 7) * (lane + 7) + lane + 7;
    EXPECT_EQ(r[lane], 2 * a * a + a) << lane;
  }
}

TEST(Divergence, comparisons_write_lanes_of_the_mask) {
  const auto r =
      run("  setp.gt.u32 %q, %lane, 100;\n  setp.lt.u32 %p, %lane, 8;\n  @%p setp.ne.u32 %q, %lane, 3;\n"
          "  selp.u32 %a, 1, 0, %q;\n  cvt.u64.u32 %w, %a;\n  st.global.u64 [%out], %w;\n");
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(r[lane], lane < 8 && lane != 3 ? 1u : 0u) << lane;
}

TEST(Divergence, transposing_twice_is_nothing) {
  const auto r =
      run("  mul.lo.u32 %a, %lane, 2654435761;\n  movmatrix.sync.aligned.m8n8.trans.b16 %b, %a;\n"
          "  movmatrix.sync.aligned.m8n8.trans.b16 %c, %b;\n  sub.u32 %c, %c, %a;\n  sub.u32 %b, %b, %a;\n"
          "  mov.b64 %w, {%c, %b};\n  st.global.u64 [%out], %w;\n");
  uint32_t moved = 0;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(r[lane] & 0xffffffffu, 0u) << lane;
    moved += (r[lane] >> 32) != 0;
  }
  EXPECT_GT(moved, 24u);
}

}  // namespace
}  // namespace sluice::machine
