// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// collect_accesses against what the ISA says of instructions with unusual operands.
#include <algorithm>

#include "lowering.hpp"

namespace sluice::program::test {
namespace {

/// "r:%a %b w:%c", each list sorted, of the first instruction of the body.
std::string accesses_of(const std::string& statement) {
  const Lowered lowered = lower_body(statement + "\nret;\n");
  std::vector<Access> accesses;
  collect_accesses(lowered.function, lowered.function.code.at(0), accesses);
  const auto list = [&](bool Access::*member) {
    std::vector<std::string> names;
    for (const Access& access : accesses) {
      if (access.*member) names.push_back(lowered.function.regs[access.reg].name);
    }
    std::sort(names.begin(), names.end());
    std::string text;
    for (const std::string& name : names) text += " " + name;
    return text;
  };
  return "r:" + list(&Access::reads) + " w:" + list(&Access::writes);
}

TEST(Accesses, PlainResult) {
  EXPECT_EQ(accesses_of("add.s32 %r1, %r2, %r3;"), "r: %r2 %r3 w: %r1");
}

TEST(Accesses, GuardIsRead) {
  EXPECT_EQ(accesses_of("@!%p1 mov.b32 %r1, %r2;"), "r: %p1 %r2 w: %r1");
}

TEST(Accesses, BothPartsOfAPair) {
  EXPECT_EQ(accesses_of("setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;"), "r: %p3 %r1 %r2 w: %p1 %p2");
  EXPECT_EQ(accesses_of("elect.sync %r1|%p1, %r2;"), "r: %r2 w: %p1 %r1");
  EXPECT_EQ(accesses_of("shfl.sync.idx.b32 %r1|%p1, %r2, %r3, 31, -1;"), "r: %r2 %r3 w: %p1 %r1");
}

TEST(Accesses, AddressesAreReadWhereverTheyStand) {
  EXPECT_EQ(accesses_of("ld.global.b32 %r1, [%rd1+4];"), "r: %rd1 w: %r1");
  EXPECT_EQ(accesses_of("st.global.v2.b32 [%rd1], {%r1, %r2};"), "r: %r1 %r2 %rd1 w:");
  EXPECT_EQ(accesses_of("atom.global.add.u32 %r1, [%rd1], %r2;"), "r: %r2 %rd1 w: %r1");
  EXPECT_EQ(accesses_of("red.global.add.u32 [%rd1], %r2;"), "r: %r2 %rd1 w:");
}

TEST(Accesses, ResultThatMayBeLeftOut) {
  EXPECT_EQ(accesses_of("mbarrier.arrive.shared.b64 %rd1, [tile], %r1;"), "r: %r1 w: %rd1");
  EXPECT_EQ(accesses_of("mbarrier.arrive.shared::cluster.b64 _, [%r1], %r2;"), "r: %r1 %r2 w:");
}

TEST(Accesses, CopiesWriteNoRegister) {
  EXPECT_EQ(accesses_of("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                        "[%r1], [%rd1, {%r2, %r3}], [%r4];"),
            "r: %r1 %r2 %r3 %r4 %rd1 w:");
  EXPECT_EQ(accesses_of("cp.async.ca.shared.global [%r1], [%rd1], 4, %r2;"), "r: %r1 %r2 %rd1 w:");
}

TEST(Accesses, AccumulatorsAreReadAndWritten) {
  EXPECT_EQ(
      accesses_of("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, "
                  "1, 1, 0, 0;"),
      "r: %f1 %f2 %f3 %f4 %p1 %rd1 %rd2 w: %f1 %f2 %f3 %f4");
}

TEST(Accesses, ControlAndBarriersOnlyRead) {
  EXPECT_EQ(accesses_of("barrier.sync %r1, %r2;"), "r: %r1 %r2 w:");
  EXPECT_EQ(accesses_of("barrier.red.popc.u32 %r1, 0, %r2, %p1;"), "r: %p1 %r2 w: %r1");
  EXPECT_EQ(accesses_of("nanosleep.u32 %r1;"), "r: %r1 w:");
}

}  // namespace
}  // namespace sluice::program::test
