// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The stack as return addresses. Our own libraries lie in one folder; the C library is nobody's program.
#include "cuda/host_place.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>

#include <array>
#include <string>

namespace sluice::cuda {
namespace {

constexpr int kMostFrames = 64;
constexpr size_t kMostPlaces = 4;

std::string folder_of(const std::string& file) {
  return file.substr(0, file.rfind('/') + 1);
}

}  // namespace

std::vector<report::Place> host_places() {
  std::vector<report::Place> places;
  Dl_info self{};
  if (dladdr(reinterpret_cast<void*>(&host_places), &self) == 0) return places;
  std::array<void*, kMostFrames> frames{};
  const int count = backtrace(frames.data(), kMostFrames);
  for (int i = 0; i < count && places.size() < kMostPlaces; ++i) {
    Dl_info info{};
    auto* const call = static_cast<char*>(frames[static_cast<size_t>(i)]) - 1;  // inside the call
    if (dladdr(call, &info) == 0 || info.dli_fname == nullptr) continue;
    const std::string object = info.dli_fname;
    if (folder_of(object) == folder_of(self.dli_fname)) continue;
    if (object.find("/libc.so") != std::string::npos) break;
    report::Place place;
    place.file = object;
    place.offset = static_cast<uint64_t>(call - static_cast<char*>(info.dli_fbase));
    places.push_back(std::move(place));
  }
  return places;
}

}  // namespace sluice::cuda
