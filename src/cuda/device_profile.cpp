// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Device tables and occupancy.
#include "cuda/device_profile.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace sluice::cuda {
namespace {

struct AttributeRow {
  CUdevice_attribute attribute;
  int h100, h200;
};

constexpr AttributeRow kAttributes[] = {
#define SLUICE_DEVICE_ATTRIBUTE(name, h100, h200) {CU_DEVICE_ATTRIBUTE_##name, h100, h200},
#include "cuda/device_attributes.def"
#undef SLUICE_DEVICE_ATTRIBUTE
};

constexpr uint64_t kH100Memory = 84'942'979'072;
constexpr uint64_t kH200Memory = 150'109'880'320;

// Hopper allocates registers to warps in pieces of this many.
constexpr int kRegisterUnit = 256;
constexpr int kSharedUnit = 128;
constexpr std::array<int, 8> kMultiprocessorsPerGpc = {18, 18, 18, 18, 18, 16, 16, 10};

int round_up(int value, int unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

std::optional<DeviceProfile> DeviceProfile::named(std::string_view name) {
  if (name == "h100") return DeviceProfile("NVIDIA H100 80GB HBM3", kH100Memory, false);
  if (name == "h200") return DeviceProfile("NVIDIA H200", kH200Memory, true);
  return std::nullopt;
}

std::optional<int> DeviceProfile::attribute(CUdevice_attribute attribute, int ordinal) const {
  if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) return ordinal + 1;
  const bool known = std::any_of(std::begin(kAttributes), std::end(kAttributes),
                                 [&](const AttributeRow& row) { return row.attribute == attribute; });
  if (!known) return std::nullopt;
  return attribute_or_zero(attribute);
}

int DeviceProfile::attribute_or_zero(CUdevice_attribute attribute) const {
  for (const AttributeRow& row : kAttributes) {
    if (row.attribute == attribute) return is_h200_ ? row.h200 : row.h100;
  }
  return 0;
}

CUuuid DeviceProfile::uuid(int ordinal) const {
  CUuuid uuid{};
  std::memcpy(uuid.bytes, "sluice-engine-", 14);
  uuid.bytes[15] = static_cast<char>(ordinal);
  return uuid;
}

int ctas_per_multiprocessor(const DeviceProfile& device, const KernelResources& resources) {
  const int max_threads = device.limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  if (resources.threads <= 0 || resources.threads > max_threads) return 0;
  const int warp = device.limit(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  const int warps = (resources.threads + warp - 1) / warp;
  int ctas = device.limit(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  ctas = std::min(ctas, device.limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / (warps * warp));
  if (resources.registers > 0) {
    // A multiprocessor has four sub-partitions with a quarter of the registers each; a warp lives in one of
    // them.
    const int per_warp = round_up(resources.registers * warp, kRegisterUnit);
    const int quarter = device.limit(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR) / 4;
    ctas = std::min(ctas, quarter / per_warp * 4 / warps);
  }
  const uint64_t reserved = device.limit(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  const uint64_t shared = (resources.shared_bytes + reserved + kSharedUnit - 1) / kSharedUnit * kSharedUnit;
  const uint64_t capacity = device.limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  return static_cast<int>(std::min<uint64_t>(ctas, capacity / shared));
}

int active_clusters(const DeviceProfile& device, const KernelResources& resources, int cluster_ctas) {
  const int per_multiprocessor = ctas_per_multiprocessor(device, resources);
  if (cluster_ctas <= 0) return 0;
  int clusters = 0;
  for (const int multiprocessors : kMultiprocessorsPerGpc) {
    clusters += multiprocessors * per_multiprocessor / cluster_ctas;
  }
  return clusters;
}

}  // namespace sluice::cuda
