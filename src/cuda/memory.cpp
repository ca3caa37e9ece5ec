// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocation bookkeeping, copies and fills.
#include "cuda/memory.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace sluice::cuda {
namespace {

constexpr uint64_t kAlignment = 512;

uint64_t address_of(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

machine::AllocationKind arena_kind(Origin origin) {
  switch (origin) {
    case Origin::Managed:
      return machine::AllocationKind::Managed;
    case Origin::HostPinned:
    case Origin::HostEntered:
      return machine::AllocationKind::HostVisible;
    default:
      return machine::AllocationKind::Device;
  }
}

// Bytes from the first to the last byte that a pitched box touches; nothing where that overflows.
bool box_extent(size_t width, size_t height, size_t depth, size_t pitch, size_t slice, size_t* out) {
  if (width == 0 || height == 0 || depth == 0) {
    *out = 0;
    return true;
  }
  size_t rows = 0, slices = 0;
  if (__builtin_mul_overflow(height - 1, pitch, &rows)) return false;
  if (__builtin_mul_overflow(depth - 1, slice, &slices)) return false;
  return !__builtin_add_overflow(rows, slices, out) && !__builtin_add_overflow(*out, width, out);
}

}  // namespace

Memory::Memory(machine::DeviceMemory& arena, uint64_t capacity, int devices)
    : arena_(arena), capacity_(capacity), used_(static_cast<size_t>(devices), 0) {}

Status Memory::allocate(uint64_t bytes, Origin origin, int device, unsigned flags, void** out,
                        const void* pool) {
  *out = nullptr;
  if (bytes == 0) return kOk;
  uint64_t& used = used_[static_cast<size_t>(device)];
  const bool counts = origin == Origin::Device || origin == Origin::Pool;
  if (counts && bytes > capacity_ - used) return cudaErrorMemoryAllocation;
  const auto first = arena_.allocate(bytes, kAlignment, arena_kind(origin));
  if (!first) return cudaErrorMemoryAllocation;
  if (counts) used += bytes;
  buffers_[*first] = {.first = *first,
                      .bytes = bytes,
                      .origin = origin,
                      .device = device,
                      .flags = flags,
                      .id = next_id_++,
                      .pool = pool};
  *out = reinterpret_cast<void*>(*first);
  return kOk;
}

Status Memory::release(const void* pointer, std::initializer_list<Origin> allowed) {
  if (pointer == nullptr) return kOk;
  const auto it = buffers_.find(address_of(pointer));
  if (it == buffers_.end()) return cudaErrorInvalidValue;
  Buffer& buffer = it->second;
  if (std::find(allowed.begin(), allowed.end(), buffer.origin) == allowed.end()) return cudaErrorInvalidValue;
  if (buffer.of_graph) return std::exchange(buffer.returned, true) ? cudaErrorInvalidValue : kOk;
  if (buffer.origin == Origin::Device || buffer.origin == Origin::Pool) {
    used_[static_cast<size_t>(buffer.device)] -= buffer.bytes;
  }
  arena_.release(buffer.first);
  buffers_.erase(it);
  return kOk;
}

void Memory::keep_for_graph(const void* pointer) {
  buffers_.at(address_of(pointer)).of_graph = true;
}

void Memory::take_for_graph(const void* pointer) {
  if (const auto it = buffers_.find(address_of(pointer)); it != buffers_.end()) it->second.returned = false;
}

Status Memory::enter_host(void* pointer, uint64_t bytes, unsigned flags) {
  if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
  const uint64_t first = address_of(pointer);
  if (bytes > std::numeric_limits<uint64_t>::max() - first) return cudaErrorInvalidValue;
  const auto next = buffers_.lower_bound(first);
  const bool overlaps = find(pointer) != nullptr || (next != buffers_.end() && next->first < first + bytes);
  if (overlaps) return cudaErrorHostMemoryAlreadyRegistered;
  if (!arena_.enter_host_range(pointer, bytes)) return cudaErrorInvalidValue;
  buffers_[first] = {
      .first = first, .bytes = bytes, .origin = Origin::HostEntered, .flags = flags, .id = next_id_++};
  return kOk;
}

Status Memory::leave_host(void* pointer) {
  const auto it = buffers_.find(address_of(pointer));
  if (it == buffers_.end() || it->second.origin != Origin::HostEntered)
    return cudaErrorHostMemoryNotRegistered;
  arena_.leave_host_range(pointer);
  buffers_.erase(it);
  return kOk;
}

void Memory::add_symbol(uint64_t first, uint64_t bytes, int device, bool managed) {
  buffers_[first] = {.first = first,
                     .bytes = bytes,
                     .origin = managed ? Origin::Managed : Origin::Symbol,
                     .device = device,
                     .id = next_id_++};
}

void Memory::remove_symbol(uint64_t first) {
  buffers_.erase(first);
}

const Buffer* Memory::find(const void* pointer) const {
  const uint64_t address = address_of(pointer);
  auto it = buffers_.upper_bound(address);
  if (it == buffers_.begin()) return nullptr;
  const Buffer& buffer = (--it)->second;
  return address - buffer.first < buffer.bytes ? &buffer : nullptr;
}

bool Memory::covers(const void* pointer, size_t bytes) const {
  const Buffer* buffer = find(pointer);
  return buffer != nullptr && bytes <= buffer->bytes - (address_of(pointer) - buffer->first);
}

void Memory::reset(int device) {
  for (auto it = buffers_.begin(); it != buffers_.end();) {
    const Buffer& buffer = it->second;
    if (buffer.device != device || buffer.origin == Origin::Symbol) {
      ++it;
      continue;
    }
    if (buffer.origin == Origin::HostEntered) {
      arena_.leave_host_range(reinterpret_cast<void*>(buffer.first));
    } else {
      arena_.release(buffer.first);
    }
    it = buffers_.erase(it);
  }
  used_[static_cast<size_t>(device)] = 0;
}

void Memory::for_each(const std::function<void(const Buffer&)>& visit) const {
  for (const auto& [first, buffer] : buffers_) visit(buffer);
}

Status Memory::check(const Copy& copy) const {
  if (copy.width == 0 || copy.height == 0 || copy.depth == 0) return kOk;
  if (copy.to == nullptr || copy.from == nullptr) return cudaErrorInvalidValue;
  if (copy.height > 1 && (copy.width > copy.to_pitch || copy.width > copy.from_pitch))
    return cudaErrorInvalidPitchValue;
  size_t to_extent = 0, from_extent = 0;
  if (!box_extent(copy.width, copy.height, copy.depth, copy.to_pitch, copy.to_slice, &to_extent) ||
      !box_extent(copy.width, copy.height, copy.depth, copy.from_pitch, copy.from_slice, &from_extent)) {
    return cudaErrorInvalidValue;
  }
  // A side that is to be device memory must be known; a side that is to be host memory may be anything, as on
  // an H200. An access past known bounds is always an error.
  const auto side = [&](const void* pointer, size_t extent, bool must_be_device) -> Status {
    if (find(pointer) == nullptr) return must_be_device ? cudaErrorInvalidValue : kOk;
    return covers(pointer, extent) ? kOk : cudaErrorInvalidValue;
  };
  const Direction d = copy.direction;
  const bool to_device = d == Direction::HostToDevice || d == Direction::DeviceToDevice;
  const bool from_device = d == Direction::DeviceToHost || d == Direction::DeviceToDevice;
  if (const Status s = side(copy.to, to_extent, to_device); s != kOk) return s;
  return side(copy.from, from_extent, from_device);
}

Status Memory::check(const Fill& fill) const {
  if (fill.width == 0 || fill.height == 0 || fill.depth == 0) return kOk;
  size_t width = 0, extent = 0;
  if (__builtin_mul_overflow(fill.width, size_t{fill.element}, &width)) return cudaErrorInvalidValue;
  if (fill.height > 1 && width > fill.pitch) return cudaErrorInvalidValue;
  if (!box_extent(width, fill.height, fill.depth, fill.pitch, fill.slice, &extent))
    return cudaErrorInvalidValue;
  if (address_of(fill.to) % fill.element != 0) return cudaErrorInvalidValue;
  return covers(fill.to, extent) ? kOk : cudaErrorInvalidValue;
}

void Memory::perform(const Copy& copy) {
  for (size_t z = 0; z < copy.depth; ++z) {
    char* to = static_cast<char*>(copy.to) + z * copy.to_slice;
    const char* from = static_cast<const char*>(copy.from) + z * copy.from_slice;
    if (copy.to_pitch == copy.width && copy.from_pitch == copy.width) {
      std::memmove(to, from, copy.width * copy.height);
      arena_.copied(to, from, copy.width * copy.height);
      continue;
    }
    for (size_t y = 0; y < copy.height; ++y) {
      std::memmove(to + y * copy.to_pitch, from + y * copy.from_pitch, copy.width);
      arena_.copied(to + y * copy.to_pitch, from + y * copy.from_pitch, copy.width);
    }
  }
}

void Memory::perform(const Fill& fill) {
  for (size_t z = 0; z < fill.depth; ++z) {
    for (size_t y = 0; y < fill.height; ++y) {
      char* row = static_cast<char*>(fill.to) + z * fill.slice + y * fill.pitch;
      arena_.filled(row, fill.width * fill.element);
      switch (fill.element) {
        case 1:
          std::memset(row, static_cast<int>(fill.value & 0xff), fill.width);
          break;
        case 2:
          std::fill_n(reinterpret_cast<uint16_t*>(row), fill.width, static_cast<uint16_t>(fill.value));
          break;
        default:
          std::fill_n(reinterpret_cast<uint32_t*>(row), fill.width, fill.value);
          break;
      }
    }
  }
}

}  // namespace sluice::cuda
