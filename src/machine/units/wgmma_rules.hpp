// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Which matrix descriptors of wgmma describe no operand. Pure functions.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::machine {

/// An operand in shared memory as its instruction wants it.
struct DescribedOperand {
  bool is_a = false;
  uint32_t mn = 0;       ///< rows of A, columns of B
  uint32_t k_bytes = 0;  ///< of a row or column
  bool mn_major = false;
};

/// What is wrong with the descriptor, to be read behind "the descriptor of A"; empty if nothing is.
/// `shared_bytes`: shared memory of the CTA, the part that the system keeps at its start included.
std::string broken_descriptor_rule(uint64_t bits, const DescribedOperand& operand, uint32_t shared_bytes);

/// The fields of a descriptor in words.
std::string describe_descriptor(uint64_t bits);

}  // namespace sluice::machine
