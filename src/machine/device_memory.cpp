// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// First-fit allocation in the reserved arena. Blocks are kept apart by an unmapped guard page's worth of
// address space, so that a host-side overrun faults instead of reaching a neighbour.
#include "machine/device_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "machine/space.hpp"

namespace sluice::machine {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMostParameterBytes = 64 * 1024;
constexpr size_t kReleasedRemembered = 256;

uint64_t round_up(uint64_t value, uint64_t step) {
  return (value + step - 1) / step * step;
}

// MODEL: a block of the heap takes its bytes and a header, in multiples of 16.
uint64_t heap_charge(uint64_t bytes) {
  return round_up(bytes, 16) + 16;
}

}  // namespace

DeviceMemory::DeviceMemory(uint64_t capacity) : capacity_(round_up(capacity, kPage)) {
  // Twice the capacity in addresses: guard pages and fragmentation must not eat into what the card would
  // give.
  const uint64_t reserve = capacity_ * 2;
  void* const wanted = reinterpret_cast<void*>(kArenaBase);
  void* const got = mmap(wanted, reserve, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED) return;
  if (got != wanted) {
    munmap(got, reserve);
    return;
  }
  // The last pages are for parameters.
  void* const parameters = static_cast<char*>(wanted) + reserve - kMostParameterBytes;
  if (mprotect(parameters, kMostParameterBytes, PROT_READ | PROT_WRITE) != 0) return;
  base_ = kArenaBase;
  free_[base_] = reserve - kMostParameterBytes - kPage;
}

DeviceMemory::~DeviceMemory() {
  if (base_ != 0) munmap(reinterpret_cast<void*>(base_), capacity_ * 2);
}

Result<uint64_t> DeviceMemory::allocate(uint64_t bytes, uint64_t alignment, AllocationKind kind,
                                        std::string name, bool read_only) {
  if (base_ == 0) return Error{"device memory's address range could not be reserved", {}};
  if (bytes == 0) return Error{"an allocation of 0 bytes", {}};
  if (bytes > capacity_ - used_) return Error{"out of device memory", {}};
  alignment = std::max<uint64_t>(alignment, 256);
  const uint64_t span = round_up(bytes, kPage) + kPage;  // one guard page behind

  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const uint64_t first = round_up(it->first, std::max(alignment, kPage));
    const uint64_t hole_end = it->first + it->second;
    if (first >= hole_end || hole_end - first < span) continue;
    void* const memory = reinterpret_cast<void*>(first);
    if (mmap(memory, span - kPage, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != memory) {
      return Error{"the host has no memory left for device memory", {}};
    }
    const uint64_t before = first - it->first;
    const uint64_t after = hole_end - first - span;
    const uint64_t hole_first = it->first;
    free_.erase(it);
    if (before != 0) free_[hole_first] = before;
    if (after != 0) free_[first + span] = after;
    live_[first] = Allocation{first, bytes, kind, read_only, std::move(name)};
    used_ += bytes;
    ++generation_;
    payload_.clear(memory, bytes);
    if (defined_ != nullptr) {
      if (kind == AllocationKind::Device)
        defined_->forget(memory, bytes);
      else
        defined_->define(memory, bytes);
    }
    return first;
  }
  return Error{"out of device memory", {}};
}

Result<uint64_t> DeviceMemory::allocate_parameters(uint64_t bytes) {
  if (base_ == 0) return Error{"device memory's address range could not be reserved", {}};
  if (bytes > kMostParameterBytes) return Error{"too many bytes of parameters", {}};
  const uint64_t first = base_ + 2 * capacity_ - kMostParameterBytes;
  live_[first] = Allocation{first, bytes, AllocationKind::Parameters, true, "kernel parameters"};
  ++generation_;
  std::memset(reinterpret_cast<void*>(first), 0, bytes);
  filled(reinterpret_cast<void*>(first), bytes);
  return first;
}

uint64_t DeviceMemory::allocate_heap(uint64_t bytes, uint64_t limit) {
  heap_is_used_ = true;
  bytes = std::max<uint64_t>(bytes, 1);
  if (bytes >= limit || heap_charge(bytes) > limit - std::min(limit, heap_used_)) return 0;
  const Result<uint64_t> first = allocate(bytes, 16, AllocationKind::Heap);
  if (!first) return 0;
  heap_used_ += heap_charge(bytes);
  return *first;
}

bool DeviceMemory::release(uint64_t address) {
  const auto it = live_.find(address);
  if (it == live_.end() || it->second.kind == AllocationKind::HostVisible) return false;
  ++generation_;
  if (it->second.kind == AllocationKind::Parameters) {
    live_.erase(it);
    return true;
  }
  const uint64_t span = round_up(it->second.bytes, kPage) + kPage;
  used_ -= it->second.bytes;
  if (it->second.kind == AllocationKind::Heap) heap_used_ -= heap_charge(it->second.bytes);
  released_.push_back(std::move(it->second));
  if (released_.size() > kReleasedRemembered) released_.pop_front();
  live_.erase(it);
  // Give the pages back and make stale pointers fault.
  mmap(reinterpret_cast<void*>(address), span, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);

  // Coalesce with both neighbours.
  auto [hole, inserted] = free_.emplace(address, span);
  if (const auto next = std::next(hole); next != free_.end() && hole->first + hole->second == next->first) {
    hole->second += next->second;
    free_.erase(next);
  }
  if (hole != free_.begin()) {
    const auto previous = std::prev(hole);
    if (previous->first + previous->second == hole->first) {
      previous->second += hole->second;
      free_.erase(hole);
    }
  }
  return true;
}

void DeviceMemory::follow_definedness() {
  if (defined_ != nullptr || base_ == 0) return;
  defined_ = std::make_unique<DefinedBytes>(base_, capacity_ * 2);
  for (const auto& [first, allocation] : live_)
    defined_->define(reinterpret_cast<void*>(first), allocation.bytes);
}

void DeviceMemory::copied(const void* to, const void* from, uint64_t bytes) {
  payload_.move(to, from, bytes);
  if (defined_ != nullptr) defined_->move(to, from, bytes);
}

void DeviceMemory::filled(const void* first, uint64_t bytes) {
  payload_.clear(first, bytes);
  if (defined_ != nullptr) defined_->define(first, bytes);
}

bool DeviceMemory::enter_host_range(void* first, uint64_t bytes) {
  const uint64_t address = reinterpret_cast<uint64_t>(first);
  if (bytes == 0 || find(address) != nullptr) return false;
  live_[address] = Allocation{address, bytes, AllocationKind::HostVisible, false, {}};
  ++generation_;
  return true;
}

bool DeviceMemory::leave_host_range(void* first) {
  const auto it = live_.find(reinterpret_cast<uint64_t>(first));
  if (it == live_.end() || it->second.kind != AllocationKind::HostVisible) return false;
  live_.erase(it);
  ++generation_;
  return true;
}

const Allocation* DeviceMemory::find(uint64_t address) const {
  auto it = live_.upper_bound(address);
  if (it == live_.begin()) return nullptr;
  --it;
  return it->second.contains(address, 1) ? &it->second : nullptr;
}

const Allocation* DeviceMemory::find_released(uint64_t address) const {
  const auto found = std::find_if(released_.rbegin(), released_.rend(),
                                  [&](const Allocation& one) { return one.contains(address, 1); });
  return found != released_.rend() ? &*found : nullptr;
}

}  // namespace sluice::machine
