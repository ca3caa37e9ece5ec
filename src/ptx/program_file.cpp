// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Program inspection: see program_file.hpp.
#include "ptx/program_file.hpp"

#include "ptx/elf.hpp"

#include <algorithm>
#include <charconv>

namespace sluice::ptx {
namespace {

// Tags of the dynamic table.
constexpr uint64_t kNeeded = 1, kRpath = 15, kRunpath = 29;

void read_dynamic(const ElfFile& elf, ProgramFile& out) {
  for (const ElfSection& section : elf.sections) {
    if (section.type != ElfSection::kDynamic) continue;
    out.is_dynamic = true;
    const Bytes names = section.link < elf.sections.size() ? elf.sections[section.link].contents : Bytes{};
    for (uint64_t at = 0; at + 16 <= section.contents.size(); at += 16) {
      const uint64_t tag = *read<uint64_t>(section.contents, at);
      const uint64_t value = *read<uint64_t>(section.contents, at + 8);
      if (tag == 0) break;
      if (tag == kNeeded) out.needed.emplace_back(read_string(names, value));
      if (tag == kRpath) out.rpath = read_string(names, value);
      if (tag == kRunpath) out.runpath = read_string(names, value);
    }
  }
}

void read_imports(const ElfFile& elf, ProgramFile& out) {
  for (const ElfSection& section : elf.sections) {
    if (section.type != ElfSection::kDynamicSymbols) continue;
    for (const ElfSymbol& symbol : elf.symbols(section)) {
      if (symbol.section != 0) continue;
      if (symbol.name == "__cudaRegisterFatBinary") out.registers_fat_binary = true;
      const bool is_cuda = symbol.name.starts_with("cuda") || symbol.name.starts_with("__cuda");
      const bool is_driver = symbol.name.starts_with("cu") && symbol.name.size() > 2 &&
                             symbol.name[2] >= 'A' && symbol.name[2] <= 'Z';
      out.imports_runtime |= is_cuda || is_driver;
    }
  }
}

}  // namespace

bool ProgramFile::has_ptx() const {
  return std::any_of(entries.begin(), entries.end(),
                     [](const FatEntry& e) { return e.kind == FatEntry::Kind::Ptx; });
}

Result<ProgramFile> inspect_program(Bytes bytes) {
  ProgramFile out;
  if (!is_elf(bytes)) return out;
  auto elf = read_elf(bytes);
  if (!elf.has_value()) return std::move(elf).error();
  out.is_elf = true;
  out.machine = elf->machine;
  read_dynamic(*elf, out);
  read_imports(*elf, out);
  for (const std::string& name : out.needed) {
    constexpr std::string_view kRuntime = "libcudart.so.";
    if (name.starts_with(kRuntime))
      (void)std::from_chars(name.data() + kRuntime.size(), name.data() + name.size(), out.runtime_major);
  }
  for (const ElfSection& section : elf->sections) {
    if (section.name != ".nv_fatbin" && section.name != "__nv_relfatbin") continue;
    auto containers = read_fat_section(section.contents);
    if (!containers.has_value()) return std::move(containers).error();
    for (FatBinary& container : *containers)
      for (FatEntry& entry : container.entries) out.entries.push_back(std::move(entry));
  }
  // nvcc gives a program of host code alone an empty container.
  out.has_device_code = !out.entries.empty();
  return out;
}

}  // namespace sluice::ptx
