// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The experiments of all_cases.hpp on the engine, against what an H200 wrote for them (data/units.txt,
// recorded by tools/record/units.cu). Without the recording the comparison is skipped and says so.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "all_cases.hpp"
#include "engine_runner.hpp"

namespace sluice::hardware {
namespace {

/// What a GPU answered to a case: outputs as hex, or a word that says why there are none.
std::map<std::string, std::vector<std::string>> read_recording() {
  std::map<std::string, std::vector<std::string>> recording;
  std::ifstream file(SLUICE_UNITS_DATA "/units.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    for (std::string word; words >> word;) recording[name].push_back(word);
  }
  return recording;
}

std::string hex(const Bytes& bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::string first_difference(const std::string& ours, const std::string& theirs) {
  const auto at = static_cast<size_t>(
      std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end()).first - ours.begin());
  const size_t from = at / 16 * 16;
  return "byte " + std::to_string(at / 2) + ": engine ..." + ours.substr(from, 48) + " H200 ..." +
         theirs.substr(from, 48);
}

/// What the runtime of a GPU would have answered after the launch (cudaError_t).
int error_after(machine::FaultKind kind) {
  using machine::FaultKind;
  switch (kind) {
    case FaultKind::None:
      return 0;
    case FaultKind::IllegalAddress:
      return 700;
    case FaultKind::IllegalInstruction:
      return 715;
    case FaultKind::MisalignedAddress:
      return 716;
    case FaultKind::InvalidAddressSpace:
      return 717;
    case FaultKind::LaunchFailure:
      return 719;
    default:
      return -1;
  }
}

class Recording : public testing::TestWithParam<std::string> {};

TEST_P(Recording, IsReproduced) {
  static const auto recording = read_recording();
  if (recording.empty()) GTEST_SKIP() << "no recording of an H200 in " SLUICE_UNITS_DATA;
  static const std::vector<Case> cases = all_cases();
  int compared = 0;
  for (const Case& c : cases) {
    if (c.name.substr(0, c.name.find('/')) != GetParam()) continue;
    const auto found = recording.find(c.name);
    if (found == recording.end()) continue;
    const Outcome outcome = run_on_engine(c);
    const std::vector<std::string>& gpu = found->second;
    ++compared;
    if (gpu[0] == "map_refused") {
      EXPECT_FALSE(outcome.refused.empty()) << c.name << ": the driver refuses the tensor map";
      continue;
    }
    ASSERT_TRUE(outcome.refused.empty()) << c.name << ": " << outcome.refused;
    EXPECT_EQ("status=0," + std::to_string(error_after(outcome.result.fault.kind)), gpu[0])
        << c.name << ": " << outcome.result.fault.message;
    if (gpu[0] != "status=0,0" || outcome.result.fault.kind != machine::FaultKind::None) continue;
    ASSERT_EQ(outcome.outputs.size() + 1, gpu.size()) << c.name;
    for (size_t i = 0; i < outcome.outputs.size(); ++i) {
      std::string ours = hex(outcome.outputs[i]);
      std::string theirs = gpu[i + 1];
      ASSERT_EQ(ours.size(), theirs.size()) << c.name;
      for (const auto& [first, count] : i == 0 ? c.undefined : decltype(c.undefined){}) {
        std::fill_n(ours.begin() + first * 2, count * 2, '?');
        std::fill_n(theirs.begin() + first * 2, count * 2, '?');
      }
      EXPECT_TRUE(ours == theirs) << c.name << ": " << first_difference(ours, theirs);
    }
  }
  EXPECT_GT(compared, 0);
}

INSTANTIATE_TEST_SUITE_P(H200, Recording,
                         testing::Values("mbarrier", "mbarrier_limits", "bulk_copy", "bulk_limits",
                                         "bulk_reduce", "bulk_reduce_shared", "tensor_load", "tensor_store",
                                         "tensor_limits", "wgmma", "tensormap_replace"),
                         [](const auto& info) { return info.param; });

/// Landing copies late, in pieces or at random changes no result of a program that waits for them.
TEST(Timing, DoesNotChangeResults) {
  for (const Case& c : all_cases()) {
    const Outcome early = run_on_engine(c);
    if (!early.refused.empty()) continue;
    for (const auto timing : {machine::CopyTiming::Late, machine::CopyTiming::Shuffled}) {
      machine::LaunchOptions options;
      options.timing = timing;
      options.seed = 7;
      const Outcome other = run_on_engine(c, options);
      ASSERT_EQ(other.result.fault.kind, early.result.fault.kind)
          << c.name << ": " << early.result.fault.message << " / " << other.result.fault.message;
      if (early.result.fault.kind != machine::FaultKind::None) continue;
      EXPECT_EQ(early.outputs, other.outputs) << c.name;
    }
  }
}

}  // namespace
}  // namespace sluice::hardware
