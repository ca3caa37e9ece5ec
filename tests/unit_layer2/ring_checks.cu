// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What a debugging build of a ring says about the mistakes that types cannot see, and what a stuck ring says
// under a wait limit. A kernel that traps takes its process along, so each case runs in a child of this
// program.
//
//   ring_checks [CASE]     every case with its verdict, or one case for its output
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <cstring>
#include <string>

#include "sluice/host/launch.hpp"
#include "sluice/ring.hpp"

static_assert(SLUICE_CHECK == 1, "the checks are what is tested here");

namespace {

using namespace sluice;

using Loads = Ring<Stage<Row<float, 64>>, 2, CopyEngine<Warps<0>>, Consumers<Warps<1>>>;
using Shares = Ring<Stage<Multicast<Row<float, 64>, Along::X>>, 2, CopyEngine<Warps<0>, ClusterShape<2>>,
                    Consumers<Warps<1>>>;

__global__ void slot_not_loaded() {
  Loads ring(shared_memory<Loads::SharedStorage>());
  if (auto producer = ring.producer()) {
    for ([[maybe_unused]] auto slot : producer.fill(1)) {
    }
  }
}

__global__ void slot_loaded_twice(const float* in) {
  Loads ring(shared_memory<Loads::SharedStorage>());
  if (auto producer = ring.producer()) {
    for (auto slot : producer.fill(1)) {
      slot.load(from(in));
      slot.load(from(in));
    }
  }
}

__global__ void storage_off_its_alignment() {
  auto* bytes = &shared_memory<unsigned char>();
  Loads ring(*reinterpret_cast<Loads::SharedStorage*>(bytes + 16));
}

template <class Ring>
__global__ void make_ring() {
  Ring ring(shared_memory<typename Ring::SharedStorage>());
}

__global__ void consumer_without_producer() {
  Loads ring(shared_memory<Loads::SharedStorage>());
  if (auto consumer = ring.consumer()) {
    for ([[maybe_unused]] auto tile : consumer.take(1)) {
    }
  }
}

__global__ void producer_without_consumer(const float* in) {
  Loads ring(shared_memory<Loads::SharedStorage>());
  if (auto producer = ring.producer()) {
    for (auto slot : producer.fill(3)) slot.load(from(in));
  }
}

__global__ void right_ring(const float* in) {
  Loads ring(shared_memory<Loads::SharedStorage>());
  if (auto producer = ring.producer()) {
    for (auto slot : producer.fill(5)) slot.load(from(in));
  }
  if (auto consumer = ring.consumer()) {
    for ([[maybe_unused]] auto tile : consumer.take(5)) {
    }
  }
}

const LaunchShape kTwoWarps{.cta = 64, .shared_bytes = 4096};

struct Case {
  const char* name;
  const char* sentence;  ///< part of what a warp must print, once; null: nothing, and the kernel ends well
  LaunchError (*start)(const float* in);
};

const Case kCases[] = {
    {"right_ring", nullptr, [](const float* in) { return launch(right_ring, kTwoWarps, in); }},
    {"slot_not_loaded", "a slot was acquired but never loaded",
     [](const float*) { return launch(slot_not_loaded, kTwoWarps); }},
    {"slot_loaded_twice", "a slot was loaded a second time",
     [](const float* in) { return launch(slot_loaded_twice, kTwoWarps, in); }},
    {"storage_off_its_alignment", "the storage lies off its alignment",
     [](const float*) { return launch(storage_off_its_alignment, kTwoWarps); }},
    {"too_few_threads", "the CTA has fewer threads than the ring's warps need",
     [](const float*) { return launch(make_ring<Loads>, LaunchShape{.cta = 32, .shared_bytes = 4096}); }},
    {"too_little_shared_memory", "too little shared memory: pass Ring::kSharedBytes (512, needed 640)",
     [](const float*) { return launch(make_ring<Loads>, LaunchShape{.cta = 64, .shared_bytes = 512}); }},
    {"two_dimensional_cta", "the CTA is not one-dimensional",
     [](const float*) {
       return launch(make_ring<Loads>, LaunchShape{.cta = dim3(64, 2, 1), .shared_bytes = 4096});
     }},
    {"cluster_of_another_shape", "the launch has another cluster shape than the ring",
     [](const float*) { return launch(make_ring<Shares>, kTwoWarps); }},
    {"consumer_without_producer", "sluice: consumer waits for full[0] phase 0 for more than 50 ms",
     [](const float*) { return launch(consumer_without_producer, kTwoWarps); }},
    {"producer_without_consumer", "sluice: producer waits for empty[0] phase 0 for more than 50 ms",
     [](const float* in) { return launch(producer_without_consumer, kTwoWarps, in); }},
};

/// Runs one case in this process; its words go to standard output. Returns 0 if the kernel ended well.
int run_here(const Case& one) {
  float* in = nullptr;
  if (cudaMalloc(&in, 4096) != cudaSuccess) return 2;
  if (const auto error = one.start(in)) {
    std::printf("%s\n", error.text);
    return 2;
  }
  const cudaError_t status = cudaDeviceSynchronize();
  std::printf("the kernel ended with %s\n", cudaGetErrorName(status));
  return status == cudaSuccess ? 0 : 1;
}

bool has_hopper() {
  int devices = 0;
  cudaDeviceProp properties{};
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0 &&
         cudaGetDeviceProperties(&properties, 0) == cudaSuccess && properties.major == 9;
}

/// Runs one case in a child and judges its output.
bool run_and_judge(const char* program, const Case& one) {
  const std::string command = std::string("'") + program + "' " + one.name + " 2>&1";
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return false;
  for (int c; (c = std::fgetc(pipe)) != EOF;) output += static_cast<char>(c);
  const int status = pclose(pipe);
  const bool ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  const bool speaks = output.find("sluice:") != std::string::npos;
  int times = 0;
  for (size_t at = 0; one.sentence != nullptr && (at = output.find(one.sentence, at)) != std::string::npos;
       ++at)
    ++times;
  constexpr int kMostWarps = 4;  // each may speak once
  const bool holds =
      one.sentence == nullptr ? ended_well && !speaks : !ended_well && times >= 1 && times <= kMostWarps;
  std::printf("%s %s\n%s", holds ? "PASS" : "FAIL", one.name, holds ? "" : output.c_str());
  return holds;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) {
    for (const Case& one : kCases) {
      if (std::strcmp(one.name, argv[1]) == 0) return run_here(one);
    }
    std::printf("ring_checks: there is no case %s\n", argv[1]);
    return 2;
  }
  // In a child, so that this process keeps no context.
  if (const pid_t child = fork(); child == 0) {
    _exit(has_hopper() ? 0 : 77);
  } else {
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      std::printf("ring_checks: skipped, these kernels need a Hopper GPU and there is none\n");
      return 77;
    }
  }
  int failed = 0;
  for (const Case& one : kCases) failed += !run_and_judge(argv[0], one);
  std::printf("%zu cases, %d failed\n", std::size(kCases), failed);
  return failed == 0 ? 0 : 1;
}
