// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// See record_file.hpp. Little-endian throughout.
#include "record_file.hpp"

#include <zstd.h>

#include <cstring>
#include <fstream>
#include <iterator>

namespace sluice::parity {
namespace {

constexpr char kMagic[8] = {'s', 'l', 'u', 'p', 'a', 'r', '0', '1'};

void put(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

/// Reads from a buffer; `good` turns false at its end.
struct Reader {
  const std::string& data;
  size_t at = 0;
  bool good = true;
  uint64_t get(int bytes) {
    uint64_t value = 0;
    if (data.size() - at < static_cast<size_t>(bytes)) {
      good = false;
      return 0;
    }
    for (int i = 0; i < bytes; ++i) value |= uint64_t{static_cast<uint8_t>(data[at++])} << (8 * i);
    return value;
  }
  const char* take(size_t bytes) {
    if (data.size() - at < bytes) {
      good = false;
      return nullptr;
    }
    at += bytes;
    return data.data() + at - bytes;
  }
};

}  // namespace

bool save_records(const std::string& path, const std::vector<Recorded>& records) {
  std::string plain(kMagic, sizeof kMagic);
  put(plain, records.size(), 4);
  for (const Recorded& r : records) {
    put(plain, r.name.size(), 2);
    plain += r.name;
    put(plain, r.fingerprint, 8);
    put(plain, r.outputs.size(), 4);
  }
  for (const Recorded& r : records)
    plain.append(reinterpret_cast<const char*>(r.outputs.data()), r.outputs.size());
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  const size_t size = ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 19);
  if (ZSTD_isError(size)) return false;
  std::ofstream out(path, std::ios::binary);
  out.write(packed.data(), static_cast<std::streamsize>(size));
  return static_cast<bool>(out);
}

bool load_records(const std::string& path, std::vector<Recorded>& records) {
  std::ifstream in(path, std::ios::binary);
  const std::string packed{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > (1ull << 30)) return false;
  std::string plain(size, '\0');
  if (ZSTD_decompress(plain.data(), plain.size(), packed.data(), packed.size()) != size) return false;
  Reader r{plain};
  const char* const magic = r.take(sizeof kMagic);
  if (magic == nullptr || std::memcmp(magic, kMagic, sizeof kMagic) != 0) return false;
  const uint64_t count = r.get(4);
  std::vector<size_t> sizes;
  for (uint64_t i = 0; i < count && r.good; ++i) {
    Recorded one;
    const auto length = static_cast<size_t>(r.get(2));
    if (const char* name = r.take(length)) one.name.assign(name, length);
    one.fingerprint = r.get(8);
    sizes.push_back(static_cast<size_t>(r.get(4)));
    records.push_back(std::move(one));
  }
  for (size_t i = 0; i < sizes.size() && r.good; ++i) {
    if (const char* bytes = r.take(sizes[i])) {
      records[i].outputs.assign(reinterpret_cast<const uint8_t*>(bytes),
                                reinterpret_cast<const uint8_t*>(bytes) + sizes[i]);
    }
  }
  return r.good;
}

}  // namespace sluice::parity
