// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// PipelineState against a model that only knows how to take one step.
#include "sluice/pipeline/state.hpp"

#include <gtest/gtest.h>

#include <random>
#include <type_traits>

namespace sluice {
namespace {

/// The definition: a step goes to the next stage, and the phase bit flips on coming back to stage 0.
struct Model {
  uint32_t stages;
  uint32_t index = 0;
  uint32_t phase = 0;
  uint32_t count = 0;

  void step() {
    ++count;
    ++index;
    if (index == stages) {
      index = 0;
      phase = 1 - phase;
    }
  }
};

template <class Stages>
class PipelineStateOf : public testing::Test {
 public:
  static constexpr uint32_t kStages = Stages::value;

  static void expect_equal(PipelineState<kStages> state, Model const& model) {
    ASSERT_EQ(static_cast<uint32_t>(state.index()), model.index);
    ASSERT_EQ(state.phase(), model.phase);
    ASSERT_EQ(state.count(), model.count);
  }

  /// Takes `steps` single steps, leaving out whole pairs of rounds, which change nothing but the count.
  static void walk(Model& model, uint32_t steps) {
    uint32_t const count = model.count + steps;
    for (uint32_t i = 0; i < steps % (2 * kStages); ++i) model.step();
    model.count = count;
  }
};

template <uint32_t Value>
using Stages = std::integral_constant<uint32_t, Value>;
using OneToSixteen = testing::Types<Stages<1>, Stages<2>, Stages<3>, Stages<4>, Stages<5>, Stages<6>,
                                    Stages<7>, Stages<8>, Stages<9>, Stages<10>, Stages<11>, Stages<12>,
                                    Stages<13>, Stages<14>, Stages<15>, Stages<16>>;
TYPED_TEST_SUITE(PipelineStateOf, OneToSixteen);

TYPED_TEST(PipelineStateOf, increment_follows_the_model) {
  PipelineState<TestFixture::kStages> state;
  Model model{TestFixture::kStages};
  for (int i = 0; i < 1000; ++i) {
    TestFixture::expect_equal(state, model);
    ++state;
    model.step();
  }
}

TYPED_TEST(PipelineStateOf, advance_from_every_position_equals_single_steps) {
  constexpr uint32_t kStages = TestFixture::kStages;
  for (uint32_t start = 0; start < 2 * kStages; ++start) {
    Model model{kStages};
    for (uint32_t i = 0; i < start; ++i) model.step();
    PipelineState<kStages> const origin(static_cast<int>(model.index), model.phase, model.count);
    for (uint32_t steps = 0; steps <= 6 * kStages; ++steps) {
      PipelineState<kStages> state = origin;
      state.advance(steps);
      TestFixture::expect_equal(state, model);
      TestFixture::expect_equal(PipelineState<kStages>::make_pipeline_state(origin, steps), model);
      model.step();
    }
  }
}

TYPED_TEST(PipelineStateOf, random_advances_follow_the_model) {
  constexpr uint32_t kStages = TestFixture::kStages;
  std::mt19937 random(kStages);
  PipelineState<kStages> state = make_producer_start_state<PipelineState<kStages>>();
  Model model{kStages, 0, 1, 0};
  for (int i = 0; i < 20000; ++i) {
    // Small steps, steps about a round, and any 32-bit number.
    uint32_t const steps = i % 3 == 0 ? random() % 4 : i % 3 == 1 ? random() % (3 * kStages) : random();
    if (i % 2 == 0) {
      state += steps;
    } else {
      state.advance(steps);
    }
    TestFixture::walk(model, steps);
    TestFixture::expect_equal(state, model);
  }
}

TEST(PipelineState, producer_starts_at_stage_0_phase_1) {
  auto const state = make_producer_start_state<PipelineState<5>>();
  EXPECT_EQ(state.index(), 0);
  EXPECT_EQ(state.phase(), 1u);
  EXPECT_EQ(state.count(), 0u);
}

TEST(PipelineState, consumer_starts_at_stage_0_phase_0) {
  PipelineState<5> const state;
  EXPECT_EQ(state.index(), 0);
  EXPECT_EQ(state.phase(), 0u);
  EXPECT_EQ(state.count(), 0u);
}

TEST(PipelineState, with_no_stages_never_moves) {
  PipelineState<0> state;
  ++state;
  state += 7;
  state.advance(3);
  state = PipelineState<0>::make_pipeline_state(state, 9);
  EXPECT_EQ(state.index(), 0);
  EXPECT_EQ(state.phase(), 0u);
  EXPECT_EQ(state.count(), 0u);
}

TEST(PipelineState, is_three_numbers) {
  static_assert(sizeof(PipelineState<4>) == 12);
  static_assert(std::is_trivially_copyable_v<PipelineState<4>>);
  static_assert(PipelineState<4>::Stages == 4);
}

}  // namespace
}  // namespace sluice
