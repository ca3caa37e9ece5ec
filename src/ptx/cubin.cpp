// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Cubin reading: see cubin.hpp. The facts lie in the sections .nv.info (about symbols, by their index) and
// .nv.info.KERNEL, as records of one format byte, one attribute byte and a value; attribute numbers were read
// off cubins of nvcc 13.0 whose properties are known.
#include "ptx/cubin.hpp"

#include "ptx/elf.hpp"

#include <algorithm>
#include <unordered_map>

namespace sluice::ptx {
namespace {

/// Attributes of .nv.info records.
enum Attribute : uint8_t {
  kMaxThreads = 0x05,
  kRequiredThreads = 0x10,
  kFrameSize = 0x11,     // symbol, bytes
  kMinStackSize = 0x12,  // symbol, bytes
  kParameterInfo = 0x17,
  kParameterBytes = 0x19,
  kMaxRegisters = 0x1b,
  kRegisters = 0x2f,  // symbol, count
  kCluster = 0x3d,
  kExplicitCluster = 0x3e,
  kMaxClusterRank = 0x3f,
  kBarriers = 0x4c,
};

struct Record {
  uint8_t attribute = 0;
  uint16_t immediate = 0;  ///< of the formats without payload
  Bytes payload;
};

/// Calls `each` with every record until one is damaged.
template <class Each>
void for_each_record(Bytes bytes, Each each) {
  uint64_t at = 0;
  while (const auto format = read<uint8_t>(bytes, at)) {
    const auto attribute = read<uint8_t>(bytes, at + 1);
    const auto value = read<uint16_t>(bytes, at + 2);
    if (!attribute || !value) return;
    at += 4;
    Record record{*attribute, *value, {}};
    if (*format == 4) {
      const auto payload = slice(bytes, at, *value);
      if (!payload) return;
      record.payload = *payload;
      at += *value;
    }
    each(record);
  }
}

uint32_t word(Bytes bytes, size_t index) {
  return read<uint32_t>(bytes, index * 4).value_or(0);
}

std::array<uint32_t, 3> three(Bytes bytes) {
  return {word(bytes, 0), word(bytes, 1), word(bytes, 2)};
}

void read_kernel_info(Bytes bytes, CubinKernel& kernel) {
  for_each_record(bytes, [&](const Record& record) {
    switch (record.attribute) {
      case kMaxThreads:
        kernel.max_threads = three(record.payload);
        break;
      case kRequiredThreads:
        kernel.required_threads = three(record.payload);
        break;
      case kCluster:
        kernel.cluster = three(record.payload);
        break;
      case kExplicitCluster:
        kernel.is_explicit_cluster = true;
        break;
      case kMaxClusterRank:
        kernel.max_cluster_rank = word(record.payload, 0);
        break;
      case kMaxRegisters:
        kernel.max_registers = record.immediate;
        break;
      case kParameterBytes:
        kernel.parameter_bytes = record.immediate;
        break;
      case kBarriers:
        kernel.barriers = record.immediate & 0xff;
        break;
      case kParameterInfo: {
        CubinKernel::Parameter parameter;
        parameter.ordinal = read<uint16_t>(record.payload, 4).value_or(0);
        parameter.offset = read<uint16_t>(record.payload, 6).value_or(0);
        parameter.size = word(record.payload, 2) >> 18;
        kernel.parameters.push_back(parameter);
        break;
      }
      default:
        break;
    }
  });
  std::sort(kernel.parameters.begin(), kernel.parameters.end(),
            [](const auto& a, const auto& b) { return a.ordinal < b.ordinal; });
}

}  // namespace

const CubinKernel* Cubin::find(std::string_view name) const {
  for (const CubinKernel& kernel : kernels)
    if (kernel.name == name) return &kernel;
  return nullptr;
}

Result<Cubin> read_cubin(Bytes bytes) {
  auto elf = read_elf(bytes);
  if (!elf.has_value()) return std::move(elf).error();
  if (elf->machine != ElfFile::kCudaMachine) return Error{"ELF file is not a cubin", ""};
  Cubin cubin;
  // The architecture lies in the flags, one byte further up since version 8 of the format.
  cubin.sm = elf->abi_version >= 8 ? (elf->flags >> 8) & 0xff : elf->flags & 0xff;

  std::vector<ElfSymbol> symbols;
  for (const ElfSection& section : elf->sections)
    if (section.type == ElfSection::kSymbolTable) symbols = elf->symbols(section);

  // A kernel is what has an information section of its own; device functions have one too, but no constant
  // bank.
  std::unordered_map<std::string_view, size_t> by_name;
  constexpr std::string_view kInfo = ".nv.info.";
  for (const ElfSection& section : elf->sections) {
    if (!section.name.starts_with(kInfo)) continue;
    const std::string name(section.name.substr(kInfo.size()));
    if (elf->find(".nv.constant0." + name) == nullptr) continue;
    CubinKernel kernel;
    kernel.name = name;
    read_kernel_info(section.contents, kernel);
    if (const ElfSection* shared = elf->find(".nv.shared." + name)) kernel.shared_bytes = shared->size;
    if (!by_name.emplace(section.name.substr(kInfo.size()), cubin.kernels.size()).second) continue;
    cubin.kernels.push_back(std::move(kernel));
  }

  if (const ElfSection* info = elf->find(".nv.info")) {
    for_each_record(info->contents, [&](const Record& record) {
      const uint32_t index = word(record.payload, 0);
      if (index >= symbols.size()) return;
      const auto found = by_name.find(symbols[index].name);
      if (found == by_name.end()) return;
      CubinKernel& kernel = cubin.kernels[found->second];
      const uint32_t value = word(record.payload, 1);
      if (record.attribute == kRegisters) kernel.registers = value;
      if (record.attribute == kFrameSize) kernel.frame_bytes = value;
      if (record.attribute == kMinStackSize) kernel.stack_bytes = value;
    });
  }
  return cubin;
}

}  // namespace sluice::ptx
