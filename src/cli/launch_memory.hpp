// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The contents of a launch description's buffers: filled before the kernel runs, told or compared behind it.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "cli/launch_spec.hpp"

namespace sluice::cli {

/// `memory` has the buffer's bytes and is zero.
Result<void> fill_buffer(const BufferSpec& buffer, uint8_t* memory);

/// What becomes of a buffer.
struct Delivery {
  bool equal = true;  ///< false where a comparison failed
  std::string text;   ///< for stdout
};
Result<Delivery> deliver_buffer(const BufferSpec& buffer, const uint8_t* memory);

}  // namespace sluice::cli
