// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor copies and reductions by the copy engine, shared to global memory (PTX ISA, "cp.async.bulk.tensor",
// "cp.reduce.async.bulk.tensor"). They belong to the bulk group of the issuing thread: commit and wait with
// cp_async_bulk_commit_group and cp_async_bulk_wait_group[_read]. Ordinary stores to the source need
// fence_proxy_async_shared_cta before. Elements outside the tensor are not written. Nothing blocks.
#pragma once

#include "sluice/arch/config.hpp"
#include "sluice/arch/cp_async_bulk_tensor.hpp"

namespace sluice::ptx {

/// Writes the box at `source` to `at`. PTX: cp.async.bulk.tensor.Nd.global.shared::cta.tile.bulk_group
template <int Rank>
SLUICE_DEVICE void cp_async_bulk_tensor_store(void const* map, void const* source, Coordinates<Rank> at) {
  if constexpr (Rank == 1) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group "
        "[%0, {%2}], [%1];" ::"l"(map),
        "r"(shared_address(source)), "r"(at.at[0])
        : "memory");
  } else if constexpr (Rank == 2) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
        "[%0, {%2, %3}], [%1];" ::"l"(map),
        "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1])
        : "memory");
  } else if constexpr (Rank == 3) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group "
        "[%0, {%2, %3, %4}], [%1];" ::"l"(map),
        "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2])
        : "memory");
  } else if constexpr (Rank == 4) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group "
        "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
        "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3])
        : "memory");
  } else {
    SLUICE_PTX(
        "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group "
        "[%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
        "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4])
        : "memory");
  }
}

/// The same with a cache policy. PTX: ...L2::cache_hint
template <int Rank>
SLUICE_DEVICE void cp_async_bulk_tensor_store(void const* map, void const* source, Coordinates<Rank> at,
                                              CachePolicy policy) {
  if constexpr (Rank == 1) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group.L2::cache_hint "
        "[%0, {%2}], [%1], %3;" ::"l"(map),
        "r"(shared_address(source)), "r"(at.at[0]), "l"(static_cast<uint64_t>(policy))
        : "memory");
  } else if constexpr (Rank == 2) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint "
        "[%0, {%2, %3}], [%1], %4;" ::"l"(map),
        "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "l"(static_cast<uint64_t>(policy))
        : "memory");
  } else if constexpr (Rank == 3) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group.L2::cache_hint "
        "[%0, {%2, %3, %4}], [%1], %5;" ::"l"(map),
        "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]),
        "l"(static_cast<uint64_t>(policy))
        : "memory");
  } else if constexpr (Rank == 4) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group.L2::cache_hint "
        "[%0, {%2, %3, %4, %5}], [%1], %6;" ::"l"(map),
        "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
        "l"(static_cast<uint64_t>(policy))
        : "memory");
  } else {
    SLUICE_PTX(
        "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group.L2::cache_hint "
        "[%0, {%2, %3, %4, %5, %6}], [%1], %7;" ::"l"(map),
        "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
        "r"(at.at[4]), "l"(static_cast<uint64_t>(policy))
        : "memory");
  }
}

/// Writes an im2col box, for 3 to 5 dimensions. PTX: ...im2col_no_offs
template <int Rank>
SLUICE_DEVICE void cp_async_bulk_tensor_im2col_store(void const* map, void const* source,
                                                     Coordinates<Rank> at) {
  if constexpr (Rank == 3) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group "
        "[%0, {%2, %3, %4}], [%1];" ::"l"(map),
        "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2])
        : "memory");
  } else if constexpr (Rank == 4) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group "
        "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
        "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3])
        : "memory");
  } else {
    SLUICE_PTX(
        "cp.async.bulk.tensor.5d.global.shared::cta.im2col_no_offs.bulk_group "
        "[%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
        "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4])
        : "memory");
  }
}

/// What a reduction does with an element in global memory and one from shared memory. Which of them a tensor
/// takes depends on its element type (PTX ISA, "cp.reduce.async.bulk.tensor").
enum class Reduction { Add, Min, Max, Inc, Dec, And, Or, Xor };

/// Combines the box at `source` with the tensor at `at`, atomically per element.
/// PTX: cp.reduce.async.bulk.tensor.Nd.global.shared::cta.OP.tile.bulk_group
template <Reduction Operation, int Rank>
SLUICE_DEVICE void cp_reduce_async_bulk_tensor(void const* map, void const* source, Coordinates<Rank> at) {
  if constexpr (Rank == 1) {
    if constexpr (Operation == Reduction::Add) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group "
          "[%0, {%2}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0])
          : "memory");
    } else if constexpr (Operation == Reduction::Min) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.1d.global.shared::cta.min.tile.bulk_group "
          "[%0, {%2}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0])
          : "memory");
    } else if constexpr (Operation == Reduction::Max) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.1d.global.shared::cta.max.tile.bulk_group "
          "[%0, {%2}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0])
          : "memory");
    } else if constexpr (Operation == Reduction::Inc) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.1d.global.shared::cta.inc.tile.bulk_group "
          "[%0, {%2}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0])
          : "memory");
    } else if constexpr (Operation == Reduction::Dec) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.1d.global.shared::cta.dec.tile.bulk_group "
          "[%0, {%2}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0])
          : "memory");
    } else if constexpr (Operation == Reduction::And) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.1d.global.shared::cta.and.tile.bulk_group "
          "[%0, {%2}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0])
          : "memory");
    } else if constexpr (Operation == Reduction::Or) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.1d.global.shared::cta.or.tile.bulk_group "
          "[%0, {%2}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0])
          : "memory");
    } else {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.1d.global.shared::cta.xor.tile.bulk_group "
          "[%0, {%2}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0])
          : "memory");
    }
  } else if constexpr (Rank == 2) {
    if constexpr (Operation == Reduction::Add) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
          "[%0, {%2, %3}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1])
          : "memory");
    } else if constexpr (Operation == Reduction::Min) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.2d.global.shared::cta.min.tile.bulk_group "
          "[%0, {%2, %3}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1])
          : "memory");
    } else if constexpr (Operation == Reduction::Max) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.tile.bulk_group "
          "[%0, {%2, %3}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1])
          : "memory");
    } else if constexpr (Operation == Reduction::Inc) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.2d.global.shared::cta.inc.tile.bulk_group "
          "[%0, {%2, %3}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1])
          : "memory");
    } else if constexpr (Operation == Reduction::Dec) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.2d.global.shared::cta.dec.tile.bulk_group "
          "[%0, {%2, %3}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1])
          : "memory");
    } else if constexpr (Operation == Reduction::And) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.2d.global.shared::cta.and.tile.bulk_group "
          "[%0, {%2, %3}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1])
          : "memory");
    } else if constexpr (Operation == Reduction::Or) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.2d.global.shared::cta.or.tile.bulk_group "
          "[%0, {%2, %3}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1])
          : "memory");
    } else {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.2d.global.shared::cta.xor.tile.bulk_group "
          "[%0, {%2, %3}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1])
          : "memory");
    }
  } else if constexpr (Rank == 3) {
    if constexpr (Operation == Reduction::Add) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group "
          "[%0, {%2, %3, %4}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2])
          : "memory");
    } else if constexpr (Operation == Reduction::Min) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.3d.global.shared::cta.min.tile.bulk_group "
          "[%0, {%2, %3, %4}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2])
          : "memory");
    } else if constexpr (Operation == Reduction::Max) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.3d.global.shared::cta.max.tile.bulk_group "
          "[%0, {%2, %3, %4}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2])
          : "memory");
    } else if constexpr (Operation == Reduction::Inc) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.3d.global.shared::cta.inc.tile.bulk_group "
          "[%0, {%2, %3, %4}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2])
          : "memory");
    } else if constexpr (Operation == Reduction::Dec) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.3d.global.shared::cta.dec.tile.bulk_group "
          "[%0, {%2, %3, %4}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2])
          : "memory");
    } else if constexpr (Operation == Reduction::And) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.3d.global.shared::cta.and.tile.bulk_group "
          "[%0, {%2, %3, %4}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2])
          : "memory");
    } else if constexpr (Operation == Reduction::Or) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.3d.global.shared::cta.or.tile.bulk_group "
          "[%0, {%2, %3, %4}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2])
          : "memory");
    } else {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.3d.global.shared::cta.xor.tile.bulk_group "
          "[%0, {%2, %3, %4}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2])
          : "memory");
    }
  } else if constexpr (Rank == 4) {
    if constexpr (Operation == Reduction::Add) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.tile.bulk_group "
          "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3])
          : "memory");
    } else if constexpr (Operation == Reduction::Min) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.4d.global.shared::cta.min.tile.bulk_group "
          "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3])
          : "memory");
    } else if constexpr (Operation == Reduction::Max) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.4d.global.shared::cta.max.tile.bulk_group "
          "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3])
          : "memory");
    } else if constexpr (Operation == Reduction::Inc) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.4d.global.shared::cta.inc.tile.bulk_group "
          "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3])
          : "memory");
    } else if constexpr (Operation == Reduction::Dec) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.4d.global.shared::cta.dec.tile.bulk_group "
          "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3])
          : "memory");
    } else if constexpr (Operation == Reduction::And) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.4d.global.shared::cta.and.tile.bulk_group "
          "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3])
          : "memory");
    } else if constexpr (Operation == Reduction::Or) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.4d.global.shared::cta.or.tile.bulk_group "
          "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3])
          : "memory");
    } else {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.4d.global.shared::cta.xor.tile.bulk_group "
          "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3])
          : "memory");
    }
  } else {
    if constexpr (Operation == Reduction::Add) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.5d.global.shared::cta.add.tile.bulk_group "
          "[%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
          "r"(at.at[4])
          : "memory");
    } else if constexpr (Operation == Reduction::Min) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.5d.global.shared::cta.min.tile.bulk_group "
          "[%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
          "r"(at.at[4])
          : "memory");
    } else if constexpr (Operation == Reduction::Max) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.5d.global.shared::cta.max.tile.bulk_group "
          "[%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
          "r"(at.at[4])
          : "memory");
    } else if constexpr (Operation == Reduction::Inc) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.5d.global.shared::cta.inc.tile.bulk_group "
          "[%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
          "r"(at.at[4])
          : "memory");
    } else if constexpr (Operation == Reduction::Dec) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.5d.global.shared::cta.dec.tile.bulk_group "
          "[%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
          "r"(at.at[4])
          : "memory");
    } else if constexpr (Operation == Reduction::And) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.5d.global.shared::cta.and.tile.bulk_group "
          "[%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
          "r"(at.at[4])
          : "memory");
    } else if constexpr (Operation == Reduction::Or) {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.5d.global.shared::cta.or.tile.bulk_group "
          "[%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
          "r"(at.at[4])
          : "memory");
    } else {
      SLUICE_PTX(
          "cp.reduce.async.bulk.tensor.5d.global.shared::cta.xor.tile.bulk_group "
          "[%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
          "r"(shared_address(source)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
          "r"(at.at[4])
          : "memory");
    }
  }
}

}  // namespace sluice::ptx
