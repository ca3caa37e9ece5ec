// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversion of the driver's copy parameters.
#include "cuda/driver/copies.hpp"

#include <optional>

#include "cuda/process.hpp"

namespace sluice::cuda {
namespace {

struct Side {
  char* begin = nullptr;
  bool is_device = false, is_any = false;
};

// One side of a copy; nothing for a CUDA array.
std::optional<Side> side(CUmemorytype type, const void* host, CUdeviceptr device) {
  switch (type) {
    case CU_MEMORYTYPE_HOST:
      return Side{static_cast<char*>(const_cast<void*>(host)), false, false};
    case CU_MEMORYTYPE_DEVICE:
      return Side{reinterpret_cast<char*>(device), true, false};
    case CU_MEMORYTYPE_UNIFIED:
      return Side{reinterpret_cast<char*>(device), false, true};
    default:
      return std::nullopt;
  }
}

Direction direction_of(const Side& to, const Side& from) {
  if (to.is_any || from.is_any) return Direction::Default;
  if (to.is_device) return from.is_device ? Direction::DeviceToDevice : Direction::HostToDevice;
  return from.is_device ? Direction::DeviceToHost : Direction::HostToHost;
}

}  // namespace

Status copy_from(Process& process, const CUDA_MEMCPY3D* p, Copy* out) {
  if (p == nullptr) return cudaErrorInvalidValue;
  const auto to = side(p->dstMemoryType, p->dstHost, p->dstDevice);
  const auto from = side(p->srcMemoryType, p->srcHost, p->srcDevice);
  if (!to || !from) {
    process.say_unimplemented("cuMemcpy3D", "CUDA arrays are not implemented");
    return cudaErrorNotSupported;
  }
  // A pitch of 0 means rows without gaps, a height of 0 slices without gaps.
  const size_t to_pitch = p->dstPitch != 0 ? p->dstPitch : p->WidthInBytes + p->dstXInBytes;
  const size_t from_pitch = p->srcPitch != 0 ? p->srcPitch : p->WidthInBytes + p->srcXInBytes;
  const size_t to_slice = to_pitch * (p->dstHeight != 0 ? p->dstHeight : p->Height + p->dstY);
  const size_t from_slice = from_pitch * (p->srcHeight != 0 ? p->srcHeight : p->Height + p->srcY);
  *out = {to->begin + p->dstXInBytes + p->dstY * to_pitch + p->dstZ * to_slice,
          from->begin + p->srcXInBytes + p->srcY * from_pitch + p->srcZ * from_slice,
          p->WidthInBytes,
          p->Height,
          p->Depth,
          to_pitch,
          from_pitch,
          to_slice,
          from_slice,
          direction_of(*to, *from)};
  return kOk;
}

Status copy_from(Process& process, const CUDA_MEMCPY2D* p, Copy* out) {
  if (p == nullptr) return cudaErrorInvalidValue;
  CUDA_MEMCPY3D box{};
  box.srcXInBytes = p->srcXInBytes, box.srcY = p->srcY, box.srcMemoryType = p->srcMemoryType;
  box.srcHost = p->srcHost, box.srcDevice = p->srcDevice, box.srcPitch = p->srcPitch;
  box.dstXInBytes = p->dstXInBytes, box.dstY = p->dstY, box.dstMemoryType = p->dstMemoryType;
  box.dstHost = p->dstHost, box.dstDevice = p->dstDevice, box.dstPitch = p->dstPitch;
  box.WidthInBytes = p->WidthInBytes, box.Height = p->Height, box.Depth = 1;
  return copy_from(process, &box, out);
}

CUDA_MEMCPY3D driver_parameters_of(const Copy& copy) {
  CUDA_MEMCPY3D p{};
  const auto rows = [&](size_t slice, size_t pitch) {
    return slice == 0 || pitch == 0 ? copy.height : slice / pitch;
  };
  p.srcMemoryType = p.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  p.srcDevice = reinterpret_cast<CUdeviceptr>(copy.from);
  p.dstDevice = reinterpret_cast<CUdeviceptr>(copy.to);
  p.srcPitch = copy.from_pitch, p.srcHeight = rows(copy.from_slice, copy.from_pitch);
  p.dstPitch = copy.to_pitch, p.dstHeight = rows(copy.to_slice, copy.to_pitch);
  p.WidthInBytes = copy.width, p.Height = copy.height, p.Depth = copy.depth;
  return p;
}

}  // namespace sluice::cuda
