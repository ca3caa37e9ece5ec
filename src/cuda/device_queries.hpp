// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Questions about devices that both APIs ask.
#pragma once

#include <cuda.h>

#include <cstddef>

#include "cuda/device_profile.hpp"
#include "cuda/errors.hpp"

namespace sluice::cuda {

class Process;

constexpr int kGreatestPriority = -5;

Status pci_bus_id(const DeviceProfile& profile, int device, char* text, int bytes);
Status device_by_pci_bus_id(const Process& process, const char* text, int* device);
Status device_limit(Process& process, CUlimit limit, size_t* value);
Status set_device_limit(Process& process, CUlimit limit, size_t value);
Status enable_peer_access(Process& process, int device, int peer);
Status disable_peer_access(Process& process, int device, int peer);

}  // namespace sluice::cuda
