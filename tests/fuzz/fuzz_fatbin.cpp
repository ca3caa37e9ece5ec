// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer harness of the readers of binary files: fat binaries, host programs, cubins. The first byte
// chooses.
#include "ptx/cubin.hpp"
#include "ptx/elf.hpp"
#include "ptx/fatbin.hpp"
#include "ptx/program_file.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sluice::ptx;
  if (size == 0) return 0;
  // A copy of exactly the size, so that the sanitizer sees each byte too many.
  const std::vector<std::byte> copy(reinterpret_cast<const std::byte*>(data) + 1,
                                    reinterpret_cast<const std::byte*>(data) + size);
  const Bytes bytes(copy);
  const auto unpack = [](const std::vector<FatEntry>& entries) {
    for (const FatEntry& entry : entries) {
      (void)entry.architecture();
      const auto unpacked = contents(entry, 1u << 22);
      if (unpacked.has_value() && entry.kind == FatEntry::Kind::Cubin) (void)read_cubin(*unpacked);
    }
    (void)choose_ptx(entries, 90);
    (void)choose_cubin(entries, 90);
  };
  switch (data[0] % 4) {
    case 0:
      if (const auto one = read_fat_binary(bytes); one.has_value()) unpack(one->entries);
      break;
    case 1:
      if (const auto all = read_fat_section(bytes); all.has_value())
        for (const FatBinary& one : *all) unpack(one.entries);
      break;
    case 2:
      if (const auto program = inspect_program(bytes); program.has_value()) unpack(program->entries);
      break;
    default:
      if (const auto cubin = read_cubin(bytes); cubin.has_value())
        for (const CubinKernel& kernel : cubin->kernels) (void)cubin->find(kernel.name);
      break;
  }
  return 0;
}
