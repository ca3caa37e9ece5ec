// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What a ring's statement implies: bytes, offsets, alignment, arrival counts, how many stages fit. Compared
// with numbers worked out by hand.
#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>

#include "sluice/ring.hpp"

namespace sluice {
namespace {

using Half = std::uint16_t;
using Tile128x64 = Tile<Half, 128, 64, Swizzle::B128>;
using Tile256x64 = Tile<Half, 256, 64, Swizzle::B128>;

// The lesson's ring: three stages of one tile, warp 0 produces, warps 1 to 3 consume.
using Lesson = Ring<Stage<Tile128x64>, 3, CopyEngine<Warps<0>>, Consumers<Warps<1, 3>>>;
static_assert(Lesson::kTransactionBytes == 16384);
static_assert(Lesson::kStageBytes == 16384);
static_assert(Lesson::kFullArrivals == 1);
static_assert(Lesson::kEmptyArrivals == 96);
static_assert(Lesson::kAlignment == 1024 && alignof(Lesson::SharedStorage) == 1024);
static_assert(sizeof(Lesson::Facts::Barriers) == 48);
static_assert(Lesson::kSharedBytes == 49280);
static_assert(offsetof(Lesson::SharedStorage, barriers) == 49152);
static_assert(Lesson::kMaxStages == 14);

// Two operands of a matrix product, two consumer warpgroups.
using Gemm = Ring<Stage<Tile128x64, Tile256x64>, 4, CopyEngine<Warps<0>>, Consumers<Warpgroups<1, 2>>>;
static_assert(Gemm::kTransactionBytes == 49152 && Gemm::kEmptyArrivals == 256 && Gemm::kMaxStages == 4);
static_assert(Gemm::Facts::kOffset<0> == 0 && Gemm::Facts::kOffset<1> == 16384);

// A small tile in front of a swizzled one leaves a gap, which is no copy's bytes.
using Mixed =
    Ring<Stage<Row<float, 4>, Tile128x64, Row<int, 8>>, 2, CopyEngine<Warps<4>>, Consumers<Warps<0, 4>>>;
static_assert(Mixed::Facts::kOffset<0> == 0 && Mixed::Facts::kOffset<1> == 1024 &&
              Mixed::Facts::kOffset<2> == 17408);
static_assert(Mixed::kTransactionBytes == 16 + 16384 + 32);
static_assert(Mixed::kStageBytes == 18432 && Mixed::kAlignment == 1024);
static_assert(Mixed::kEmptyArrivals == 128);

// Threads that produce arrive one by one.
using Gather = Ring<Stage<Tile<float, 32, 64>>, 3, CpAsync<Warps<0, 2>>, Consumers<Warps<2, 2>>>;
static_assert(Gather::kFullArrivals == 64 && Gather::kEmptyArrivals == 64 && Gather::kAlignment == 128);
using Convert =
    Ring<Stage<Tile128x64>, 2, Stores<Warps<8, 4>, ReadBy::AsyncProxy>, Consumers<Warpgroups<0, 2>>>;
static_assert(Convert::kFullArrivals == 128 && Convert::kEmptyArrivals == 256);

static_assert(Gather::Facts::kLateStages == 0 && Convert::Facts::kLateStages == 0);
template <int Stages>
using Paged =
    Ring<Stage<Tile128x64>, Stages, CpAsync<Warps<4, 4>, ReadBy::AsyncProxy>, Consumers<Warpgroups<0>>>;
static_assert(Paged<2>::Facts::kLateStages == 1 && Paged<3>::Facts::kLateStages == 1);
static_assert(Paged<6>::Facts::kLateStages == 2 && Paged<9>::Facts::kLateStages == 4);
static_assert(Paged<3>::kFullArrivals == 128);

// Groups that take turns: one of them gives a stage back.
using PingPong = Ring<Stage<Tile128x64>, 4, CopyEngine<Warps<0>>, TakingTurns<Warpgroups<1, 2>, 2>>;
static_assert(PingPong::kEmptyArrivals == 128);
static_assert(sizeof(PingPong::Facts::Barriers) == 64 + 16 && PingPong::kSharedBytes == 65536 + 128);

// Multicast: each consumer warp signals every CTA that refills its stages, once.
template <class Operand, class Cluster>
using Shared = Ring<Stage<Operand>, 3, CopyEngine<Warps<0>, Cluster>, Consumers<Warps<1, 3>>>;
using Row4 = Shared<Multicast<Tile128x64, Along::X>, ClusterShape<4>>;
static_assert(Row4::kEmptyArrivals == 4 * 3 && Row4::kTransactionBytes == 16384);
using Column2 = Shared<Multicast<Tile128x64, Along::Y>, ClusterShape<1, 2>>;
static_assert(Column2::kEmptyArrivals == 2 * 3);
using RowOfGrid = Shared<Multicast<Tile128x64, Along::X>, ClusterShape<2, 4>>;
static_assert(RowOfGrid::kEmptyArrivals == 2 * 3);
using All = Shared<Multicast<Tile128x64, Along::All>, ClusterShape<4, 4>>;
static_assert(All::kEmptyArrivals == 16 * 3);
// A cluster without multicast: every CTA keeps to itself.
using Alone = Shared<Tile128x64, ClusterShape<2, 2>>;
static_assert(Alone::kEmptyArrivals == 96);
using Both = Ring<Stage<Multicast<Tile128x64, Along::Y>, Multicast<Tile256x64, Along::X>>, 4,
                  CopyEngine<Warps<0>, ClusterShape<2, 4>>, Consumers<Warpgroups<1, 2>>>;
static_assert(Both::kEmptyArrivals == (2 + 4 - 1) * 8);

using Out = StoreRing<Stage<Tile<float, 64, 32, Swizzle::B128>>, 2, Warpgroups<1>>;
static_assert(Out::kSharedBytes == 16384 && Out::kMaxStages == 28 && alignof(Out::SharedStorage) == 1024);

// Roles are types of their own.
static_assert(!std::is_same_v<Lesson::Producer, Lesson::Consumer>);
static_assert(!std::is_same_v<Lesson::Consumer, PingPong::Consumer>);
static_assert(!std::is_copy_constructible_v<Lesson::Consumer> &&
              !std::is_copy_assignable_v<Lesson::Producer>);

template <class... Rings>
constexpr bool storage_holds_stages_and_barriers() {
  return ((sizeof(typename Rings::SharedStorage) >= static_cast<std::size_t>(Rings::kSharedBytes) - 127 &&
           sizeof(typename Rings::SharedStorage) % Rings::kAlignment == 0 &&
           offsetof(typename Rings::SharedStorage, barriers) % 8 == 0) &&
          ...);
}
static_assert(storage_holds_stages_and_barriers<Lesson, Gemm, Mixed, Gather, Convert, PingPong, Row4>());

// The statement above is checked by the compiler; these cases give it names in the list of tests.
TEST(RingFacts, largest_number_of_stages_is_what_fits) {
  EXPECT_LE(Lesson::kMaxStages * (Lesson::kStageBytes + 16), kMaxSharedBytes);
  EXPECT_GT((Lesson::kMaxStages + 1) * (Lesson::kStageBytes + 16), kMaxSharedBytes);
  using Full = Ring<Stage<Tile128x64>, Lesson::kMaxStages, CopyEngine<Warps<0>>, Consumers<Warps<1, 3>>>;
  EXPECT_LE(sizeof(Full::SharedStorage), static_cast<std::size_t>(kMaxSharedBytes));
}

TEST(RingFacts, warps_overlap_exactly_where_ranges_meet) {
  EXPECT_TRUE((detail::kWarpsOverlap<Warps<0, 4>, Warps<3, 2>>));
  EXPECT_FALSE((detail::kWarpsOverlap<Warps<0, 4>, Warps<4, 4>>));
  EXPECT_TRUE((detail::kWarpsOverlap<Warps<4, 8>, Warps<5>>));
  EXPECT_FALSE((detail::kWarpsOverlap<Warps<5>, Warps<0, 5>>));
}

}  // namespace
}  // namespace sluice
