// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Fences between threads, and between the generic proxy (ordinary loads and stores) and the asynchronous
// proxy (the copy engine, wgmma) (PTX ISA, "membar / fence"). Each is a compiler barrier for memory too.
#pragma once

#include "sluice/arch/config.hpp"

namespace sluice::ptx {

/// Makes mbarrier_init of this thread visible in the cluster. The thread that initialised, before the CTA or
/// cluster barrier after which others use the barrier. PTX: fence.mbarrier_init.release.cluster
SLUICE_DEVICE void fence_mbarrier_init() {
  SLUICE_PTX("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Orders this thread's ordinary accesses to shared memory of this CTA before later accesses of the
/// asynchronous proxy, e.g. a store to a tile before a TMA store reads it. PTX: fence.proxy.async.shared::cta
SLUICE_DEVICE void fence_proxy_async_shared_cta() {
  SLUICE_PTX("fence.proxy.async.shared::cta;" ::: "memory");
}

/// The same for shared memory of the whole cluster. PTX: fence.proxy.async.shared::cluster
SLUICE_DEVICE void fence_proxy_async_shared_cluster() {
  SLUICE_PTX("fence.proxy.async.shared::cluster;" ::: "memory");
}

/// The same for global memory. PTX: fence.proxy.async.global
SLUICE_DEVICE void fence_proxy_async_global() {
  SLUICE_PTX("fence.proxy.async.global;" ::: "memory");
}

/// The same for all state spaces. PTX: fence.proxy.async
SLUICE_DEVICE void fence_proxy_async() {
  SLUICE_PTX("fence.proxy.async;" ::: "memory");
}

/// Orders memory accesses of this thread in the cluster. PTX: fence.acq_rel.cluster
SLUICE_DEVICE void fence_acq_rel_cluster() {
  SLUICE_PTX("fence.acq_rel.cluster;" ::: "memory");
}

/// Publishes this thread's change of a tensor map. PTX: fence.proxy.tensormap::generic.release.gpu
SLUICE_DEVICE void fence_proxy_tensormap_release() {
  SLUICE_PTX("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
}

/// Takes over a change of the 128-byte tensor map at `map` in global memory before a copy uses it.
/// PTX: fence.proxy.tensormap::generic.acquire.gpu
SLUICE_DEVICE void fence_proxy_tensormap_acquire(void const* map) {
  SLUICE_PTX("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}

}  // namespace sluice::ptx
