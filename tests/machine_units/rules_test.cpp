// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Rules of the asynchronous units as a user meets them: what is refused, and whether the sentence says which
// number broke which rule. That an H200 stops the same programs with the same error is hardware_test.cpp's
// matter.
#include <gtest/gtest.h>

#include "machine/units/mbarrier.hpp"
#include "machine/units/tensor_rules.hpp"
#include "machine_core/harness.hpp"

namespace sluice::machine {
namespace {

/// One thread runs `body` with a barrier at hand.
LaunchResult run_on_barrier(const std::string& body) {
  test::Launch launch;
  launch.block = 1;
  return test::run(test::module_of(R"(
.visible .entry k()
{
.reg .b64 %state;
.shared .align 8 .b64 bar;
)" + body + "ret;\n}\n"),
                   "k", {}, launch);
}

TEST(BarrierRules, SayWhatIsWrong) {
  const struct {
    const char* body;
    const char* part;  ///< of the message
  } programs[] = {
      {"mbarrier.init.shared.b64 [bar], 1;\nmbarrier.arrive.shared.b64 _, [bar], 2;\n",
       "2 arrivals on an mbarrier whose phase misses 1 of 1"},
      {"mbarrier.init.shared.b64 [bar], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n"
       "mbarrier.arrive.shared.b64 _, [bar];\n",
       "1 arrival on an mbarrier whose phase misses 0 of 1 and waits for 64 bytes"},
      {"mbarrier.init.shared.b64 [bar], 1;\n"
       "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 1048575;\n"
       "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 32;\n",
       "the tx-count of an mbarrier is 1048575 and cannot expect 32 bytes more"},
      {"mbarrier.init.shared.b64 [bar], 1;\n"
       "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 1048575;\n"
       "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 1;\n",
       "the tx-count of an mbarrier is -1048575 and cannot complete 1 bytes more"},
      {"mbarrier.init.shared.b64 [bar], 1;\n"
       "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 1048576;\n",
       "cannot expect 1048576 bytes at once"},
  };
  for (const auto& program : programs) {
    const LaunchResult result = run_on_barrier(program.body);
    EXPECT_EQ(result.fault.kind, FaultKind::LaunchFailure) << program.part;
    EXPECT_NE(result.fault.message.find(program.part), std::string::npos) << result.fault.message;
  }
}

TEST(BarrierRules, HoldForEveryCountUpToTheMost) {
  for (const uint32_t count : {1u, 2u, 3u, 1024u, kMostArrivals - 1, kMostArrivals}) {
    const std::string init = "mbarrier.init.shared.b64 [bar], " + std::to_string(count) + ";\n";
    const auto arrive = [](uint32_t n) {
      return "mbarrier.arrive.shared.b64 _, [bar], " + std::to_string(n) + ";\n";
    };
    EXPECT_EQ(run_on_barrier(init + arrive(count) + arrive(count)).fault.kind, FaultKind::None) << count;
    EXPECT_EQ(run_on_barrier(init + arrive(count) + arrive(count + 1)).fault.kind, FaultKind::LaunchFailure)
        << count;
  }
}

/// A tiled 2-D tensor of 2-byte elements.
TensorBox box_at(int32_t x, int32_t y) {
  TensorBox box;
  box.map.type = TensorType::F16;
  box.map.rank = 2;
  box.map.dims = {40, 12};
  box.map.strides = {96};
  box.map.box = {16, 5};
  box.map.steps = {1, 1};
  box.start[0] = x;
  box.start[1] = y;
  return box;
}

TEST(TensorStart, OfARowLiesOnAChunk) {
  for (int32_t x = -16; x <= 48; ++x) {
    EXPECT_EQ(broken_start_rule(box_at(x, -3), false).empty(), x % 8 == 0) << x;
  }
  const std::string text = broken_start_rule(box_at(4, 0), false);
  EXPECT_NE(text.find("is 4, 8 bytes into the row"), std::string::npos) << text;
  TensorBox slices = box_at(3, 1);
  slices.map.interleave = 1;
  EXPECT_EQ(broken_start_rule(slices, false), "");
}

TEST(TensorStart, OfAStoreIsNotBeforeTheTensor) {
  for (const auto& [x, y] : std::vector<std::pair<int32_t, int32_t>>{{-8, 0}, {0, -1}, {8, -100}}) {
    EXPECT_EQ(broken_start_rule(box_at(x, y), false), "") << x << ", " << y;
    EXPECT_NE(broken_start_rule(box_at(x, y), true), "") << x << ", " << y;
  }
  EXPECT_EQ(broken_start_rule(box_at(1000, 1000), true), "");
}

TEST(TensorStart, OfAnIm2colCopyLiesInTheBoundingBox) {
  TensorBox box;
  box.map.im2col = true;
  box.map.type = TensorType::F16;
  box.map.rank = 4;
  box.map.dims = {16, 6, 5, 2};
  box.map.lower = {-1, 0};
  box.map.upper = {-2, 1};
  for (int32_t w = -3; w <= 8; ++w) {
    for (int32_t h = -3; h <= 8; ++h) {
      box.start[1] = w;
      box.start[2] = h;
      const bool inside = w >= -1 && w <= 3 && h >= 0 && h <= 5;
      EXPECT_EQ(broken_start_rule(box, false).empty(), inside) << w << ", " << h;
    }
  }
}

TEST(TensorStart, OfAnIm2colStoreNeedsABoundingBoxInTheTensor) {
  TensorBox box;
  box.map.im2col = true;
  box.map.type = TensorType::F16;
  box.map.rank = 3;
  box.map.dims = {16, 6, 2};
  box.start[1] = 2;
  for (const int32_t lower : {-1, 0, 1}) {
    for (const int32_t upper : {-1, 0, 1}) {
      box.map.lower = {lower};
      box.map.upper = {upper};
      EXPECT_EQ(broken_start_rule(box, false), "");
      EXPECT_EQ(broken_start_rule(box, true).empty(), lower >= 0 && upper <= 0) << lower << ", " << upper;
    }
  }
}

TEST(TensorReduction, HasTheFormsOfTheIsa) {
  const auto allowed = [](TensorType type, Reduction reduction) {
    return broken_reduction_rule(type, reduction).empty();
  };
  EXPECT_TRUE(allowed(TensorType::U64, Reduction::Add));
  EXPECT_FALSE(allowed(TensorType::S64, Reduction::Add));
  EXPECT_TRUE(allowed(TensorType::S64, Reduction::Max));
  EXPECT_FALSE(allowed(TensorType::U16, Reduction::Add));
  EXPECT_FALSE(allowed(TensorType::U64, Reduction::Inc));
  EXPECT_FALSE(allowed(TensorType::F32, Reduction::Min));
  EXPECT_TRUE(allowed(TensorType::U8, Reduction::None));
}

TEST(TensorShape, OfANarrowRowUnderASwizzle) {
  TensorBox box = box_at(0, 0);
  box.map.swizzle = 3;
  const TensorShape shape = shape_of(box.map);
  EXPECT_EQ(shape.row_bytes(), 32u);
  EXPECT_EQ(shape.pitch, 128u);
  EXPECT_EQ(shape.span(), 5u * 128);
}

TEST(TensorShape, OfSlicesTakesOneOfTheDimensionThatCountsThem) {
  TensorBox box = box_at(2, 1);
  box.map.interleave = 2;
  box.map.rank = 3;
  box.map.dims = {8, 4, 3};
  box.map.strides = {512, 2048};
  box.map.box = {5, 16, 2};
  box.map.steps = {2, 1, 1};
  const TensorShape shape = shape_of(box.map);
  EXPECT_EQ(shape.rows, 3u * 2);
  EXPECT_EQ(shape.row_bytes(), 32u);
  TensorWalk walk(box, shape, 0);
  for (const uint64_t address : {512 + 2 * 32, 512 + 4 * 32, 512 + 6 * 32, 2560 + 2 * 32, 2560 + 4 * 32}) {
    EXPECT_EQ(walk.row().address, address);
    EXPECT_EQ(walk.row().count, 1u);
    walk.next();
  }
}

}  // namespace
}  // namespace sluice::machine
