// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The device that programs see: attributes, memory size, limits that occupancy is computed from.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::cuda {

class DeviceProfile {
 public:
  /// "h100" or "h200"; nothing for another name.
  static std::optional<DeviceProfile> named(std::string_view name);

  const char* name() const { return name_; }
  uint64_t total_memory() const { return total_memory_; }
  /// Nothing for a number that is not an attribute. PCI ids and the like differ by `ordinal`.
  std::optional<int> attribute(CUdevice_attribute attribute, int ordinal) const;
  /// The attribute's value for device 0; for those that every device has.
  int limit(CUdevice_attribute attribute) const { return attribute_or_zero(attribute); }
  /// A made-up, stable UUID.
  CUuuid uuid(int ordinal) const;

 private:
  DeviceProfile(const char* name, uint64_t total_memory, bool is_h200)
      : name_(name), total_memory_(total_memory), is_h200_(is_h200) {}
  int attribute_or_zero(CUdevice_attribute attribute) const;

  const char* name_;
  uint64_t total_memory_;
  bool is_h200_;
};

/// Resources of a kernel that occupancy depends on.
struct KernelResources {
  int threads = 0;            ///< of a CTA
  int registers = 0;          ///< of a thread
  uint64_t shared_bytes = 0;  ///< of a CTA, static and dynamic, without what the system reserves
};

/// CTAs of such a kernel that fit on one multiprocessor together; 0 if none does.
int ctas_per_multiprocessor(const DeviceProfile& device, const KernelResources& resources);

/// Clusters of `cluster_ctas` CTAs that fit on the device together. A cluster lives inside one GPC.
/// MODEL: GPCs of 18 (five), 16 (two) and 10 multiprocessors make the 132 of the card, and give the cluster
/// counts that an H200 answered for clusters of 4, 8 and 16 CTAs; other cards of the kind may be cut
/// otherwise.
int active_clusters(const DeviceProfile& device, const KernelResources& resources, int cluster_ctas);

}  // namespace sluice::cuda
