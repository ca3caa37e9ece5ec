// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Multicast in clusters, on every rank: the shares of a tile cover it once in each CTA, and a consumer
// signals exactly the CTAs whose copies land in its own CTA, each once.
#include <gtest/gtest.h>
#include <cstdint>
#include <map>
#include <set>

#include "sluice/ring.hpp"

namespace sluice {
namespace {

using Halves = Tile<std::uint16_t, 128, 64, Swizzle::B128>;

template <class Cluster_, class... Operands>
struct Setting {
  using Facts =
      typename Ring<Stage<Operands...>, 2, CopyEngine<Warps<0>, Cluster_>, Consumers<Warps<1, 3>>>::Facts;

  /// The CTAs that the CTA of rank `rank` sends to, over all operands, itself included.
  static std::set<uint32_t> receivers(uint32_t rank) {
    std::set<uint32_t> ranks{rank};
    (add<Operands>(rank, ranks), ...);
    return ranks;
  }

 private:
  template <class Operand>
  static void add(uint32_t rank, std::set<uint32_t>& ranks) {
    using Traits = detail::OperandTraits<Operand>;
    if constexpr (Traits::kMulticast) {
      const uint16_t mask = detail::multicast_place<Facts, Traits::kAlong>(rank).mask;
      for (uint32_t i = 0; i < 16; ++i) {
        if (mask >> i & 1) ranks.insert(i);
      }
    }
  }
};

using AlongX = Multicast<Halves, Along::X>;
using AlongY = Multicast<Halves, Along::Y>;
using ToAll = Multicast<Halves, Along::All>;

template <class T>
class RingMulticast : public testing::Test {};
using Settings =
    testing::Types<Setting<ClusterShape<2>, AlongX>, Setting<ClusterShape<4>, AlongX>,
                   Setting<ClusterShape<16>, AlongX>, Setting<ClusterShape<1, 2>, AlongY>,
                   Setting<ClusterShape<1, 4>, ToAll>, Setting<ClusterShape<2, 2>, AlongX, AlongY>,
                   Setting<ClusterShape<2, 2>, AlongX, Halves>, Setting<ClusterShape<2, 4>, AlongY, AlongX>,
                   Setting<ClusterShape<4, 2>, AlongY, AlongX>, Setting<ClusterShape<4, 4>, AlongX, AlongY>,
                   Setting<ClusterShape<4, 4>, AlongX, AlongY, ToAll>, Setting<ClusterShape<4, 4>, AlongY>,
                   Setting<ClusterShape<2, 8>, AlongX, AlongY>, Setting<ClusterShape<4, 4>, ToAll>>;
TYPED_TEST_SUITE(RingMulticast, Settings);

TYPED_TEST(RingMulticast, consumers_signal_each_refilling_cta_once) {
  using Facts = typename TypeParam::Facts;
  for (uint32_t rank = 0; rank < Facts::Extent::kSize; ++rank) {
    std::set<uint32_t> expected;
    for (uint32_t producer = 0; producer < Facts::Extent::kSize; ++producer) {
      if (TypeParam::receivers(producer).count(rank)) expected.insert(producer);
    }
    std::multiset<uint32_t> signalled;
    for (uint32_t lane = 0; lane < Facts::kTargets; ++lane) {
      signalled.insert(detail::refilling_cta<Facts>(rank, lane));
    }
    EXPECT_EQ(signalled, std::multiset<uint32_t>(expected.begin(), expected.end())) << "rank " << rank;
  }
}

TYPED_TEST(RingMulticast, empty_barriers_count_every_signal_that_reaches_them) {
  using Facts = typename TypeParam::Facts;
  std::map<uint32_t, int> arrivals;
  for (uint32_t rank = 0; rank < Facts::Extent::kSize; ++rank) {
    for (uint32_t lane = 0; lane < Facts::kTargets; ++lane)
      ++arrivals[detail::refilling_cta<Facts>(rank, lane)];
  }
  constexpr int kConsumerWarps = 3;
  for (uint32_t rank = 0; rank < Facts::Extent::kSize; ++rank) {
    EXPECT_EQ(arrivals[rank] * kConsumerWarps, Facts::kEmptyArrivals) << "rank " << rank;
  }
}

template <class Facts, Along kAlong>
void expect_shares_cover_the_tile() {
  constexpr int kShares = detail::multicast_ctas<typename Facts::Cluster>(kAlong);
  for (uint32_t rank = 0; rank < Facts::Extent::kSize; ++rank) {
    std::multiset<uint32_t> landed;
    for (uint32_t sender = 0; sender < Facts::Extent::kSize; ++sender) {
      const auto place = detail::multicast_place<Facts, kAlong>(sender);
      EXPECT_TRUE(place.mask >> sender & 1);
      if (place.mask >> rank & 1) landed.insert(place.share);
    }
    std::multiset<uint32_t> once;
    for (int share = 0; share < kShares; ++share) once.insert(static_cast<uint32_t>(share));
    EXPECT_EQ(landed, once) << "rank " << rank;
  }
}

TYPED_TEST(RingMulticast, shares_cover_a_tile_once_in_each_cta) {
  using Facts = typename TypeParam::Facts;
  expect_shares_cover_the_tile<Facts, Along::X>();
  expect_shares_cover_the_tile<Facts, Along::Y>();
  expect_shares_cover_the_tile<Facts, Along::All>();
}

}  // namespace
}  // namespace sluice
