// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// One experiment that an H200 and the engine both can run: a kernel as PTX text, its buffers, scalars and
// tensor maps. tools/record/units.cu runs the cases on a GPU and writes what came out; the tests of this
// folder run the same cases on the engine and compare. Plain data, C++17, standard library only.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace sluice::hardware {

using Bytes = std::vector<uint8_t>;

/// A tensor map in the driver's terms; the address is a place in one of the case's buffers.
struct MapSpec {
  bool im2col = false;
  int type = 1;  ///< CUtensorMapDataType
  uint32_t rank = 2;
  uint32_t buffer = 0;
  uint64_t offset = 0;
  uint64_t dims[5] = {1, 1, 1, 1, 1};
  uint64_t strides[4] = {};
  uint32_t box[5] = {1, 1, 1, 1, 1};
  uint32_t steps[5] = {1, 1, 1, 1, 1};
  int lower[3] = {};
  int upper[3] = {};
  uint32_t channels = 0;
  uint32_t pixels = 0;
  int interleave = 0;
  int swizzle = 0;
  int oob = 0;
};

struct Argument {
  enum Kind { Buffer, Map, Word32, Word64 } kind;
  uint64_t value;       ///< index of the buffer or map, or the value
  uint64_t offset = 0;  ///< added to a buffer's address
};

struct Case {
  std::string name;
  std::string ptx;  ///< the module; its kernel is `k`
  uint32_t threads = 128;
  uint32_t cluster = 1;  ///< CTAs; the grid is one cluster
  std::vector<Bytes> buffers;
  std::vector<MapSpec> maps;
  std::vector<Argument> arguments;
  std::vector<uint32_t> outputs;  ///< buffers that are read back
  /// Bytes [first, first + second) of the first output that a GPU leaves undefined: not compared.
  std::vector<std::pair<uint32_t, uint32_t>> undefined;

  uint32_t add_buffer(Bytes bytes, bool output = false) {
    const auto index = static_cast<uint32_t>(buffers.size());
    buffers.push_back(std::move(bytes));
    if (output) outputs.push_back(index);
    return index;
  }
};

inline uint32_t element_bytes(int type) {
  static const uint32_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return bytes[type];
}

/// splitmix64: the same numbers everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(next() >> 32) % limit; }
  int between(int low, int high) {
    return low + static_cast<int>(below(static_cast<uint32_t>(high - low + 1)));
  }

 private:
  uint64_t state_;
};

/// A seed that depends on nothing but the name of an experiment (FNV-1a).
inline uint64_t seed_of(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const char letter : name) hash = (hash ^ static_cast<uint8_t>(letter)) * 0x100000001b3ull;
  return hash;
}

inline Bytes random_bytes(uint64_t seed, size_t count) {
  Random random(seed);
  Bytes bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(random.next() >> 24);
  return bytes;
}

template <class T>
void put(Bytes& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

/// Replaces each `$name$` of the text.
inline std::string fill_in(std::string text, const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [name, value] : values) {
    const std::string key = "$" + name + "$";
    for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + value.size())) {
      text.replace(at, key.size(), value);
    }
  }
  return text;
}

inline std::string join(const std::vector<std::string>& parts, const char* separator = ", ") {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

}  // namespace sluice::hardware
