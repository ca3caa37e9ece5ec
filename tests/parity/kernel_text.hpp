// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes the kernel of one parity case: declares registers, loads inputs from the thread's record, takes the
// instruction, stores outputs.
#pragma once

#include <string>
#include <vector>

#include "cases.hpp"
#include "inputs.hpp"

namespace sluice::parity {

/// "add.rn.f32": mnemonic and modifiers as in PTX.
std::string instruction_text(const ptx::Form& form, const ptx::Mods& mods);

class KernelText {
 public:
  /// A register of `bits` (1 = predicate, 16, 32, 64, 128). Returns its name.
  std::string declare(uint32_t bits);

  /// A register that holds the next input of every thread.
  std::string input(ptx::ScalarType type, Flavour flavour, uint32_t register_bits = 0);
  /// A register filled with moderate elements of a narrower type (a matrix fragment's).
  std::string packed_input(ptx::ScalarType element, uint32_t register_bits);
  /// The same with the 32 or 64 bits made by `make` for every thread.
  template <class Make>
  std::string input_made(uint32_t bits, Make make) {
    inputs_.push_back({bits, ptx::ScalarType::none, Flavour::Any, make});
    return load(inputs_.back());
  }
  /// Stores a register as an output of the thread.
  void output(const std::string& reg, uint32_t bits, ptx::ScalarType type);
  /// Reserves bytes of raw input or output per thread, multiple of 16; returns the offset in the record.
  uint32_t raw_input(uint32_t bytes, ptx::ScalarType type, Flavour flavour);
  uint32_t raw_output(uint32_t bytes, ptx::ScalarType type);

  /// One line of code; declarations that must precede the code go to `top`.
  void line(const std::string& text) { body_ += "  " + text + "\n"; }
  void tail(const std::string& text) { tail_ += "  " + text + "\n"; }
  void top(const std::string& text) { top_ += "  " + text + "\n"; }

  /// Fills kernel text, strides, inputs and outputs of the case, whose name is set.
  void finish(Case& c);

 private:
  struct Input {
    uint32_t bits = 0;
    ptx::ScalarType type{};
    Flavour flavour{};
    uint64_t (*make)(Random&) = nullptr;
    uint32_t offset = 0;
    uint32_t raw_bytes = 0;
    bool packed = false;
  };
  std::string load(Input& input);

  std::string top_, body_, tail_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  uint32_t in_bytes_ = 0;
  uint32_t out_bytes_ = 0;
  uint32_t registers_ = 0;
};

}  // namespace sluice::parity
