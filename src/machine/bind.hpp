// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// From a lowered instruction to an Op. Each family of instructions (src/machine/ops/*.cpp) has a table of
// rows, mnemonic and bind function; the bind function looks at modifiers and operands through the Binder and
// chooses the handler. What it cannot bind exactly it refuses with an Error, and the kernel is refused before
// it starts.
#pragma once

#include <bit>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "machine/kernel.hpp"
#include "machine/op.hpp"
#include "machine/space.hpp"
#include "program/program.hpp"
#include "ptx/ast.hpp"

namespace sluice::machine {

/// Where the module's variables lie, and which function index a called function has in this kernel.
class Symbols {
 public:
  virtual ~Symbols() = default;
  /// Device address of a module variable in global or constant space.
  virtual uint64_t global_address(uint32_t module_variable) const = 0;
  /// Offset in the CTA's shared memory (reserved part included) of a shared variable of the module or of
  /// `function`. Dynamic shared memory begins behind all static variables, the same in every launch of the
  /// kernel.
  virtual uint32_t shared_offset(const program::Function& function, const ptx::Operand& variable) const = 0;
  /// Index into Kernel::functions of the module's function `module_function`.
  virtual Result<uint32_t> function_index(uint32_t module_function) const = 0;
  /// Whether the function variable is a parameter of the kernel (it lies in the parameter buffer).
  virtual bool is_entry_parameter(const program::Function& function, uint32_t variable) const = 0;
  /// Offset of an entry parameter in the parameter buffer.
  virtual uint32_t parameter_offset(const program::Function& function, uint32_t variable) const = 0;
  /// Non-zero value that a function's address has in memory and registers.
  virtual uint64_t function_address(uint32_t module_function) const = 0;
};

class Binder {
 public:
  Binder(const program::Function& function, const Symbols& symbols, BoundFunction& out)
      : function_(function), symbols_(symbols), out_(out) {}

  /// Begins with the instruction at `index` of the function's code.
  void begin(uint32_t index);

  const program::Function& function() const { return function_; }
  const ptx::Instruction& instruction() const { return *instruction_; }
  const ptx::Mods& mods() const { return instruction_->mods; }
  bool has(ptx::Mod mod) const { return instruction_->mods.has(mod); }
  ptx::ScalarType type(unsigned i = 0) const { return instruction_->mods.type(i); }
  const Symbols& symbols() const { return symbols_; }

  uint32_t count() const { return instruction_->operand_count; }
  const ptx::Operand& operand(uint32_t i) const;
  std::span<const ptx::Operand> parts(const ptx::Operand& operand) const;
  bool is_register(const ptx::Operand& operand) const { return operand.kind == ptx::Operand::Kind::Register; }
  bool is_immediate(const ptx::Operand& operand) const;
  /// Value of an immediate operand as raw bits for `type` (a float literal becomes the bits of that type).
  uint64_t immediate(const ptx::Operand& operand, ptx::ScalarType type) const;
  const ptx::Reg& reg(const ptx::Operand& operand) const { return function_.regs[operand.index]; }

  // --- locations
  // ----------------------------------------------------------------------------------------------------
  /// Where the value of a source operand lies, as the vector layout of `type` (register or immediate).
  Result<Location> source(const ptx::Operand& operand, ptx::ScalarType type);
  Result<Location> source(uint32_t i, ptx::ScalarType type) { return source(operand(i), type); }
  /// Where a destination goes; `_` goes to a scratch vector.
  Location destination(const ptx::Operand& operand);
  Location destination(uint32_t i) { return destination(operand(i)); }
  /// Index of a predicate register (a destination; `_` goes to the sink).
  uint32_t predicate(const ptx::Operand& operand);
  uint32_t predicate(uint32_t i) { return predicate(operand(i)); }
  /// A 32-lane constant of 32- or 64-bit lanes.
  Location constant32(uint32_t value);
  Location constant64(uint64_t value);
  Location sink() const { return function_.sink_location; }

  /// Memory that lives as long as the kernel, for Op::extra.
  template <class T>
  T* extra(T value = {}) {
    auto owned = std::make_shared<T>(std::move(value));
    T* const raw = owned.get();
    out_.extras.push_back(std::move(owned));
    return raw;
  }

  /// An Op with guard and form filled in.
  Op op(Handler handler) const;
  /// "mbarrier.try_wait...: what is not supported" as an Error with the place of the instruction.
  Error unsupported(std::string what) const;
  BoundFunction& out() { return out_; }

 private:
  const program::Function& function_;
  const Symbols& symbols_;
  BoundFunction& out_;
  const ptx::Instruction* instruction_ = nullptr;
  uint32_t index_ = 0;
};

using Bind = Result<Op> (*)(Binder& binder);

struct BindRow {
  ptx::Opcode opcode;
  Bind bind;
};

// The families. Each is defined in the file of its name under ops/.
std::span<const BindRow> control_rows();
std::span<const BindRow> move_rows();
std::span<const BindRow> integer_rows();
std::span<const BindRow> float_rows();
std::span<const BindRow> convert_rows();
std::span<const BindRow> memory_rows();
std::span<const BindRow> atomic_rows();
std::span<const BindRow> warp_rows();
std::span<const BindRow> barrier_rows();
std::span<const BindRow> mbarrier_rows();
std::span<const BindRow> async_copy_rows();
std::span<const BindRow> tensor_copy_rows();
std::span<const BindRow> matrix_rows();
std::span<const BindRow> wgmma_rows();
std::span<const BindRow> video_rows();
std::span<const BindRow> stack_rows();

/// The bind function of an opcode, or null where the engine has none.
Bind find_bind(ptx::Opcode opcode);

/// What becomes of an instruction that the engine cannot execute.
enum class Unsupported : uint8_t {
  Refuse,       ///< the kernel is refused
  WhenReached,  ///< the launch ends with FaultKind::Unsupported when a thread executes it
};

/// Binds a lowered function. On failure the error names the instruction, its line in the PTX and, where
/// known, in the source.
Result<std::unique_ptr<BoundFunction>> bind_function(const program::Function& function,
                                                     const Symbols& symbols, Unsupported unsupported);

}  // namespace sluice::machine
