// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// From instructions to what a DefinednessWatch must know of them.
#include "machine/tracked.hpp"

#include <algorithm>
#include <memory>

#include "machine/definedness_watch.hpp"
#include "machine/state.hpp"

namespace sluice::machine {
namespace {

using Kind = ptx::Operand::Kind;
using program::Role;
using ptx::Mod;
using ptx::Opcode;

RegisterPlace place_of(const program::Function& f, uint32_t reg) {
  switch (program::class_of(f.regs[reg].type)) {
    case program::RegisterClass::Predicate:
      return {f.location[reg] * 4, 0};
    case program::RegisterClass::Word:
      return {f.location[reg], 4};
    case program::RegisterClass::Double:
      return {f.location[reg], 8};
    case program::RegisterClass::Quad:
      return {f.location[reg], 16};
  }
  return {};
}

void add(std::vector<RegisterPlace>& list, RegisterPlace place) {
  if (std::find(list.begin(), list.end(), place) == list.end()) list.push_back(place);
}

bool is_move(Opcode op) {
  constexpr Opcode kMoves[] = {Opcode::mov,  Opcode::selp, Opcode::prmt,      Opcode::and_,     Opcode::or_,
                               Opcode::shl,  Opcode::shr,  Opcode::shf,       Opcode::bfe,      Opcode::bfi,
                               Opcode::lop3, Opcode::cvt,  Opcode::shfl_sync, Opcode::movmatrix};
  return std::find(std::begin(kMoves), std::end(kMoves), op) != std::end(kMoves);
}

/// The operand that names what a load or store moves, part by part.
void add_elements(const program::Function& f, const ptx::Instruction& in, Tracked& x) {
  if (in.op != Opcode::ld && in.op != Opcode::ldu && in.op != Opcode::st && in.op != Opcode::ldmatrix &&
      in.op != Opcode::stmatrix)
    return;
  const bool loads = x.role == Role::Load;
  const ptx::Operand& value = f.operands_of(in)[loads ? 0 : 1];
  const ptx::Operand single[] = {value};
  const std::span<const ptx::Operand> parts =
      value.kind == Kind::Vector ? f.parts_of(value) : std::span<const ptx::Operand>(single);
  for (const ptx::Operand& part : parts) {
    const bool is_register = part.kind == Kind::Register;
    x.elements.push_back(is_register ? place_of(f, part.index) : RegisterPlace{Tracked::kNowhere, 0});
  }
  x.element_bytes = ptx::size_of(in.mods.type());
  x.sign_extends = ptx::is_signed(in.mods.type());
  x.transposed = in.mods.has(Mod::trans);
}

/// A comparison combined with a predicate.
void add_combination(const program::Function& f, const ptx::Instruction& in, Tracked& x) {
  const auto operands = f.operands_of(in);
  if (operands.size() != 4 || operands[3].kind != Kind::Register) return;
  if (!in.mods.has(Mod::and_) && !in.mods.has(Mod::or_)) return;
  x.is_combined = true;
  x.combined = place_of(f, operands[3].index);
  // `and` is decided by false, `or` by true; the operand may be negated.
  x.deciding = in.mods.has(Mod::or_) != operands[3].negate;
}

std::shared_ptr<Tracked> track(const program::Function& f, const ptx::Instruction& in, const Op& op) {
  auto x = std::make_shared<Tracked>();
  x->op = op;
  x->opcode = in.op;
  x->role = program::role_of(in.op);
  x->compares =
      in.op == Opcode::setp || in.op == Opcode::set || in.op == Opcode::testp || in.op == Opcode::slct;
  x->moves = is_move(in.op);
  x->replaces = in.op == Opcode::atom && in.mods.has(Mod::exch);
  if (in.op == Opcode::setp) add_combination(f, in, *x);
  std::vector<program::Access> accesses;
  program::collect_accesses(f, in, accesses);
  for (const program::Access& access : accesses) {
    const RegisterPlace place = place_of(f, access.reg);
    if (access.operand == program::Access::kGuard) {
      x->is_guarded = true;
      x->guard = place;
      continue;
    }
    if (access.writes) add(x->writes, place);
    if (access.reads) add(program::steers_through(f, in, access.operand) ? x->steering : x->values, place);
  }
  add_elements(f, in, *x);
  return x;
}

Step run_tracked(Warp& w, const Op& op, uint32_t lanes) {
  return w.worker().definedness()->step(w, *static_cast<const Tracked*>(op.extra), lanes);
}

}  // namespace

void make_tracked(const BoundFunction& function) {
  if (!function.tracked.empty()) return;
  const program::Function& f = *function.lowered;
  const std::vector<Op>& code = function.watched.empty() ? function.code : function.watched;
  function.tracked = code;
  for (size_t i = 0; i < f.code.size(); ++i) {
    auto x = track(f, f.code[i], code[i]);
    // The guard is applied behind the look at it.
    Op& op = function.tracked[i];
    op.run = run_tracked;
    op.extra = x.get();
    op.guard = kTruePredicate;
    op.guard_flip = 0;
    function.watched_extras.push_back(std::move(x));
  }
}

}  // namespace sluice::machine
