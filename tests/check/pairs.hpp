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

/// Whenever copies land.
inline void expect_told_apart(const Pair& pair) {
  for (const auto timing :
       {machine::CopyTiming::Early, machine::CopyTiming::Late, machine::CopyTiming::Shuffled}) {
    if (timing < pair.launch.options.timing) continue;
    Launch launch = pair.launch;
    launch.options.timing = timing;
    SCOPED_TRACE(static_cast<int>(timing));
    EXPECT_EQ(found(pair.wrong, launch, pair.prepare), pair.finding);
    EXPECT_EQ(found(pair.right, launch, pair.prepare), "");
  }
}

}  // namespace sluice::test
