// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Records what a real driver's tensor-map calls answer: one line per call with its parameters, the result
// code and, on success, the 16 words of the map. The cases are chosen systematically: a base of each kind,
// each parameter varied alone (over its edges, so that each rule is broken once), then seeded random
// combinations. No memory is accessed; the addresses are made up. The committed output is the evidence for
// the engine's own encoder (src/machine/tensor_map.cpp).
//
//   nvcc -std=c++17 -o tensor_maps tensor_maps.cu && ./tensor_maps > tensor_maps.txt
//
// A line is `tile` or `im2col`, then key=value; lists are comma-separated, innermost dimension first.
// `replace` lines give the words of a map before and after cuTensorMapReplaceAddress.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace {

struct Case {
  bool im2col = false;
  int type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  unsigned rank = 2;
  uint64_t address = 0x7f1234560000ull;
  uint64_t dims[6] = {256, 64, 8, 4, 2, 1};
  uint64_t strides[5] = {512, 32768, 262144, 1048576, 2097152};
  uint32_t box[6] = {64, 16, 2, 2, 1, 1};
  uint32_t steps[6] = {1, 1, 1, 1, 1, 1};
  int lower[4] = {0, 0, 0, 0};
  int upper[4] = {0, 0, 0, 0};
  uint32_t channels = 64;
  uint32_t pixels = 32;
  int interleave = 0;
  int swizzle = 0;
  int l2 = 0;
  int oob = 0;
};

template <class F>
F driver(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  if (cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found) != cudaSuccess ||
      found != cudaDriverEntryPointSuccess) {
    std::fprintf(stderr, "no driver function %s\n", name);
    std::exit(77);
  }
  return reinterpret_cast<F>(function);
}

template <class T>
void print_list(const char* key, const T* values, unsigned count) {
  std::printf(" %s=", key);
  for (unsigned i = 0; i < count; ++i)
    std::printf("%s%lld", i == 0 ? "" : ",", static_cast<long long>(values[i]));
}

void print_words(const char* key, const CUtensorMap& map) {
  uint64_t words[16];
  std::memcpy(words, &map, sizeof words);
  std::printf(" %s=", key);
  for (int i = 0; i < 16; ++i)
    std::printf("%s%016llx", i == 0 ? "" : ",", static_cast<unsigned long long>(words[i]));
}

bool encode(const Case& c, CUtensorMap& map, CUresult& result) {
  static const auto tiled = driver<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  static const auto im2col = driver<decltype(&cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
  std::memset(&map, 0xa5, sizeof map);
  void* const address = reinterpret_cast<void*>(c.address);
  const auto type = static_cast<CUtensorMapDataType>(c.type);
  const auto interleave = static_cast<CUtensorMapInterleave>(c.interleave);
  const auto swizzle = static_cast<CUtensorMapSwizzle>(c.swizzle);
  const auto l2 = static_cast<CUtensorMapL2promotion>(c.l2);
  const auto oob = static_cast<CUtensorMapFloatOOBfill>(c.oob);
  const auto* dims = reinterpret_cast<const cuuint64_t*>(c.dims);
  const auto* strides = reinterpret_cast<const cuuint64_t*>(c.strides);
  result = c.im2col ? im2col(&map, type, c.rank, address, dims, strides, c.lower, c.upper, c.channels,
                             c.pixels, c.steps, interleave, swizzle, l2, oob)
                    : tiled(&map, type, c.rank, address, dims, strides, c.box, c.steps, interleave, swizzle,
                            l2, oob);
  return result == CUDA_SUCCESS;
}

int count = 0;

void record(const Case& c) {
  CUtensorMap map;
  CUresult result;
  const bool good = encode(c, map, result);
  const unsigned rank = c.rank > 6 ? 6 : c.rank;
  std::printf("%s type=%d rank=%u address=0x%llx", c.im2col ? "im2col" : "tile", c.type, c.rank,
              static_cast<unsigned long long>(c.address));
  print_list("dims", c.dims, rank);
  print_list("strides", c.strides, rank > 0 ? rank - 1 : 0);
  if (c.im2col) {
    print_list("lower", c.lower, rank > 2 ? rank - 2 : 0);
    print_list("upper", c.upper, rank > 2 ? rank - 2 : 0);
    std::printf(" channels=%u pixels=%u", c.channels, c.pixels);
  } else {
    print_list("box", c.box, rank);
  }
  print_list("steps", c.steps, rank);
  std::printf(" interleave=%d swizzle=%d l2=%d oob=%d result=%d", c.interleave, c.swizzle, c.l2, c.oob,
              static_cast<int>(result));
  if (good) print_words("words", map);
  std::printf("\n");
  ++count;
}

/// Records the case once with each value of one field.
template <class T, class F, size_t N>
void vary(Case c, F&& field, const T (&values)[N]) {
  for (const T value : values) {
    Case edited = c;
    field(edited) = value;
    record(edited);
  }
}

uint64_t random_state = 1;
uint32_t next_random(uint32_t below) {
  random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<uint32_t>(random_state >> 33) % below;
}

int element_bytes(int type) {
  const int bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 1, 1, 1};
  return bytes[type];
}

/// A case that keeps the rules (mostly), dense, of the given rank.
Case dense(int type, unsigned rank, uint64_t inner, const uint64_t* outer) {
  Case c;
  c.type = type;
  c.rank = rank;
  c.dims[0] = inner;
  uint64_t bytes = inner * static_cast<uint64_t>(element_bytes(type));
  for (unsigned i = 1; i < rank; ++i) {
    c.strides[i - 1] = bytes;
    c.dims[i] = outer[i - 1];
    bytes *= outer[i - 1];
  }
  c.box[0] = static_cast<uint32_t>(64 / element_bytes(type));
  return c;
}

void tile_sweeps() {
  const Case base;
  record(base);
  const int types[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, -1};
  for (int type : types) {
    Case c = base;
    c.type = type;
    c.box[0] = 16;
    record(c);
    c.box[0] = 128;
    c.strides[0] = 4096;
    record(c);
    c.oob = 1;
    record(c);
  }
  const unsigned ranks[] = {0, 1, 2, 3, 4, 5, 6};
  vary(
      base, [](Case& c) -> unsigned& { return c.rank; }, ranks);
  const uint64_t addresses[] = {0,
                                8,
                                16,
                                32,
                                0x10,
                                0x7f1234560004ull,
                                0x7f1234560008ull,
                                0x7f1234560010ull,
                                0x7f1234560080ull,
                                0x0000200000000000ull,
                                0x00fffffffffffff0ull,
                                0x01fffffffffffff0ull,
                                0xfffffffffffffff0ull};
  vary(
      base, [](Case& c) -> uint64_t& { return c.address; }, addresses);
  const uint64_t extents[] = {
      0, 1, 2, 3, 5, 63, 64, 255, 256, 257, 65535, 65536, 0xffffffffull, 0x100000000ull, 0x100000001ull};
  for (unsigned d = 0; d < 5; ++d) {
    Case c = base;
    c.rank = 5;
    vary(
        c, [d](Case& e) -> uint64_t& { return e.dims[d]; }, extents);
  }
  const uint64_t strides[] = {0,
                              8,
                              16,
                              32,
                              48,
                              64,
                              500,
                              512,
                              528,
                              1040,
                              1ull << 20,
                              (1ull << 32),
                              (1ull << 36) + 16,
                              (1ull << 39),
                              (1ull << 40) - 32,
                              (1ull << 40) - 16,
                              (1ull << 40),
                              (1ull << 40) + 16};
  for (unsigned d = 0; d < 4; ++d) {
    Case c = base;
    c.rank = 5;
    vary(
        c, [d](Case& e) -> uint64_t& { return e.strides[d]; }, strides);
  }
  const uint32_t boxes[] = {0, 1, 2, 4, 8, 16, 24, 31, 32, 40, 128, 255, 256, 257};
  for (unsigned d = 0; d < 5; ++d) {
    Case c = base;
    c.rank = 5;
    vary(
        c, [d](Case& e) -> uint32_t& { return e.box[d]; }, boxes);
  }
  const uint32_t steps[] = {0, 1, 2, 3, 4, 7, 8, 9};
  for (unsigned d = 0; d < 5; ++d) {
    Case c = base;
    c.rank = 5;
    vary(
        c, [d](Case& e) -> uint32_t& { return e.steps[d]; }, steps);
    c.interleave = 1;
    vary(
        c, [d](Case& e) -> uint32_t& { return e.steps[d]; }, steps);
  }
  // Sizes around the limit at which word 1 changes (CUTLASS clears a bit there for small tensors).
  for (uint64_t rows : {1, 2, 255, 256, 257, 512, 1024, 65536}) {
    Case c = base;
    c.dims[1] = rows;
    record(c);
  }
  for (int interleave = -1; interleave <= 3; ++interleave) {
    for (int swizzle = -1; swizzle <= 7; ++swizzle) {
      for (unsigned rank : {2u, 3u}) {
        Case c = base;
        c.rank = rank;
        c.interleave = interleave;
        c.swizzle = swizzle;
        c.box[0] = 16;
        record(c);
      }
    }
  }
  for (int swizzle = 0; swizzle <= 6; ++swizzle) {
    for (uint32_t inner : {8u, 16u, 24u, 32u, 40u, 64u, 72u, 128u}) {
      Case c = base;
      c.swizzle = swizzle;
      c.box[0] = inner;
      record(c);
    }
  }
  const int promotions[] = {-1, 0, 1, 2, 3, 4};
  vary(
      base, [](Case& c) -> int& { return c.l2; }, promotions);
  const int fills[] = {-1, 0, 1, 2};
  vary(
      base, [](Case& c) -> int& { return c.oob; }, fills);
  // Boxes larger than shared memory.
  Case large = base;
  large.rank = 3;
  large.box[0] = 256, large.box[1] = 256, large.box[2] = 4;
  record(large);
  large.box[1] = 255, large.box[2] = 2;
  record(large);
}

/// The limits that the first recording left open: how many bytes a box may have, how high an address may be.
void limits() {
  Case c;
  c.type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  c.rank = 3;
  for (auto [a, b] : {std::pair<uint32_t, uint32_t>{226, 64}, {227, 64}, {167, 87}, {228, 64}}) {
    c.box[0] = 16, c.box[1] = a, c.box[2] = b;
    record(c);
  }
  Case pixels;
  pixels.im2col = true;
  pixels.rank = 3;
  pixels.channels = 256;
  for (uint32_t n : {454u, 455u, 456u, 1024u}) {
    pixels.pixels = n;
    record(pixels);
  }
  const uint64_t addresses[] = {0x00fffffffffffff0ull, 0x0100000000000000ull, 0x01fffffffffffff0ull,
                                0x0200000000000000ull, 0x0400000000000000ull, 0x8000000000000000ull};
  vary(
      Case{}, [](Case& e) -> uint64_t& { return e.address; }, addresses);
}

void im2col_sweeps() {
  Case base;
  base.im2col = true;
  base.rank = 4;
  record(base);
  const unsigned ranks[] = {1, 2, 3, 4, 5, 6};
  vary(
      base, [](Case& c) -> unsigned& { return c.rank; }, ranks);
  const int corners[] = {-32769, -32768, -1000, -129, -128, -100, -17, -16, -8,  -3,    -1,   0,
                         1,      2,      7,     8,    15,   16,   100, 127, 128, 32767, 32768};
  for (unsigned rank = 3; rank <= 5; ++rank) {
    for (unsigned d = 0; d + 2 < rank; ++d) {
      Case c = base;
      c.rank = rank;
      c.dims[1] = c.dims[2] = c.dims[3] = 65536;
      vary(
          c, [d](Case& e) -> int& { return e.lower[d]; }, corners);
      vary(
          c, [d](Case& e) -> int& { return e.upper[d]; }, corners);
      c.dims[1] = 64, c.dims[2] = 8, c.dims[3] = 4;
      const int tight[] = {-65, -64, -63, -9, -8, -7, -5, -4, -3, -1};
      vary(
          c, [d](Case& e) -> int& { return e.upper[d]; }, tight);
    }
  }
  const uint32_t channels[] = {0, 1, 4, 8, 12, 16, 64, 128, 255, 256, 257};
  vary(
      base, [](Case& c) -> uint32_t& { return c.channels; }, channels);
  const uint32_t pixels[] = {0, 1, 2, 3, 255, 256, 257, 1023, 1024, 1025};
  vary(
      base, [](Case& c) -> uint32_t& { return c.pixels; }, pixels);
  const uint32_t steps[] = {0, 1, 2, 3, 8, 9};
  for (unsigned d = 0; d < 4; ++d)
    vary(
        base, [d](Case& e) -> uint32_t& { return e.steps[d]; }, steps);
  for (int interleave = 0; interleave <= 2; ++interleave) {
    for (int swizzle = 0; swizzle <= 4; ++swizzle) {
      Case c = base;
      c.channels = 16;
      c.interleave = interleave;
      c.swizzle = swizzle;
      record(c);
    }
  }
  const int types[] = {0, 2, 4, 7, 9, 12, 13, 14, 15};
  vary(
      base, [](Case& c) -> int& { return c.type; }, types);
}

void random_cases() {
  for (int i = 0; i < 160; ++i) {
    const int type = static_cast<int>(next_random(13));
    const unsigned rank = 1 + next_random(5);
    uint64_t outer[4];
    for (auto& extent : outer) extent = 1 + next_random(i % 3 == 0 ? 5000 : 60);
    Case c = dense(type, rank, 16 * (1 + next_random(i % 2 == 0 ? 2000 : 20)), outer);
    c.address = 0x7f0000000000ull + (uint64_t{next_random(1u << 30)} << 4);
    for (unsigned d = 0; d < rank; ++d) {
      if (d > 0) c.box[d] = 1 + next_random(256);
      c.steps[d] = 1 + next_random(8) * next_random(2);
    }
    c.swizzle = static_cast<int>(next_random(4));
    c.box[0] =
        static_cast<uint32_t>(16 << next_random(c.swizzle == 0 ? 4 : static_cast<uint32_t>(c.swizzle) + 1)) /
        static_cast<uint32_t>(element_bytes(type));
    if (rank >= 3) c.interleave = static_cast<int>(next_random(3)) * static_cast<int>(next_random(2));
    if (c.interleave == 2) c.swizzle = 1;
    c.l2 = static_cast<int>(next_random(4));
    if (type >= 6) c.oob = static_cast<int>(next_random(2));
    if (rank >= 3 && next_random(3) == 0) {
      c.im2col = true;
      const uint32_t reach = rank == 3 ? 200 : rank == 4 ? 100 : 14;
      for (unsigned d = 0; d + 2 < rank; ++d) {
        c.lower[d] = static_cast<int>(next_random(reach)) - static_cast<int>(reach / 2);
        c.upper[d] = static_cast<int>(next_random(reach)) - static_cast<int>(reach / 2);
        c.dims[d + 1] += 2 * reach;
      }
      c.channels = c.box[0];
      c.pixels = 1 + next_random(1024);
    }
    record(c);
  }
}

void replaced_addresses() {
  const auto replace = driver<decltype(&cuTensorMapReplaceAddress)>("cuTensorMapReplaceAddress");
  for (uint64_t address : {0x7f7777777770ull, 0x7f7777777778ull, 0x10ull, 0x0ull, 0x01fffffffffffff0ull}) {
    for (int interleave : {0, 2}) {
      Case c;
      c.rank = 3;
      c.interleave = interleave;
      c.swizzle = interleave == 2 ? 1 : 3;
      c.box[0] = 16;
      CUtensorMap map;
      CUresult result;
      if (!encode(c, map, result)) continue;
      std::printf("replace address=0x%llx", static_cast<unsigned long long>(address));
      print_words("before", map);
      result = replace(&map, reinterpret_cast<void*>(address));
      std::printf(" result=%d", static_cast<int>(result));
      print_words("after", map);
      std::printf("\n");
      ++count;
    }
  }
}

}  // namespace

int main() {
  if (const cudaError_t status = cudaFree(nullptr); status != cudaSuccess) {
    std::fprintf(stderr, "no GPU: %s\n", cudaGetErrorString(status));
    return 77;
  }
  int driver_version = 0;
  cudaDriverGetVersion(&driver_version);
  cudaDeviceProp properties{};
  cudaGetDeviceProperties(&properties, 0);
  std::printf("# %s, driver API %d\n", properties.name, driver_version);
  tile_sweeps();
  im2col_sweeps();
  random_cases();
  replaced_addresses();
  limits();
  std::fprintf(stderr, "%d cases\n", count);
  return 0;
}
