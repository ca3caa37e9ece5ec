// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The library's rules for tensor maps against a driver's answers.
#include "unit_host/tensor_map_answers.hpp"

namespace sluice::test {
namespace {

TEST(TensorMapAnswers, TheRulesAnswerAsTheDriver) {
  expect_driver_answers([](const TensorMapSpec& spec) {
    using host::TensorMapRule;
    const host::TensorMapError error = host::check(spec);
    // What the driver does not ask for: such a description says nothing about the rules.
    if (error.rule == TensorMapRule::AddressPresent || error.rule == TensorMapRule::SwizzleForInterleave)
      return std::string();
    return error ? std::string(host::name_of(error.rule)) + ": " + error.text : std::string();
  });
}

}  // namespace
}  // namespace sluice::test
