// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The data in device memory, and launches that take turns while their times are taken. Host.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

#include "../support/device.hpp"
#include "stream.hpp"

namespace stream {

constexpr const char* kProgram = "stream";
constexpr std::uint64_t kBytesPerGib = 1ull << 30;

inline void check(cudaError_t status, const char* step) {
  example::check(kProgram, status, step);
}

/// Data in device memory, with its sum as the device added it up while it wrote.
class Data {
 public:
  explicit Data(std::uint64_t bytes) {
    const cudaError_t status = cudaMalloc(&pieces_, bytes);
    if (status == cudaErrorMemoryAllocation) {
      example::fail(kProgram, "the device has not enough free memory for %.2f GiB: use a smaller --gib",
                    static_cast<double>(bytes) / kBytesPerGib);
    }
    check(status, "cudaMalloc");
    example::DeviceArray<unsigned long long> sum(kProgram, 1);
    check(launch_fill(pieces_, bytes / sizeof(Piece), sum.data()),
          "launch of the kernel that makes the data");
    check(cudaDeviceSynchronize(), "making the data");
    sum_ = static_cast<Sum>(sum.read()[0]);
  }
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;
  ~Data() { cudaFree(pieces_); }

  const Piece* pieces() const { return pieces_; }
  Sum sum() const { return sum_; }

 private:
  Piece* pieces_ = nullptr;
  Sum sum_ = 0;
};

/// One of those that take turns: how it is launched, its times in milliseconds, and how often a sum was
/// wrong.
struct Contestant {
  const char* name;
  int ctas;
  std::function<cudaError_t(const Job&, int ctas)> launch;
  std::function<void()> prepare = [] {};  ///< before each launch, outside its time
  std::vector<float> times{};
  int wrong_sums = 0;

  double median() {
    std::sort(times.begin(), times.end());
    const std::size_t middle = times.size() / 2;
    return times.size() % 2 == 1 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
  }
};

inline void run_once(Contestant& contestant, const Job& job, const example::DeviceArray<Sum>& sums,
                     Sum expected, cudaEvent_t start, cudaEvent_t stop, bool counts) {
  contestant.prepare();
  check(cudaEventRecord(start), "cudaEventRecord");
  check(contestant.launch(job, contestant.ctas), contestant.name);
  check(cudaEventRecord(stop), "cudaEventRecord");
  check(cudaEventSynchronize(stop), contestant.name);
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start, stop), "cudaEventElapsedTime");
  if (counts) contestant.times.push_back(milliseconds);

  const std::vector<Sum> seen = sums.read();
  Sum total = 0;
  for (int cta = 0; cta < contestant.ctas; ++cta) total += seen[static_cast<std::size_t>(cta)];
  contestant.wrong_sums += total != expected;
}

/// All contestants in turn, each round beginning with another one, so that none always follows the same
/// neighbour. The first rounds only warm up.
inline void take_turns(std::vector<Contestant>& contestants, const Data& data, std::uint32_t tiles,
                       std::size_t most_ctas, int rounds) {
  constexpr int kWarmUpRounds = 3;
  const example::DeviceArray<Sum> sums(kProgram, most_ctas);
  const Job job{data.pieces(), tiles, sums.data()};
  cudaEvent_t start = nullptr;
  cudaEvent_t stop = nullptr;
  check(cudaEventCreate(&start), "cudaEventCreate");
  check(cudaEventCreate(&stop), "cudaEventCreate");
  for (int round = 0; round < kWarmUpRounds + rounds; ++round) {
    for (std::size_t turn = 0; turn < contestants.size(); ++turn) {
      const std::size_t who = (turn + static_cast<std::size_t>(round)) % contestants.size();
      run_once(contestants[who], job, sums, data.sum(), start, stop, round >= kWarmUpRounds);
    }
  }
  check(cudaEventDestroy(start), "cudaEventDestroy");
  check(cudaEventDestroy(stop), "cudaEventDestroy");
}

/// Prints the rates, in GB/s, and returns how many sums were wrong.
inline int print_rates(std::vector<Contestant>& contestants, std::uint64_t bytes) {
  std::size_t width = 9;
  for (const Contestant& contestant : contestants) width = std::max(width, std::strlen(contestant.name));
  const int column = static_cast<int>(width);
  std::printf("%-*s  %11s  %9s  %10s  %s\n", column, "way", "median GB/s", "best GB/s", "worst GB/s", "sum");
  int wrong = 0;
  for (Contestant& contestant : contestants) {
    const auto rate = [bytes](double milliseconds) {
      return static_cast<double>(bytes) / milliseconds / 1e6;
    };
    const double median = contestant.median();
    std::printf("%-*s  %11.1f  %9.1f  %10.1f  %s\n", column, contestant.name, rate(median),
                rate(contestant.times.front()), rate(contestant.times.back()),
                contestant.wrong_sums == 0 ? "right" : "WRONG");
    wrong += contestant.wrong_sums;
  }
  return wrong;
}

}  // namespace stream
