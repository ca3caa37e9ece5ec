// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Stream-ordered pools and pointer attributes, for both APIs.
#pragma once

#include <cuda.h>

#include <cstddef>

#include "cuda/errors.hpp"
#include "cuda/memory.hpp"
#include "cuda/stream.hpp"

namespace sluice::cuda {

Status create_pool(Process& process, int device, CUmemoryPool* out);
/// The default pools stay.
Status destroy_pool(Process& process, CUmemoryPool pool);
Status set_pool_attribute(Process& process, CUmemoryPool pool, CUmemPool_attribute attribute,
                          const void* value);
Status pool_attribute(Process& process, CUmemoryPool pool, CUmemPool_attribute attribute, void* value);
/// While the stream is captured this makes an allocation node; its address is fixed here.
Status allocate_from_pool(Process& process, Stream& stream, CUmemoryPool pool, size_t bytes, void** out);
Status free_to_pool(Process& process, Stream& stream, void* pointer);

/// cuPointerGetAttribute.
Status pointer_attribute(Process& process, CUpointer_attribute attribute, CUdeviceptr pointer, void* out);

}  // namespace sluice::cuda
