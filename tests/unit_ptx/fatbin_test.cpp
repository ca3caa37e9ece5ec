// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Fat binaries as nvcc writes them (data/), as the run time hands them over, and damaged; cubins; host
// programs.
#include "ptx/fatbin.hpp"
#include "ptx/ast.hpp"
#include "ptx/cubin.hpp"
#include "ptx/elf.hpp"
#include "ptx/program_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace sluice::ptx {
namespace {

using testing::ElementsAre;
using Buffer = std::vector<std::byte>;

Buffer load(const std::string& name) {
  std::ifstream file(std::string(SLUICE_TEST_DIR) + "/data/" + name, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  Buffer out(text.size());
  std::memcpy(out.data(), text.data(), text.size());
  return out;
}

template <class T>
void put(Buffer& buffer, size_t offset, T value) {
  if (buffer.size() < offset + sizeof value) buffer.resize(offset + sizeof value);
  std::memcpy(buffer.data() + offset, &value, sizeof value);
}

/// nvcc compresses what it finds worth it: PTX and cubin in `size`, the PTX alone with LZ4 in `speed`.
TEST(FatBinary, plain_lz4_and_zstd_hold_the_same) {
  const Buffer none = load("tiny_none.fatbin"), size = load("tiny_size.fatbin"),
               speed = load("tiny_speed.fatbin");
  std::vector<std::string> texts;
  std::vector<Buffer> cubins;
  std::vector<FatEntry::Compression> compressions;
  for (const Buffer* file : {&none, &size, &speed}) {
    const auto fat = read_fat_binary(*file);
    ASSERT_TRUE(fat.has_value()) << fat.error().text();
    EXPECT_EQ(fat->size, file->size());
    ASSERT_EQ(fat->entries.size(), 2u);
    EXPECT_EQ(fat->entries[0].architecture(), "compute_90a");
    EXPECT_EQ(fat->entries[1].architecture(), "sm_90a");
    EXPECT_EQ(fat->entries[0].major, 9);
    EXPECT_TRUE(fat->entries[0].is_64bit);
    EXPECT_FALSE(fat->entries[0].is_relocatable);
    const auto ptx = text(fat->entries[0]);
    ASSERT_TRUE(ptx.has_value()) << ptx.error().text();
    texts.push_back(*ptx);
    cubins.push_back(*contents(fat->entries[1]));
    compressions.push_back(fat->entries[0].compression);
  }
  using C = FatEntry::Compression;
  EXPECT_THAT(compressions, ElementsAre(C::None, C::Zstd, C::Lz4));
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(texts[0], texts[2]);
  EXPECT_EQ(cubins[0], cubins[1]);
  EXPECT_EQ(cubins[0], cubins[2]);
  const auto module = parse(texts[0], "tiny.cu");
  ASSERT_TRUE(module.has_value()) << module.error().text();
  EXPECT_NE(module->find_function("_Z5scalePfi"), nullptr);
}

TEST(FatBinary, relocatable_code_and_several_architectures) {
  const Buffer file = load("tiny_rdc.fatbin");
  const auto fat = read_fat_binary(file);
  ASSERT_TRUE(fat.has_value()) << fat.error().text();
  ASSERT_EQ(fat->entries.size(), 3u);
  EXPECT_TRUE(fat->entries[0].is_relocatable);
  EXPECT_EQ(fat->entries[0].options, "--compile-only");
  const FatEntry* best = choose_ptx(fat->entries, 90);
  ASSERT_NE(best, nullptr);
  EXPECT_EQ(best->architecture(), "compute_90a");
  // An sm_100 device runs the plain one.
  EXPECT_EQ(choose_ptx(fat->entries, 100)->architecture(), "compute_90");
  EXPECT_EQ(choose_ptx(fat->entries, 80), nullptr);
  EXPECT_EQ(choose_cubin(fat->entries, 90)->architecture(), "sm_90a");
  EXPECT_EQ(choose_cubin(fat->entries, 80), nullptr);
}

TEST(FatBinary, wrappers_of_the_run_time) {
  const Buffer one = load("tiny_none.fatbin"), two = load("tiny_size.fatbin");
  const void* linked[] = {two.data(), two.data(), nullptr};
  struct {
    uint32_t magic = 0x466243b1, version = 1;
    const void* data = nullptr;
    const void* linked = nullptr;
  } wrapper;
  wrapper.data = one.data();
  const auto plain = read_wrapper(&wrapper);
  ASSERT_TRUE(plain.has_value()) << plain.error().text();
  EXPECT_EQ(plain->size(), 1u);
  wrapper.version = 2;
  wrapper.linked = linked;
  const auto relocatable = read_wrapper(&wrapper);
  ASSERT_TRUE(relocatable.has_value());
  EXPECT_EQ(relocatable->size(), 3u);
  EXPECT_EQ((*relocatable)[2].entries[0].compression, FatEntry::Compression::Zstd);
  wrapper.magic = 1;
  EXPECT_FALSE(read_wrapper(&wrapper).has_value());
  EXPECT_FALSE(read_wrapper(nullptr).has_value());
}

TEST(FatBinary, sections_hold_containers_with_padding_between) {
  Buffer section = load("tiny_size.fatbin");
  const Buffer second = section;
  section.resize(section.size() + 8);
  section.insert(section.end(), second.begin(), second.end());
  const auto all = read_fat_section(section);
  ASSERT_TRUE(all.has_value()) << all.error().text();
  EXPECT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[1].entries.size(), 2u);
}

TEST(FatBinary, every_cut_is_an_error_or_a_shorter_list_and_never_a_crash) {
  const Buffer file = load("tiny_size.fatbin");
  for (size_t size = 0; size < file.size(); ++size) {
    const Buffer cut(file.begin(), file.begin() + static_cast<long>(size));
    EXPECT_FALSE(read_fat_binary(cut).has_value()) << size;
  }
}

TEST(FatBinary, every_flipped_byte_is_survived) {
  const Buffer file = load("tiny_size.fatbin");
  for (size_t i = 0; i < 400; ++i)
    for (int bit : {0, 3, 7}) {
      Buffer damaged = file;
      damaged[i] ^= static_cast<std::byte>(1 << bit);
      const auto fat = read_fat_binary(damaged);
      if (!fat.has_value()) continue;
      for (const FatEntry& entry : fat->entries) (void)contents(entry, 1 << 20);
    }
}

TEST(FatBinary, damage_is_named) {
  Buffer file = load("tiny_size.fatbin");
  put<uint32_t>(file, 16 + 4, 8);  // header of the first entry too small
  const auto small = read_fat_binary(file);
  ASSERT_FALSE(small.has_value());
  EXPECT_EQ(small.error().text(), "offset 0x14: fat binary: entry header is too small");

  file = load("tiny_size.fatbin");
  put<uint64_t>(file, 16 + 56, 1u << 20);  // claims another size
  const auto fat = read_fat_binary(file);
  ASSERT_TRUE(fat.has_value());
  EXPECT_EQ(contents(fat->entries[0]).error().message, "fat binary: zstd data is damaged");
  EXPECT_EQ(contents(fat->entries[0], 1000).error().message,
            "fat binary: entry of 1048576 bytes is too large");

  file = load("tiny_speed.fatbin");
  put<uint64_t>(file, 16 + 56, 1u << 20);
  EXPECT_EQ(contents(read_fat_binary(file)->entries[0]).error().message,
            "fat binary: LZ4 entry claims an impossible size");
}

TEST(Cubin, resources_of_kernels) {
  const Buffer file = load("tiny_none.fatbin");
  const auto fat = read_fat_binary(file);
  ASSERT_TRUE(fat.has_value());
  const auto cubin = read_cubin(fat->entries[1].stored);
  ASSERT_TRUE(cubin.has_value()) << cubin.error().text();
  EXPECT_EQ(cubin->sm, 90u);
  ASSERT_EQ(cubin->kernels.size(), 2u);
  const CubinKernel& scale = *cubin->find("_Z5scalePfi");
  EXPECT_GT(scale.registers, 4u);
  EXPECT_LE(scale.registers, 128u);
  EXPECT_EQ(scale.max_registers, 128u);
  EXPECT_EQ(scale.shared_bytes, 256u + 1024u);
  EXPECT_THAT(scale.max_threads, ElementsAre(256u, 1u, 1u));
  EXPECT_EQ(scale.barriers, 1u);
  EXPECT_EQ(scale.parameter_bytes, 12u);
  ASSERT_EQ(scale.parameters.size(), 2u);
  EXPECT_EQ(scale.parameters[1].offset, 8u);
  EXPECT_EQ(scale.parameters[1].size, 4u);
  const CubinKernel& fill = *cubin->find("_Z4fillPf");
  EXPECT_THAT(fill.cluster, ElementsAre(2u, 1u, 1u));
  EXPECT_TRUE(fill.is_explicit_cluster);
  EXPECT_EQ(fill.shared_bytes, 0u);
}

TEST(Cubin, every_cut_is_survived) {
  const Buffer file = load("tiny_none.fatbin");
  const auto fat = read_fat_binary(file);
  ASSERT_TRUE(fat.has_value());
  const Bytes whole = fat->entries[1].stored;
  for (size_t size = 0; size < whole.size(); size += 7) {
    const Buffer cut(whole.begin(), whole.begin() + static_cast<long>(size));
    (void)read_cubin(cut);
  }
  EXPECT_FALSE(read_cubin(Buffer(10)).has_value());
}

/// A small host program: sections .nv_fatbin, .dynamic, .dynsym, .dynstr.
Buffer host_program(const Buffer& fat, const std::string& needed, bool imports) {
  Buffer out;
  put<uint32_t>(out, 0, 0x464c457fu);
  put<uint8_t>(out, 4, 2);
  put<uint8_t>(out, 5, 1);
  put<uint16_t>(out, 16, 3);
  put<uint16_t>(out, 18, 62);
  const std::string names = std::string("\0.nv_fatbin\0.dynamic\0.dynsym\0.dynstr\0.shstrtab\0", 47);
  const std::string strings =
      std::string("\0", 1) + needed + std::string("\0__cudaRegisterFatBinary\0$ORIGIN\0", 33);
  const auto blob = [&](const void* data, size_t size) {
    const size_t at = (out.size() + 15) / 16 * 16;
    out.resize(at + size);
    std::memcpy(out.data() + at, data, size);
    return at;
  };
  out.resize(64);
  const size_t fat_at = blob(fat.data(), fat.size());
  const uint64_t dynamic[] = {1, 1, 29, 1 + needed.size() + 1 + 24, 0, 0};
  const size_t dynamic_at = blob(dynamic, sizeof dynamic);
  Buffer symbols(48);
  if (imports) put<uint32_t>(symbols, 24, uint32_t(1 + needed.size() + 1));
  const size_t symbols_at = blob(symbols.data(), symbols.size());
  const size_t strings_at = blob(strings.data(), strings.size());
  const size_t names_at = blob(names.data(), names.size());
  const size_t table = (out.size() + 15) / 16 * 16;
  put<uint64_t>(out, 40, table);
  put<uint16_t>(out, 60, 6);
  put<uint16_t>(out, 62, 5);
  const auto section = [&](size_t index, uint32_t name, uint32_t type, uint64_t at, uint64_t size,
                           uint32_t link) {
    const size_t header = table + index * 64;
    if (out.size() < header + 64) out.resize(header + 64);
    put<uint32_t>(out, header, name);
    put<uint32_t>(out, header + 4, type);
    put<uint64_t>(out, header + 24, at);
    put<uint64_t>(out, header + 32, size);
    put<uint32_t>(out, header + 40, link);
  };
  section(0, 0, 0, 0, 0, 0);
  section(1, 1, 1, fat_at, fat.size(), 0);
  section(2, 12, ElfSection::kDynamic, dynamic_at, sizeof dynamic, 4);
  section(3, 21, ElfSection::kDynamicSymbols, symbols_at, symbols.size(), 4);
  section(4, 29, ElfSection::kStringTable, strings_at, strings.size(), 0);
  section(5, 37, ElfSection::kStringTable, names_at, names.size(), 0);
  return out;
}

TEST(Program, a_shared_runtime_is_seen) {
  const Buffer file = host_program(load("tiny_size.fatbin"), "libcudart.so.13", true);
  const auto program = inspect_program(file);
  ASSERT_TRUE(program.has_value()) << program.error().text();
  EXPECT_TRUE(program->is_elf);
  EXPECT_EQ(program->machine, 62);
  EXPECT_TRUE(program->has_device_code);
  EXPECT_TRUE(program->registers_fat_binary);
  EXPECT_FALSE(program->has_static_runtime());
  EXPECT_TRUE(program->has_ptx());
  EXPECT_EQ(program->runtime_major, 13);
  EXPECT_THAT(program->needed, ElementsAre("libcudart.so.13"));
  EXPECT_EQ(program->runpath, "$ORIGIN");
  EXPECT_EQ(program->entries.size(), 2u);
}

TEST(Program, a_static_runtime_is_seen) {
  const Buffer file = host_program(load("tiny_size.fatbin"), "libc.so.6", false);
  const auto program = inspect_program(file);
  ASSERT_TRUE(program.has_value()) << program.error().text();
  EXPECT_TRUE(program->has_static_runtime());
  EXPECT_EQ(program->runtime_major, 0);
}

// A program that calls the driver alone, linked by nvcc.
TEST(Program, an_empty_container_is_no_device_code) {
  Buffer empty(16);
  put<uint32_t>(empty, 0, 0xba55ed50);
  put<uint16_t>(empty, 4, 1);   // version
  put<uint16_t>(empty, 6, 16);  // bytes of this header
  const auto program = inspect_program(host_program(empty, "libcuda.so.1", false));
  ASSERT_TRUE(program.has_value()) << program.error().text();
  EXPECT_FALSE(program->has_device_code);
  EXPECT_FALSE(program->has_static_runtime());
}

TEST(Program, scripts_and_damaged_files) {
  const std::string script = "#!/bin/sh\necho\n";
  const auto text = inspect_program(std::as_bytes(std::span(script.data(), script.size())));
  ASSERT_TRUE(text.has_value());
  EXPECT_FALSE(text->is_elf);
  Buffer file = host_program(load("tiny_size.fatbin"), "libcudart.so.12", true);
  const Buffer whole = file;
  for (size_t size = 64; size < whole.size(); size += 13)
    (void)inspect_program(Buffer(whole.begin(), whole.begin() + static_cast<long>(size)));
  put<uint64_t>(file, 40, ~uint64_t(0) - 100);
  EXPECT_FALSE(inspect_program(file).has_value());
}

}  // namespace
}  // namespace sluice::ptx
