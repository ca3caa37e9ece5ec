// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The experiments of all_cases.hpp on the engine, against what an H200 wrote for them (data/units.txt,
// recorded by tools/record/units.cu). Experiments without an answer yet run in Timing alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "all_cases.hpp"
#include "engine_runner.hpp"
#include "recording.hpp"

namespace sluice::hardware {
namespace {

/// What a GPU answered to a case: its status and its outputs, or a word that says why there are none.
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

/// `bytes` is what the engine has; both texts are condensed.
std::string first_difference(const Bytes& bytes, const std::string& ours, const std::string& theirs) {
  const auto at = static_cast<size_t>(
      std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end()).first - ours.begin());
  if (bytes.size() > kMostVerbatim)
    return "in the 1024 bytes from " + std::to_string(at / 17 * kRecordedBlock) + " on";
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
  ASSERT_FALSE(recording.empty()) << "no recording of an H200 in " SLUICE_UNITS_DATA;
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
      const std::string ours = condensed(c, i, outcome.outputs[i]);
      EXPECT_TRUE(ours == gpu[i + 1])
          << c.name << ": " << first_difference(outcome.outputs[i], ours, gpu[i + 1]);
    }
  }
  EXPECT_GT(compared, 0);
}

TEST(RecordingOfAnH200, HoldsOnlyKnownExperiments) {
  auto recording = read_recording();
  for (const Case& c : all_cases()) recording.erase(c.name);
  for (const auto& line : recording) ADD_FAILURE() << line.first << " is recorded, but is no experiment";
}

INSTANTIATE_TEST_SUITE_P(H200, Recording,
                         testing::Values("mbarrier", "mbarrier_limits", "bulk_copy", "bulk_limits",
                                         "bulk_reduce", "bulk_reduce_shared", "tensor_load", "tensor_store",
                                         "tensor_limits", "wgmma", "tensormap_replace", "remote"),
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
