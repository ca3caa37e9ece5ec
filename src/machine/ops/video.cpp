// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The video instructions. Everything about an instruction is gathered into one description at bind time.
#include "machine/numeric/video.hpp"

#include "machine/ops/elementwise.hpp"

namespace sluice::machine {
namespace {

using numeric::Part;
using numeric::Video;
using numeric::VideoOp;
using numeric::VideoSecond;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::ScalarType;
using ptx::Selector;

template <uint32_t (*F)(const Video&, uint32_t, uint32_t, uint32_t)>
Step run_video(Warp& w, const Op& op, uint32_t lanes) {
  const auto& v = *static_cast<const Video*>(op.extra);
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    w.u32(op.d)[i] = F(v, w.u32(op.a)[i], w.u32(op.b)[i], w.u32(op.c)[i]);
  }
  return Step::Next;
}

bool is_selected(const Operand& operand) {
  return operand.kind == Operand::Kind::Register && operand.component != Operand::kNoComponent;
}

/// The part that a scalar operand's selector names.
Part part_of(const Operand& operand) {
  if (!is_selected(operand)) return {};
  const auto which = static_cast<uint8_t>(Selector::lane(operand.component, 0));
  if (Selector::is_byte(operand.component)) return {8, static_cast<uint8_t>(8 * which)};
  return {16, static_cast<uint8_t>(16 * which)};
}

VideoOp relation(const Binder& b) {
  if (b.has(Mod::eq)) return VideoOp::Eq;
  if (b.has(Mod::ne)) return VideoOp::Ne;
  if (b.has(Mod::lt)) return VideoOp::Lt;
  if (b.has(Mod::le)) return VideoOp::Le;
  return b.has(Mod::gt) ? VideoOp::Gt : VideoOp::Ge;
}

VideoOp operation(const Binder& b) {
  switch (b.instruction().op) {
    case Opcode::vadd:
    case Opcode::vadd2:
    case Opcode::vadd4:
      return VideoOp::Add;
    case Opcode::vsub:
    case Opcode::vsub2:
    case Opcode::vsub4:
      return VideoOp::Sub;
    case Opcode::vabsdiff:
    case Opcode::vabsdiff2:
    case Opcode::vabsdiff4:
      return VideoOp::AbsDiff;
    case Opcode::vmin:
    case Opcode::vmin2:
    case Opcode::vmin4:
      return VideoOp::Min;
    case Opcode::vmax:
    case Opcode::vmax2:
    case Opcode::vmax4:
      return VideoOp::Max;
    case Opcode::vavrg2:
    case Opcode::vavrg4:
      return VideoOp::Average;
    case Opcode::vshl:
      return VideoOp::Shl;
    case Opcode::vshr:
      return VideoOp::Shr;
    case Opcode::vmad:
      return VideoOp::Mad;
    default:
      return relation(b);
  }
}

bool is_set(Opcode op) {
  return op == Opcode::vset || op == Opcode::vset2 || op == Opcode::vset4;
}

/// What scalar and packed forms share: types and flags. The sets have no destination type; what they compare
/// their result with is of the first operand's.
Video describe(const Binder& b) {
  Video v;
  v.op = operation(b);
  const unsigned first = is_set(b.instruction().op) ? 0 : 1;
  v.signed_d = ptx::is_signed(b.type(0));
  v.signed_a = ptx::is_signed(b.type(first));
  v.signed_b = ptx::is_signed(b.type(first + 1));
  v.sat = b.has(Mod::sat);
  return v;
}

Result<Op> bind_scalar(Binder& b) {
  Video v = describe(b);
  v.wrap = b.has(Mod::wrap);
  v.plus_one = b.has(Mod::po);
  v.scale = b.has(Mod::shr7) ? 7 : (b.has(Mod::shr15) ? 15 : 0);
  v.a = part_of(b.operand(1));
  v.b = part_of(b.operand(2));
  v.d = part_of(b.operand(0));
  if (b.has(Mod::add)) v.second = VideoSecond::Add;
  if (b.has(Mod::min)) v.second = VideoSecond::Min;
  if (b.has(Mod::max)) v.second = VideoSecond::Max;
  if (is_selected(b.operand(0))) v.second = VideoSecond::Merge;
  if (v.op == VideoOp::Mad) {
    v.negate_a = b.operand(1).negate;
    v.negate_b = b.operand(2).negate;
    v.negate_c = b.operand(3).negate;
  }
  Op op = b.op(run_video<numeric::video_scalar>);
  op.d = b.destination(0);
  SLUICE_ASSIGN_OR_RETURN(op.a, b.source(1, ScalarType::b32));
  SLUICE_ASSIGN_OR_RETURN(op.b, b.source(2, ScalarType::b32));
  if (b.count() > 3) {
    SLUICE_ASSIGN_OR_RETURN(op.c, b.source(3, ScalarType::b32));
  } else {
    op.c = op.a;  // not looked at
  }
  op.extra = b.extra(v);
  return op;
}

Result<Op> bind_packed(Binder& b, uint8_t lanes) {
  Video v = describe(b);
  v.lanes = lanes;
  if (b.has(Mod::add)) v.second = VideoSecond::Add;
  // Without selectors a's lanes meet b's.
  for (uint8_t i = 0; i < lanes; ++i) {
    const Operand& a = b.operand(1);
    const Operand& other = b.operand(2);
    v.pick_a[i] = static_cast<uint8_t>(is_selected(a) ? Selector::lane(a.component, i) : i);
    v.pick_b[i] = static_cast<uint8_t>(is_selected(other) ? Selector::lane(other.component, i) : i + lanes);
  }
  const Operand& d = b.operand(0);
  v.mask = static_cast<uint8_t>((1u << lanes) - 1);
  if (is_selected(d)) {
    v.mask = 0;
    for (unsigned i = 0; i < Selector::digits(d.component); ++i)
      v.mask |= static_cast<uint8_t>(1u << Selector::lane(d.component, i));
  }
  Op op = b.op(run_video<numeric::video_packed>);
  op.d = b.destination(0);
  SLUICE_ASSIGN_OR_RETURN(op.a, b.source(1, ScalarType::b32));
  SLUICE_ASSIGN_OR_RETURN(op.b, b.source(2, ScalarType::b32));
  SLUICE_ASSIGN_OR_RETURN(op.c, b.source(3, ScalarType::b32));
  op.extra = b.extra(v);
  return op;
}
Result<Op> bind_pairs(Binder& b) {
  return bind_packed(b, 2);
}
Result<Op> bind_quads(Binder& b) {
  return bind_packed(b, 4);
}

constexpr BindRow kRows[] = {
    {Opcode::vadd, bind_scalar},     {Opcode::vsub, bind_scalar},     {Opcode::vabsdiff, bind_scalar},
    {Opcode::vmin, bind_scalar},     {Opcode::vmax, bind_scalar},     {Opcode::vshl, bind_scalar},
    {Opcode::vshr, bind_scalar},     {Opcode::vmad, bind_scalar},     {Opcode::vset, bind_scalar},
    {Opcode::vadd2, bind_pairs},     {Opcode::vsub2, bind_pairs},     {Opcode::vavrg2, bind_pairs},
    {Opcode::vabsdiff2, bind_pairs}, {Opcode::vmin2, bind_pairs},     {Opcode::vmax2, bind_pairs},
    {Opcode::vset2, bind_pairs},     {Opcode::vadd4, bind_quads},     {Opcode::vsub4, bind_quads},
    {Opcode::vavrg4, bind_quads},    {Opcode::vabsdiff4, bind_quads}, {Opcode::vmin4, bind_quads},
    {Opcode::vmax4, bind_quads},     {Opcode::vset4, bind_quads},
};

}  // namespace

std::span<const BindRow> video_rows() {
  return kRows;
}

}  // namespace sluice::machine
