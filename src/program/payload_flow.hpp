// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Where payload goes. Payload is what a run without data does not compute: what copies bring and matrix
// operations yield. This analysis follows it through the registers of one function: which load's result may
// steer something (decide where control goes, whether a store happens, be an address, or an operand of a
// synchronising instruction or a copy), and which loads may feed the value of a store. Whether a load really
// reads payload depends on memory, which the machine follows while the kernel runs.
//
// The analysis knows no order of instructions and no values, so it errs on the side of "may". It relies on
// the instruction table for what an instruction reads and writes. Values do not leave a function in registers
// (calls pass them in `.param` memory).
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.hpp"

namespace sluice::program {

struct PayloadFlow {
  static constexpr uint32_t kNone = 0xffffffffu;

  /// A place where payload may come into registers.
  struct Source {
    uint32_t instruction = 0;
    bool always = false;      ///< a matrix product in flight, not a load
    uint32_t steers = kNone;  ///< the first instruction that its result may steer
  };
  /// What an instruction does with memory.
  struct Step {
    uint32_t source = kNone;  ///< it loads: index into `sources`
    bool stores = false;
    bool keeps_payload = false;    ///< combines its value with what is stored, instead of replacing it
    std::vector<uint32_t> fed_by;  ///< sources that its stored value may come from
  };

  std::vector<Source> sources;
  std::vector<Step> steps;  ///< by instruction
};

PayloadFlow find_payload_flow(const Function& function);

}  // namespace sluice::program
