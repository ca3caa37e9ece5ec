// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Integer instructions on one lane's value. Values travel as words: 16 bits in the low half of a 32-bit word
// with the upper half zero, 32 and 64 bits as they are. No state, no undefined behaviour: what the ISA leaves
// open does what an H200 does, and says so.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace sluice::machine::numeric {

template <class T>
using Word = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

/// The word of a value.
template <class T>
constexpr Word<T> word(T value) {
  return static_cast<Word<T>>(static_cast<std::make_unsigned_t<T>>(value));
}

constexpr int32_t saturate_s32(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, INT32_MIN, INT32_MAX));
}

/// Arithmetic of one integer type.
template <class T>
struct Int {
  using W = Word<T>;
  using U = std::make_unsigned_t<T>;
  static constexpr bool kSigned = std::is_signed_v<T>;
  static constexpr int kBits = 8 * sizeof(T);
  using Wide = std::conditional_t<sizeof(T) == 2, std::conditional_t<kSigned, int32_t, uint32_t>,
                                  std::conditional_t<kSigned, int64_t, uint64_t>>;

  static W add(W a, W b) { return word<T>(static_cast<T>(a + b)); }
  static W sub(W a, W b) { return word<T>(static_cast<T>(a - b)); }
  static W mul_lo(W a, W b) { return word<T>(static_cast<T>(a * b)); }
  static W mul_hi(W a, W b) {
    if constexpr (sizeof(T) == 8) {
      if constexpr (kSigned) {
        return static_cast<W>((static_cast<__int128>(static_cast<T>(a)) * static_cast<T>(b)) >> 64);
      } else {
        return static_cast<W>((static_cast<unsigned __int128>(a) * b) >> 64);
      }
    } else {
      return word<T>(static_cast<T>(
          (static_cast<Wide>(static_cast<T>(a)) * static_cast<Wide>(static_cast<T>(b))) >> kBits));
    }
  }
  static Word<Wide> mul_wide(W a, W b) {
    return word<Wide>(static_cast<Wide>(static_cast<T>(a)) * static_cast<Wide>(static_cast<T>(b)));
  }
  static W mad_lo(W a, W b, W c) { return add(mul_lo(a, b), c); }
  static W mad_hi(W a, W b, W c) { return add(mul_hi(a, b), c); }
  static Word<Wide> mad_wide(W a, W b, Word<Wide> c) { return mul_wide(a, b) + c; }

  static W sad(W a, W b, W c) {
    const T x = static_cast<T>(a), y = static_cast<T>(b);
    const U difference = x < y ? static_cast<U>(static_cast<U>(y) - static_cast<U>(x))
                               : static_cast<U>(static_cast<U>(x) - static_cast<U>(y));
    return word<T>(static_cast<T>(c + difference));
  }

  /// MODEL: division by zero is undefined in the ISA; the quotient of an H200 is all ones, and so is the
  /// remainder of 16 and 32 bits, while that of 64 bits is the dividend.
  static W div(W a, W b) {
    const T x = static_cast<T>(a), y = static_cast<T>(b);
    if (y == 0) return word<T>(static_cast<T>(-1));
    if constexpr (kSigned) {
      if (y == -1) return word<T>(static_cast<T>(U{0} - static_cast<U>(x)));
    }
    return word<T>(static_cast<T>(x / y));
  }
  static W rem(W a, W b) {
    const T x = static_cast<T>(a), y = static_cast<T>(b);
    if (y == 0) return rem_zero(a);
    if constexpr (kSigned) {
      if (y == -1) return 0;
    }
    return word<T>(static_cast<T>(x % y));
  }
  static W rem_zero(W a) { return sizeof(T) == 8 ? a : word<T>(static_cast<T>(-1)); }

  static W abs(W a) {
    const T x = static_cast<T>(a);
    return word<T>(static_cast<T>(x < 0 ? U{0} - static_cast<U>(x) : static_cast<U>(x)));
  }
  static W neg(W a) { return word<T>(static_cast<T>(U{0} - static_cast<U>(a))); }
  static W min(W a, W b) { return static_cast<T>(a) < static_cast<T>(b) ? a : b; }
  static W max(W a, W b) { return static_cast<T>(a) < static_cast<T>(b) ? b : a; }
  static W min_relu(W a, W b) { return max(min(a, b), 0); }
  static W max_relu(W a, W b) { return max(max(a, b), 0); }

  static bool eq(W a, W b) { return a == b; }
  static bool lt(W a, W b) { return static_cast<T>(a) < static_cast<T>(b); }
  static bool le(W a, W b) { return static_cast<T>(a) <= static_cast<T>(b); }

  static W shl(W a, uint32_t n) {
    return n >= kBits ? 0 : word<T>(static_cast<T>(a << (n & (sizeof(W) * 8 - 1))));
  }
  static W shr(W a, uint32_t n) {
    if constexpr (kSigned)
      return word<T>(static_cast<T>(static_cast<T>(a) >> std::min<uint32_t>(n, kBits - 1)));
    return n >= kBits ? 0 : a >> (n & (sizeof(W) * 8 - 1));
  }

  /// Most significant bit that differs from the sign (signed) or is set; all ones where there is none.
  static uint32_t bfind(W a) {
    W x = a;
    if constexpr (kSigned) {
      if (static_cast<T>(a) < 0) x = ~x;
    }
    return x == 0 ? 0xffffffffu : static_cast<uint32_t>(kBits - 1 - std::countl_zero(x));
  }
  static uint32_t bfind_shift(W a) {
    const uint32_t at = bfind(a);
    return at == 0xffffffffu ? at : kBits - 1 - at;
  }

  /// MODEL: the ISA takes position and length from the low eight bits; the 64-bit forms of an H200 take all
  /// of them.
  static constexpr uint32_t kFieldMask = sizeof(T) == 8 ? 0xffffffffu : 0xffu;

  static W bfe(W a, uint32_t b, uint32_t c) {
    const uint32_t position = b & kFieldMask, length = c & kFieldMask;
    constexpr uint32_t kTop = kBits - 1;
    if (length == 0) return 0;
    W fill = 0;
    if constexpr (kSigned)
      fill = ((a >> std::min<uint64_t>(uint64_t{position} + length - 1, kTop)) & 1) ? ~W{0} : W{0};
    const uint32_t taken = position > kTop ? 0 : std::min<uint32_t>(length, kBits - position);
    const W mask = taken == 0 ? W{0} : (taken == kBits ? ~W{0} : (W{1} << taken) - 1);
    const W bits = position > kTop ? W{0} : static_cast<W>(a >> position);
    return (bits & mask) | (fill & ~mask);
  }
  static W bfi(W a, W b, uint32_t c, uint32_t d) {
    const uint32_t position = c & kFieldMask, length = d & kFieldMask;
    if (position >= kBits || length == 0) return b;
    const uint32_t taken = std::min<uint32_t>(length, kBits - position);
    const W mask = (taken == kBits ? ~W{0} : (W{1} << taken) - 1) << position;
    return ((a << position) & mask) | (b & ~mask);
  }

  static uint32_t popc(W a) { return static_cast<uint32_t>(std::popcount(a)); }
  static uint32_t clz(W a) { return static_cast<uint32_t>(std::countl_zero(a)); }
  static W brev(W a) {
    if constexpr (sizeof(W) == 8) {
      a = ((a >> 1) & 0x5555555555555555ull) | ((a & 0x5555555555555555ull) << 1);
      a = ((a >> 2) & 0x3333333333333333ull) | ((a & 0x3333333333333333ull) << 2);
      a = ((a >> 4) & 0x0f0f0f0f0f0f0f0full) | ((a & 0x0f0f0f0f0f0f0f0full) << 4);
      return __builtin_bswap64(a);
    } else {
      a = ((a >> 1) & 0x55555555u) | ((a & 0x55555555u) << 1);
      a = ((a >> 2) & 0x33333333u) | ((a & 0x33333333u) << 2);
      a = ((a >> 4) & 0x0f0f0f0fu) | ((a & 0x0f0f0f0fu) << 4);
      return __builtin_bswap32(a);
    }
  }
  static W and_(W a, W b) { return a & b; }
  static W or_(W a, W b) { return a | b; }
  static W xor_(W a, W b) { return a ^ b; }
  static W not_(W a) { return word<T>(static_cast<T>(~a)); }
  static W cnot(W a) { return a == 0 ? 1 : 0; }
  static W select(bool which, W a, W b) { return which ? a : b; }
};

// --- forms of s32 and u32 alone
// ----------------------------------------------------------------------------------------

inline uint32_t add_sat_s32(uint32_t a, uint32_t b) {
  return word(saturate_s32(int64_t{static_cast<int32_t>(a)} + static_cast<int32_t>(b)));
}
inline uint32_t sub_sat_s32(uint32_t a, uint32_t b) {
  return word(saturate_s32(int64_t{static_cast<int32_t>(a)} - static_cast<int32_t>(b)));
}
inline uint32_t mad_hi_sat_s32(uint32_t a, uint32_t b, uint32_t c) {
  const int64_t high = (int64_t{static_cast<int32_t>(a)} * static_cast<int32_t>(b)) >> 32;
  return word(saturate_s32(high + static_cast<int32_t>(c)));
}

template <bool Signed>
constexpr int64_t low24(uint32_t a) {
  if constexpr (Signed) return static_cast<int32_t>(a << 8) >> 8;
  return a & 0xffffffu;
}
template <bool Signed>
uint32_t mul24_lo(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(low24<Signed>(a) * low24<Signed>(b));
}
template <bool Signed>
uint32_t mul24_hi(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>((low24<Signed>(a) * low24<Signed>(b)) >> 16);
}
template <bool Signed>
uint32_t mad24_lo(uint32_t a, uint32_t b, uint32_t c) {
  return mul24_lo<Signed>(a, b) + c;
}
template <bool Signed>
uint32_t mad24_hi(uint32_t a, uint32_t b, uint32_t c) {
  return mul24_hi<Signed>(a, b) + c;
}
inline uint32_t mad24_hi_sat(uint32_t a, uint32_t b, uint32_t c) {
  return word(saturate_s32(int64_t{static_cast<int32_t>(mul24_hi<true>(a, b))} + static_cast<int32_t>(c)));
}

/// Position of the n-th set bit from `base` on, upwards for a positive and downwards for a negative offset.
inline uint32_t fns(uint32_t mask, uint32_t base, uint32_t offset) {
  const auto n = static_cast<int32_t>(offset);
  if (n == 0) return base < 32 && ((mask >> base) & 1) ? base : 0xffffffffu;
  const int step = n > 0 ? 1 : -1;
  int64_t left = (n > 0 ? int64_t{n} : -int64_t{n}) - 1;
  for (int64_t at = base; at >= 0 && at < 32; at += step) {
    if (((mask >> at) & 1) == 0) continue;
    if (left-- == 0) return static_cast<uint32_t>(at);
  }
  return 0xffffffffu;
}

template <bool Signed, bool Wrap>
uint32_t szext(uint32_t a, uint32_t b) {
  const uint32_t bits = Wrap ? (b & 31) : b;
  if (bits >= 32) return a;
  if (bits == 0) return 0;
  const uint32_t up = a << (32 - bits);
  if constexpr (Signed) return static_cast<uint32_t>(static_cast<int32_t>(up) >> (32 - bits));
  return up >> (32 - bits);
}

template <bool Wrap>
uint32_t bmsk(uint32_t a, uint32_t b) {
  const uint32_t position = Wrap ? (a & 31) : a, width = Wrap ? (b & 31) : b;
  if (position >= 32) return 0;
  const uint32_t from = ~0u << position;
  const uint64_t end = uint64_t{position} + width;
  return end >= 32 ? from : from & ~(~0u << end);
}

template <bool SignedA, bool SignedB>
uint32_t dp4a(uint32_t a, uint32_t b, uint32_t c) {
  for (int i = 0; i < 32; i += 8) {
    const int32_t x = SignedA ? static_cast<int8_t>(a >> i) : static_cast<uint8_t>(a >> i);
    const int32_t y = SignedB ? static_cast<int8_t>(b >> i) : static_cast<uint8_t>(b >> i);
    c += static_cast<uint32_t>(x * y);
  }
  return c;
}
template <bool SignedA, bool SignedB, bool High>
uint32_t dp2a(uint32_t a, uint32_t b, uint32_t c) {
  for (int i = 0; i < 2; ++i) {
    const int32_t x = SignedA ? static_cast<int16_t>(a >> (16 * i)) : static_cast<uint16_t>(a >> (16 * i));
    const int at = 8 * (i + (High ? 2 : 0));
    const int32_t y = SignedB ? static_cast<int8_t>(b >> at) : static_cast<uint8_t>(b >> at);
    c += static_cast<uint32_t>(x) * static_cast<uint32_t>(y);
  }
  return c;
}

// --- pairs of 16-bit values
// ----------------------------------------------------------------------------------------------

/// Applies F (on 16-bit words) to both halves.
template <auto F>
uint32_t halves1(uint32_t a) {
  return (F(a & 0xffff) & 0xffff) | (F(a >> 16) << 16);
}
template <auto F>
uint32_t halves2(uint32_t a, uint32_t b) {
  return (F(a & 0xffff, b & 0xffff) & 0xffff) | (F(a >> 16, b >> 16) << 16);
}
template <auto F>
uint32_t halves3(uint32_t a, uint32_t b, uint32_t c) {
  return (F(a & 0xffff, b & 0xffff, c & 0xffff) & 0xffff) | (F(a >> 16, b >> 16, c >> 16) << 16);
}

// --- shifts and permutes
// --------------------------------------------------------------------------------------------------

template <bool Left, bool Wrap>
uint32_t shf(uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t n = Wrap ? (c & 31) : std::min(c, 32u);
  const uint64_t both = (uint64_t{b} << 32) | a;
  if constexpr (Left) return static_cast<uint32_t>((both << n) >> 32);
  return static_cast<uint32_t>(both >> n);
}

/// The byte of {b, a} that a selector nibble names, or its sign spread over eight bits.
inline uint32_t select_byte(uint64_t both, uint32_t nibble) {
  const auto byte = static_cast<uint8_t>(both >> (8 * (nibble & 7)));
  if (nibble & 8) return (byte & 0x80) ? 0xffu : 0u;
  return byte;
}
inline uint32_t prmt(uint32_t a, uint32_t b, uint32_t c) {
  const uint64_t both = (uint64_t{b} << 32) | a;
  uint32_t d = 0;
  for (int i = 0; i < 4; ++i) d |= select_byte(both, (c >> (4 * i)) & 15) << (8 * i);
  return d;
}

enum class PrmtMode : uint8_t { f4e, b4e, rc8, ecl, ecr, rc16 };
template <PrmtMode Mode>
uint32_t prmt_mode(uint32_t a, uint32_t b, uint32_t c) {
  const uint64_t both = (uint64_t{b} << 32) | a;
  const uint32_t s = c & 3;
  uint32_t d = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t at = 0;
    switch (Mode) {
      case PrmtMode::f4e:
        at = (s + i) & 7;
        break;
      case PrmtMode::b4e:
        at = (s - i) & 7;
        break;
      case PrmtMode::rc8:
        at = s;
        break;
      case PrmtMode::ecl:
        at = std::max(i, s);
        break;
      case PrmtMode::ecr:
        at = std::min(i, s);
        break;
      case PrmtMode::rc16:
        at = (s & 1) * 2 + (i & 1);
        break;
    }
    d |= select_byte(both, at) << (8 * i);
  }
  return d;
}

}  // namespace sluice::machine::numeric
