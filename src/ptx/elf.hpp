// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// As much of 64-bit little-endian ELF as cubins and host programs need: sections, symbols, the dynamic table.
// Malformed files give an error or leave parts out; no field is trusted.
#pragma once

#include "base/result.hpp"
#include "ptx/bytes.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::ptx {

struct ElfSection {
  std::string_view name;
  uint32_t type = 0;
  uint64_t flags = 0;
  uint64_t address = 0;
  uint64_t size = 0;  ///< also of sections without contents in the file
  uint32_t link = 0;
  uint32_t info = 0;
  uint64_t entry_size = 0;
  Bytes contents;  ///< empty for SHT_NOBITS and for sections that lie outside the file

  static constexpr uint32_t kSymbolTable = 2, kStringTable = 3, kNoBits = 8, kDynamicSymbols = 11,
                            kDynamic = 6;
};

struct ElfSymbol {
  std::string_view name;
  uint8_t info = 0;
  uint16_t section = 0;  ///< 0: undefined
  uint64_t value = 0;
  uint64_t size = 0;
};

struct ElfFile {
  uint16_t type = 0;     ///< 2 executable, 3 shared object
  uint16_t machine = 0;  ///< 62 x86-64, 183 aarch64, 190 CUDA
  uint8_t abi_version = 0;
  uint32_t flags = 0;
  std::vector<ElfSection> sections;

  [[nodiscard]] const ElfSection* find(std::string_view name) const;
  /// Symbols of a symbol-table section (kSymbolTable or kDynamicSymbols).
  [[nodiscard]] std::vector<ElfSymbol> symbols(const ElfSection& table) const;

  static constexpr uint16_t kCudaMachine = 190;
};

/// The views in the result point into `bytes`.
[[nodiscard]] Result<ElfFile> read_elf(Bytes bytes);
[[nodiscard]] bool is_elf(Bytes bytes);

}  // namespace sluice::ptx
