// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules of the CUDA Programming Guide, "CUDA Environment Variables".
#include "cuda/visible_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <sstream>
#include <string>

namespace sluice::cuda {
namespace {

constexpr int kNone = -1;

// As nvidia-smi writes it.
std::string uuid_text(const CUuuid& uuid) {
  std::string text = "GPU-";
  for (size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

int device_of_uuid(const std::string& start, int present, const DeviceProfile& profile) {
  int found = kNone;
  for (int i = 0; i < present; ++i) {
    if (!uuid_text(profile.uuid(i)).starts_with(start)) continue;
    if (found != kNone) return kNone;  // not unique
    found = i;
  }
  return found;
}

int device_of(const std::string& word, int present, const DeviceProfile& profile) {
  if (word.starts_with("GPU-")) return device_of_uuid(word, present, profile);
  char* end = nullptr;
  const long index = std::strtol(word.c_str(), &end, 10);
  return end != word.c_str() && index >= 0 && index < present ? static_cast<int>(index) : kNone;
}

}  // namespace

std::vector<int> visible_devices(const char* variable, int present, const DeviceProfile& profile) {
  std::vector<int> devices;
  if (variable == nullptr) {
    devices.resize(static_cast<size_t>(present));
    std::iota(devices.begin(), devices.end(), 0);
    return devices;
  }
  std::istringstream words(variable);
  for (std::string word; std::getline(words, word, ',');) {
    const int device = device_of(word, present, profile);
    if (device == kNone) break;
    if (std::ranges::find(devices, device) != devices.end()) return {};
    devices.push_back(device);
  }
  return devices;
}

}  // namespace sluice::cuda
