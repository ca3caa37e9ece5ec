// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA_VISIBLE_DEVICES: which of the devices a program sees.
#pragma once

#include <vector>

#include "cuda/device_profile.hpp"

namespace sluice::cuda {

/// The devices of `present` that `variable` lets through, in its order; all of them where it is null. It
/// holds indices and starts of UUIDs (`GPU-736c7569`), separated by commas; the first that names no device
/// ends the list, and a list that names one twice is empty.
std::vector<int> visible_devices(const char* variable, int present, const DeviceProfile& profile);

}  // namespace sluice::cuda
