// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The errors that the ISA allows, per instruction ("Floating Point Instructions" of the PTX ISA). The
// recorded value has an error of its own, so a difference may be twice the bound.
#include <bit>
#include <cmath>
#include <cstring>

#include "machine/numeric/half.hpp"
#include "replay.hpp"

namespace sluice::parity {
namespace {

using ptx::Exactness;
using ptx::Mod;
using ptx::Opcode;
using ptx::ScalarType;

double value_of(ScalarType type, uint64_t bits) {
  using namespace machine::numeric;
  switch (type) {
    case ScalarType::f16:
      return to_f32(f16_to_f32(static_cast<uint32_t>(bits)));
    case ScalarType::bf16:
      return to_f32(bf16_to_f32(static_cast<uint32_t>(bits)));
    case ScalarType::f64:
      return to_f64(bits);
    default:
      return to_f32(static_cast<uint32_t>(bits));
  }
}

struct Bound {
  double relative = 0;
  double absolute = 0;
};

/// f32 functions unless said otherwise.
Bound bound_of(const Case& c) {
  const ptx::Form& form = ptx::form(c.form);
  const ScalarType type = c.mods.type();
  const bool f16 = type == ScalarType::f16 || type == ScalarType::f16x2;
  const bool bf16 = type == ScalarType::bf16 || type == ScalarType::bf16x2;
  switch (form.opcode) {
    case Opcode::rcp:
      return type == ScalarType::f64 ? Bound{0x1p-19} : Bound{0x1p-23};
    case Opcode::sqrt:
      return {0x1.8p-23};
    case Opcode::rsqrt:
      return type == ScalarType::f64 ? Bound{0x1p-19} : Bound{0x1.8p-22};
    case Opcode::div:
      return {0x1p-22};  // two ulp
    case Opcode::sin:
    case Opcode::cos:
      return {0, 0x1p-20};
    case Opcode::lg2:
      return {0x1p-22, 0x1p-22};
    case Opcode::ex2:
      return f16 ? Bound{0x1.2p-10, 0x1p-23} : bf16 ? Bound{0x1p-7} : Bound{0x1p-21};
    case Opcode::tanh:
      return f16 ? Bound{0, 0x1p-10} : bf16 ? Bound{0, 0x1p-7} : Bound{0x1p-10};
    default:
      return {};
  }
}

bool close(ScalarType type, uint64_t gpu, uint64_t engine, const Bound& bound) {
  if (gpu == engine) return true;
  const double a = value_of(type, gpu), b = value_of(type, engine);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::fabs(a - b) <= bound.absolute + bound.relative * std::fabs(a);
}

}  // namespace

bool within_bound(const Case& c, const Output& output, const uint8_t* gpu, const uint8_t* engine,
                  uint32_t thread) {
  const ptx::Form& form = ptx::form(c.form);
  if (form.exactness != Exactness::Bounded && form.exactness != Exactness::Implementation) return false;
  uint64_t a = 0, b = 0;
  std::memcpy(&a, gpu, std::min(output.bytes, 8u));
  std::memcpy(&b, engine, std::min(output.bytes, 8u));
  // Sums of open order: relative to one, which is where the inputs lie.
  Bound bound = form.exactness == Exactness::Bounded ? bound_of(c) : Bound{};
  if (form.opcode == Opcode::sin || form.opcode == Opcode::cos) {
    // Three ranges: two turns, a hundred half turns, and beyond, for which the ISA promises nothing.
    float angle = 0;
    std::memcpy(&angle, c.inputs.data() + size_t{thread} * c.in_stride, 4);
    if (std::fabs(angle) > 6.2831855f) bound.absolute = std::fabs(angle) <= 314.15927f ? 0x1.4p-14 : 2.0;
  }
  const bool pair = output.type == ScalarType::f16x2 || output.type == ScalarType::bf16x2 ||
                    (output.type == ScalarType::f16 && output.bytes == 4);
  if (pair) {
    const ScalarType half = output.type == ScalarType::bf16x2 ? ScalarType::bf16 : ScalarType::f16;
    return close(half, a & 0xffff, b & 0xffff, bound) && close(half, a >> 16, b >> 16, bound);
  }
  return close(output.type, a, b, bound);
}

}  // namespace sluice::parity
