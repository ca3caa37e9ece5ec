// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Experiments on wgmma: numbers (how products are summed) and addressing (what a descriptor means). The whole
// stage of shared memory and the accumulators are inputs; the accumulators are read back.
#pragma once

#include <algorithm>
#include <cmath>

#include "hardware_case.hpp"
#include "stage_kernels.hpp"

namespace sluice::hardware {

struct WgmmaShot {
  std::string name;
  uint32_t n = 8;
  std::string d = "f32", a = "bf16", b = "bf16";
  bool a_in_registers = false;
  bool a_mn_major = false, b_mn_major = false;  ///< imm-trans
  int scale_a = 1, scale_b = 1;
  bool scale_d = true;
  bool satfinite = false;
  std::string bit_op;                           ///< "and" for b1
  int sparse_selector = -1;                     ///< >= 0: sparse, with this selector
  uint64_t a_descriptor = 0, b_descriptor = 0;  ///< start address relative to the stage
  Bytes stage;                                  ///< image of shared memory from a 1024-byte boundary
  Bytes accumulators;                           ///< 128 threads x registers, register-major within a thread
  Bytes a_registers;                            ///< 128 threads x 4 words
  Bytes metadata;                               ///< 128 words
};

inline uint32_t wgmma_k(const std::string& type) {
  if (type == "f16" || type == "bf16") return 16;
  if (type == "tf32") return 8;
  if (type == "b1") return 256;
  return 32;
}

inline uint32_t wgmma_registers(const WgmmaShot& shot) {
  return shot.d == "f16" ? shot.n / 4 : shot.n / 2;
}

inline std::string wgmma_ptx(const WgmmaShot& shot) {
  const uint32_t count = wgmma_registers(shot);
  const bool sparse = shot.sparse_selector >= 0;
  const bool is_float = shot.a != "s8" && shot.a != "u8" && shot.a != "b1";
  const char* const d_type = shot.d == "f32" ? "f32" : "b32";
  std::vector<std::string> d;
  std::string loads, stores;
  for (uint32_t i = 0; i < count; ++i) {
    d.push_back("%d" + std::to_string(i));
    loads += "ld.global." + std::string(d_type) + " %d" + std::to_string(i) + ", [%acc+" +
             std::to_string(i * 4) + "];\n";
    stores += "st.global." + std::string(d_type) + " [%acc+" + std::to_string(i * 4) + "], %d" +
              std::to_string(i) + ";\n";
  }
  const uint32_t k = wgmma_k(shot.a) * (sparse ? 2 : 1);
  std::string text = "wgmma.mma_async" + std::string(sparse ? ".sp" : "") + ".sync.aligned.m64n" +
                     std::to_string(shot.n) + "k" + std::to_string(k);
  if (shot.satfinite) text += ".satfinite";
  text += "." + shot.d + "." + shot.a + "." + shot.b;
  if (!shot.bit_op.empty()) text += "." + shot.bit_op + ".popc";
  text += " {" + join(d) + "}, ";
  text += shot.a_in_registers ? "{%a0, %a1, %a2, %a3}" : "%da";
  text += ", %db, ";
  if (sparse) text += "%meta, " + std::to_string(shot.sparse_selector) + ", ";
  text += "%scale";
  if (is_float) {
    text += ", " + std::to_string(shot.scale_a) + ", " + std::to_string(shot.scale_b);
    if (shot.a == "f16" || shot.a == "bf16") {
      if (!shot.a_in_registers) text += std::string(", ") + (shot.a_mn_major ? "1" : "0");
      text += std::string(", ") + (shot.b_mn_major ? "1" : "0");
    }
  }
  text += ";";
  return fill_in(R"(.version 8.4
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 acc, .param .u64 image, .param .u64 regs, .param .u64 meta, .param .u64 da, .param .u64 db,
  .param .u32 scale_d)
{
.reg .pred %p, %scale;
.reg .b32 %me, %i, %v, %at, %base, %meta, %a<4>, %sd;
.reg .$dtype$ %d<$count$>;
.reg .b64 %acc, %image, %regs, %metas, %da, %db, %wide, %start;
.shared .align 1024 .b8 stage[$stage$];
mov.u32 %me, %tid.x;
ld.param.u64 %acc, [acc];
cvta.to.global.u64 %acc, %acc;
ld.param.u64 %image, [image];
cvta.to.global.u64 %image, %image;
ld.param.u64 %regs, [regs];
cvta.to.global.u64 %regs, %regs;
ld.param.u64 %metas, [meta];
cvta.to.global.u64 %metas, %metas;
mov.u32 %base, stage;
$fill_loop$mul.wide.u32 %wide, %me, 16;
add.u64 %regs, %regs, %wide;
ld.global.b32 %a0, [%regs];
ld.global.b32 %a1, [%regs+4];
ld.global.b32 %a2, [%regs+8];
ld.global.b32 %a3, [%regs+12];
mul.wide.u32 %wide, %me, 4;
add.u64 %metas, %metas, %wide;
ld.global.b32 %meta, [%metas];
mul.wide.u32 %wide, %me, $row$;
add.u64 %acc, %acc, %wide;
$loads$
ld.param.u64 %da, [da];
ld.param.u64 %db, [db];
and.b32 %v, %base, 0x3ffff;
shr.u32 %v, %v, 4;
cvt.u64.u32 %start, %v;
add.u64 %da, %da, %start;
add.u64 %db, %db, %start;
ld.param.u32 %sd, [scale_d];
setp.ne.u32 %scale, %sd, 0;
fence.proxy.async;
bar.sync 0;
wgmma.fence.sync.aligned;
$mma$
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
$stores$
ret;
}
)",
                 {{"dtype", d_type},
                  {"count", std::to_string(count)},
                  {"stage", std::to_string(shot.stage.size())},
                  {"fill_loop", fill_stage_ptx("%image", shot.stage.size() / 4)},
                  {"row", std::to_string(count * 4)},
                  {"loads", loads},
                  {"stores", stores},
                  {"mma", text}});
}

/// Matrix descriptor: offsets in bytes, all multiples of 16.
inline uint64_t descriptor(uint64_t start, uint64_t leading, uint64_t stride, uint64_t swizzle,
                           uint64_t base_offset = 0) {
  return (start >> 4) | (leading >> 4) << 16 | (stride >> 4) << 32 | base_offset << 49 | swizzle << 62;
}

inline void add_wgmma_shot(std::vector<Case>& cases, WgmmaShot shot) {
  Case c;
  c.name = "wgmma/" + shot.name;
  if (shot.a_registers.empty()) shot.a_registers = Bytes(128 * 16);
  if (shot.metadata.empty()) shot.metadata = Bytes(128 * 4);
  c.ptx = wgmma_ptx(shot);
  c.arguments.push_back({Argument::Buffer, c.add_buffer(shot.accumulators, true)});
  c.arguments.push_back({Argument::Buffer, c.add_buffer(shot.stage)});
  c.arguments.push_back({Argument::Buffer, c.add_buffer(shot.a_registers)});
  c.arguments.push_back({Argument::Buffer, c.add_buffer(shot.metadata)});
  c.arguments.push_back({Argument::Word64, shot.a_descriptor});
  c.arguments.push_back({Argument::Word64, shot.b_descriptor});
  c.arguments.push_back({Argument::Word32, shot.scale_d ? 1u : 0u});
  cases.push_back(std::move(c));
}

/// A random element of the type; `kind` chooses the distribution: 0 close to 1, 1 wide exponents, 2 small
/// integers, 3 any bits.
inline uint64_t random_element(Random& random, const std::string& type, int kind) {
  const uint64_t bits = random.next();
  const auto pick = [&](uint32_t mantissa_bits, uint32_t exponent_bits, uint32_t bias) -> uint64_t {
    const uint64_t sign = (bits >> 63) << (mantissa_bits + exponent_bits);
    const uint64_t mantissa = bits & ((uint64_t{1} << mantissa_bits) - 1);
    const uint32_t most = (1u << exponent_bits) - 2;
    uint32_t exponent = bias - 2 + static_cast<uint32_t>(bits >> 40) % 4;
    if (kind == 1) exponent = static_cast<uint32_t>(bits >> 40) % (most + 1);
    if (kind == 3) exponent = static_cast<uint32_t>(bits >> 40) % (most + 2);
    return sign | uint64_t{exponent} << mantissa_bits | mantissa;
  };
  if (kind == 2) {
    const int value = static_cast<int>((bits >> 32) % 9) - 4;
    if (type == "f16" || type == "bf16" || type == "tf32" || type == "e4m3" || type == "e5m2" ||
        type == "f32") {
      const auto as_float = static_cast<float>(value);
      uint32_t word;
      std::memcpy(&word, &as_float, 4);
      if (type == "tf32" || type == "f32") return word;
      if (type == "bf16") return word >> 16;
      if (value == 0) return 0;
      const uint32_t sign = word >> 31, exponent = (word >> 23 & 0xff) - 127, top = word >> 21 & 3;
      if (type == "f16") return sign << 15 | (exponent + 15) << 10 | top << 8;
      if (type == "e4m3") return sign << 7 | (exponent + 7) << 3 | top << 1;
      return sign << 7 | (exponent + 15) << 2 | top;
    }
    return static_cast<uint8_t>(value);
  }
  if (type == "f16") return pick(10, 5, 15);
  if (type == "bf16") return kind == 1 ? (bits & 0x807f) | (100 + (bits >> 40) % 54) << 7 : pick(7, 8, 127);
  if (type == "tf32" || type == "f32") {
    return kind == 1 ? (bits & 0x807fffff) | (100 + (bits >> 40) % 54) << 23 : pick(23, 8, 127);
  }
  if (type == "e4m3") return pick(3, 4, 7);
  if (type == "e5m2") return pick(2, 5, 15);
  return bits & 0xff;
}

inline uint32_t wgmma_element_bytes(const std::string& type) {
  if (type == "f16" || type == "bf16") return 2;
  if (type == "tf32" || type == "f32" || type == "s32") return 4;
  return 1;
}

inline Bytes random_elements(uint64_t seed, const std::string& type, int kind, size_t bytes) {
  Random random(seed);
  Bytes out(bytes);
  const uint32_t width = wgmma_element_bytes(type);
  for (size_t i = 0; i < bytes; i += width) {
    const uint64_t value = random_element(random, type, kind);
    std::memcpy(out.data() + i, &value, width);
  }
  return out;
}

inline Bytes random_accumulators(uint64_t seed, const WgmmaShot& shot, int kind) {
  const size_t bytes = size_t{128} * wgmma_registers(shot) * 4;
  if (shot.d == "s32") return random_bytes(seed, bytes);
  return random_elements(seed, shot.d, kind, bytes);
}

inline void add_wgmma_numbers(std::vector<Case>& cases) {
  struct Types {
    const char *d, *a, *b;
  };
  const Types all[] = {{"f32", "f16", "f16"},   {"f16", "f16", "f16"},   {"f32", "bf16", "bf16"},
                       {"f32", "tf32", "tf32"}, {"f32", "e4m3", "e4m3"}, {"f32", "e5m2", "e5m2"},
                       {"f32", "e4m3", "e5m2"}, {"f32", "e5m2", "e4m3"}, {"f16", "e4m3", "e4m3"},
                       {"f16", "e5m2", "e4m3"}, {"s32", "s8", "s8"},     {"s32", "u8", "u8"},
                       {"s32", "s8", "u8"},     {"s32", "u8", "s8"},     {"s32", "b1", "b1"}};
  for (const Types& t : all) {
    const std::string d = t.d;
    const bool integer = d == "s32";
    for (int kind = 0; kind < (integer ? 1 : 4); ++kind) {
      for (int variant = 0; variant < (kind == 0 ? 4 : 2); ++variant) {
        // Variants: 0 accumulate, 1 overwrite, 2 A from registers, 3 negated (floats) or saturated
        // (integers).
        WgmmaShot shot;
        shot.d = t.d, shot.a = t.a, shot.b = t.b;
        if (shot.a == "b1") {
          shot.bit_op = "and";
          if (variant == 3) continue;
        }
        shot.name =
            d + "_" + t.a + "_" + t.b + "_kind" + std::to_string(kind) + "_" + std::to_string(variant);
        const uint64_t seed = seed_of(shot.name);
        // K-major without swizzle: A has 8 row groups, B one; a row group is two core matrices of 128 bytes.
        shot.stage = random_elements(seed, shot.a, kind, 4096);
        const Bytes b = random_elements(seed + 1, shot.b, kind, 1024);
        std::copy(b.begin(), b.end(), shot.stage.begin() + 2048);
        shot.a_descriptor = descriptor(0, 128, 256, 0);
        shot.b_descriptor = descriptor(2048, 128, 256, 0);
        shot.scale_d = variant != 1;
        shot.a_in_registers = variant == 2;
        if (variant == 2) shot.a_registers = random_elements(seed + 3, shot.a, kind, 128 * 16);
        if (variant == 3 && !integer) shot.scale_a = -1;
        if (variant == 3 && integer) shot.satfinite = true;
        shot.accumulators = random_accumulators(seed + 2, shot, kind);
        if (variant == 3 && integer) {
          for (size_t i = 0; i < shot.accumulators.size(); i += 4) {
            put(shot.accumulators, i,
                (i / 4) % 2 == 0 ? 0x7fffffff - static_cast<int32_t>(i)
                                 : -0x7fffffff + static_cast<int32_t>(i));
          }
        }
        add_wgmma_shot(cases, shot);
      }
    }
  }
}

/// Row r of A holds `terms[r]`, every column of B holds ones (exact in every type): the sum of chosen
/// numbers. `terms` are values times 2^exponent given as (mantissa sign, exponent) pairs.
inline void add_wgmma_probes(std::vector<Case>& cases) {
  struct Type {
    const char* name;
    uint32_t width, mantissa, bias, low, high;
  };
  const Type types[] = {{"f16", 2, 10, 15, 1, 30},
                        {"bf16", 2, 7, 127, 80, 170},
                        {"tf32", 4, 23, 127, 80, 170},
                        {"e4m3", 1, 3, 7, 1, 14},
                        {"e5m2", 1, 2, 15, 1, 29}};
  for (const Type& t : types) {
    const uint32_t k = wgmma_k(t.name);
    for (int variant = 0; variant < 6; ++variant) {
      WgmmaShot shot;
      shot.a = shot.b = t.name;
      shot.name = std::string("probe_") + t.name + "_" + std::to_string(variant);
      shot.stage = Bytes(4096);
      Random random(600 + static_cast<uint64_t>(variant) * 31 + t.width * 7 + t.mantissa);
      const auto place = [&](uint32_t matrix, uint32_t row, uint32_t column, uint64_t value) {
        const uint32_t byte = column * t.width;
        const size_t at = matrix + row / 8 * 256 + byte / 16 * 128 + row % 8 * 16 + byte % 16;
        std::memcpy(shot.stage.data() + at, &value, t.width);
      };
      const uint32_t sign_bit = t.width * 8 - 1;
      for (uint32_t row = 0; row < 64; ++row) {
        for (uint32_t column = 0; column < k; ++column) {
          // One large term at a column that moves with the row, small ones elsewhere whose size moves too.
          uint32_t exponent = t.bias;
          uint64_t mantissa = 0, sign = 0;
          const bool large = column == row % k;
          switch (variant) {
            case 0:  // 1 plus equal powers of two, smaller and smaller
              exponent = large ? t.high : t.high - std::min(t.high - t.low, 1 + row / 2);
              break;
            case 1:  // large, minus large, small ones
              exponent =
                  column < 2 ? t.high - 2 : std::max(t.low, t.high - std::min(t.high - t.low, 1 + row / 2));
              sign = column == 1;
              break;
            case 2:  // small ones first or last, alternating signs
              exponent = large ? t.high - 1 : std::max(t.low, t.high - std::min(t.high - t.low, 1 + row / 2));
              sign = column % 2;
              break;
            case 3:  // random mantissas, one exponent
              exponent = t.bias;
              mantissa = random.next() & ((uint64_t{1} << t.mantissa) - 1);
              break;
            case 4:  // random everything
              exponent = t.low + random.below(t.high - t.low);
              mantissa = random.next() & ((uint64_t{1} << t.mantissa) - 1);
              sign = random.below(2);
              break;
            default:  // two terms alone: large and small
              if (column > 1) continue;
              exponent = column == 0 ? t.high : std::max(t.low, t.high - std::min(t.high - t.low, row));
              sign = column == 1 && row % 2 == 1;
              break;
          }
          place(0, row, column, sign << sign_bit | uint64_t{exponent} << t.mantissa | mantissa);
        }
      }
      for (uint32_t row = 0; row < 8; ++row) {
        for (uint32_t column = 0; column < k; ++column) {
          // Column n of D: B is 1, but for n > 0 the exponent is a little different, which must only scale.
          place(2048, row, column,
                uint64_t{t.bias - (row > 3 ? 1 : 0)} << t.mantissa |
                    (variant == 4 ? (random.next() & ((uint64_t{1} << t.mantissa) - 1)) : 0));
        }
      }
      shot.a_descriptor = descriptor(0, 128, 256, 0);
      shot.b_descriptor = descriptor(2048, 128, 256, 0);
      shot.accumulators = Bytes(128 * 16);
      // The accumulator: zero in half of the columns, else a number near the small terms.
      for (uint32_t thread = 0; thread < 128; ++thread) {
        for (uint32_t r = 0; r < 4; ++r) {
          const float value = r % 2 == 0 ? 0.0f
                                         : std::ldexp(1.0f + static_cast<float>(random.below(4096)) / 4096.0f,
                                                      random.between(-12, 12));
          std::memcpy(shot.accumulators.data() + thread * 16 + r * 4, &value, 4);
        }
      }
      add_wgmma_shot(cases, shot);
    }
  }
}

/// What descriptors mean: exact small-integer contents, so that only the addresses matter.
inline void add_wgmma_addresses(std::vector<Case>& cases) {
  struct Form {
    const char* name;
    const char* type;
    uint32_t n;
    bool a_mn, b_mn;
    uint64_t a, b;
    uint32_t stage;
  };
  std::vector<Form> forms;
  constexpr uint32_t kB = 16384;
  const auto both = [&](const char* name, const char* type, uint32_t n, bool a_mn, bool b_mn,
                        uint64_t leading, uint64_t stride, uint64_t swizzle, uint64_t start = 0,
                        uint64_t base = 0) {
    forms.push_back({name, type, n, a_mn, b_mn, descriptor(start, leading, stride, swizzle, base),
                     descriptor(kB + start, leading, stride, swizzle, base), 2 * kB});
  };
  for (const char* type : {"f16", "s8", "tf32"}) {
    both("k_none", type, 24, false, false, 128, 256, 0);
    both("k_none_swapped", type, 24, false, false, 1024, 128, 0);
    both("k_none_far", type, 24, false, false, 4096, 144, 0, 32);
    both("k_32", type, 24, false, false, 16, 256, 3);
    both("k_64", type, 24, false, false, 16, 512, 2);
    both("k_128", type, 24, false, false, 16, 1024, 1);
    both("k_64_step32", type, 24, false, false, 16, 512, 2, 32);
    both("k_128_step32", type, 24, false, false, 16, 1024, 1, 32);
    both("k_128_step96", type, 24, false, false, 16, 1024, 1, 96);
    both("k_128_at512_base4", type, 24, false, false, 16, 1024, 1, 512, 4);
    both("k_128_at512_base0", type, 24, false, false, 16, 1024, 1, 512, 0);
    both("k_128_leading", type, 24, false, false, 2048, 1024, 1, 96);
    both("k_128_stride2048", type, 24, false, false, 16, 2048, 1);
    both("k_64_at256_base2", type, 24, false, false, 16, 512, 2, 256, 2);
    both("k_32_at128_base1", type, 24, false, false, 16, 256, 3, 128, 1);
    both("k_128_base3", type, 24, false, false, 16, 1024, 1, 0, 3);
  }
  both("mn_none", "f16", 32, true, true, 256, 1024, 0);
  both("mn_none_swapped", "f16", 32, true, true, 1024, 128, 0);
  both("mn_32", "f16", 32, true, true, 2048, 512, 3);
  both("mn_64", "f16", 64, true, true, 2048, 1024, 2);
  both("mn_128", "f16", 128, true, true, 4096, 1024, 1);
  both("mn_128_odd", "f16", 72, true, true, 2048, 1024, 1);
  both("mn_128_stride", "f16", 128, true, true, 1024, 4096, 1);
  both("mn_64_start", "f16", 64, true, true, 2048, 1024, 2, 1024);
  both("mn_a_only", "bf16", 40, true, false, 4096, 1024, 1);
  both("mn_b_only", "bf16", 40, false, true, 4096, 1024, 1);
  both("wide_256", "f16", 256, false, false, 16, 512, 2);
  for (const Form& form : forms) {
    WgmmaShot shot;
    shot.name = std::string("address_") + form.type + "_" + form.name;
    shot.a = shot.b = form.type;
    const bool integer = shot.a == "s8";
    if (integer) shot.d = "s32";
    shot.n = form.n;
    shot.a_mn_major = form.a_mn, shot.b_mn_major = form.b_mn;
    shot.a_descriptor = form.a, shot.b_descriptor = form.b;
    shot.scale_d = false;
    shot.stage = random_elements(seed_of(shot.name), form.type, integer ? 3 : 2, form.stage);
    shot.accumulators = Bytes(size_t{128} * wgmma_registers(shot) * 4);
    add_wgmma_shot(cases, shot);
  }
}

inline void add_wgmma_sparse(std::vector<Case>& cases) {
  struct Types {
    const char *d, *ab;
  };
  for (const Types& t :
       std::vector<Types>{{"f32", "f16"}, {"f32", "bf16"}, {"f32", "tf32"}, {"f32", "e4m3"}, {"s32", "s8"}}) {
    const std::string type = t.ab;
    const int selectors = type == "f16" || type == "bf16" ? 2 : type == "tf32" ? 2 : 1;
    for (int selector = 0; selector < selectors; ++selector) {
      for (bool registers : {false, true}) {
        WgmmaShot shot;
        shot.d = t.d;
        shot.a = shot.b = t.ab;
        shot.n = 16;
        shot.sparse_selector = selector;
        shot.a_in_registers = registers;
        shot.name = std::string("sparse_") + t.ab + "_selector" + std::to_string(selector) +
                    (registers ? "_registers" : "");
        const uint64_t seed = seed_of(shot.name);
        const int kind = type == "s8" ? 3 : 2;
        shot.stage = random_elements(seed, type, kind, 8192);
        shot.a_registers = random_elements(seed + 1, type, kind, 128 * 16);
        shot.a_descriptor = descriptor(0, 128, 256, 0);
        shot.b_descriptor = descriptor(4096, 128, 512, 0);
        Random random(seed + 2);
        shot.metadata = Bytes(512);
        for (uint32_t i = 0; i < 128; ++i) {
          uint32_t word = 0;
          const uint32_t pairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
          for (uint32_t nibble = 0; nibble < 8; ++nibble) {
            const uint32_t value =
                type == "tf32" ? (random.below(2) == 0 ? 0x4u : 0xeu) : pairs[random.below(6)];
            word |= value << (4 * nibble);
          }
          put(shot.metadata, i * 4, word);
        }
        shot.accumulators = Bytes(size_t{128} * wgmma_registers(shot) * 4);
        shot.scale_d = false;
        add_wgmma_shot(cases, shot);
      }
    }
  }
}

/// Zeros and subnormals next to large factors: does their exponent count when the products are aligned?
inline void add_wgmma_small_operands(std::vector<Case>& cases) {
  struct Type {
    const char* name;
    uint32_t width, mantissa, bias, high;
  };
  const Type types[] = {{"f16", 2, 10, 15, 30},
                        {"bf16", 2, 7, 127, 200},
                        {"tf32", 4, 23, 127, 200},
                        {"e4m3", 1, 3, 7, 14},
                        {"e5m2", 1, 2, 15, 29}};
  for (const Type& t : types) {
    const uint32_t k = wgmma_k(t.name);
    for (int variant = 0; variant < 3; ++variant) {
      WgmmaShot shot;
      shot.a = shot.b = t.name;
      shot.name = std::string("small_") + t.name + "_" + std::to_string(variant);
      shot.stage = Bytes(4096);
      Random random(9100 + static_cast<uint64_t>(variant) * 31 + t.width * 7 + t.mantissa);
      const auto place = [&](uint32_t matrix, uint32_t row, uint32_t column, uint64_t value) {
        const uint32_t byte = column * t.width;
        const size_t at = matrix + row / 8 * 256 + byte / 16 * 128 + row % 8 * 16 + byte % 16;
        std::memcpy(shot.stage.data() + at, &value, t.width);
      };
      const uint64_t all_mantissa = (uint64_t{1} << t.mantissa) - 1;
      for (uint32_t row = 0; row < 64; ++row) {
        for (uint32_t column = 0; column < k; ++column) {
          // Column 0 meets the large factors of B. The others are moderate and grow smaller with the row.
          uint64_t value = random.next() & all_mantissa;
          const uint32_t exponent = t.bias - std::min(t.bias - 1, row * t.bias / 64);
          value |= uint64_t{exponent} << t.mantissa;
          if (column == 0) value = variant == 0 ? 0 : variant == 1 ? 1 : random.next() & all_mantissa;
          if (row % 5 == 4 && column > 1) value = 0;
          place(0, row, column, value);
        }
      }
      for (uint32_t row = 0; row < 8; ++row) {
        for (uint32_t column = 0; column < k; ++column) {
          const uint32_t exponent = column == 0 ? t.high - row : t.bias;
          place(2048, row, column, uint64_t{exponent} << t.mantissa | (random.next() & all_mantissa));
        }
      }
      shot.a_descriptor = descriptor(0, 128, 256, 0);
      shot.b_descriptor = descriptor(2048, 128, 256, 0);
      shot.accumulators = Bytes(128 * 16);
      for (size_t i = 4; i < shot.accumulators.size(); i += 8) {
        // Odd registers: subnormal numbers of f32, or small ones.
        put(shot.accumulators, i,
            static_cast<uint32_t>(i % 16 == 4 ? random.next() & 0x807fffff : 0x30123456));
      }
      add_wgmma_shot(cases, shot);
    }
  }
}

/// Products far below the least normal f32: does the result's own least exponent count when they are aligned?
inline void add_wgmma_tiny_products(std::vector<Case>& cases) {
  for (const std::string type : {"bf16", "tf32"}) {
    const uint32_t width = wgmma_element_bytes(type), mantissa = type == "bf16" ? 7 : 23;
    for (int variant = 0; variant < 3; ++variant) {
      WgmmaShot shot;
      shot.a = shot.b = type;
      shot.name = "tiny_" + type + "_" + std::to_string(variant);
      shot.stage = Bytes(4096);
      Random random(seed_of(shot.name));
      const auto place = [&](uint32_t matrix, uint32_t row, uint32_t column, uint64_t exponent,
                             bool negative) {
        const uint32_t byte = column * width;
        const size_t at = matrix + row / 8 * 256 + byte / 16 * 128 + row % 8 * 16 + byte % 16;
        const uint64_t digits = variant == 0 ? 0 : random.next() & ((uint64_t{1} << mantissa) - 1);
        const uint64_t value =
            (negative ? uint64_t{1} << (width * 8 - 1) : 0) | exponent << mantissa | digits;
        std::memcpy(shot.stage.data() + at, &value, width);
      };
      // Exponents of products: from -120 (row 0) down to -183.
      for (uint32_t row = 0; row < 64; ++row) {
        for (uint32_t column = 0; column < wgmma_k(type); ++column)
          place(0, row, column, 127 - 60 - row, variant == 2 && random.below(3) == 0);
      }
      for (uint32_t row = 0; row < 8; ++row) {
        for (uint32_t column = 0; column < wgmma_k(type); ++column)
          place(2048, row, column, 127 - 60 + row % 2 * (column % 3), false);
      }
      shot.a_descriptor = descriptor(0, 128, 256, 0);
      shot.b_descriptor = descriptor(2048, 128, 256, 0);
      shot.accumulators = Bytes(128 * 16);
      // Zeros, and in odd registers subnormal numbers of f32.
      for (size_t i = 4; i < shot.accumulators.size(); i += 8)
        put(shot.accumulators, i,
            static_cast<uint32_t>(random.next() & (i % 16 == 4 ? 0x8000000f : 0x800fffff)));
      shot.scale_d = true;
      add_wgmma_shot(cases, shot);
      if (variant != 1) continue;
      shot.name += "_overwrite";
      shot.scale_d = false;
      add_wgmma_shot(cases, shot);
    }
  }
}

}  // namespace sluice::hardware
