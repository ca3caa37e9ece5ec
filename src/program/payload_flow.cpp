// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Roles of instructions, then sets of sources by register up to a fixed point.
#include "program/payload_flow.hpp"

#include "program/bit_set.hpp"
#include "program/roles.hpp"

namespace sluice::program {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;

bool loads(Role role) {
  return role == Role::Load || role == Role::Atomic;
}
bool stores(Role role) {
  return role == Role::Store || role == Role::Combine || role == Role::Atomic;
}
bool has_source(Role role) {
  return loads(role) || role == Role::Product;
}

class Analysis {
 public:
  explicit Analysis(const Function& function) : function_(function), carry_(function.regs.size()) {
    flow_.steps.resize(function.code.size());
    for (uint32_t i = 0; i < function.code.size(); ++i) {
      const Role role = role_of(function.code[i].op);
      if (!has_source(role)) continue;
      if (loads(role)) flow_.steps[i].source = static_cast<uint32_t>(flow_.sources.size());
      flow_.sources.push_back({i, role == Role::Product, PayloadFlow::kNone});
    }
    reaching_.assign(carry_ + 1, BitSet(flow_.sources.size()));
  }

  PayloadFlow run() {
    for (bool changed = true; changed;) {
      changed = false;
      uint32_t source = 0;
      for (const Instruction& instruction : function_.code) {
        divide(instruction);
        BitSet into(flow_.sources.size());
        if (has_source(role_)) {
          into.set(source++);
          if (guard_ != kNoRegister) into.merge(reaching_[guard_]);
        } else if (role_ != Role::Steers) {
          for (const uint32_t reg : values_) into.merge(reaching_[reg]);
        }
        for (const uint32_t reg : written_) changed |= reaching_[reg].merge(into);
      }
    }
    for (uint32_t i = 0; i < function_.code.size(); ++i) judge(i);
    return std::move(flow_);
  }

 private:
  static constexpr uint32_t kNoRegister = 0xffffffffu;

  /// Divides the instruction's registers into those that steer, those whose values matter, and results.
  void divide(const Instruction& instruction) {
    role_ = role_of(instruction.op);
    guard_ = kNoRegister;
    steering_.clear();
    values_.clear();
    written_.clear();
    accesses_.clear();
    collect_accesses(function_, instruction, accesses_);
    for (const Access& access : accesses_) {
      const bool is_guard = access.operand == Access::kGuard;
      const bool steers = is_guard ? guard_steers() : steers_through(function_, instruction, access.operand);
      if (access.writes) written_.push_back(access.reg);
      if (access.reads) (steers ? steering_ : values_).push_back(access.reg);
      if (is_guard) guard_ = access.reg;
    }
    const bool reads_carry =
        instruction.op == Opcode::addc || instruction.op == Opcode::subc || instruction.op == Opcode::madc;
    if (reads_carry) values_.push_back(static_cast<uint32_t>(carry_));
    if (instruction.mods.has(Mod::cc)) written_.push_back(static_cast<uint32_t>(carry_));
  }

  /// A guard that is payload makes a result payload; nothing else may depend on it.
  bool guard_steers() const { return role_ != Role::Value && role_ != Role::Load; }

  void judge(uint32_t i) {
    divide(function_.code[i]);
    for (const uint32_t reg : steering_) {
      reaching_[reg].for_each([&](size_t source) {
        uint32_t& steers = flow_.sources[source].steers;
        if (steers == PayloadFlow::kNone) steers = i;
      });
    }
    if (!stores(role_)) return;
    PayloadFlow::Step& step = flow_.steps[i];
    step.stores = true;
    step.keeps_payload = role_ != Role::Store;
    BitSet feeding(flow_.sources.size());
    for (const uint32_t reg : values_) feeding.merge(reaching_[reg]);
    feeding.for_each([&](size_t source) { step.fed_by.push_back(static_cast<uint32_t>(source)); });
  }

  const Function& function_;
  size_t carry_;  ///< the condition code, as one more register
  PayloadFlow flow_;
  std::vector<BitSet> reaching_;  ///< by register: sources whose payload it may hold
  // Of the instruction last divided.
  Role role_{};
  uint32_t guard_ = kNoRegister;
  std::vector<uint32_t> steering_, values_, written_;
  std::vector<Access> accesses_;
};

}  // namespace

PayloadFlow find_payload_flow(const Function& function) {
  return Analysis(function).run();
}

}  // namespace sluice::program
