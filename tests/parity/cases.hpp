// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Parity cases: one kernel per row of the instruction table and choice of modifiers, with the inputs of its
// threads. The rows come from the table, so that none can be left out. A recorder runs the kernels on a GPU
// once; the test runs the same text with the same inputs on the engine. Everything follows from the case's
// name: no state, no clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/table.hpp"

namespace sluice::parity {

constexpr uint32_t kThreads = 64;
/// Every kernel takes (in, out, scratch, blob): device pointers and 64 bytes by value.
constexpr uint32_t kBlobBytes = 64;
constexpr uint32_t kScratchBytes = 64 * 1024;

/// What a lane's result is made of, for comparison.
struct Output {
  uint32_t offset = 0;  ///< in the thread's record
  uint32_t bytes = 0;   ///< 1 for a predicate
  ptx::ScalarType type = ptx::ScalarType::none;
};

struct Case {
  std::string name;  ///< "add_int add.s32" plus what else was chosen; unique
  uint16_t form = 0;
  ptx::Mods mods;
  bool old = false;    ///< gone from the ISA: needs a module of a version that had it
  std::string kernel;  ///< PTX of the entry, with its name as `@` placeholders filled in: see `module_text`
  std::string entry;   ///< its name
  uint32_t in_stride = 0;
  uint32_t out_stride = 0;
  std::vector<uint8_t> inputs;  ///< kThreads records
  std::vector<Output> outputs;
};

/// All cases, in table order.
std::vector<Case> all_cases();

/// The cases in groups of one module each, in order.
std::vector<std::vector<const Case*>> modules_of(const std::vector<const Case*>& cases);

/// A module of such a group, or of a part of it.
std::string module_text(const std::vector<const Case*>& cases);

/// The 64 bytes that every kernel gets by value.
std::vector<uint8_t> blob();

/// Hash of everything a recorded result depends on.
uint64_t fingerprint(const Case& c);

}  // namespace sluice::parity
