// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Comparison and selection of all types. A comparison is a function of two vectors to a lane mask, found once
// per type and relation; everything else (negation, the Boolean operation with a third predicate, what is
// written where) is common. gt and ge are lt and le with the sources exchanged, the unordered relations are
// negations of ordered ones.
#include "machine/ops/float_compare.hpp"

#include <vector>

#include "machine/numeric/half.hpp"
#include "machine/numeric/integer.hpp"
#include "machine/ops/elementwise.hpp"
#include "machine/ops/float_half.hpp"

namespace sluice::machine {
namespace {

using namespace numeric;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::ScalarType;

using Compare = uint32_t (*)(const void* a, const void* b);

/// The mask of lanes where F holds. All lanes are looked at: values of lanes that do not take part mean
/// nothing, and no comparison can fail.
template <auto F, class W>
uint32_t compare(const void* pa, const void* pb) {
  const W* const a = static_cast<const W*>(pa);
  const W* const b = static_cast<const W*>(pb);
  W mask = 0;
  for (int i = 0; i < kLanes; ++i) mask |= F(a[i], b[i]) ? W{1} << i : W{0};
  return static_cast<uint32_t>(mask);
}
/// The same for one half of a packed pair.
template <auto F, bool High>
uint32_t compare_half(const void* pa, const void* pb) {
  const auto* const a = static_cast<const uint32_t*>(pa);
  const auto* const b = static_cast<const uint32_t*>(pb);
  uint32_t mask = 0;
  for (int i = 0; i < kLanes; ++i) {
    const uint32_t x = High ? a[i] >> 16 : a[i] & 0xffff, y = High ? b[i] >> 16 : b[i] & 0xffff;
    mask |= F(x, y) ? 1u << i : 0u;
  }
  return mask;
}

enum class Relation : uint8_t { Eq, Lt, Le, Ne, Num };

/// What a relation's name asks for.
struct Plan {
  Relation relation = Relation::Eq;
  bool exchange = false;
  bool negate = false;
};
Plan plan_of(const Binder& b, bool floating) {
  const auto has = [&](Mod m) { return b.has(m); };
  if (has(Mod::eq)) return {Relation::Eq};
  if (has(Mod::ne)) return floating ? Plan{Relation::Ne} : Plan{Relation::Eq, false, true};
  if (has(Mod::lt) || has(Mod::lo)) return {Relation::Lt};
  if (has(Mod::le) || has(Mod::ls)) return {Relation::Le};
  if (has(Mod::gt) || has(Mod::hi)) return {Relation::Lt, true};
  if (has(Mod::ge) || has(Mod::hs)) return {Relation::Le, true};
  if (has(Mod::equ)) return {Relation::Ne, false, true};
  if (has(Mod::neu)) return {Relation::Eq, false, true};
  if (has(Mod::ltu)) return {Relation::Le, true, true};
  if (has(Mod::leu)) return {Relation::Lt, true, true};
  if (has(Mod::gtu)) return {Relation::Le, false, true};
  if (has(Mod::geu)) return {Relation::Lt, false, true};
  if (has(Mod::num)) return {Relation::Num};
  return {Relation::Num, false, true};
}

template <class T>
Compare integer_compare(Relation r) {
  switch (r) {
    case Relation::Eq:
      return compare<Int<T>::eq, Word<T>>;
    case Relation::Lt:
      return compare<Int<T>::lt, Word<T>>;
    case Relation::Le:
      return compare<Int<T>::le, Word<T>>;
    default:
      return nullptr;
  }
}
template <class F>
Compare float_compare(Relation r) {
  using W = typename F::W;
  switch (r) {
    case Relation::Eq:
      return compare<F::eq, W>;
    case Relation::Lt:
      return compare<F::lt, W>;
    case Relation::Le:
      return compare<F::le, W>;
    case Relation::Ne:
      return compare<F::ne, W>;
    case Relation::Num:
      return compare<F::num, W>;
  }
  return nullptr;
}
template <class F, bool High>
Compare packed_compare(Relation r) {
  switch (r) {
    case Relation::Eq:
      return compare_half<F::eq, High>;
    case Relation::Lt:
      return compare_half<F::lt, High>;
    case Relation::Le:
      return compare_half<F::le, High>;
    case Relation::Ne:
      return compare_half<F::ne, High>;
    case Relation::Num:
      return compare_half<F::num, High>;
  }
  return nullptr;
}

struct Comparison {
  Compare low = nullptr;
  Compare high = nullptr;  ///< packed types: the upper halves
  bool negate = false;
  bool exchange = false;
};

Comparison choose(const Binder& b, ScalarType t) {
  const Plan plan = plan_of(b, ptx::is_float(t));
  Comparison c{.negate = plan.negate, .exchange = plan.exchange};
  const Relation r = plan.relation;
  const bool ftz = b.has(Mod::ftz);
  using T = ScalarType;
  switch (t) {
    case T::u16:
    case T::b16:
      c.low = integer_compare<uint16_t>(r);
      break;
    case T::s16:
      c.low = integer_compare<int16_t>(r);
      break;
    case T::u32:
    case T::b32:
      c.low = integer_compare<uint32_t>(r);
      break;
    case T::s32:
      c.low = integer_compare<int32_t>(r);
      break;
    case T::u64:
    case T::b64:
      c.low = integer_compare<uint64_t>(r);
      break;
    case T::s64:
      c.low = integer_compare<int64_t>(r);
      break;
    case T::f32:
      c.low = ftz ? float_compare<CompareF32<true>>(r) : float_compare<CompareF32<false>>(r);
      break;
    case T::f64:
      c.low = float_compare<CompareF64>(r);
      break;
    case T::f16:
      c.low = ftz ? float_compare<Half<F16, true>>(r) : float_compare<Half<F16, false>>(r);
      break;
    case T::bf16:
      c.low = float_compare<Half<Bf16, false>>(r);
      break;
    case T::f16x2:
      c.low = ftz ? packed_compare<Half<F16, true>, false>(r) : packed_compare<Half<F16, false>, false>(r);
      c.high = ftz ? packed_compare<Half<F16, true>, true>(r) : packed_compare<Half<F16, false>, true>(r);
      break;
    case T::bf16x2:
      c.low = packed_compare<Half<Bf16, false>, false>(r);
      c.high = packed_compare<Half<Bf16, false>, true>(r);
      break;
    default:
      break;
  }
  return c;
}

enum class Combine : uint8_t { None, And, Or, Xor };
Combine combine_of(const Binder& b) {
  if (b.has(Mod::and_)) return Combine::And;
  if (b.has(Mod::or_)) return Combine::Or;
  return b.has(Mod::xor_) ? Combine::Xor : Combine::None;
}
uint32_t combine(Combine how, uint32_t mask, uint32_t with) {
  switch (how) {
    case Combine::And:
      return mask & with;
    case Combine::Or:
      return mask | with;
    case Combine::Xor:
      return mask ^ with;
    default:
      return mask;
  }
}

/// Everything behind the two sources.
struct CompareExtra {
  Comparison comparison;
  Combine how = Combine::None;
  uint32_t with = kTruePredicate;  ///< index of the third predicate
  uint32_t with_flip = 0;
  uint32_t p = kSinkPredicate, q = kSinkPredicate;
  uint32_t when_true[2] = {};  ///< set: what the lower and the upper half become
};

void write_predicate(Warp& w, uint32_t index, uint32_t lanes, uint32_t mask) {
  uint32_t& p = w.predicate(index);
  p = (p & ~lanes) | (mask & lanes);
}

/// setp without a Boolean operation and with one destination: the form of nearly every loop.
Step setp_plain(Warp& w, const Op& op, uint32_t lanes) {
  const auto& e = *static_cast<const CompareExtra*>(op.extra);
  const uint32_t mask = e.comparison.low(w.at<uint32_t>(op.a), w.at<uint32_t>(op.b)) ^ op.small;
  write_predicate(w, op.d, lanes, mask);
  return Step::Next;
}

Step setp(Warp& w, const Op& op, uint32_t lanes) {
  const auto& e = *static_cast<const CompareExtra*>(op.extra);
  const uint32_t flip = e.comparison.negate ? kAllLanes : 0;
  const uint32_t with = w.predicate(e.with) ^ e.with_flip;
  const uint32_t low = e.comparison.low(w.at<uint32_t>(op.a), w.at<uint32_t>(op.b)) ^ flip;
  uint32_t second = ~low;
  if (e.comparison.high != nullptr)
    second = e.comparison.high(w.at<uint32_t>(op.a), w.at<uint32_t>(op.b)) ^ flip;
  write_predicate(w, e.p, lanes, combine(e.how, low, with));
  write_predicate(w, e.q, lanes, combine(e.how, second, with));
  return Step::Next;
}

Step set(Warp& w, const Op& op, uint32_t lanes) {
  const auto& e = *static_cast<const CompareExtra*>(op.extra);
  const uint32_t flip = e.comparison.negate ? kAllLanes : 0;
  const uint32_t with = w.predicate(e.with) ^ e.with_flip;
  const uint32_t low =
      combine(e.how, e.comparison.low(w.at<uint32_t>(op.a), w.at<uint32_t>(op.b)) ^ flip, with);
  uint32_t high = 0;
  if (e.comparison.high != nullptr) {
    high = combine(e.how, e.comparison.high(w.at<uint32_t>(op.a), w.at<uint32_t>(op.b)) ^ flip, with);
  }
  uint32_t* const d = w.u32(op.d);
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    d[i] = ((low >> i) & 1 ? e.when_true[0] : 0) | ((high >> i) & 1 ? e.when_true[1] : 0);
  }
  return Step::Next;
}

/// Fills in comparison, sources and the third predicate, which is operand 3 where there is one.
Result<Op> bind_comparison(Binder& b, Handler handler, ScalarType t, CompareExtra& e) {
  e.comparison = choose(b, t);
  if (e.comparison.low == nullptr) return b.unsupported("this form is not executed");
  Op op = b.op(handler);
  SLUICE_ASSIGN_OR_RETURN(op.a, b.source(1, t));
  SLUICE_ASSIGN_OR_RETURN(op.b, b.source(2, t));
  if (e.comparison.exchange) std::swap(op.a, op.b);
  e.how = combine_of(b);
  if (e.how != Combine::None) {
    const Operand& c = b.operand(3);
    if (b.is_immediate(c)) {
      e.with_flip = (c.value != 0) == c.negate ? kAllLanes : 0;
    } else {
      e.with = b.predicate(c);
      e.with_flip = c.negate ? kAllLanes : 0;
    }
  }
  return op;
}

Result<Op> bind_setp(Binder& b) {
  CompareExtra e;
  SLUICE_ASSIGN_OR_RETURN(Op op, bind_comparison(b, setp, b.type(), e));
  const Operand& destination = b.operand(0);
  if (destination.kind == Operand::Kind::Pair) {
    e.p = b.predicate(b.parts(destination)[0]);
    e.q = b.predicate(b.parts(destination)[1]);
  } else {
    e.p = b.predicate(destination);
    if (e.how == Combine::None) {
      op.run = setp_plain;
      op.d = e.p;
      op.small = e.comparison.negate ? kAllLanes : 0;
    }
  }
  op.extra = b.extra(e);
  return op;
}

Result<Op> bind_set(Binder& b) {
  const ScalarType to = b.type(0), from = b.type(1);
  CompareExtra e;
  SLUICE_ASSIGN_OR_RETURN(Op op, bind_comparison(b, set, from, e));
  op.d = b.destination(0);
  switch (to) {
    case ScalarType::f32:
      e.when_true[0] = 0x3f800000u;
      break;
    case ScalarType::f16:
      e.when_true[0] = F16::kOne;
      break;
    case ScalarType::bf16:
      e.when_true[0] = Bf16::kOne;
      break;
    case ScalarType::f16x2:
      e.when_true[0] = F16::kOne;
      e.when_true[1] = F16::kOne << 16;
      break;
    case ScalarType::bf16x2:
      e.when_true[0] = Bf16::kOne;
      e.when_true[1] = Bf16::kOne << 16;
      break;
    case ScalarType::u16:
    case ScalarType::s16:
      e.when_true[0] = 0xffffu;
      break;
    case ScalarType::u32:
    case ScalarType::s32:
      if (e.comparison.high != nullptr) {
        e.when_true[0] = 0xffffu;
        e.when_true[1] = 0xffff0000u;
      } else {
        e.when_true[0] = 0xffffffffu;
      }
      break;
    default:
      return b.unsupported("this form is not executed");
  }
  op.extra = b.extra(e);
  return op;
}

// --- selection
// -------------------------------------------------------------------------------------------------------------

template <class W>
Step selp(Warp& w, const Op& op, uint32_t lanes) {
  const uint32_t which = w.predicate(op.c) ^ op.small;
  W* const d = w.at<W>(op.d);
  const W* const a = w.at<W>(op.a);
  const W* const b = w.at<W>(op.b);
  if (lanes == kAllLanes) {
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) d[i] = (which & (1u << i)) != 0 ? a[i] : b[i];
    return Step::Next;
  }
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    d[i] = (which >> i) & 1 ? a[i] : b[i];
  }
  return Step::Next;
}

Result<Op> bind_selp(Binder& b) {
  const ScalarType t = b.type();
  Op op = b.op(ptx::size_of(t) == 8 ? selp<uint64_t> : selp<uint32_t>);
  op.d = b.destination(0);
  SLUICE_ASSIGN_OR_RETURN(op.a, b.source(1, t));
  SLUICE_ASSIGN_OR_RETURN(op.b, b.source(2, t));
  const Operand& c = b.operand(3);
  if (b.is_immediate(c)) {
    op.c = kTruePredicate;
    op.small = (c.value != 0) == c.negate ? kAllLanes : 0;
  } else {
    op.c = b.predicate(c);
    op.small = c.negate ? kAllLanes : 0;
  }
  return op;
}

template <class W>
W slct_s32(W a, W b, uint32_t c) {
  return static_cast<int32_t>(c) >= 0 ? a : b;
}
template <class W, bool Ftz>
W slct_f32(W a, W b, uint32_t c) {
  return load_f32<Ftz>(c) >= 0.0f ? a : b;
}
Result<Op> bind_slct(Binder& b) {
  const ScalarType t = b.type(0), by = b.type(1);
  const bool wide = ptx::size_of(t) == 8, ftz = b.has(Mod::ftz);
  Handler h = wide ? map<slct_s32<uint64_t>> : map<slct_s32<uint32_t>>;
  if (by == ScalarType::f32) {
    h = wide ? (ftz ? map<slct_f32<uint64_t, true>> : map<slct_f32<uint64_t, false>>)
             : (ftz ? map<slct_f32<uint32_t, true>> : map<slct_f32<uint32_t, false>>);
  }
  return bind_sources(b, h, {t, t, by});
}

// --- testp
// -----------------------------------------------------------------------------------------------------------------

/// Classes of a floating-point number, as bits.
enum Class : uint32_t { kNormal = 1, kSubnormal = 2, kZero = 4, kInfinite = 8, kNan = 16 };

template <class W>
Step testp(Warp& w, const Op& op, uint32_t lanes) {
  constexpr int kMantissa = sizeof(W) == 8 ? 52 : 23;
  constexpr W kExponent = sizeof(W) == 8 ? W(0x7ff0000000000000ull) : W(0x7f800000u);
  constexpr W kFraction = (W{1} << kMantissa) - 1;
  const W* const a = w.at<W>(op.a);
  uint32_t mask = 0;
  for (int i = 0; i < kLanes; ++i) {
    const W exponent = a[i] & kExponent, fraction = a[i] & kFraction;
    uint32_t is = kNormal;
    if (exponent == 0) is = fraction == 0 ? kZero : kSubnormal;
    if (exponent == kExponent) is = fraction == 0 ? kInfinite : kNan;
    mask |= uint32_t{(is & op.small) != 0} << i;
  }
  write_predicate(w, op.d, lanes, mask);
  return Step::Next;
}
Result<Op> bind_testp(Binder& b) {
  Op op = b.op(b.type() == ScalarType::f64 ? testp<uint64_t> : testp<uint32_t>);
  op.d = b.predicate(0);
  SLUICE_ASSIGN_OR_RETURN(op.a, b.source(1, b.type()));
  if (b.has(Mod::finite)) op.small = kNormal | kSubnormal | kZero;
  if (b.has(Mod::infinite)) op.small = kInfinite;
  if (b.has(Mod::number)) op.small = kNormal | kSubnormal | kZero | kInfinite;
  if (b.has(Mod::notanumber)) op.small = kNan;
  if (b.has(Mod::normal)) op.small = kNormal | kZero;  // zero counts as normal
  if (b.has(Mod::subnormal)) op.small = kSubnormal;
  return op;
}

constexpr BindRow kRows[] = {
    {Opcode::setp, bind_setp}, {Opcode::set, bind_set},     {Opcode::selp, bind_selp},
    {Opcode::slct, bind_slct}, {Opcode::testp, bind_testp},
};

}  // namespace

std::span<const BindRow> compare_rows() {
  return kRows;
}

}  // namespace sluice::machine
