// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Fat binary reading: see fatbin.hpp.
//
//   container   0 u32 magic BA55ED50    4 u16 version 1     6 u16 header size 16    8 u64 bytes behind the
//   header entry       0 u16 kind              2 u16 version 0101  4 u32 header size (64 and more, entries
//   are 8-aligned)
//               8 u64 bytes behind the header, padding included
//              16 u32 compressed bytes (0: not compressed) 20 u32 offset of the options record, 0: none
//              24 u16 minor  26 u16 major  28 u32 sm       32 u32 offset and 36 u32 length of the name
//              40 u64 flags                48 u64 zero      56 u64 unpacked bytes (0: not compressed)
//   options     0 u32 offset of the text in the entry, 4 u32 its length
//   flags       1 64-bit, 2 debug, 10 Linux host, 1000 and 2000 LZ4, 8000 zstd, 100000 suffix a, 200000
//   suffix f wrapper     0 u32 magic 466243B1    4 u32 version 1 or 2    8 container    16 version 2:
//   null-terminated list of
//               the containers that were linked
#include "ptx/fatbin.hpp"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>

namespace sluice::ptx {
namespace {

constexpr uint32_t kContainerMagic = 0xba55ed50u;
constexpr uint32_t kWrapperMagic = 0x466243b1u;
constexpr uint64_t kContainerHeader = 16;
constexpr uint64_t kEntryHeader = 64;
constexpr uint64_t kMaxContainer = uint64_t(1) << 34;
constexpr size_t kMaxLinked = 1u << 16;

constexpr uint64_t kFlag64Bit = 0x1, kFlagDebug = 0x2, kFlagLz4Old = 0x1000, kFlagLz4 = 0x2000,
                   kFlagZstd = 0x8000, kFlagSuffixA = 0x100000, kFlagSuffixF = 0x200000;

Error bad(std::string_view what, uint64_t offset) {
  return {fmt::format("fat binary: {}", what), fmt::format("offset {:#x}", offset)};
}

/// Text of `length` bytes at `offset` of the entry; trailing blanks and zeros are cut off.
std::string entry_text(Bytes entry, uint64_t offset, uint64_t length) {
  const auto at = slice(entry, offset, length);
  if (!at) return {};
  std::string text(reinterpret_cast<const char*>(at->data()), at->size());
  text.resize(std::min(text.size(), text.find('\0')));
  while (!text.empty() && text.back() == ' ') text.pop_back();
  while (!text.empty() && text.front() == ' ') text.erase(0, 1);
  return text;
}

FatEntry::Compression compression_of(uint64_t flags, uint64_t compressed) {
  if (flags & kFlagZstd) return FatEntry::Compression::Zstd;
  if (flags & (kFlagLz4 | kFlagLz4Old)) return FatEntry::Compression::Lz4;
  return compressed == 0 ? FatEntry::Compression::None : FatEntry::Compression::Unknown;
}

}  // namespace

std::string FatEntry::architecture() const {
  std::string text = fmt::format("{}_{}", kind == Kind::Cubin ? "sm" : "compute", sm);
  if (suffix != 0) text += suffix;
  return text;
}

bool is_fat_binary(Bytes bytes) {
  return read<uint32_t>(bytes, 0) == kContainerMagic;
}

Result<FatBinary> read_fat_binary(Bytes bytes) {
  if (!is_fat_binary(bytes)) return bad("wrong magic number", 0);
  const auto header_size = read<uint16_t>(bytes, 6);
  const auto body_size = read<uint64_t>(bytes, 8);
  if (!header_size || !body_size) return bad("header is cut off", 0);
  if (*header_size < kContainerHeader) return bad("header is too small", 6);
  const auto body = slice(bytes, *header_size, *body_size);
  if (!body) return bad("container is cut off", 8);

  FatBinary out;
  out.size = *header_size + *body_size;
  for (uint64_t at = 0; at < body->size();) {
    // What is left may be padding.
    if (body->size() - at < kEntryHeader) break;
    const uint64_t place = *header_size + at;
    const uint32_t entry_header = *read<uint32_t>(*body, at + 4);
    const uint64_t payload = *read<uint64_t>(*body, at + 8);
    if (entry_header < kEntryHeader) return bad("entry header is too small", place + 4);
    const auto header = slice(*body, at, entry_header);
    const auto data = slice(*body, at + entry_header, payload);
    if (!header || !data) return bad("entry lies outside the container", place);

    FatEntry entry;
    entry.raw_kind = *read<uint16_t>(*header, 0);
    entry.kind = entry.raw_kind == 1   ? FatEntry::Kind::Ptx
                 : entry.raw_kind == 2 ? FatEntry::Kind::Cubin
                                       : FatEntry::Kind::Other;
    const uint32_t compressed = *read<uint32_t>(*header, 16);
    const uint32_t options = *read<uint32_t>(*header, 20);
    entry.minor = *read<uint16_t>(*header, 24);
    entry.major = *read<uint16_t>(*header, 26);
    entry.sm = *read<uint32_t>(*header, 28);
    entry.flags = *read<uint64_t>(*header, 40);
    entry.size = *read<uint64_t>(*header, 56);
    entry.is_64bit = entry.flags & kFlag64Bit;
    entry.has_debug = entry.flags & kFlagDebug;
    entry.suffix = entry.flags & kFlagSuffixA ? 'a' : entry.flags & kFlagSuffixF ? 'f' : 0;
    entry.compression = compression_of(entry.flags, compressed);
    if (const uint32_t length = *read<uint32_t>(*header, 36); length != 0)
      entry.name = entry_text(*header, *read<uint32_t>(*header, 32), length);
    if (options != 0 && entry.kind == FatEntry::Kind::Ptx) {
      const auto offset = read<uint32_t>(*header, options);
      const auto length = read<uint32_t>(*header, uint64_t(options) + 4);
      if (offset && length) entry.options = entry_text(*header, *offset, *length);
    }
    entry.is_relocatable = entry.options.find("--compile-only") != std::string::npos;
    entry.stored = *data;
    if (entry.compression == FatEntry::Compression::None) {
      entry.size = data->size();
    } else if (compressed <= data->size()) {
      entry.stored = data->first(compressed);
    } else {
      return bad("compressed size is larger than the entry", place + 16);
    }
    entry.stored_size = entry.stored.size();
    out.entries.push_back(std::move(entry));
    at += entry_header + payload;
  }
  return out;
}

Result<std::vector<FatBinary>> read_fat_section(Bytes bytes) {
  std::vector<FatBinary> out;
  uint64_t at = 0;
  while (at < bytes.size()) {
    // Containers are aligned to 8; between them lie zeros.
    const auto word = read<uint32_t>(bytes, at);
    if (!word) break;
    if (*word == 0) {
      at += 4;
      continue;
    }
    auto one = read_fat_binary(bytes.subspan(static_cast<size_t>(at)));
    if (!one.has_value()) return std::move(one).error();
    at += one->size;
    out.push_back(*std::move(one));
  }
  return out;
}

Result<FatBinary> read_fat_binary_at(const void* address) {
  if (address == nullptr) return bad("null pointer", 0);
  // The header says how far the container reaches.
  const Bytes header(static_cast<const std::byte*>(address), kContainerHeader);
  if (!is_fat_binary(header)) return bad("wrong magic number", 0);
  const uint64_t size = *read<uint16_t>(header, 6) + *read<uint64_t>(header, 8);
  if (size > kMaxContainer) return bad("container is implausibly large", 8);
  return read_fat_binary(Bytes(static_cast<const std::byte*>(address), static_cast<size_t>(size)));
}

Result<std::vector<FatBinary>> read_wrapper(const void* wrapper) {
  if (wrapper == nullptr) return bad("null pointer", 0);
  struct Wrapper {
    uint32_t magic;
    uint32_t version;
    const void* data;
    const void* const* linked;
  };
  Wrapper w;
  std::memcpy(&w, wrapper, sizeof w);
  if (w.magic != kWrapperMagic) return bad("wrapper has a wrong magic number", 0);
  std::vector<FatBinary> out;
  auto first = read_fat_binary_at(w.data);
  if (!first.has_value()) return std::move(first).error();
  out.push_back(*std::move(first));
  if (w.version != 2 || w.linked == nullptr) return out;
  for (size_t i = 0; i < kMaxLinked && w.linked[i] != nullptr; ++i) {
    auto one = read_fat_binary_at(w.linked[i]);
    if (!one.has_value()) return std::move(one).error();
    out.push_back(*std::move(one));
  }
  return out;
}

Result<std::vector<std::byte>> contents(const FatEntry& entry, uint64_t limit) {
  const uint64_t size = entry.compression == FatEntry::Compression::None ? entry.stored.size() : entry.size;
  if (size > limit) return Error{fmt::format("fat binary: entry of {} bytes is too large", size), entry.name};
  std::vector<std::byte> out;
  switch (entry.compression) {
    case FatEntry::Compression::None:
      out.assign(entry.stored.begin(), entry.stored.end());
      break;
    case FatEntry::Compression::Lz4: {
      if (entry.stored.size() > INT32_MAX || size > INT32_MAX)
        return Error{"fat binary: LZ4 entry is too large", entry.name};
      // LZ4 expands by less than 255 to 1; a larger claim is not worth the memory.
      if (size > entry.stored.size() * 255 + 16)
        return Error{"fat binary: LZ4 entry claims an impossible size", entry.name};
      out.resize(static_cast<size_t>(size));
      const int got =
          LZ4_decompress_safe(reinterpret_cast<const char*>(entry.stored.data()),
                              reinterpret_cast<char*>(out.data()), int(entry.stored.size()), int(size));
      if (got < 0 || uint64_t(got) != size) return Error{"fat binary: LZ4 data is damaged", entry.name};
      break;
    }
    case FatEntry::Compression::Zstd: {
      const unsigned long long stated = ZSTD_getFrameContentSize(entry.stored.data(), entry.stored.size());
      if (stated != ZSTD_CONTENTSIZE_UNKNOWN && stated != size)
        return Error{"fat binary: zstd data is damaged", entry.name};
      out.resize(static_cast<size_t>(size));
      const size_t got = ZSTD_decompress(out.data(), out.size(), entry.stored.data(), entry.stored.size());
      if (ZSTD_isError(got) || got != size) return Error{"fat binary: zstd data is damaged", entry.name};
      break;
    }
    case FatEntry::Compression::Unknown:
      return Error{
          fmt::format("fat binary: entry is compressed in an unknown way (flags {:#x})", entry.flags),
          entry.name};
  }
  if (entry.kind == FatEntry::Kind::Ptx)
    while (!out.empty() && out.back() == std::byte{0}) out.pop_back();
  return out;
}

Result<std::string> text(const FatEntry& entry) {
  auto bytes = contents(entry);
  if (!bytes.has_value()) return std::move(bytes).error();
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

const FatEntry* choose_ptx(const std::vector<FatEntry>& entries, uint32_t sm) {
  const FatEntry* best = nullptr;
  for (const FatEntry& entry : entries) {
    if (entry.kind != FatEntry::Kind::Ptx) continue;
    // Architecture-specific PTX runs on its own architecture alone; family-specific PTX on its family, of
    // which an older number is no member here.
    if (entry.suffix != 0 ? entry.sm != sm : entry.sm > sm) continue;
    const auto rank = [](const FatEntry& e) { return e.sm * 2 + (e.suffix != 0); };
    if (best == nullptr || rank(entry) > rank(*best)) best = &entry;
  }
  return best;
}

const FatEntry* choose_cubin(const std::vector<FatEntry>& entries, uint32_t sm) {
  const FatEntry* best = nullptr;
  for (const FatEntry& entry : entries)
    if (entry.kind == FatEntry::Kind::Cubin && entry.sm == sm && (best == nullptr || entry.suffix != 0))
      best = &entry;
  return best;
}

}  // namespace sluice::ptx
