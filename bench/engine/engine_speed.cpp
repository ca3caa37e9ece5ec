// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Thread-instructions per second of the machine on one core and no listener: an ALU loop (integer and float),
// a kernel that works in shared memory, a global-memory stream, and a divergent loop. Each is run several
// times; the median is printed, with the time a host loop needs for the same arithmetic as the peer.
//
//   usage: engine_speed [repetitions]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "machine/device.hpp"

namespace {

using namespace sluice;

struct Case {
  const char* name;
  const char* body;
  double goal_millions;  ///< 0 = none
};

constexpr Case kCases[] = {
    {"alu loop", R"(
      mov.u32 %r2, 0; mov.u32 %r3, 1; mov.u32 %r4, 7; mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f3F000000;
    LOOP:
      add.u32 %r3, %r3, %r4;
      xor.b32 %r4, %r4, %r3;
      mad.lo.s32 %r5, %r3, %r4, %r1;
      shl.b32 %r6, %r5, 3;
      fma.rn.f32 %f1, %f1, %f2, %f2;
      add.u32 %r3, %r3, %r6;
      add.u32 %r2, %r2, 1;
      setp.lt.u32 %p1, %r2, 20000;
      @%p1 bra LOOP;
      cvt.rzi.u32.f32 %r7, %f1; add.u32 %r3, %r3, %r7;
      st.global.u32 [%rd4], %r3;)",
     1000},
    {"shared memory", R"(
      mov.u32 %r2, 0; shl.b32 %r3, %r1, 2; mov.u32 %r8, cells; add.u32 %r3, %r3, %r8;
      xor.b32 %r4, %r3, 64;
    LOOP:
      ld.shared.u32 %r5, [%r3];
      add.u32 %r5, %r5, %r2;
      st.shared.u32 [%r3], %r5;
      bar.sync 0;
      ld.shared.u32 %r6, [%r4];
      add.u32 %r7, %r6, %r5;
      bar.sync 0;
      st.shared.u32 [%r3], %r7;
      add.u32 %r2, %r2, 1;
      setp.lt.u32 %p1, %r2, 5000;
      @%p1 bra LOOP;
      st.global.u32 [%rd4], %r7;)",
     300},
    {"global memory", R"(
      mov.u32 %r2, 0; mov.u32 %r3, 0;
    LOOP:
      ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd5];
      add.u32 %r3, %r3, %r4;
      add.u32 %r3, %r3, %r5;
      add.u32 %r3, %r3, %r6;
      add.u32 %r3, %r3, %r7;
      add.u32 %r2, %r2, 1;
      setp.lt.u32 %p1, %r2, 5000;
      @%p1 bra LOOP;
      st.global.u32 [%rd4], %r3;)",
     0},
    {"divergent loop", R"(
      mov.u32 %r2, 0; and.b32 %r3, %r1, 3;
    LOOP:
      setp.eq.u32 %p2, %r3, 0;
      @%p2 bra A;
      add.u32 %r4, %r4, %r2;
      bra B;
    A:
      xor.b32 %r4, %r4, %r2;
    B:
      add.u32 %r2, %r2, 1;
      setp.lt.u32 %p1, %r2, 5000;
      @%p1 bra LOOP;
      st.global.u32 [%rd4], %r4;)",
     0},
};

/// What does not depend on the kernel: `count` launches of `ctas` CTAs that do nothing.
struct FixedCost {
  const char* name;
  uint32_t launches, ctas;
  double goal;
  bool per_launch;  ///< microseconds per launch, else millions of CTAs per second
};

constexpr FixedCost kFixedCosts[] = {
    {"us per small launch", 2000, 1, 10, true},
    {"M empty CTAs/s", 1, 200000, 3, false},
};

/// The goal is met by at most that many microseconds, or by at least that many CTAs.
bool show_fixed_cost(machine::Device& device, const machine::Kernel& kernel, const FixedCost& cost,
                     int repetitions) {
  machine::LaunchRequest request;
  request.kernel = &kernel;
  request.grid[0] = cost.ctas;
  request.block[0] = 32;
  request.options.workers = 1;
  std::vector<double> figures;
  for (int i = 0; i < repetitions; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    for (uint32_t n = 0; n < cost.launches; ++n) (void)device.launch(request);
    const double us = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() * 1e6;
    figures.push_back(cost.per_launch ? us / cost.launches : cost.ctas / us);
  }
  std::sort(figures.begin(), figures.end());
  const double median = figures[figures.size() / 2];
  fmt::print("{:<24} {:>16.2f} {:>10.0f}\n", cost.name, median, cost.goal);
  return cost.per_launch ? median <= cost.goal : median >= cost.goal;
}

std::string module_of(const Case& c) {
  return std::string(
             ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
             ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .f32 %f<4>; .reg .b64 %rd<8>;\n"
             ".shared .align 16 .b8 cells[1024];\n"
             "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;\n"
             "add.s64 %rd4, %rd1, %rd3; mul.wide.u32 %rd5, %r1, 16; add.s64 %rd5, %rd5, %rd1;\n") +
         c.body + "\nret; }\n";
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  machine::Device device;
  const auto out = device.memory().allocate(1 << 20, 256, machine::AllocationKind::Device);
  if (!out) return fmt::print(stderr, "{}\n", out.error().text()), 1;
  fmt::print("{:<16} {:>24} {:>10}\n", "kernel", "M thread-instructions/s", "goal");
  bool met = true;
  for (const Case& c : kCases) {
    auto parsed = ptx::parse(module_of(c), c.name);
    if (!parsed) return fmt::print(stderr, "{}\n", parsed.error().text()), 1;
    const auto module = device.load(std::move(*parsed));
    const auto kernel = device.kernel(*module, "k");
    if (!kernel) return fmt::print(stderr, "{}\n", kernel.error().text()), 1;
    machine::LaunchRequest request;
    request.kernel = *kernel;
    request.grid[0] = 2;
    request.block[0] = 256;
    request.options.workers = 1;
    const auto* bytes = reinterpret_cast<const uint8_t*>(&*out);
    request.parameters.assign(bytes, bytes + 8);
    std::vector<double> rates;
    for (int i = 0; i < repetitions; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      const auto result = device.launch(request);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (!result || result->fault.kind != machine::FaultKind::None)
        return fmt::print(stderr, "{} failed\n", c.name), 1;
      rates.push_back(static_cast<double>(result->statistics.thread_instructions) / seconds / 1e6);
    }
    std::sort(rates.begin(), rates.end());
    const double median = rates[rates.size() / 2];
    if (c.goal_millions > 0) met &= median >= c.goal_millions;
    fmt::print("{:<16} {:>24.0f} {:>10}\n", c.name, median,
               c.goal_millions > 0 ? fmt::format("{:.0f}", c.goal_millions) : "-");
  }
  auto empty =
      ptx::parse(".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n", "empty");
  if (!empty) return fmt::print(stderr, "{}\n", empty.error().text()), 1;
  const auto module = device.load(std::move(*empty));
  const auto kernel = device.kernel(*module, "k");
  if (!kernel) return fmt::print(stderr, "{}\n", kernel.error().text()), 1;
  fmt::print("\n{:<24} {:>16} {:>10}\n", "fixed cost", "figure", "goal");
  for (const FixedCost& cost : kFixedCosts) met &= show_fixed_cost(device, **kernel, cost, repetitions);
  return met ? 0 : 1;
}
