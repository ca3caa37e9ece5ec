// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// PCI names, limits, peers.
#include "cuda/device_queries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

#include "cuda/process.hpp"

namespace sluice::cuda {
namespace {

// What a fresh context of an H200 says.
std::optional<size_t> default_limit(CUlimit limit) {
  switch (limit) {
    case CU_LIMIT_STACK_SIZE:
      return 1024;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
      return 1048576;
    case CU_LIMIT_MALLOC_HEAP_SIZE:
      return 8388608;
    case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH:
      return 2;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
      return 2048;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
      return 128;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
      return 0;
    default:
      return std::nullopt;
  }
}

}  // namespace

Status pci_bus_id(const DeviceProfile& profile, int device, char* text, int bytes) {
  if (text == nullptr || bytes <= 0) return cudaErrorInvalidValue;
  const auto number = [&](CUdevice_attribute a) { return profile.attribute(a, device).value_or(0); };
  const std::string id =
      fmt::format("{:04X}:{:02X}:{:02X}.0", number(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
                  number(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID), number(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
  if (id.size() + 1 > static_cast<size_t>(bytes)) return cudaErrorInvalidValue;
  std::memcpy(text, id.c_str(), id.size() + 1);
  return kOk;
}

Status device_by_pci_bus_id(const Process& process, const char* text, int* device) {
  if (text == nullptr || device == nullptr) return cudaErrorInvalidValue;
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  const bool with_domain = std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) >= 3;
  if (!with_domain && std::sscanf(text, "%x:%x.%x", &bus, &slot, &function) < 2) return cudaErrorInvalidValue;
  for (int i = 0; i < process.device_count(); ++i) {
    if (process.profile.attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, i) != static_cast<int>(bus)) continue;
    *device = i;
    return kOk;
  }
  return cudaErrorInvalidDevice;
}

Status device_limit(Process& process, CUlimit limit, size_t* value) {
  if (value == nullptr) return cudaErrorInvalidValue;
  const auto initial = default_limit(limit);
  if (!initial) return cudaErrorUnsupportedLimit;
  const auto& set = process.limits(process.current_device());
  const auto it = set.find(limit);
  *value = it == set.end() ? *initial : it->second;
  return kOk;
}

Status set_device_limit(Process& process, CUlimit limit, size_t value) {
  if (!default_limit(limit)) return cudaErrorInvalidValue;
  if (limit == CU_LIMIT_MALLOC_HEAP_SIZE) {
    constexpr size_t kLeastHeap = 4 << 20;
    if (process.machine.memory().heap_is_used()) return cudaErrorInvalidValue;
    value = std::max(value, kLeastHeap);
  }
  process.limits(process.current_device())[limit] = value;
  return kOk;
}

Status enable_peer_access(Process& process, int device, int peer) {
  if (!process.has_device(peer) || peer == device) return cudaErrorInvalidDevice;
  return process.peers.emplace(device, peer).second ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
}

Status disable_peer_access(Process& process, int device, int peer) {
  if (!process.has_device(peer)) return cudaErrorInvalidDevice;
  return process.peers.erase({device, peer}) != 0 ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
}

}  // namespace sluice::cuda
