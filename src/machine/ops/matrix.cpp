// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows of the matrix family, and the binding of fragments.
#include "machine/ops/matrix.hpp"

namespace sluice::machine {

using ptx::Operand;

Result<FragmentLocations> bind_fragment_source(Binder& b, const Operand& operand, ptx::ScalarType type) {
  FragmentLocations out;
  if (operand.kind != Operand::Kind::Vector) {
    SLUICE_ASSIGN_OR_RETURN(const Location one, b.source(operand, type));
    out.push_back(one);
    return out;
  }
  for (const Operand& part : b.parts(operand)) {
    SLUICE_ASSIGN_OR_RETURN(const Location one, b.source(part, type));
    out.push_back(one);
  }
  return out;
}

FragmentLocations bind_fragment_destination(Binder& b, const Operand& operand) {
  FragmentLocations out;
  if (operand.kind != Operand::Kind::Vector) {
    out.push_back(b.destination(operand));
    return out;
  }
  for (const Operand& part : b.parts(operand)) out.push_back(b.destination(part));
  return out;
}

std::span<const BindRow> matrix_rows() {
  using ptx::Opcode;
  static constexpr BindRow kRows[] = {
      {Opcode::mma, bind_mma},
      {Opcode::wmma_mma, bind_wmma_mma},
      {Opcode::ldmatrix, bind_ldmatrix},
      {Opcode::stmatrix, bind_stmatrix},
      {Opcode::movmatrix, bind_movmatrix},
      {Opcode::wmma_load, bind_wmma_load},
      {Opcode::wmma_store, bind_wmma_store},
  };
  return kRows;
}

}  // namespace sluice::machine
