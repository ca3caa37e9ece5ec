// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// f32 and f64 arithmetic. Directed rounding (.rz, .rm, .rp) runs the same loops with the host's rounding mode
// set around them.
#include <cfenv>

#include <vector>

#include "base/lifetime.hpp"
#include "machine/numeric/approximate.hpp"
#include "machine/numeric/floating.hpp"
#include "machine/ops/elementwise.hpp"
#include "machine/ops/float_compare.hpp"
#include "machine/ops/float_half.hpp"

namespace sluice::machine {
namespace {

using namespace numeric;
using ptx::Mod;
using ptx::Opcode;
using ptx::ScalarType;

int host_rounding(const Binder& b) {
  if (b.has(Mod::rz)) return FE_TOWARDZERO;
  if (b.has(Mod::rm)) return FE_DOWNWARD;
  if (b.has(Mod::rp)) return FE_UPWARD;
  return FE_TONEAREST;
}

/// A handler that runs under another rounding mode.
struct Directed {
  Handler inner = nullptr;
  int mode = FE_TONEAREST;
};
Step run_directed(Warp& w, const Op& op, uint32_t lanes) {
  const auto& directed = *static_cast<const Directed*>(op.extra);
  std::fesetround(directed.mode);
  const Step step = directed.inner(w, op, lanes);
  std::fesetround(FE_TONEAREST);
  return step;
}

/// Wraps the op where the instruction has a directed mode.
Result<Op> with_rounding(Binder& b, Result<Op> bound) {
  const int mode = host_rounding(b);
  if (!bound || mode == FE_TONEAREST) return bound;
  Op op = *bound;
  op.extra = b.extra(Directed{op.run, mode});
  op.run = run_directed;
  return op;
}

/// The member that `Pick` names, of the F32 with the instruction's .ftz and .sat.
template <class Pick>
Handler for_f32(const Binder& b, Pick pick) {
  const bool ftz = b.has(Mod::ftz), sat = b.has(Mod::sat);
  if (ftz)
    return sat ? pick.template operator()<F32<true, true>>() : pick.template operator()<F32<true, false>>();
  return sat ? pick.template operator()<F32<false, true>>() : pick.template operator()<F32<false, false>>();
}

#define SLUICE_PICK(member) []<class T>() -> Handler { return map<T::member>; }

Result<Op> bind_binary(Binder& b) {
  const ScalarType t = b.type();
  Handler h = nullptr;
  switch (b.instruction().op) {
    case Opcode::add:
      h = t == ScalarType::f64 ? map<F64::add> : for_f32(b, SLUICE_PICK(add));
      break;
    case Opcode::sub:
      h = t == ScalarType::f64 ? map<F64::sub> : for_f32(b, SLUICE_PICK(sub));
      break;
    case Opcode::mul:
      h = t == ScalarType::f64 ? map<F64::mul> : for_f32(b, SLUICE_PICK(mul));
      break;
    case Opcode::div:
      if (b.has(Mod::approx)) {
        h = b.has(Mod::ftz) ? map<div_approx<true>> : map<div_approx<false>>;
      } else if (b.has(Mod::full)) {
        h = b.has(Mod::ftz) ? map<div_full<true>> : map<div_full<false>>;
      } else {
        h = t == ScalarType::f64 ? map<F64::div> : for_f32(b, SLUICE_PICK(div));
      }
      break;
    default:
      break;
  }
  return with_rounding(b, bind_sources(b, h, {t, t}));
}

Result<Op> bind_fma(Binder& b) {
  const ScalarType t = b.type();
  if (t != ScalarType::f32 && t != ScalarType::f64) return bind_half(b);
  const Handler h = t == ScalarType::f64 ? map<F64::fma> : for_f32(b, SLUICE_PICK(fma));
  return with_rounding(b, bind_sources(b, h, {t, t, t}));
}

template <bool Max, bool Ftz>
Handler min_max_handler(bool nan, bool xorsign) {
  if (nan) return xorsign ? map<min_max_f32<Max, Ftz, true, true>> : map<min_max_f32<Max, Ftz, true, false>>;
  return xorsign ? map<min_max_f32<Max, Ftz, false, true>> : map<min_max_f32<Max, Ftz, false, false>>;
}
template <bool Max>
Result<Op> bind_min_max(Binder& b) {
  const ScalarType t = b.type();
  if (b.count() != 3) return b.unsupported("three inputs need sm_100");
  Handler h = map<min_max_f64<Max>>;
  if (t == ScalarType::f32) {
    const bool nan = b.has(Mod::NaN), xorsign = b.has(Mod::xorsign);
    h = b.has(Mod::ftz) ? min_max_handler<Max, true>(nan, xorsign)
                        : min_max_handler<Max, false>(nan, xorsign);
  }
  return bind_sources(b, h, {t, t});
}

Result<Op> bind_abs_neg(Binder& b, bool negate) {
  const ScalarType t = b.type();
  if (t == ScalarType::f64) return bind_sources(b, negate ? map<F64::neg> : map<F64::abs>, {t});
  const bool ftz = b.has(Mod::ftz);
  const Handler h = negate ? (ftz ? map<neg_f32<true>> : map<neg_f32<false>>)
                           : (ftz ? map<abs_f32<true>> : map<abs_f32<false>>);
  return bind_sources(b, h, {t});
}

Result<Op> bind_rcp(Binder& b) {
  const ScalarType t = b.type();
  Handler h = nullptr;
  if (b.has(Mod::approx)) {
    h = t == ScalarType::f64 ? map<rcp_approx_f64>
                             : (b.has(Mod::ftz) ? map<rcp_approx<true>> : map<rcp_approx<false>>);
  } else {
    h = t == ScalarType::f64 ? map<F64::rcp> : for_f32(b, SLUICE_PICK(rcp));
  }
  return with_rounding(b, bind_sources(b, h, {t}));
}
Result<Op> bind_sqrt(Binder& b) {
  const ScalarType t = b.type();
  Handler h = nullptr;
  if (b.has(Mod::approx)) {
    h = b.has(Mod::ftz) ? map<sqrt_approx<true>> : map<sqrt_approx<false>>;
  } else {
    h = t == ScalarType::f64 ? map<F64::sqrt> : for_f32(b, SLUICE_PICK(sqrt));
  }
  return with_rounding(b, bind_sources(b, h, {t}));
}
Result<Op> bind_rsqrt(Binder& b) {
  const bool ftz = b.has(Mod::ftz);
  const Handler h = b.type() == ScalarType::f64
                        ? (ftz ? map<rsqrt_approx_f64<true>> : map<rsqrt_approx_f64<false>>)
                        : (ftz ? map<rsqrt_approx<true>> : map<rsqrt_approx<false>>);
  return bind_sources(b, h, {b.type()});
}

template <auto Plain, auto Flushing>
Result<Op> bind_approx(Binder& b) {
  if (b.type() != ScalarType::f32) return bind_half(b);
  return bind_sources(b, b.has(Mod::ftz) ? map<Flushing> : map<Plain>, {b.type()});
}

Result<Op> bind_copysign(Binder& b) {
  return bind_sources(b, b.type() == ScalarType::f64 ? map<copysign_f64> : map<copysign_f32>,
                      {b.type(), b.type()});
}

constexpr BindRow kRows[] = {
    {Opcode::fma, bind_fma},
    {Opcode::rcp, bind_rcp},
    {Opcode::sqrt, bind_sqrt},
    {Opcode::rsqrt, bind_rsqrt},
    {Opcode::sin, bind_approx<sin_approx<false>, sin_approx<true>>},
    {Opcode::cos, bind_approx<cos_approx<false>, cos_approx<true>>},
    {Opcode::lg2, bind_approx<lg2_approx<false>, lg2_approx<true>>},
    {Opcode::ex2, bind_approx<ex2_approx<false>, ex2_approx<true>>},
    {Opcode::tanh, bind_approx<tanh_approx, tanh_approx>},
    {Opcode::copysign, bind_copysign},
};

}  // namespace

Result<Op> bind_float(Binder& b) {
  const ScalarType t = b.type();
  if (t != ScalarType::f32 && t != ScalarType::f64) return b.unsupported("packed f32 needs sm_100");
  if (ptx::is_float(b.type(1))) return b.unsupported("mixed precision needs sm_100");
  switch (b.instruction().op) {
    case Opcode::mad:
      return bind_fma(b);
    case Opcode::abs:
      return bind_abs_neg(b, false);
    case Opcode::neg:
      return bind_abs_neg(b, true);
    case Opcode::min:
      return bind_min_max<false>(b);
    case Opcode::max:
      return bind_min_max<true>(b);
    default:
      return bind_binary(b);
  }
}

std::span<const BindRow> float_rows() {
  static const auto& rows = immortal([] {
    std::vector<BindRow> all(std::begin(kRows), std::end(kRows));
    const auto compare = compare_rows();
    all.insert(all.end(), compare.begin(), compare.end());
    return all;
  }());
  return rows;
}

}  // namespace sluice::machine
