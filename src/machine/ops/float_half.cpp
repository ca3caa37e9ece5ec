// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// f16, bf16 and their packed forms: add, sub, mul, fma, min, max, abs, neg, tanh, ex2.
#include "machine/ops/float_half.hpp"

#include "machine/numeric/approximate.hpp"
#include "machine/numeric/integer.hpp"
#include "machine/ops/elementwise.hpp"

namespace sluice::machine {
namespace {

using namespace numeric;
using ptx::Mod;
using ptx::Opcode;
using ptx::ScalarType;

template <auto F>
Handler once_or_twice1(bool packed) {
  return packed ? map<halves1<F>> : map<F>;
}
template <auto F>
Handler once_or_twice2(bool packed) {
  return packed ? map<halves2<F>> : map<F>;
}
template <auto F>
Handler once_or_twice3(bool packed) {
  return packed ? map<halves3<F>> : map<F>;
}

/// Handler of an instruction of one format with its flags; null where there is none.
template <class H>
Handler arithmetic(Opcode op, bool packed) {
  switch (op) {
    case Opcode::add:
      return once_or_twice2<H::add>(packed);
    case Opcode::sub:
      return once_or_twice2<H::sub>(packed);
    case Opcode::mul:
      return once_or_twice2<H::mul>(packed);
    case Opcode::fma:
      return once_or_twice3<H::fma>(packed);
    default:
      return nullptr;
  }
}

template <class H, bool Max>
Handler min_max(bool packed, bool nan, bool xorsign) {
  if (nan) {
    return xorsign ? once_or_twice2<H::template min_max<Max, true, true>>(packed)
                   : once_or_twice2<H::template min_max<Max, true, false>>(packed);
  }
  return xorsign ? once_or_twice2<H::template min_max<Max, false, true>>(packed)
                 : once_or_twice2<H::template min_max<Max, false, false>>(packed);
}

template <class H>
Handler with_flags(Opcode op, bool packed, bool nan, bool xorsign) {
  switch (op) {
    case Opcode::min:
      return min_max<H, false>(packed, nan, xorsign);
    case Opcode::max:
      return min_max<H, true>(packed, nan, xorsign);
    case Opcode::abs:
      return once_or_twice1<H::abs>(packed);
    case Opcode::neg:
      return once_or_twice1<H::neg>(packed);
    default:
      return nullptr;
  }
}

template <class H>
Handler special_fma(bool packed, bool relu, bool oob) {
  if (oob) return relu ? once_or_twice3<H::fma_oob_relu>(packed) : once_or_twice3<H::fma_oob>(packed);
  return once_or_twice3<H::fma_relu>(packed);
}

Handler choose(const Binder& b, Opcode op) {
  const bool packed = is_packed_half(b.type()), bf16 = is_bf16(b.type());
  const bool ftz = b.has(Mod::ftz), sat = b.has(Mod::sat);
  switch (op) {
    case Opcode::tanh:
      return bf16 ? once_or_twice1<tanh_half<Bf16>>(packed) : once_or_twice1<tanh_half<F16>>(packed);
    case Opcode::ex2:
      return bf16 ? once_or_twice1<ex2_half<Bf16, true>>(packed)
                  : once_or_twice1<ex2_half<F16, false>>(packed);
    case Opcode::fma:
      if (b.has(Mod::relu) || b.has(Mod::oob)) {
        const bool relu = b.has(Mod::relu), oob = b.has(Mod::oob);
        if (bf16) return special_fma<Half<Bf16, false>>(packed, relu, oob);
        return ftz ? special_fma<Half<F16, true>>(packed, relu, oob)
                   : special_fma<Half<F16, false>>(packed, relu, oob);
      }
      [[fallthrough]];
    case Opcode::add:
    case Opcode::sub:
    case Opcode::mul:
      if (bf16) return arithmetic<Half<Bf16, false>>(op, packed);
      if (ftz)
        return sat ? arithmetic<Half<F16, true, true>>(op, packed) : arithmetic<Half<F16, true>>(op, packed);
      return sat ? arithmetic<Half<F16, false, true>>(op, packed) : arithmetic<Half<F16, false>>(op, packed);
    default: {
      const bool nan = b.has(Mod::NaN), xorsign = b.has(Mod::xorsign);
      if (bf16) return with_flags<Half<Bf16, false>>(op, packed, nan, xorsign);
      return ftz ? with_flags<Half<F16, true>>(op, packed, nan, xorsign)
                 : with_flags<Half<F16, false>>(op, packed, nan, xorsign);
    }
  }
}

}  // namespace

Result<Op> bind_half(Binder& b) {
  const ScalarType t = b.type();
  if (!is_half(t)) return b.unsupported("this type is not executed");
  const Handler h = choose(b, b.instruction().op);
  switch (b.count()) {
    case 2:
      return bind_sources(b, h, {t});
    case 3:
      return bind_sources(b, h, {t, t});
    case 4:
      return bind_sources(b, h, {t, t, t});
    default:
      return b.unsupported("this form is not executed");
  }
}

}  // namespace sluice::machine
