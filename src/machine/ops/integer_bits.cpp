// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Bit counts and fields, logic (on registers and on predicates), shifts, permutes.
#include "machine/ops/integer_bits.hpp"

#include "machine/numeric/integer.hpp"
#include "machine/ops/elementwise.hpp"

namespace sluice::machine {
namespace {

using numeric::Int;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::ScalarType;

// --- counts and fields
// ---------------------------------------------------------------------------------------------------

Result<Op> bind_popc(Binder& b) {
  return bind_sources(b, ptx::size_of(b.type()) == 8 ? map<Int<uint64_t>::popc> : map<Int<uint32_t>::popc>,
                      {b.type()});
}
Result<Op> bind_clz(Binder& b) {
  return bind_sources(b, ptx::size_of(b.type()) == 8 ? map<Int<uint64_t>::clz> : map<Int<uint32_t>::clz>,
                      {b.type()});
}
Result<Op> bind_brev(Binder& b) {
  return bind_sources(b, ptx::size_of(b.type()) == 8 ? map<Int<uint64_t>::brev> : map<Int<uint32_t>::brev>,
                      {b.type()});
}
Result<Op> bind_bfind(Binder& b) {
  const bool shift = b.has(Mod::shiftamt);
  const Handler h = for_wide_integer(
      b.type(), [&]<class T>() -> Handler { return shift ? map<Int<T>::bfind_shift> : map<Int<T>::bfind>; });
  return bind_sources(b, h, {b.type()});
}
Result<Op> bind_fns(Binder& b) {
  return bind_sources(b, map<numeric::fns>, {ScalarType::b32, ScalarType::b32, ScalarType::s32});
}
Result<Op> bind_bfe(Binder& b) {
  const Handler h = for_wide_integer(b.type(), []<class T>() -> Handler { return map<Int<T>::bfe>; });
  return bind_sources(b, h, {b.type(), ScalarType::u32, ScalarType::u32});
}
Result<Op> bind_bfi(Binder& b) {
  const Handler h = ptx::size_of(b.type()) == 8 ? map<Int<uint64_t>::bfi> : map<Int<uint32_t>::bfi>;
  return bind_sources(b, h, {b.type(), b.type(), ScalarType::u32, ScalarType::u32});
}
Result<Op> bind_szext(Binder& b) {
  using numeric::szext;
  const bool s = ptx::is_signed(b.type());
  const Handler h = b.has(Mod::wrap) ? (s ? map<szext<true, true>> : map<szext<false, true>>)
                                     : (s ? map<szext<true, false>> : map<szext<false, false>>);
  return bind_sources(b, h, {b.type(), ScalarType::u32});
}
Result<Op> bind_bmsk(Binder& b) {
  return bind_sources(b, b.has(Mod::wrap) ? map<numeric::bmsk<true>> : map<numeric::bmsk<false>>,
                      {ScalarType::u32, ScalarType::u32});
}

// --- logic
// -----------------------------------------------------------------------------------------------------------------

enum class Logic : uint8_t { And, Or, Xor, Not };

template <Logic Which>
Step predicate_logic(Warp& w, const Op& op, uint32_t lanes) {
  const uint32_t a = w.predicate(op.a) ^ (op.small & 1 ? kAllLanes : 0);
  const uint32_t b = w.predicate(op.b) ^ (op.small & 2 ? kAllLanes : 0);
  uint32_t r = 0;
  switch (Which) {
    case Logic::And:
      r = a & b;
      break;
    case Logic::Or:
      r = a | b;
      break;
    case Logic::Xor:
      r = a ^ b;
      break;
    case Logic::Not:
      r = ~a;
      break;
  }
  uint32_t& d = w.predicate(op.d);
  d = (d & ~lanes) | (r & lanes);
  return Step::Next;
}

template <Logic Which>
Result<Op> bind_predicate_logic(Binder& b) {
  Op op = b.op(predicate_logic<Which>);
  op.d = b.predicate(0);
  Location* const places[] = {&op.a, &op.b};
  for (uint32_t i = 1; i < b.count(); ++i) {
    const Operand& source = b.operand(i);
    const uint32_t bit = 1u << (i - 1);
    if (b.is_immediate(source)) {
      *places[i - 1] = kTruePredicate;
      if ((source.value != 0) == source.negate) op.small |= bit;
    } else {
      *places[i - 1] = b.predicate(source);
      if (source.negate) op.small |= bit;
    }
  }
  return op;
}

template <Logic Which>
Result<Op> bind_logic(Binder& b) {
  const ScalarType t = b.type();
  if (t == ScalarType::pred) return bind_predicate_logic<Which>(b);
  const Handler h = for_integer(t, []<class T>() -> Handler {
    using U = std::make_unsigned_t<T>;
    if constexpr (Which == Logic::And) return map<Int<U>::and_>;
    if constexpr (Which == Logic::Or) return map<Int<U>::or_>;
    if constexpr (Which == Logic::Xor) return map<Int<U>::xor_>;
    return map<Int<U>::not_>;
  });
  if (Which == Logic::Not) return bind_sources(b, h, {t});
  return bind_sources(b, h, {t, t});
}
Result<Op> bind_cnot(Binder& b) {
  const Handler h = for_integer(b.type(), []<class T>() -> Handler { return map<Int<T>::cnot>; });
  return bind_sources(b, h, {b.type()});
}

/// The eight entries of a three-input truth table, spread to full words.
struct TruthTable {
  uint32_t entry[8] = {};
  explicit TruthTable(uint32_t table) {
    for (uint32_t i = 0; i < 8; ++i) entry[i] = (table >> i) & 1 ? ~0u : 0u;
  }
  uint32_t look_up(uint32_t a, uint32_t b, uint32_t c) const {
    const uint32_t b1_a1 = (c & entry[7]) | (~c & entry[6]);
    const uint32_t b0_a1 = (c & entry[5]) | (~c & entry[4]);
    const uint32_t b1_a0 = (c & entry[3]) | (~c & entry[2]);
    const uint32_t b0_a0 = (c & entry[1]) | (~c & entry[0]);
    const uint32_t a1 = (b & b1_a1) | (~b & b0_a1);
    const uint32_t a0 = (b & b1_a0) | (~b & b0_a0);
    return (a & a1) | (~a & a0);
  }
};

Step lop3(Warp& w, const Op& op, uint32_t lanes) {
  const TruthTable table(static_cast<uint32_t>(op.imm));
  uint32_t* const d = w.u32(op.d);
  const uint32_t* const a = w.u32(op.a);
  const uint32_t* const b = w.u32(op.b);
  const uint32_t* const c = w.u32(op.c);
  if (lanes == kAllLanes) {
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) d[i] = table.look_up(a[i], b[i], c[i]);
    return Step::Next;
  }
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    d[i] = table.look_up(a[i], b[i], c[i]);
  }
  return Step::Next;
}

/// The frequent tables have loops of their own.
inline uint32_t xor3(uint32_t a, uint32_t b, uint32_t c) {
  return a ^ b ^ c;
}
inline uint32_t and3(uint32_t a, uint32_t b, uint32_t c) {
  return a & b & c;
}
inline uint32_t or3(uint32_t a, uint32_t b, uint32_t c) {
  return a | b | c;
}
inline uint32_t mux(uint32_t a, uint32_t b, uint32_t c) {
  return (a & b) | (~a & c);
}
inline uint32_t and_or(uint32_t a, uint32_t b, uint32_t c) {
  return (a & b) | c;
}
inline uint32_t and_xor(uint32_t a, uint32_t b, uint32_t c) {
  return (a & b) ^ c;
}

Handler lop3_handler(uint32_t table) {
  switch (table) {
    case 0x96:
      return map<xor3>;
    case 0x80:
      return map<and3>;
    case 0xfe:
      return map<or3>;
    case 0xca:
      return map<mux>;
    case 0xea:
      return map<and_or>;
    case 0x6a:
      return map<and_xor>;
    default:
      return lop3;
  }
}

/// lop3.or/.and: d|p = table(a, b, c), p = (d != 0) op q.
Step lop3_predicate(Warp& w, const Op& op, uint32_t lanes) {
  const auto& more = *static_cast<const MoreSources*>(op.extra);
  lop3(w, op, lanes);
  uint32_t set = 0;
  const uint32_t* const d = w.u32(op.d);
  for (int i = 0; i < kLanes; ++i) set |= uint32_t{d[i] != 0} << i;
  const uint32_t q = w.predicate(more.fifth) ^ (op.small & 1 ? kAllLanes : 0);
  const uint32_t r = op.small & 2 ? (set & q) : (set | q);
  uint32_t& p = w.predicate(more.fourth);
  p = (p & ~lanes) | (r & lanes);
  return Step::Next;
}

Result<Op> bind_lop3(Binder& b) {
  const bool boolean = b.has(Mod::or_) || b.has(Mod::and_);
  const Operand& table = b.operand(4);
  if (!b.is_immediate(table)) return b.unsupported("the truth table is not an immediate");
  const auto bits = static_cast<uint32_t>(table.value) & 0xff;
  if (!boolean) {
    SLUICE_ASSIGN_OR_RETURN(
        Op op, bind_sources(b, lop3_handler(bits), {ScalarType::b32, ScalarType::b32, ScalarType::b32}));
    op.imm = bits;
    return op;
  }
  Op op = b.op(lop3_predicate);
  const Operand& destination = b.operand(0);
  MoreSources more;
  more.fourth = kSinkPredicate;
  if (destination.kind == Operand::Kind::Pair) {
    op.d = b.destination(b.parts(destination)[0]);
    more.fourth = b.predicate(b.parts(destination)[1]);
  } else {
    op.d = b.destination(destination);
  }
  SLUICE_ASSIGN_OR_RETURN(op.a, b.source(1, ScalarType::b32));
  SLUICE_ASSIGN_OR_RETURN(op.b, b.source(2, ScalarType::b32));
  SLUICE_ASSIGN_OR_RETURN(op.c, b.source(3, ScalarType::b32));
  op.imm = bits;
  const Operand& q = b.operand(5);
  if (b.is_immediate(q)) {
    more.fifth = kTruePredicate;
    op.small = (q.value != 0) == q.negate ? 1 : 0;
  } else {
    more.fifth = b.predicate(q);
    op.small = q.negate ? 1 : 0;
  }
  if (b.has(Mod::and_)) op.small |= 2;
  op.extra = b.extra(more);
  return op;
}

// --- shifts and permutes
// ---------------------------------------------------------------------------------------------------

Result<Op> bind_shf(Binder& b) {
  using numeric::shf;
  const bool left = b.has(Mod::l), wrap = b.has(Mod::wrap);
  const Handler h = left ? (wrap ? map<shf<true, true>> : map<shf<true, false>>)
                         : (wrap ? map<shf<false, true>> : map<shf<false, false>>);
  return bind_sources(b, h, {ScalarType::b32, ScalarType::b32, ScalarType::u32});
}
Result<Op> bind_shl(Binder& b) {
  const Handler h =
      for_integer(b.type(), []<class T>() -> Handler { return map<Int<std::make_unsigned_t<T>>::shl>; });
  return bind_sources(b, h, {b.type(), ScalarType::u32});
}
Result<Op> bind_shr(Binder& b) {
  const Handler h = for_integer(b.type(), []<class T>() -> Handler { return map<Int<T>::shr>; });
  return bind_sources(b, h, {b.type(), ScalarType::u32});
}

Result<Op> bind_prmt(Binder& b) {
  using numeric::PrmtMode;
  Handler h = map<numeric::prmt>;
  if (b.has(Mod::f4e)) h = map<numeric::prmt_mode<PrmtMode::f4e>>;
  if (b.has(Mod::b4e)) h = map<numeric::prmt_mode<PrmtMode::b4e>>;
  if (b.has(Mod::rc8)) h = map<numeric::prmt_mode<PrmtMode::rc8>>;
  if (b.has(Mod::ecl)) h = map<numeric::prmt_mode<PrmtMode::ecl>>;
  if (b.has(Mod::ecr)) h = map<numeric::prmt_mode<PrmtMode::ecr>>;
  if (b.has(Mod::rc16)) h = map<numeric::prmt_mode<PrmtMode::rc16>>;
  return bind_sources(b, h, {ScalarType::b32, ScalarType::b32, ScalarType::b32});
}

constexpr BindRow kRows[] = {
    {Opcode::popc, bind_popc},
    {Opcode::clz, bind_clz},
    {Opcode::brev, bind_brev},
    {Opcode::bfind, bind_bfind},
    {Opcode::fns, bind_fns},
    {Opcode::bfe, bind_bfe},
    {Opcode::bfi, bind_bfi},
    {Opcode::szext, bind_szext},
    {Opcode::bmsk, bind_bmsk},
    {Opcode::and_, bind_logic<Logic::And>},
    {Opcode::or_, bind_logic<Logic::Or>},
    {Opcode::xor_, bind_logic<Logic::Xor>},
    {Opcode::not_, bind_logic<Logic::Not>},
    {Opcode::cnot, bind_cnot},
    {Opcode::lop3, bind_lop3},
    {Opcode::shf, bind_shf},
    {Opcode::shl, bind_shl},
    {Opcode::shr, bind_shr},
    {Opcode::prmt, bind_prmt},
};

}  // namespace

std::span<const BindRow> integer_bit_rows() {
  return kRows;
}

}  // namespace sluice::machine
