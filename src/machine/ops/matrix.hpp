// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What the files of the matrix family share: fragments as lists of register vectors.
#pragma once

#include <vector>

#include "machine/bind.hpp"
#include "machine/state.hpp"

namespace sluice::machine {

/// The register vectors of a fragment operand, in order.
using FragmentLocations = std::vector<Location>;

Result<FragmentLocations> bind_fragment_source(Binder& b, const ptx::Operand& operand, ptx::ScalarType type);
FragmentLocations bind_fragment_destination(Binder& b, const ptx::Operand& operand);

Result<Op> bind_mma(Binder& b);  // matrix_multiply.cpp
Result<Op> bind_wmma_mma(Binder& b);
Result<Op> bind_ldmatrix(Binder& b);  // matrix_memory.cpp
Result<Op> bind_stmatrix(Binder& b);
Result<Op> bind_movmatrix(Binder& b);
Result<Op> bind_wmma_load(Binder& b);
Result<Op> bind_wmma_store(Binder& b);

}  // namespace sluice::machine
