// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Lowering: from one function of a parsed module to flat code that the machine can bind. A straight list of
// named passes, one file each; `lower` runs them in order and can hand out the function after each one.
//
//   expand_operands    special registers and addresses of variables as values become `mov` instructions
//   layout_blocks      blocks in an order where a join lies behind all that leads to it and loops are
//   contiguous place_variables    offsets of `.local` and `.param` variables in the thread's frame
//   place_registers    liveness, then a place in the frame for every register
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ptx/ast.hpp"

namespace sluice::program {

/// Which storage a register has. Sizes are those of a 32-lane vector; see machine/op.hpp.
enum class RegisterClass : uint8_t { Predicate, Word, Double, Quad };
RegisterClass class_of(ptx::ScalarType type);

/// A function as flat code. Operands, registers and labels are those of the PTX with what lowering added.
struct Function {
  const ptx::Module* module = nullptr;
  const ptx::Function* source = nullptr;
  uint32_t module_index = 0;  ///< of the function in Module::functions
  std::vector<ptx::Instruction> code;
  std::vector<ptx::Operand> operands;  ///< pool
  std::vector<ptx::Reg> regs;
  std::vector<uint32_t> label_target;     ///< by label id: index into `code`
  std::vector<uint32_t> location;         ///< by register id: byte offset in the frame, or predicate index
  std::vector<uint32_t> variable_offset;  ///< by function variable id: offset in the thread's local frame
  uint32_t sink_location = 0;             ///< 512 bytes that take unwanted results
  uint32_t frame_bytes = 0;               ///< multiple of 128
  uint32_t local_bytes = 0;               ///< `.local` and `.param` variables of one activation

  std::span<const ptx::Operand> operands_of(const ptx::Instruction& i) const {
    return {operands.data() + i.first_operand, i.operand_count};
  }
  std::span<const ptx::Operand> parts_of(const ptx::Operand& o) const {
    return {operands.data() + o.first, o.count};
  }
};

/// Called after each pass with its name.
using Observer = std::function<void(std::string_view pass, const Function& function)>;

/// Lowers the function `index` of `module`, which must stay alive as long as the result.
Result<Function> lower(const ptx::Module& module, uint32_t index, const Observer& observer = {});

/// The function as text, one instruction a line with its places: for the passes' golden tests and `--dump`.
std::string dump(const Function& function);

// The passes.
void expand_operands(Function& function);
Result<void> layout_blocks(Function& function);
void free_stack(Function& function);
void place_variables(Function& function);
void place_registers(Function& function);

/// What an instruction does to its operands' registers.
struct Access {
  static constexpr uint32_t kGuard = 0xffffffffu;
  uint32_t reg = 0;
  uint32_t operand = kGuard;  ///< index of the operand that names it
  bool reads = false;
  bool writes = false;
};
/// Appends every register that the instruction names, the guard included.
void collect_accesses(const Function& function, const ptx::Instruction& instruction,
                      std::vector<Access>& out);

/// How an instruction ends a block, if it does.
enum class Flow : uint8_t { Falls, Branches, Indexed, Ends };
Flow flow_of(const ptx::Instruction& instruction);

}  // namespace sluice::program
