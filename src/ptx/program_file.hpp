// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A host program or library as it lies on disk, before anybody runs it: does it carry device code, in which
// forms, and does it call a shared CUDA runtime that can be stood in for.
#pragma once

#include "base/result.hpp"
#include "ptx/fatbin.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sluice::ptx {

struct ProgramFile {
  bool is_elf = false;                ///< false: a script or another kind of file; nothing else is known then
  uint16_t machine = 0;               ///< 62 x86-64, 183 aarch64
  bool is_dynamic = false;            ///< has a dynamic table: a preloaded library can reach it
  std::vector<std::string> needed;    ///< DT_NEEDED: "libcudart.so.13", ...
  std::string rpath;                  ///< DT_RPATH: comes before LD_LIBRARY_PATH
  std::string runpath;                ///< DT_RUNPATH: comes behind it
  bool has_device_code = false;       ///< fat binaries with something in them
  bool registers_fat_binary = false;  ///< imports __cudaRegisterFatBinary: the runtime is a shared library
  bool imports_runtime = false;       ///< imports functions of the runtime (cuda...) or the driver (cu...)
  int runtime_major = 0;              ///< 12 for libcudart.so.12; 0: none needed
  std::vector<FatEntry> entries;      ///< of all containers; payloads point into the bytes given

  /// Device code, but nobody shared to register it with: linked with -cudart static, nvcc's default.
  [[nodiscard]] bool has_static_runtime() const { return is_elf && has_device_code && !registers_fat_binary; }
  [[nodiscard]] bool has_ptx() const;
};

/// Looks at the bytes of a file. An ELF file that is damaged is an error; one of another kind is not.
[[nodiscard]] Result<ProgramFile> inspect_program(Bytes bytes);

}  // namespace sluice::ptx
