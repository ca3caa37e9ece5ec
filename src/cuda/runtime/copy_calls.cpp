// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills of the runtime API. CUDA arrays belong to textures, which the engine leaves out.
#include "cuda/calls.hpp"
#include "cuda/runtime/copies.hpp"

using namespace sluice::cuda;

namespace {

/// Whether the host waits for the work.
enum class Wait : bool { No, Yes };

Status submit(Process& process, cudaStream_t handle, Operation operation, Wait wait) {
  Stream* stream = process.streams.find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  return wait == Wait::Yes ? process.streams.submit_and_wait(*stream, std::move(operation))
                           : process.streams.submit(*stream, std::move(operation));
}

cudaError_t copy_linear(const char* name, void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                        cudaStream_t stream, Wait wait) {
  return runtime_call(name, [&](Process& process) -> Status {
    const auto direction = direction_of(kind);
    if (!direction) return cudaErrorInvalidMemcpyDirection;
    return submit(process, stream, Copy::linear(to, from, bytes, *direction), wait);
  });
}

cudaError_t copy_2d(const char* name, void* to, size_t to_pitch, const void* from, size_t from_pitch,
                    size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream, Wait wait) {
  return runtime_call(name, [&](Process& process) -> Status {
    const auto direction = direction_of(kind);
    if (!direction) return cudaErrorInvalidMemcpyDirection;
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
    return submit(process, stream, Copy{to, from, width, height, 1, to_pitch, from_pitch, 0, 0, *direction},
                  wait);
  });
}

cudaError_t copy_3d(const char* name, const cudaMemcpy3DParms* parameters, cudaStream_t stream, Wait wait) {
  return runtime_call(name, [&](Process& process) -> Status {
    Copy copy;
    if (const Status s = copy_from(process, parameters, &copy); s != kOk) return s;
    return submit(process, stream, copy, wait);
  });
}

cudaError_t copy_3d_peer(const char* name, const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream,
                         Wait wait) {
  return runtime_call(name, [&](Process& process) -> Status {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    if (parameters->srcArray != nullptr || parameters->dstArray != nullptr) return cudaErrorNotSupported;
    if (!process.has_device(parameters->srcDevice) || !process.has_device(parameters->dstDevice))
      return cudaErrorInvalidDevice;
    Copy copy;
    if (const Status s =
            pitched_copy(parameters->dstPtr, parameters->dstPos, parameters->srcPtr, parameters->srcPos,
                         parameters->extent, Direction::DeviceToDevice, &copy);
        s != kOk) {
      return s;
    }
    return submit(process, stream, copy, wait);
  });
}

cudaError_t copy_peer(const char* name, void* to, int to_device, const void* from, int from_device,
                      size_t bytes, cudaStream_t stream) {
  return runtime_call(name, [&](Process& process) -> Status {
    if (!process.has_device(to_device) || !process.has_device(from_device)) return cudaErrorInvalidDevice;
    return submit(process, stream, Copy::linear(to, from, bytes, Direction::DeviceToDevice), Wait::No);
  });
}

// Copies to or from a variable; `to_symbol` says which way.
cudaError_t copy_symbol(const char* name, const void* symbol, const void* other, size_t bytes, size_t offset,
                        cudaMemcpyKind kind, cudaStream_t stream, bool to_symbol, Wait wait) {
  return runtime_call(name, [&](Process& process) -> Status {
    const auto direction = direction_of(kind);
    const cudaMemcpyKind from_host = to_symbol ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    if (!direction || (kind != from_host && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)) {
      return cudaErrorInvalidMemcpyDirection;
    }
    const Variable* variable = nullptr;
    if (const Status s = process.code.variable(symbol, process.current_device(), &variable); s != kOk)
      return s;
    if (offset > variable->bytes || bytes > variable->bytes - offset) return cudaErrorInvalidValue;
    void* place = reinterpret_cast<void*>(variable->address + offset);
    const Copy copy = to_symbol ? Copy::linear(place, other, bytes, *direction)
                                : Copy::linear(const_cast<void*>(other), place, bytes, *direction);
    return submit(process, stream, copy, wait);
  });
}

cudaError_t fill(const char* name, void* to, size_t pitch, int value, size_t width, size_t height,
                 cudaStream_t stream) {
  return runtime_call(name, [&](Process& process) -> Status {
    return submit(process, stream,
                  Fill{to, static_cast<uint32_t>(value) & 0xff, 1, width, height, 1, pitch, 0}, Wait::No);
  });
}

cudaError_t fill_3d(const char* name, cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return runtime_call(name, [&](Process& process) -> Status {
    return submit(process, stream,
                  Fill{to.ptr, static_cast<uint32_t>(value) & 0xff, 1, extent.width, extent.height,
                       extent.depth, to.pitch, to.pitch * to.ysize},
                  Wait::No);
  });
}

}  // namespace

SLUICE_RUNTIME(cudaMemcpy, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return copy_linear("cudaMemcpy", to, from, bytes, kind, nullptr, Wait::Yes);
}
SLUICE_RUNTIME(cudaMemcpyAsync, void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
               cudaStream_t stream) {
  return copy_linear("cudaMemcpyAsync", to, from, bytes, kind, stream, Wait::No);
}
SLUICE_RUNTIME(cudaMemcpy2D, void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
               size_t height, cudaMemcpyKind kind) {
  return copy_2d("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind, nullptr, Wait::Yes);
}
SLUICE_RUNTIME(cudaMemcpy2DAsync, void* to, size_t to_pitch, const void* from, size_t from_pitch,
               size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_2d("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind, stream, Wait::No);
}
SLUICE_RUNTIME(cudaMemcpy3D, const cudaMemcpy3DParms* parameters) {
  return copy_3d("cudaMemcpy3D", parameters, nullptr, Wait::Yes);
}
SLUICE_RUNTIME(cudaMemcpy3DAsync, const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return copy_3d("cudaMemcpy3DAsync", parameters, stream, Wait::No);
}
SLUICE_RUNTIME(cudaMemcpy3DPeer, const cudaMemcpy3DPeerParms* parameters) {
  return copy_3d_peer("cudaMemcpy3DPeer", parameters, nullptr, Wait::No);
}
SLUICE_RUNTIME(cudaMemcpy3DPeerAsync, const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream) {
  return copy_3d_peer("cudaMemcpy3DPeerAsync", parameters, stream, Wait::No);
}
SLUICE_RUNTIME(cudaMemcpyPeer, void* to, int to_device, const void* from, int from_device, size_t bytes) {
  return copy_peer("cudaMemcpyPeer", to, to_device, from, from_device, bytes, nullptr);
}
SLUICE_RUNTIME(cudaMemcpyPeerAsync, void* to, int to_device, const void* from, int from_device, size_t bytes,
               cudaStream_t stream) {
  return copy_peer("cudaMemcpyPeerAsync", to, to_device, from, from_device, bytes, stream);
}

SLUICE_RUNTIME(cudaMemcpyToSymbol, const void* symbol, const void* from, size_t bytes, size_t offset,
               cudaMemcpyKind kind) {
  return copy_symbol("cudaMemcpyToSymbol", symbol, from, bytes, offset, kind, nullptr, true, Wait::Yes);
}
SLUICE_RUNTIME(cudaMemcpyFromSymbol, void* to, const void* symbol, size_t bytes, size_t offset,
               cudaMemcpyKind kind) {
  return copy_symbol("cudaMemcpyFromSymbol", symbol, to, bytes, offset, kind, nullptr, false, Wait::Yes);
}
SLUICE_RUNTIME(cudaMemcpyToSymbolAsync, const void* symbol, const void* from, size_t bytes, size_t offset,
               cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_symbol("cudaMemcpyToSymbolAsync", symbol, from, bytes, offset, kind, stream, true, Wait::No);
}
SLUICE_RUNTIME(cudaMemcpyFromSymbolAsync, void* to, const void* symbol, size_t bytes, size_t offset,
               cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_symbol("cudaMemcpyFromSymbolAsync", symbol, to, bytes, offset, kind, stream, false, Wait::No);
}
SLUICE_RUNTIME(cudaGetSymbolAddress, void** out, const void* symbol) {
  return runtime_call("cudaGetSymbolAddress", [&](Process& process) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    const Variable* variable = nullptr;
    if (const Status s = process.code.variable(symbol, process.current_device(), &variable); s != kOk)
      return s;
    *out = reinterpret_cast<void*>(variable->address);
    return kOk;
  });
}
SLUICE_RUNTIME(cudaGetSymbolSize, size_t* out, const void* symbol) {
  return runtime_call("cudaGetSymbolSize", [&](Process& process) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    const Variable* variable = nullptr;
    if (const Status s = process.code.variable(symbol, process.current_device(), &variable); s != kOk)
      return s;
    *out = variable->bytes;
    return kOk;
  });
}

SLUICE_RUNTIME(cudaMemset, void* to, int value, size_t bytes) {
  return fill("cudaMemset", to, bytes, value, bytes, 1, nullptr);
}
SLUICE_RUNTIME(cudaMemsetAsync, void* to, int value, size_t bytes, cudaStream_t stream) {
  return fill("cudaMemsetAsync", to, bytes, value, bytes, 1, stream);
}
SLUICE_RUNTIME(cudaMemset2D, void* to, size_t pitch, int value, size_t width, size_t height) {
  return fill("cudaMemset2D", to, pitch, value, width, height, nullptr);
}
SLUICE_RUNTIME(cudaMemset2DAsync, void* to, size_t pitch, int value, size_t width, size_t height,
               cudaStream_t stream) {
  return fill("cudaMemset2DAsync", to, pitch, value, width, height, stream);
}
SLUICE_RUNTIME(cudaMemset3D, cudaPitchedPtr to, int value, cudaExtent extent) {
  return fill_3d("cudaMemset3D", to, value, extent, nullptr);
}
SLUICE_RUNTIME(cudaMemset3DAsync, cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return fill_3d("cudaMemset3DAsync", to, value, extent, stream);
}

SLUICE_RUNTIME(cudaMemcpyBatchAsync, void* const* to, const void* const* from, const size_t* bytes,
               size_t count, cudaMemcpyAttributes*, size_t*, size_t, cudaStream_t handle) {
  return runtime_call("cudaMemcpyBatchAsync", [&](Process& process) -> Status {
    if (count == 0 || to == nullptr || from == nullptr || bytes == nullptr) return cudaErrorInvalidValue;
    // The real call does not take the legacy stream.
    if (handle == nullptr || handle == cudaStreamLegacy) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      if (const Status s =
              submit(process, handle, Copy::linear(to[i], from[i], bytes[i], Direction::Default), Wait::No);
          s != kOk) {
        return s;
      }
    }
    return kOk;
  });
}
