// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What tokens can be made of and compared with.
#include "sluice/pipeline/token.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace sluice {
namespace {

TEST(Token, equals_its_status_on_both_sides) {
  ConsumerToken const done = BarrierStatus::WaitDone;
  ProducerToken const again{BarrierStatus::WaitAgain};
  EXPECT_TRUE(done == BarrierStatus::WaitDone);
  EXPECT_TRUE(BarrierStatus::WaitDone == done);
  EXPECT_FALSE(done != BarrierStatus::WaitDone);
  EXPECT_FALSE(BarrierStatus::WaitDone != done);
  EXPECT_TRUE(again != BarrierStatus::WaitDone);
  EXPECT_TRUE(BarrierStatus::WaitDone != again);
  EXPECT_FALSE(again == BarrierStatus::WaitDone);
  EXPECT_EQ(done.get(), BarrierStatus::WaitDone);
  EXPECT_EQ(again.get(), BarrierStatus::WaitAgain);
}

TEST(Token, equals_a_token_of_equal_status) {
  ConsumerToken const one{BarrierStatus::WaitDone};
  ConsumerToken const same{BarrierStatus::WaitDone};
  ConsumerToken const other{BarrierStatus::WaitAgain};
  EXPECT_TRUE(one == same);
  EXPECT_FALSE(one == other);
}

TEST(Token, exists_only_after_asking) {
  static_assert(!std::is_default_constructible_v<ArrivalToken>);
  static_assert(!std::is_default_constructible_v<ProducerToken>);
  static_assert(!std::is_default_constructible_v<ConsumerToken>);
}

TEST(Token, of_a_producer_is_not_one_of_a_consumer) {
  static_assert(!std::is_convertible_v<ProducerToken, ConsumerToken>);
  static_assert(!std::is_convertible_v<ConsumerToken, ProducerToken>);
  static_assert(std::is_convertible_v<BarrierStatus, ConsumerToken>);
}

TEST(Token, status_is_a_wait_result_as_a_number) {
  static_assert(static_cast<BarrierStatus>(true) == BarrierStatus::WaitDone);
  static_assert(static_cast<BarrierStatus>(false) == BarrierStatus::WaitAgain);
}

}  // namespace
}  // namespace sluice
