// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Small PTX kernels for the checkers: run one under the checker, get the names of what it found.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "check/checker.hpp"
#include "machine_core/harness.hpp"

namespace sluice::test {

/// A kernel with these names: %r1 the thread, %r2 barriers (8 of them), %r3 a tile of 4 KiB, %rd1 and %rd2
/// its parameters (global memory, 4 KiB each), %p1.. predicates, %r8.. and %rd8.. free.
inline std::string checked_kernel(const std::string& body) {
  return module_of(R"(
.extern .func (.param .b64 block) malloc(.param .b64 bytes);
.extern .func free(.param .b64 block);
.visible .entry k(.param .u64 out, .param .u64 in) {
  .reg .pred %p<8>; .reg .b16 %rs<4>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .f32 %f<16>;
  .shared .align 8 .b64 bars[8];
  .shared .align 1024 .b8 tile[4096];
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [in];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, bars;
  mov.u32 %r3, tile;
)" + body + "\n ret; }\n");
}

/// Fills the buffers of a launch.
using Prepare = std::function<void(uint32_t* out, uint32_t* in)>;

inline std::vector<report::Diagnostic> check(const std::string& body, Launch launch = {},
                                             const Prepare& prepare = nullptr) {
  check::Checker checker;
  launch.listener = &checker;
  launch.options.hasty_waits = true;
  if (launch.options.follow_definedness) device().memory().follow_definedness();
  auto* out = buffer<uint32_t>(1024);
  auto* in = buffer<uint32_t>(1024);
  if (launch.options.follow_definedness) {
    for (const uint32_t* first : {out, in}) device().memory().filled(first, 4096);
  }
  if (prepare) prepare(out, in);
  const machine::LaunchResult result = run(checked_kernel(body), "k", {out, in}, launch);
  if (*result.fault.name != '\0')
    checker.add_fault(result.fault.name, result.fault.message, result.fault.origin, "");
  return checker.take();
}

/// Names, separated by spaces.
inline std::string found(const std::string& body, Launch launch = {}, const Prepare& prepare = nullptr) {
  std::string names;
  for (const report::Diagnostic& d : check(body, launch, prepare))
    names += (names.empty() ? "" : " ") + d.name;
  return names;
}

// --- text ---------------------------------------------------------------------------------------------

/// Text that only one thread executes.
inline std::string only(int thread, const std::string& body) {
  static int label = 0;
  const std::string l = "ONLY" + std::to_string(++label);
  return "setp.ne.u32 %p1, %r1, " + std::to_string(thread) + ";\n @%p1 bra " + l + ";\n" + body + "\n" + l +
         ":\n";
}
/// Text that one warp executes.
inline std::string warp(int index, const std::string& body) {
  static int label = 0;
  const std::string l = "WARP" + std::to_string(++label);
  return "shr.u32 %r30, %r1, 5;\n setp.ne.u32 %p2, %r30, " + std::to_string(index) + ";\n @%p2 bra " + l +
         ";\n" + body + "\n" + l + ":\n";
}
inline std::string bar(int index) {
  return "[%r2+" + std::to_string(index * 8) + "]";
}
inline std::string init(int index, int count) {
  return "mbarrier.init.shared::cta.b64 " + bar(index) + ", " + std::to_string(count) + ";\n";
}
inline std::string wait(int index, int parity) {
  static int label = 0;
  const std::string l = "WAIT" + std::to_string(++label);
  return l + ": mbarrier.try_wait.parity.shared::cta.b64 %p7, " + bar(index) + ", " + std::to_string(parity) +
         ";\n @!%p7 bra " + l + ";\n";
}
inline std::string arrive(int index) {
  return "mbarrier.arrive.shared::cta.b64 _, " + bar(index) + ";\n";
}
inline std::string expect(int index, int bytes) {
  return "mbarrier.arrive.expect_tx.shared::cta.b64 _, " + bar(index) + ", " + std::to_string(bytes) + ";\n";
}
inline std::string copy(int index, int bytes, int offset = 0) {
  return "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3+" + std::to_string(offset) +
         "], [%rd2], " + std::to_string(bytes) + ", " + bar(index) + ";\n";
}
inline std::string store_tile(int bytes, int offset = 0, int to = 0) {
  return "cp.async.bulk.global.shared::cta.bulk_group [%rd1+" + std::to_string(to) + "], [%r3+" +
         std::to_string(offset) + "], " + std::to_string(bytes) + ";\n cp.async.bulk.commit_group;\n";
}
/// Each thread writes, or reads, its own word of the tile.
inline std::string write_own() {
  return "shl.b32 %r9, %r1, 2;\n add.u32 %r9, %r9, %r3;\n st.shared.u32 [%r9], %r1;\n";
}
inline std::string read_own() {
  return "shl.b32 %r9, %r1, 2;\n add.u32 %r9, %r9, %r3;\n ld.shared.u32 %r10, [%r9];\n";
}
inline const std::string kSync = "bar.sync 0;\n";
inline const std::string kProxyFence = "fence.proxy.async.shared::cta;\n";

}  // namespace sluice::test
