// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Addresses of shared memory as PTX wants them: 32-bit offsets in the shared::cta or shared::cluster window.
#pragma once

#include "sluice/arch/config.hpp"

namespace sluice::ptx {

/// The address of `pointer` in the shared window. Any thread; `pointer` must point into shared memory of this
/// CTA. PTX: cvta.to.shared, usually folded away.
SLUICE_DEVICE uint32_t shared_address(void const* pointer) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
#else
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(pointer));
#endif
}

/// The address in the shared::cluster window of what lies at `address` in the CTA of rank `cta_rank`.
/// Any thread; the rank must be below the size of the cluster. PTX: mapa.shared::cluster.u32.
SLUICE_DEVICE uint32_t mapa(uint32_t address, uint32_t cta_rank) {
  uint32_t result = 0;
  SLUICE_PTX_PURE("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(result) : "r"(address), "r"(cta_rank));
  return result;
}

}  // namespace sluice::ptx
