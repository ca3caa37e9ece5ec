// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Global memory: one arena of reserved address space at a fixed address, committed page by page as
// allocations are made, with every allocation's bounds known. Memory that the host allocated and made visible
// to the device (pinned, registered) is entered as a foreign range with the same bounds checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "machine/defined_bytes.hpp"
#include "machine/payload_marks.hpp"

namespace sluice::machine {

enum class AllocationKind : uint8_t { Device, Managed, Global, Parameters, Constant, HostVisible, Heap };

struct Allocation {
  uint64_t first = 0;
  uint64_t bytes = 0;  ///< exactly what was asked for; an access past it is out of bounds
  AllocationKind kind = AllocationKind::Device;
  bool read_only = false;  ///< for kernels
  std::string name;        ///< symbol name for module variables, empty otherwise
  uint64_t end() const { return first + bytes; }
  bool contains(uint64_t address, uint64_t size) const {
    return address >= first && size <= bytes && address - first <= bytes - size;
  }
};

class DeviceMemory {
 public:
  /// Reserves `capacity` bytes of address space. Nothing is committed yet.
  explicit DeviceMemory(uint64_t capacity);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Whether the address range could be reserved; without it no allocation succeeds.
  bool ready() const { return base_ != 0; }

  /// Zero-filled memory of exactly `bytes` bounds, aligned to `alignment` (a power of two, at least 256 is
  /// used). An error when the capacity is exhausted. `bytes` of 0 is an error.
  Result<uint64_t> allocate(uint64_t bytes, uint64_t alignment, AllocationKind kind, std::string name = {},
                            bool read_only = false);

  /// Memory for the parameters of the one kernel that runs: it lies apart, where no stale pointer meets it.
  Result<uint64_t> allocate_parameters(uint64_t bytes);

  /// A block of the heap of device code, or 0 where `limit` bytes do not hold it. Also 0 bytes make a block.
  uint64_t allocate_heap(uint64_t bytes, uint64_t limit);
  /// Whether device code has used its heap: its limit stays then.
  bool heap_is_used() const { return heap_is_used_; }

  /// Returns memory that `allocate` gave. False if `address` is not the start of a live allocation.
  bool release(uint64_t address);

  /// Makes host memory at [first, first + bytes) accessible to kernels under its own address.
  bool enter_host_range(void* first, uint64_t bytes);
  bool leave_host_range(void* first);

  /// The live allocation that contains `address`, or null.
  const Allocation* find(uint64_t address) const;

  /// Memory that was released not long ago and contained `address`, or null.
  const Allocation* find_released(uint64_t address) const;
  /// Whether `address` is one that device memory may have.
  bool in_arena(uint64_t address) const { return address - base_ < 2 * capacity_; }

  /// Which bytes are payload that was not computed; new allocations have none.
  PayloadMarks& payload() { return payload_; }

  /// From now on keeps which bytes have been written; what is allocated already counts as written.
  void follow_definedness();
  /// Null unless that is kept.
  DefinedBytes* defined() const { return defined_.get(); }

  /// The host has copied memory, or filled it: what is kept of the bytes follows.
  void copied(const void* to, const void* from, uint64_t bytes);
  void filled(const void* first, uint64_t bytes);

  uint64_t capacity() const { return capacity_; }
  uint64_t used() const { return used_; }
  /// Changes whenever the set of allocations changes: users of cached bounds compare it.
  uint64_t generation() const { return generation_; }

 private:
  uint64_t base_ = 0;
  uint64_t capacity_ = 0;
  uint64_t used_ = 0;
  uint64_t heap_used_ = 0;
  bool heap_is_used_ = false;
  uint64_t generation_ = 1;
  std::deque<Allocation> released_;  ///< the last ones
  PayloadMarks payload_;
  std::unique_ptr<DefinedBytes> defined_;
  std::map<uint64_t, Allocation> live_;  ///< by first address
  std::map<uint64_t, uint64_t> free_;    ///< first address -> bytes, coalesced, of the arena
};

}  // namespace sluice::machine
