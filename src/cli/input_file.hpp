// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that people name on the command line or in a launch description: read whole and within a bound, from
// pipes too, with an error that says what the file is instead and what to do.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.hpp"

namespace sluice::cli {

/// Text in UTF-8 of at most `most_bytes`. `wanted` names what it should be, such as "PTX".
Result<std::string> read_text_file(const std::string& path, const std::string& wanted, uint64_t most_bytes);

/// Exactly as many bytes as `out` has, which must be all that the file has.
Result<void> read_exactly(const std::string& path, std::span<uint8_t> out);

Result<void> write_file(const std::string& path, std::span<const uint8_t> bytes);

}  // namespace sluice::cli
