// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Findings about the operands of copies: alignment, sizes, tensor maps.
#include "check/pairs.hpp"
#include "machine/tensor_map.hpp"

namespace {

using namespace sluice;
using namespace sluice::test;

class CopyRules : public testing::TestWithParam<Pair> {};

TEST_P(CopyRules, FindsTheMistakeAndNotItsTwin) {
  expect_told_apart(GetParam());
}

/// Writes a map to `in`: rows of 32 words in `out`, boxes of `rows` of them, 128-byte swizzle.
Prepare swizzled_map(uint32_t rows) {
  return [rows](uint32_t* out, uint32_t* in) {
    machine::TensorMapInfo map;
    map.type = machine::TensorType::U32;
    map.rank = 2;
    map.swizzle = 3;
    map.address = reinterpret_cast<uint64_t>(out);
    map.dims = {32, 32};
    map.strides = {128};
    map.box = {32, rows};
    map.steps = {1, 1};
    const auto words = machine::encode_tensor_map(map);
    ASSERT_TRUE(words) << words.error().text();
    std::memcpy(in, words->data(), sizeof *words);
  };
}

std::string tensor_copy(int offset) {
  return "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r3+" +
         std::to_string(offset) + "], [%rd2, {%r4, %r5}], [%r2];\n";
}

/// One thread fetches boxes of `bytes` to these offsets; then `read`.
std::string fetch(std::initializer_list<int> offsets, int bytes, const std::string& read) {
  std::string copies;
  for (const int offset : offsets) copies += tensor_copy(offset);
  return "mov.u32 %r4, 0;\n mov.u32 %r5, 0;\n" + only(0, init(0, 1)) + kSync +
         only(0, expect(0, bytes * static_cast<int>(offsets.size())) + copies) + wait(0, 0) + read;
}

std::vector<Pair> pairs() {
  const std::string start = only(0, init(0, 1));
  const std::string bulk = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ";
  const auto bulk_copy = [&](const std::string& operands) {
    return start + only(0, expect(0, 256) + bulk + operands + wait(0, 0));
  };
  const std::string read = "ld.shared.u32 %r10, [%r3+1088];\n";
  return {
      {"bulk_size_of_odd_words", "tma-misaligned",
       start + only(0, expect(0, 264) + copy(0, 264) + wait(0, 0)),
       start + only(0, expect(0, 272) + copy(0, 272) + wait(0, 0))},
      {"bulk_store_of_odd_words", "tma-misaligned", only(0, store_tile(260)), only(0, store_tile(256))},
      {"bulk_source_off_16", "tma-misaligned", bulk_copy("[%r3], [%rd2+8], 256, [%r2];\n"),
       bulk_copy("[%r3], [%rd2+16], 256, [%r2];\n")},
      {"bulk_target_off_16", "tma-misaligned", bulk_copy("[%r3+8], [%rd2], 256, [%r2];\n"),
       bulk_copy("[%r3+16], [%rd2], 256, [%r2];\n")},
      {"tensor_target_off_128",
       "tma-misaligned",
       fetch({64}, 1024, ""),
       fetch({1024}, 1024, ""),
       {},
       swizzled_map(8)},
      {"swizzled_tile_off_its_pattern",
       "tma-misaligned",
       fetch({128}, 1024, read),
       fetch({1024}, 1024, read),
       {},
       swizzled_map(8)},
      {"half_a_pattern_without_the_other",
       "tma-misaligned",
       fetch({1024 + 512}, 512, "ld.shared.u32 %r10, [%r3+1600];"),
       fetch({1024, 1024 + 512}, 512, "ld.shared.u32 %r10, [%r3+1600];"),
       {},
       swizzled_map(4)},
  };
}

INSTANTIATE_TEST_SUITE_P(Pairs, CopyRules, testing::ValuesIn(pairs()), name_of);

TEST(copy_rules, map_that_device_code_has_changed) {
  // One thread writes a word of the map (what it was) and fetches through it.
  const std::string change = only(0, "ld.global.u32 %r10, [%rd2+4];\n st.global.u32 [%rd2+4], %r10;\n");
  const std::string fence = "fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;\n";
  const std::string use = fetch({1024}, 1024, "");
  EXPECT_EQ(found(change + kSync + use, {}, swizzled_map(8)), "tensor-map-misplaced");
  EXPECT_EQ(found(fence + change + kSync + use, {}, swizzled_map(8)), "tensor-map-misplaced");
  EXPECT_EQ(found(change + kSync + fence + use, {}, swizzled_map(8)), "");
  EXPECT_EQ(found(use, {}, swizzled_map(8)), "");
  // Another warp fences for the issuer, which then meets it, or does not.
  const Launch two{.block = 64};
  EXPECT_EQ(found(change + kSync + warp(1, fence) + kSync + use, two, swizzled_map(8)), "");
  EXPECT_EQ(found(change + kSync + use + warp(1, fence), two, swizzled_map(8)), "tensor-map-misplaced");
  EXPECT_EQ(found(warp(1, fence) + change + kSync + use, two, swizzled_map(8)), "tensor-map-misplaced");
}

TEST(copy_rules, swizzled_tile_that_no_thread_reads_is_silent) {
  EXPECT_EQ(found(fetch({128}, 1024, ""), {}, swizzled_map(8)), "");
}

TEST(copy_rules, a_tile_off_its_pattern_is_a_warning) {
  const auto told = test::check(fetch({128}, 1024, "ld.shared.u32 %r10, [%r3+1024];"), {}, swizzled_map(8));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].level, report::Level::Warning);
}

}  // namespace
