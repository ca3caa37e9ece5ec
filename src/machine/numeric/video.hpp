// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The video instructions on one lane's values: scalar (vadd .. vset) and packed (vadd2 .. vset4). A
// description holds types, selectors and flags; rare instructions need no loop of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace sluice::machine::numeric {

enum class VideoOp : uint8_t { Add, Sub, AbsDiff, Min, Max, Average, Shl, Shr, Mad, Eq, Ne, Lt, Le, Gt, Ge };
enum class VideoSecond : uint8_t { None, Add, Min, Max, Merge };

/// Which part of a register an operand of a scalar instruction means.
struct Part {
  uint8_t bits = 32;  ///< 8, 16 or 32
  uint8_t shift = 0;
};

struct Video {
  VideoOp op{};
  VideoSecond second = VideoSecond::None;
  bool signed_a = false, signed_b = false, signed_d = false;
  bool sat = false, wrap = false, plus_one = false;
  bool negate_a = false, negate_b = false, negate_c = false;
  uint8_t scale = 0;  ///< vmad: 0, 7 or 15
  Part a, b, d;
  // Packed forms.
  uint8_t lanes = 1;  ///< 2 or 4
  uint8_t pick_a[4] = {}, pick_b[4] = {};
  uint8_t mask = 0;
};

inline int64_t extract(uint32_t x, Part part, bool is_signed) {
  const uint32_t bits = part.bits == 32 ? x : (x >> part.shift) & ((1u << part.bits) - 1);
  if (!is_signed) return bits;
  return static_cast<int32_t>(bits << (32 - part.bits)) >> (32 - part.bits);
}

inline uint64_t sign_extend(uint32_t x) {
  return static_cast<uint64_t>(int64_t{static_cast<int32_t>(x)});
}

inline int64_t clamp_bits(int64_t x, uint32_t bits, bool is_signed) {
  const int64_t low = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
  const int64_t high = is_signed ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1;
  return std::clamp(x, low, high);
}

inline int64_t video_primary(const Video& v, int64_t a, int64_t b) {
  switch (v.op) {
    case VideoOp::Add:
      return a + b;
    case VideoOp::Sub:
      return a - b;
    case VideoOp::AbsDiff:
      return a > b ? a - b : b - a;
    case VideoOp::Min:
      return std::min(a, b);
    case VideoOp::Max:
      return std::max(a, b);
    case VideoOp::Average:
      return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case VideoOp::Shl:
    case VideoOp::Shr: {
      const int64_t n = v.wrap ? (b & 31) : std::min<int64_t>(b, 32);
      return v.op == VideoOp::Shl ? a << n : a >> n;
    }
    case VideoOp::Eq:
      return a == b;
    case VideoOp::Ne:
      return a != b;
    case VideoOp::Lt:
      return a < b;
    case VideoOp::Le:
      return a <= b;
    case VideoOp::Gt:
      return a > b;
    case VideoOp::Ge:
      return a >= b;
    case VideoOp::Mad:
      break;
  }
  return 0;
}

/// MODEL: an H200 has no video instructions; the assembler writes them out on 64 bits, and its results count,
/// not the ISA's, where the two differ. The product here is that of the operands read as signed.
inline uint32_t video_mad(const Video& v, uint32_t ra, uint32_t rb, uint32_t c) {
  const auto a = static_cast<int32_t>(extract(ra, v.a, v.signed_a));
  const auto b = static_cast<int32_t>(extract(rb, v.b, v.signed_b));
  const bool negate_product = v.negate_a != v.negate_b;
  const bool is_signed = v.signed_a || v.signed_b || negate_product || v.negate_c;
  uint64_t t = static_cast<uint64_t>(int64_t{a} * b);
  uint64_t lowest = 0;
  if (v.plus_one) {
    lowest = 1;
  } else if (negate_product) {
    t = ~t;
    lowest = 1;
  } else if (v.negate_c) {
    c = ~c;
    lowest = 1;
  }
  t += sign_extend(c) + lowest;
  t = is_signed ? static_cast<uint64_t>(static_cast<int64_t>(t) >> v.scale) : t >> v.scale;
  return static_cast<uint32_t>(v.sat ? clamp_bits(static_cast<int64_t>(t), 32, is_signed) : t);
}

/// Saturation of a scalar instruction's intermediate result, on 64 bits for what follows.
inline int64_t video_saturate(const Video& v, int64_t t) {
  const bool shift = v.op == VideoOp::Shl || v.op == VideoOp::Shr;
  // Shifts: 34 bits of the result count, for all 32 of the destination.
  if (shift) return clamp_bits(static_cast<int64_t>(static_cast<uint64_t>(t) << 30) >> 30, 32, v.signed_d);
  if (v.d.bits < 32) {
    // A part of the destination: everything outside of 32 bits, below too, is the largest number.
    const uint32_t word = t == static_cast<uint32_t>(t) ? static_cast<uint32_t>(t) : ~0u;
    return std::min(word, (1u << (v.signed_d ? v.d.bits - 1 : v.d.bits)) - 1);
  }
  if (v.signed_d) return clamp_bits(t, 32, true);
  return t < 0 ? 0 : t;  // nothing is done about what is too large
}

/// The smaller or larger of the intermediate result and c, on 64 bits.
inline uint32_t video_choose(const Video& v, int64_t t, uint32_t c) {
  const auto wide_c = v.signed_d ? static_cast<int64_t>(sign_extend(c)) : int64_t{c};
  const bool less = v.signed_d ? t < wide_c : static_cast<uint64_t>(t) < static_cast<uint64_t>(wide_c);
  return less == (v.second == VideoSecond::Min) ? static_cast<uint32_t>(t) : c;
}

inline uint32_t video_scalar(const Video& v, uint32_t ra, uint32_t rb, uint32_t c) {
  if (v.op == VideoOp::Mad) return video_mad(v, ra, rb, c);
  int64_t t = video_primary(v, extract(ra, v.a, v.signed_a), extract(rb, v.b, v.signed_b));
  if (v.sat) t = video_saturate(v, t);
  const bool low_word = v.op == VideoOp::Add || v.op == VideoOp::Sub ||
                        (v.sat && (v.op == VideoOp::Shl || v.op == VideoOp::Shr));
  if (low_word) t = static_cast<int32_t>(t);  // in a signed register, even where the type is not
  const auto r = static_cast<uint32_t>(t);
  switch (v.second) {
    case VideoSecond::None:
      return r;
    case VideoSecond::Add:
      return r + c;
    case VideoSecond::Min:
    case VideoSecond::Max:
      return video_choose(v, t, c);
    case VideoSecond::Merge: {
      // For the upper half it takes the upper half of the result, not the lower one.
      if (v.d.bits == 16 && v.d.shift == 16) return (r & 0xffff0000u) | (c & 0xffffu);
      const uint32_t mask = v.d.bits == 32 ? ~0u : ((1u << v.d.bits) - 1) << v.d.shift;
      return ((r << v.d.shift) & mask) | (c & ~mask);
    }
  }
  return r;
}

inline uint32_t video_packed(const Video& v, uint32_t ra, uint32_t rb, uint32_t c) {
  const uint64_t both = (uint64_t{rb} << 32) | ra;
  const uint32_t width = 32u / v.lanes;
  const Part whole{static_cast<uint8_t>(width), 0};
  uint32_t merged = 0, sum = c;
  for (uint32_t i = 0; i < v.lanes; ++i) {
    const uint32_t lane_mask = ((1u << width) - 1) << (i * width);
    if (((v.mask >> i) & 1) == 0) {
      merged |= c & lane_mask;
      continue;
    }
    const int64_t a = extract(static_cast<uint32_t>(both >> (v.pick_a[i] * width)), whole, v.signed_a);
    const int64_t b = extract(static_cast<uint32_t>(both >> (v.pick_b[i] * width)), whole, v.signed_b);
    int64_t t = video_primary(v, a, b);
    if (v.sat) t = clamp_bits(t, width, v.signed_d);
    merged |= (static_cast<uint32_t>(t) << (i * width)) & lane_mask;
    sum += static_cast<uint32_t>(t);
  }
  return v.second == VideoSecond::Add ? sum : merged;
}

}  // namespace sluice::machine::numeric
