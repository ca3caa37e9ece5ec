// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor copies by the copy engine, global to shared memory (PTX ISA, "cp.async.bulk.tensor"): 1 to 5
// dimensions, tiles and im2col, into one CTA or many, with and without a cache policy. `map` is the address
// of a 128-byte CUtensorMap in kernel parameters (__grid_constant__), constant or global memory.
// `destination` is 128-byte aligned. One thread issues; the copy completes its bytes on `barrier`; nothing
// blocks.
#pragma once

#include "sluice/arch/config.hpp"
#include "sluice/arch/cp_async_bulk.hpp"
#include "sluice/arch/shared_address.hpp"

namespace sluice::ptx {

/// Where a box begins, in elements, innermost dimension first: `Coordinates{k, m}` is two-dimensional. May be
/// negative or beyond the tensor; what lies outside is filled.
template <int Rank>
struct Coordinates {
  static_assert(Rank >= 1 && Rank <= 5, "a tensor map has 1 to 5 dimensions");
  int32_t at[Rank];
};
template <class... Index>
Coordinates(Index...) -> Coordinates<static_cast<int>(sizeof...(Index))>;

/// The filter position of an im2col copy: one offset per spatial dimension, innermost first.
template <int Count>
struct Im2colOffsets {
  static_assert(Count >= 1 && Count <= 3, "im2col tensors have 1 to 3 spatial dimensions");
  uint16_t at[Count];
};
template <class... Offset>
Im2colOffsets(Offset...) -> Im2colOffsets<static_cast<int>(sizeof...(Offset))>;

/// Fetches the tensor map itself, before the first copy that uses it. PTX: prefetch.tensormap
SLUICE_DEVICE void prefetch_tensormap(void const* map) {
  SLUICE_PTX("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/// Copies the box at `at` into this CTA. PTX: cp.async.bulk.tensor.Nd...tile.mbarrier::complete_tx::bytes
template <int Rank>
SLUICE_DEVICE void cp_async_bulk_tensor(void* destination, void const* map, uint64_t const* barrier,
                                        Coordinates<Rank> at) {
  if constexpr (Rank == 1) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3}], [%2];" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0])
        : "memory");
  } else if constexpr (Rank == 2) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4}], [%2];" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1])
        : "memory");
  } else if constexpr (Rank == 3) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2])
        : "memory");
  } else if constexpr (Rank == 4) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3])
        : "memory");
  } else {
    SLUICE_PTX(
        "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
        "r"(at.at[4])
        : "memory");
  }
}

/// The same with a cache policy. PTX: ...L2::cache_hint
template <int Rank>
SLUICE_DEVICE void cp_async_bulk_tensor(void* destination, void const* map, uint64_t const* barrier,
                                        Coordinates<Rank> at, CachePolicy policy) {
  if constexpr (Rank == 1) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%3}], [%2], %4;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "l"(static_cast<uint64_t>(policy))
        : "memory");
  } else if constexpr (Rank == 2) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]),
        "l"(static_cast<uint64_t>(policy))
        : "memory");
  } else if constexpr (Rank == 3) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]),
        "l"(static_cast<uint64_t>(policy))
        : "memory");
  } else if constexpr (Rank == 4) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%3, %4, %5, %6}], [%2], %7;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
        "l"(static_cast<uint64_t>(policy))
        : "memory");
  } else {
    SLUICE_PTX(
        "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
        "r"(at.at[4]), "l"(static_cast<uint64_t>(policy))
        : "memory");
  }
}

/// Copies the box into the same place of every CTA whose bit is set in `cta_mask`, and completes its bytes on
/// the barrier at the same place there. PTX: ...multicast::cluster
template <int Rank>
SLUICE_DEVICE void cp_async_bulk_tensor_multicast(void* destination, void const* map, uint64_t const* barrier,
                                                  Coordinates<Rank> at, uint16_t cta_mask) {
  if constexpr (Rank == 1) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%3}], [%2], %4;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "h"(cta_mask)
        : "memory");
  } else if constexpr (Rank == 2) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "h"(cta_mask)
        : "memory");
  } else if constexpr (Rank == 3) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "h"(cta_mask)
        : "memory");
  } else if constexpr (Rank == 4) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%3, %4, %5, %6}], [%2], %7;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
        "h"(cta_mask)
        : "memory");
  } else {
    SLUICE_PTX(
        "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
        "r"(at.at[4]), "h"(cta_mask)
        : "memory");
  }
}

/// The same with a cache policy. PTX: ...multicast::cluster.L2::cache_hint
template <int Rank>
SLUICE_DEVICE void cp_async_bulk_tensor_multicast(void* destination, void const* map, uint64_t const* barrier,
                                                  Coordinates<Rank> at, uint16_t cta_mask,
                                                  CachePolicy policy) {
  if constexpr (Rank == 1) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster."
        "L2::cache_hint "
        "[%0], [%1, {%3}], [%2], %4, %5;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "h"(cta_mask),
        "l"(static_cast<uint64_t>(policy))
        : "memory");
  } else if constexpr (Rank == 2) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster."
        "L2::cache_hint "
        "[%0], [%1, {%3, %4}], [%2], %5, %6;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "h"(cta_mask),
        "l"(static_cast<uint64_t>(policy))
        : "memory");
  } else if constexpr (Rank == 3) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster."
        "L2::cache_hint "
        "[%0], [%1, {%3, %4, %5}], [%2], %6, %7;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "h"(cta_mask),
        "l"(static_cast<uint64_t>(policy))
        : "memory");
  } else if constexpr (Rank == 4) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster."
        "L2::cache_hint "
        "[%0], [%1, {%3, %4, %5, %6}], [%2], %7, %8;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
        "h"(cta_mask), "l"(static_cast<uint64_t>(policy))
        : "memory");
  } else {
    SLUICE_PTX(
        "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster."
        "L2::cache_hint "
        "[%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8, %9;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
        "r"(at.at[4]), "h"(cta_mask), "l"(static_cast<uint64_t>(policy))
        : "memory");
  }
}

/// Copies the pixels of an im2col box, for 3 to 5 dimensions. PTX: ...im2col
template <int Rank>
SLUICE_DEVICE void cp_async_bulk_tensor_im2col(void* destination, void const* map, uint64_t const* barrier,
                                               Coordinates<Rank> at, Im2colOffsets<Rank - 2> offsets) {
  if constexpr (Rank == 3) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5}], [%2], {%6};" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]),
        "h"(offsets.at[0])
        : "memory");
  } else if constexpr (Rank == 4) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
        "h"(offsets.at[0]), "h"(offsets.at[1])
        : "memory");
  } else {
    SLUICE_PTX(
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5, %6, %7}], [%2], {%8, %9, %10};" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
        "r"(at.at[4]), "h"(offsets.at[0]), "h"(offsets.at[1]), "h"(offsets.at[2])
        : "memory");
  }
}

/// The same with a cache policy. PTX: ...im2col...L2::cache_hint
template <int Rank>
SLUICE_DEVICE void cp_async_bulk_tensor_im2col(void* destination, void const* map, uint64_t const* barrier,
                                               Coordinates<Rank> at, Im2colOffsets<Rank - 2> offsets,
                                               CachePolicy policy) {
  if constexpr (Rank == 3) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%3, %4, %5}], [%2], {%6}, %7;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]),
        "h"(offsets.at[0]), "l"(static_cast<uint64_t>(policy))
        : "memory");
  } else if constexpr (Rank == 4) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8}, %9;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
        "h"(offsets.at[0]), "h"(offsets.at[1]), "l"(static_cast<uint64_t>(policy))
        : "memory");
  } else {
    SLUICE_PTX(
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%3, %4, %5, %6, %7}], [%2], {%8, %9, %10}, %11;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
        "r"(at.at[4]), "h"(offsets.at[0]), "h"(offsets.at[1]), "h"(offsets.at[2]),
        "l"(static_cast<uint64_t>(policy))
        : "memory");
  }
}

/// The same into several CTAs. PTX: ...im2col...multicast::cluster
template <int Rank>
SLUICE_DEVICE void cp_async_bulk_tensor_im2col_multicast(void* destination, void const* map,
                                                         uint64_t const* barrier, Coordinates<Rank> at,
                                                         Im2colOffsets<Rank - 2> offsets, uint16_t cta_mask) {
  if constexpr (Rank == 3) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::"
        "cluster "
        "[%0], [%1, {%3, %4, %5}], [%2], {%6}, %7;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]),
        "h"(offsets.at[0]), "h"(cta_mask)
        : "memory");
  } else if constexpr (Rank == 4) {
    SLUICE_PTX(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::"
        "cluster "
        "[%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8}, %9;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
        "h"(offsets.at[0]), "h"(offsets.at[1]), "h"(cta_mask)
        : "memory");
  } else {
    SLUICE_PTX(
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::"
        "cluster "
        "[%0], [%1, {%3, %4, %5, %6, %7}], [%2], {%8, %9, %10}, %11;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]),
        "r"(at.at[4]), "h"(offsets.at[0]), "h"(offsets.at[1]), "h"(offsets.at[2]), "h"(cta_mask)
        : "memory");
  }
}

/// Fetches the box into L2. PTX: cp.async.bulk.prefetch.tensor.Nd.L2.global.tile
template <int Rank>
SLUICE_DEVICE void cp_async_bulk_prefetch_tensor(void const* map, Coordinates<Rank> at) {
  if constexpr (Rank == 1) {
    SLUICE_PTX("cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%0, {%1}];" ::"l"(map), "r"(at.at[0])
               : "memory");
  } else if constexpr (Rank == 2) {
    SLUICE_PTX("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(map), "r"(at.at[0]),
               "r"(at.at[1])
               : "memory");
  } else if constexpr (Rank == 3) {
    SLUICE_PTX("cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%0, {%1, %2, %3}];" ::"l"(map),
               "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2])
               : "memory");
  } else if constexpr (Rank == 4) {
    SLUICE_PTX("cp.async.bulk.prefetch.tensor.4d.L2.global.tile [%0, {%1, %2, %3, %4}];" ::"l"(map),
               "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3])
               : "memory");
  } else {
    SLUICE_PTX("cp.async.bulk.prefetch.tensor.5d.L2.global.tile [%0, {%1, %2, %3, %4, %5}];" ::"l"(map),
               "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4])
               : "memory");
  }
}

/// Fetches an im2col box into L2. PTX: cp.async.bulk.prefetch.tensor.Nd.L2.global.im2col
template <int Rank>
SLUICE_DEVICE void cp_async_bulk_prefetch_tensor_im2col(void const* map, Coordinates<Rank> at,
                                                        Im2colOffsets<Rank - 2> offsets) {
  if constexpr (Rank == 3) {
    SLUICE_PTX("cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%0, {%1, %2, %3}], {%4};" ::"l"(map),
               "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "h"(offsets.at[0])
               : "memory");
  } else if constexpr (Rank == 4) {
    SLUICE_PTX(
        "cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [%0, {%1, %2, %3, %4}], {%5, %6};" ::"l"(map),
        "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "h"(offsets.at[0]), "h"(offsets.at[1])
        : "memory");
  } else {
    SLUICE_PTX(
        "cp.async.bulk.prefetch.tensor.5d.L2.global.im2col [%0, {%1, %2, %3, %4, %5}], {%6, %7, %8};" ::"l"(
            map),
        "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4]), "h"(offsets.at[0]),
        "h"(offsets.at[1]), "h"(offsets.at[2])
        : "memory");
  }
}

}  // namespace sluice::ptx
