// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs parity cases on the engine and compares with recorded results.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cases.hpp"

namespace sluice::parity {

/// What the engine put out for a case, or why it did not run.
struct Ran {
  bool refused = false;  ///< the kernel was not executed
  std::string why;
  std::vector<uint8_t> outputs;
};

/// Runs cases on one device. The modules hold many cases each, as in the pack.
std::vector<Ran> run_on_engine(const std::vector<const Case*>& cases);

/// Whether an output may differ in its bits: the ISA states an error or leaves the order of a sum open.
bool within_bound(const Case& c, const Output& output, const uint8_t* gpu, const uint8_t* engine,
                  uint32_t thread);

}  // namespace sluice::parity
