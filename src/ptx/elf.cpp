// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// ELF reading: see elf.hpp. Field offsets are those of the 64-bit layout.
#include "ptx/elf.hpp"

#include <algorithm>

namespace sluice::ptx {
namespace {

constexpr size_t kHeaderSize = 64;
constexpr size_t kSectionHeaderSize = 64;
constexpr size_t kSymbolSize = 24;
constexpr size_t kMaxSections = 1u << 20;

}  // namespace

bool is_elf(Bytes bytes) {
  return bytes.size() >= kHeaderSize && std::memcmp(bytes.data(), "\177ELF", 4) == 0;
}

Result<ElfFile> read_elf(Bytes bytes) {
  if (!is_elf(bytes)) return Error{"not an ELF file", ""};
  if (bytes[4] != std::byte{2} || bytes[5] != std::byte{1})
    return Error{"only 64-bit little-endian ELF files are read", ""};
  ElfFile file;
  file.abi_version = static_cast<uint8_t>(bytes[8]);
  file.type = *read<uint16_t>(bytes, 16);
  file.machine = *read<uint16_t>(bytes, 18);
  file.flags = *read<uint32_t>(bytes, 48);
  const uint64_t table = *read<uint64_t>(bytes, 40);
  uint64_t count = *read<uint16_t>(bytes, 60);
  uint64_t names_index = *read<uint16_t>(bytes, 62);
  if (table == 0) return file;

  // Very many sections: the first header holds the numbers.
  if (const auto first = slice(bytes, table, kSectionHeaderSize)) {
    if (count == 0) count = *read<uint64_t>(*first, 32);
    if (names_index == 0xffff) names_index = *read<uint32_t>(*first, 40);
  }
  if (count > kMaxSections || !slice(bytes, table, count * kSectionHeaderSize))
    return Error{"section table lies outside the file", ""};

  file.sections.reserve(static_cast<size_t>(count));
  std::vector<uint32_t> name_offsets;
  for (uint64_t i = 0; i < count; ++i) {
    const Bytes header = *slice(bytes, table + i * kSectionHeaderSize, kSectionHeaderSize);
    ElfSection section;
    name_offsets.push_back(*read<uint32_t>(header, 0));
    section.type = *read<uint32_t>(header, 4);
    section.flags = *read<uint64_t>(header, 8);
    section.address = *read<uint64_t>(header, 16);
    section.size = *read<uint64_t>(header, 32);
    section.link = *read<uint32_t>(header, 40);
    section.info = *read<uint32_t>(header, 44);
    section.entry_size = *read<uint64_t>(header, 56);
    if (section.type != ElfSection::kNoBits && section.type != 0)
      section.contents = slice(bytes, *read<uint64_t>(header, 24), section.size).value_or(Bytes{});
    file.sections.push_back(section);
  }
  if (names_index < file.sections.size())
    for (size_t i = 0; i < file.sections.size(); ++i)
      file.sections[i].name = read_string(file.sections[names_index].contents, name_offsets[i]);
  return file;
}

const ElfSection* ElfFile::find(std::string_view name) const {
  const auto found =
      std::find_if(sections.begin(), sections.end(), [&](const ElfSection& s) { return s.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

std::vector<ElfSymbol> ElfFile::symbols(const ElfSection& table) const {
  std::vector<ElfSymbol> out;
  const Bytes names = table.link < sections.size() ? sections[table.link].contents : Bytes{};
  const size_t count = table.contents.size() / kSymbolSize;
  out.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const Bytes at = table.contents.subspan(i * kSymbolSize, kSymbolSize);
    ElfSymbol symbol;
    symbol.name = read_string(names, *read<uint32_t>(at, 0));
    symbol.info = *read<uint8_t>(at, 4);
    symbol.section = *read<uint16_t>(at, 6);
    symbol.value = *read<uint64_t>(at, 8);
    symbol.size = *read<uint64_t>(at, 16);
    out.push_back(symbol);
  }
  return out;
}

}  // namespace sluice::ptx
