// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A mistake and its twin: two kernels that look alike, of which the checker must name one and pass the other.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "check/kernels.hpp"

namespace sluice::test {

struct Pair {
  const char* name;
  const char* finding;
  std::string wrong, right;
  Launch launch = {};
  Prepare prepare = nullptr;
};

inline void PrintTo(const Pair& pair, std::ostream* out) {
  *out << pair.name;
}

inline std::string name_of(const testing::TestParamInfo<Pair>& info) {
  return info.param.name;
}

inline void expect_told_apart(const Pair& pair) {
  EXPECT_EQ(found(pair.wrong, pair.launch, pair.prepare), pair.finding);
  EXPECT_EQ(found(pair.right, pair.launch, pair.prepare), "");
}

}  // namespace sluice::test
