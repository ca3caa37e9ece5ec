// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The file of recorded results: zstd over a plain list of name, fingerprint and output bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::parity {

struct Recorded {
  std::string name;
  uint64_t fingerprint = 0;
  std::vector<uint8_t> outputs;
};

/// False where the file cannot be written or read (or is not one of ours).
bool save_records(const std::string& path, const std::vector<Recorded>& records);
bool load_records(const std::string& path, std::vector<Recorded>& records);

}  // namespace sluice::parity
