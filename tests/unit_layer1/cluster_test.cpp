// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Cluster shapes of any type, and who signals whom when a stage is released.
#include <gtest/gtest.h>

#include <array>
#include <tuple>
#include <vector>

#include "sluice/pipeline/cluster_shape.hpp"
#include "sluice/pipeline/release_spread.hpp"

namespace sluice::detail {
namespace {

void expect_extent(ClusterExtent extent, uint32_t x, uint32_t y, uint32_t z, bool is_static) {
  EXPECT_EQ(extent.x, x);
  EXPECT_EQ(extent.y, y);
  EXPECT_EQ(extent.z, z);
  EXPECT_EQ(extent.is_static, is_static);
  EXPECT_EQ(extent.size(), x * y * z);
}

TEST(ClusterExtent, reads_shapes_of_any_type) {
  expect_extent(cluster_extent(ClusterShape<2, 4>{}), 2, 4, 1, true);
  expect_extent(cluster_extent(4), 4, 1, 1, false);
  expect_extent(cluster_extent(std::tuple<int, int>(2, 3)), 2, 3, 1, false);
  expect_extent(cluster_extent(std::array<int, 3>{1, 2, 3}), 1, 2, 3, false);
  using Two = std::integral_constant<int, 2>;
  using One = std::integral_constant<int, 1>;
  expect_extent(cluster_extent(std::tuple<Two, One, One>{}), 2, 1, 1, true);
  expect_extent(cluster_extent(std::tuple<Two, int, One>(Two{}, 3, One{})), 2, 3, 1, false);
  static_assert(cluster_extent(std::tuple<Two, Two>{}).size() == 4);
}

/// All shapes of up to 16 CTAs in two dimensions.
std::vector<ClusterExtent> shapes() {
  std::vector<ClusterExtent> result;
  for (uint32_t x = 1; x <= 16; ++x) {
    for (uint32_t y = 1; x * y <= 16; ++y) result.push_back({x, y, 1, true});
  }
  return result;
}

/// How often the threads of each group of `group` consumers signal each CTA, from the CTA at (x, y).
std::vector<uint32_t> signals(ClusterExtent extent, uint32_t x, uint32_t y, uint32_t first, uint32_t group) {
  std::vector<uint32_t> counts(kMaxClusterSize, 0);
  for (uint32_t thread = first; thread < first + group; ++thread) {
    ReleaseTarget const target = spread_release(thread, group);
    EXPECT_LT(target.cta, kMaxClusterSize);
    if (target.signals && shares_stage(target.cta, extent, x, y)) ++counts[target.cta];
  }
  return counts;
}

TEST(Release, signals_each_cta_of_the_row_and_column_once_per_group) {
  for (ClusterExtent const extent : shapes()) {
    for (uint32_t group : {kThreadsPerWarp, kThreadsPerWarpgroup}) {
      for (uint32_t first : {0u, group, 2 * group}) {
        for (uint32_t rank = 0; rank < extent.size(); ++rank) {
          uint32_t const x = rank % extent.x;
          uint32_t const y = rank / extent.x;
          std::vector<uint32_t> const counts = signals(extent, x, y, first, group);
          for (uint32_t cta = 0; cta < kMaxClusterSize; ++cta) {
            bool const needed = cta < extent.size() && (cta % extent.x == x || cta / extent.x == y);
            ASSERT_EQ(counts[cta], needed ? 1u : 0u)
                << extent.x << "x" << extent.y << " from " << rank << " to " << cta;
          }
        }
      }
    }
  }
}

TEST(Release, arrivals_equal_the_signals_that_a_cta_gets) {
  for (ClusterExtent const extent : shapes()) {
    if (extent.size() == 1) continue;
    for (uint32_t target = 0; target < extent.size(); ++target) {
      uint32_t got = 0;
      for (uint32_t rank = 0; rank < extent.size(); ++rank) {
        got += signals(extent, rank % extent.x, rank / extent.x, 0, kThreadsPerWarpgroup)[target];
      }
      ASSERT_EQ(got, release_arrivals(kThreadsPerWarpgroup, extent));
      ASSERT_EQ(2 * got, release_arrivals(2 * kThreadsPerWarpgroup, extent));
      ASSERT_EQ(got, release_arrivals(kThreadsPerWarp, extent));
    }
  }
}

TEST(Release, in_a_single_cta_every_consumer_arrives) {
  EXPECT_EQ(release_arrivals(96, ClusterExtent{}), 96u);
  EXPECT_EQ(release_arrivals(1, ClusterExtent{}), 1u);
}

TEST(Release, neighbouring_ranks_are_signalled_by_different_warps) {
  std::array<uint32_t, kMaxClusterSize> warp_of{};
  for (uint32_t thread = 0; thread < kThreadsPerWarpgroup; ++thread) {
    ReleaseTarget const target = spread_release(thread, kThreadsPerWarpgroup);
    if (target.signals) warp_of[target.cta] = thread / kThreadsPerWarp;
  }
  EXPECT_NE(warp_of[0], warp_of[1]);
  EXPECT_NE(warp_of[2], warp_of[3]);
  EXPECT_NE(warp_of[0], warp_of[4]);
}

TEST(Release, is_not_shared_by_odd_numbers_of_threads) {
  EXPECT_TRUE(is_spreadable(32));
  EXPECT_TRUE(is_spreadable(128));
  EXPECT_TRUE(is_spreadable(384));
  EXPECT_FALSE(is_spreadable(96));
  EXPECT_FALSE(is_spreadable(64));
  EXPECT_FALSE(is_spreadable(1));
}

}  // namespace
}  // namespace sluice::detail
