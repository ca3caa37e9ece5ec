// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory as programs see it: which allocation belongs to which device, pool and call, copies and fills with
// the checks that a GPU's driver makes. The bytes themselves lie in the machine's arena, which host code can
// reach directly.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cuda/errors.hpp"
#include "machine/device_memory.hpp"

namespace sluice::cuda {

/// How memory came to be; decides which call may free it and what pointer queries say.
enum class Origin : uint8_t {
  Device,       ///< cudaMalloc and its kin
  Pool,         ///< stream-ordered allocation
  Managed,      ///< cudaMallocManaged, __managed__
  HostPinned,   ///< cudaMallocHost, cudaHostAlloc
  HostEntered,  ///< cudaHostRegister
  Symbol,       ///< a module's variable
};

struct Buffer {
  uint64_t first = 0;
  uint64_t bytes = 0;
  Origin origin = Origin::Device;
  int device = 0;
  unsigned flags = 0;          ///< of the allocating call
  uint64_t id = 0;             ///< unique in the process
  const void* pool = nullptr;  ///< handle of the pool
  bool of_graph = false;       ///< of an allocation node: stays at its address, for the graph to run again
  bool returned = false;       ///< such memory, freed outside of the graph since the node ran

  bool on_host() const { return origin == Origin::HostPinned || origin == Origin::HostEntered; }
};

/// Direction of a copy, as in cudaMemcpyKind.
enum class Direction : uint8_t { HostToHost, HostToDevice, DeviceToHost, DeviceToDevice, Default };

/// A pitched copy of `depth` slices of `height` rows of `width` bytes; a plain copy has height and depth 1.
struct Copy {
  void* to = nullptr;
  const void* from = nullptr;
  size_t width = 0, height = 1, depth = 1;
  size_t to_pitch = 0, from_pitch = 0;  ///< bytes from row to row
  size_t to_slice = 0, from_slice = 0;  ///< bytes from slice to slice
  Direction direction = Direction::Default;

  static Copy linear(void* to, const void* from, size_t bytes, Direction direction) {
    return {to, from, bytes, 1, 1, bytes, bytes, bytes, bytes, direction};
  }
};

/// A pitched fill with a pattern of 1, 2 or 4 bytes; `width` counts elements.
struct Fill {
  void* to = nullptr;
  uint32_t value = 0;
  uint32_t element = 1;
  size_t width = 0, height = 1, depth = 1;
  size_t pitch = 0, slice = 0;
};

class Memory {
 public:
  /// `capacity` is the memory of each device in bytes.
  Memory(machine::DeviceMemory& arena, uint64_t capacity, int devices);

  /// Zero bytes give a null pointer and no error, as cudaMalloc does.
  Status allocate(uint64_t bytes, Origin origin, int device, unsigned flags, void** out,
                  const void* pool = nullptr);
  /// Frees what one of `allowed` calls made; null is fine. cudaErrorInvalidValue for anything else.
  Status release(const void* pointer, std::initializer_list<Origin> allowed);
  /// The buffer is an allocation node's: freeing it does not give its address to others.
  void keep_for_graph(const void* pointer);
  /// The node runs: its memory may be used, and freed, again.
  void take_for_graph(const void* pointer);
  Status enter_host(void* pointer, uint64_t bytes, unsigned flags);
  Status leave_host(void* pointer);
  /// A module's variable, which the machine has placed.
  void add_symbol(uint64_t first, uint64_t bytes, int device, bool managed);
  void remove_symbol(uint64_t first);

  /// The buffer that contains the address, or null.
  const Buffer* find(const void* pointer) const;
  /// Whether [pointer, pointer + bytes) lies in one buffer.
  bool covers(const void* pointer, size_t bytes) const;
  uint64_t used(int device) const { return used_[static_cast<size_t>(device)]; }
  uint64_t capacity() const { return capacity_; }
  /// Frees everything of `device` (cudaDeviceReset).
  void reset(int device);
  void for_each(const std::function<void(const Buffer&)>& visit) const;

  /// The checks of a copy or fill without doing it.
  Status check(const Copy& copy) const;
  Status check(const Fill& fill) const;
  /// Does it. Must have been checked, and nothing freed since.
  void perform(const Copy& copy);
  void perform(const Fill& fill);

 private:
  machine::DeviceMemory& arena_;
  uint64_t capacity_;
  uint64_t next_id_ = 1;
  std::vector<uint64_t> used_;
  std::map<uint64_t, Buffer> buffers_;
};

}  // namespace sluice::cuda
