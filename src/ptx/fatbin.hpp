// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Fat binaries: the containers in which nvcc puts PTX and machine code for several architectures, as
// registered at run time and as found in a program's file. Layout and flags were established by experiment
// with nvcc 13.0 (all of
// --compress-mode) and are tabulated in fatbin.cpp.
#pragma once

#include "base/result.hpp"
#include "ptx/bytes.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::ptx {

struct FatEntry {
  enum class Kind : uint8_t {
    Ptx,
    Cubin,
    Other
  };  ///< Other: intermediate code for link-time optimisation and the like
  enum class Compression : uint8_t { None, Lz4, Zstd, Unknown };

  Kind kind = Kind::Other;
  uint16_t raw_kind = 0;  ///< as stored: 1 PTX, 2 ELF
  uint32_t sm = 0;        ///< 90
  char suffix = 0;        ///< 'a', 'f' or 0
  uint16_t major = 0;     ///< of the PTX ISA (9) or of the cubin
  uint16_t minor = 0;
  Compression compression = Compression::None;
  bool is_64bit = false;
  bool has_debug = false;       ///< built with -G
  bool is_relocatable = false;  ///< made with -rdc: the options hold --compile-only
  std::string name;             ///< source file, where nvcc recorded it (-lineinfo, -G)
  std::string options;          ///< options of the assembler that the driver repeats, for PTX
  uint64_t flags = 0;           ///< as stored
  uint64_t stored_size = 0;     ///< bytes in the container
  uint64_t size = 0;            ///< bytes when unpacked; where stored
  Bytes stored;                 ///< points into the container

  /// "compute_90a" or "sm_90a".
  [[nodiscard]] std::string architecture() const;
};

/// The entry's bytes, unpacked. For PTX the terminating zero is cut off. At most `limit` bytes are made.
[[nodiscard]] Result<std::vector<std::byte>> contents(const FatEntry& entry, uint64_t limit = uint64_t(1)
                                                                                              << 30);
/// The same as text.
[[nodiscard]] Result<std::string> text(const FatEntry& entry);

/// One container.
struct FatBinary {
  std::vector<FatEntry> entries;
  uint64_t size = 0;  ///< bytes of the container, header included
};

/// Reads the container at the start of `bytes`.
[[nodiscard]] Result<FatBinary> read_fat_binary(Bytes bytes);

/// Reads all containers of a section such as .nv_fatbin or __nv_relfatbin, which stand one behind the other
/// with zero padding between them.
[[nodiscard]] Result<std::vector<FatBinary>> read_fat_section(Bytes bytes);

/// Reads the containers of a wrapper as handed to __cudaRegisterFatBinary: one, or with -rdc the linked one
/// and those of the linked objects. `wrapper` and what it points to must be readable memory of this process;
/// sizes are taken from the containers' own headers.
[[nodiscard]] Result<std::vector<FatBinary>> read_wrapper(const void* wrapper);

/// The container at an address of this process (cuModuleLoadFatBinary, cudaLibraryLoadData); size from its
/// header.
[[nodiscard]] Result<FatBinary> read_fat_binary_at(const void* address);
[[nodiscard]] bool is_fat_binary(Bytes bytes);

/// Which PTX of `entries` the driver would take for a device of `sm` with suffix support ("90a" on an H200):
/// the newest that the device runs, an architecture-specific one of its own before a plain one. Null if there
/// is none.
[[nodiscard]] const FatEntry* choose_ptx(const std::vector<FatEntry>& entries, uint32_t sm);
/// The machine code made for exactly this device, or null.
[[nodiscard]] const FatEntry* choose_cubin(const std::vector<FatEntry>& entries, uint32_t sm);

}  // namespace sluice::ptx
