// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The tool's entry: everything is in the room's library. This file alone is built for every host of its
// architecture; what the others are built for is checked before anything of theirs runs, initialisers
// included.
#include <unistd.h>

#include "cli/entry.hpp"

#ifdef SLUICE_NEEDS_AVX2
__attribute__((constructor(101))) static void check_processor() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma"))
    return;
  constexpr char kMessage[] =
      "error: this build of sluice needs a processor of level x86-64-v3 (AVX2, BMI2, FMA); configure with "
      "-DSLUICE_SIMD=x86-64-v2 for older ones\n";
  constexpr int kUnsupported = 102;
  (void)!write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
  _exit(kUnsupported);
}
#endif

int main(int argc, char** argv) {
  return sluice::cli::run_tool(argc, argv);
}
