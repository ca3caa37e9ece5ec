// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The Binder, and the list of families.
#include "machine/bind.hpp"

#include <fmt/format.h>

#include <array>

#include "base/lifetime.hpp"
#include "machine/state.hpp"

namespace sluice::machine {

using Kind = ptx::Operand::Kind;
using ptx::ScalarType;

void Binder::begin(uint32_t index) {
  index_ = index;
  instruction_ = &function_.code[index];
}

const ptx::Operand& Binder::operand(uint32_t i) const {
  return function_.operands_of(*instruction_)[i];
}

std::span<const ptx::Operand> Binder::parts(const ptx::Operand& operand) const {
  return function_.parts_of(operand);
}

bool Binder::is_immediate(const ptx::Operand& operand) const {
  return operand.kind == Kind::ImmInt || operand.kind == Kind::ImmF32 || operand.kind == Kind::ImmF64;
}

uint64_t Binder::immediate(const ptx::Operand& operand, ScalarType type) const {
  const uint32_t bits = ptx::bits_of(type);
  const auto narrow = [bits](uint64_t value) {
    return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1);
  };
  const bool wants_double = type == ScalarType::f64;
  const bool wants_float = type == ScalarType::f32 || type == ScalarType::tf32;
  switch (operand.kind) {
    case Kind::ImmF32:
      if (wants_double)
        return std::bit_cast<uint64_t>(double{std::bit_cast<float>(static_cast<uint32_t>(operand.value))});
      return narrow(static_cast<uint32_t>(operand.value));
    case Kind::ImmF64:
      if (wants_float)
        return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(operand.value)));
      return narrow(static_cast<uint64_t>(operand.value));
    default:
      // An integer literal where a float is wanted is its value only for literals such as 0; PTX requires
      // float syntax.
      return narrow(static_cast<uint64_t>(operand.value));
  }
}

Result<Location> Binder::source(const ptx::Operand& operand, ScalarType type) {
  switch (operand.kind) {
    case Kind::Register: {
      const ScalarType held = function_.regs[operand.index].type;
      if ((held == ScalarType::pred) != (type == ScalarType::pred))
        return unsupported("a predicate mixed with a value");
      return function_.location[operand.index];
    }
    case Kind::ImmInt:
    case Kind::ImmF32:
    case Kind::ImmF64: {
      const uint64_t value = immediate(operand, type);
      const uint32_t bytes = ptx::size_of(type);
      if (bytes <= 4) return constant32(static_cast<uint32_t>(value));
      if (bytes <= 8) return constant64(value);
      return unsupported("a 128-bit immediate");
    }
    default:
      return unsupported("an operand of this kind in this place");
  }
}

Location Binder::destination(const ptx::Operand& operand) {
  return operand.kind == Kind::Register ? function_.location[operand.index] : function_.sink_location;
}

uint32_t Binder::predicate(const ptx::Operand& operand) {
  return operand.kind == Kind::Register ? function_.location[operand.index] : kSinkPredicate;
}

namespace {

/// Appends (or finds) a vector of equal lanes in the constants; returns its offset.
template <class T>
uint32_t intern(BoundFunction& out, T value) {
  std::array<T, kLanes> lanes;
  lanes.fill(value);
  for (size_t at = 0; at + sizeof lanes <= out.constants.size(); at += 128) {
    if (std::memcmp(out.constants.data() + at, lanes.data(), sizeof lanes) == 0)
      return static_cast<uint32_t>(at);
  }
  const size_t at = out.constants.size();
  out.constants.resize(at + sizeof lanes);
  std::memcpy(out.constants.data() + at, lanes.data(), sizeof lanes);
  return static_cast<uint32_t>(at);
}

}  // namespace

Location Binder::constant32(uint32_t value) {
  return intern(out_, value) | kConstantBit;
}
Location Binder::constant64(uint64_t value) {
  return intern(out_, value) | kConstantBit;
}

Op Binder::op(Handler handler) const {
  Op op;
  op.run = handler;
  op.form = instruction_->form;
  if (instruction_->guard.reg >= 0) {
    op.guard = function_.location[static_cast<uint32_t>(instruction_->guard.reg)];
    op.guard_flip = instruction_->guard.negate ? kAllLanes : 0;
  }
  return op;
}

Error Binder::unsupported(std::string what) const {
  std::string text(ptx::spelling(instruction_->op));
  for (const ptx::Mod mod : mods().all()) text += fmt::format(".{}", ptx::spelling(mod));
  std::string place = fmt::format("{}:{}", function_.module->name, instruction_->line);
  if (instruction_->loc != ptx::kNone) {
    const ptx::Location& location = function_.module->locations[instruction_->loc];
    place = fmt::format("{}:{} (PTX line {})", function_.module->files[location.file].path, location.line,
                        instruction_->line);
  }
  return Error{fmt::format("`{}`: {}", text, what), std::move(place)};
}

Bind find_bind(ptx::Opcode opcode) {
  static const auto& table = immortal([] {
    std::vector<Bind> rows(ptx::kOpcodeCount, nullptr);
    for (const auto& family :
         {control_rows(), move_rows(), integer_rows(), float_rows(), convert_rows(), memory_rows(),
          atomic_rows(), warp_rows(), barrier_rows(), mbarrier_rows(), async_copy_rows(), tensor_copy_rows(),
          matrix_rows(), wgmma_rows(), video_rows(), stack_rows()}) {
      for (const BindRow& row : family) rows[static_cast<size_t>(row.opcode)] = row.bind;
    }
    return rows;
  }());
  return table[static_cast<size_t>(opcode)];
}

namespace {

Result<Op> bind_instruction(Binder& binder) {
  const Bind bind = find_bind(binder.instruction().op);
  if (bind == nullptr) return binder.unsupported("the engine does not execute this instruction");
  return bind(binder);
}

Step refuse(Warp& w, const Op& op, uint32_t lanes) {
  return w.fault(FaultKind::Unsupported, *static_cast<const std::string*>(op.extra),
                 static_cast<uint32_t>(std::countr_zero(lanes)));
}

}  // namespace

Result<std::unique_ptr<BoundFunction>> bind_function(const program::Function& function,
                                                     const Symbols& symbols, Unsupported unsupported) {
  auto out = std::make_unique<BoundFunction>();
  out->lowered = &function;
  out->frame_bytes = function.frame_bytes;
  out->local_bytes = function.local_bytes;
  Binder binder(function, symbols, *out);
  out->code.reserve(function.code.size());
  for (uint32_t i = 0; i < function.code.size(); ++i) {
    binder.begin(i);
    Result<Op> op = bind_instruction(binder);
    if (!op) {
      if (unsupported == Unsupported::Refuse) return std::move(op).error();
      const std::string* const message = binder.extra(op.error().message);
      op = binder.op(refuse);
      op->extra = message;
    }
    out->code.push_back(*op);
  }
  // The vectors must start at a 64-byte boundary.
  const auto misaligned = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(out->constants.data()) % 64);
  if (misaligned != 0) {
    std::vector<uint8_t> shifted(out->constants.size() + 64);
    const auto again = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(shifted.data()) % 64);
    out->constants_shift = again == 0 ? 0 : 64 - again;
    std::memcpy(shifted.data() + out->constants_shift, out->constants.data(), out->constants.size());
    out->constants = std::move(shifted);
  }
  return out;
}

}  // namespace sluice::machine
