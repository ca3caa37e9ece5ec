// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Choosing among the sixteen-bit formats and their packed forms.
#pragma once

#include "machine/numeric/half.hpp"
#include "machine/op.hpp"
#include "ptx/types.hpp"

namespace sluice::machine {

inline bool is_bf16(ptx::ScalarType t) {
  return t == ptx::ScalarType::bf16 || t == ptx::ScalarType::bf16x2;
}
inline bool is_packed_half(ptx::ScalarType t) {
  return t == ptx::ScalarType::f16x2 || t == ptx::ScalarType::bf16x2;
}
inline bool is_half(ptx::ScalarType t) {
  return t == ptx::ScalarType::f16 || t == ptx::ScalarType::bf16 || is_packed_half(t);
}

}  // namespace sluice::machine
