// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of wgmma on plain bytes, one row of the result at a time.
//
// Floating-point sums follow what has been found out about Hopper's tensor cores (P. Xie et al., "MMA-Sim",
// 2025; F. A. Khattak, M. Mikaitis, "Accurate Models of NVIDIA Tensor Cores", 2025) and what
// tests/machine_units/data records of an H200: all products of an instruction's K and the accumulator are
// added in one step. Each term is cut (towards zero) to a fixed number of bits below the largest exponent
// among them, 25 bits for 16-bit and TF32 operands and 13 for 8-bit ones; the exact sum of what is left is
// rounded towards zero (to nearest even for f16 accumulators), after 8-bit operands to 13 bits of fraction.
// A zero, as a factor or as the accumulator, has no exponent; a subnormal number has the least one of its
// type.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice::machine {

enum class WgmmaType : uint8_t { F16, BF16, TF32, E4M3, E5M2, S8, U8, B1 };
enum class WgmmaResult : uint8_t { F32, F16, S32 };

constexpr uint32_t kWgmmaRows = 64;
constexpr uint32_t kWgmmaMostN = 256;
constexpr uint32_t kWgmmaKBytes = 32;  ///< of a row of A, and of a column of B unless A is sparse

/// What an instruction computes.
struct WgmmaForm {
  WgmmaResult d{};
  WgmmaType a{}, b{};
  uint32_t n = 8;
  bool negate_a = false, negate_b = false;
  bool saturate = false;  ///< integers: clamp instead of wrap
  bool sparse = false;

  uint32_t element_bits() const {
    return a == WgmmaType::B1                            ? 1
           : a == WgmmaType::TF32                        ? 32
           : a == WgmmaType::F16 || a == WgmmaType::BF16 ? 16
                                                         : 8;
  }
  uint32_t a_k() const { return kWgmmaKBytes * 8 / element_bits(); }  ///< stored elements of a row of A
  uint32_t b_bytes() const { return sparse ? 2 * kWgmmaKBytes : kWgmmaKBytes; }
  uint32_t b_k() const { return b_bytes() * 8 / element_bits(); }
};

/// Operands brought to a form that is quick to multiply. Large; one per thread is reused.
struct WgmmaOperands {
  // Inputs, filled by the caller.
  uint8_t a[kWgmmaRows][kWgmmaKBytes];
  uint8_t b[kWgmmaMostN][2 * kWgmmaKBytes];  ///< in the order of columns that the caller wants the rows in
  uint8_t index[kWgmmaRows][32];             ///< sparse: position along K of each stored element of A

  // Made by prepare().
  alignas(64) float a_value[kWgmmaRows][32];
  alignas(64) int32_t a_exponent[kWgmmaRows][32];
  alignas(64) float b_value[64][kWgmmaMostN];
  alignas(64) int32_t b_exponent[64][kWgmmaMostN];
  alignas(64) int32_t b_integer[64][kWgmmaMostN];
  bool a_special[kWgmmaRows];  ///< the row holds an infinity or a NaN
  bool b_special[kWgmmaMostN];
  bool any_special = false;
};

/// Decodes what `a` and `b` hold.
void wgmma_prepare(const WgmmaForm& form, WgmmaOperands& operands);

/// One row of the result: `d` holds form.n accumulators (bits of f32, of f16 in the low half, or s32) and
/// receives the result. With `overwrite` the accumulators count as zero.
void wgmma_row(const WgmmaForm& form, const WgmmaOperands& operands, uint32_t row, bool overwrite,
               uint32_t* d);

}  // namespace sluice::machine
