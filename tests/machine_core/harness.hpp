// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a PTX kernel given as text on the machine, for tests: buffers in, buffers out.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "machine/device.hpp"

namespace sluice::test {

/// A device of its own per process: device memory lies at fixed addresses.
inline machine::Device& device() {
  static machine::Device instance;
  return instance;
}

/// Device memory holding `values`; lives until the process ends.
template <class T>
T* upload(const std::vector<T>& values) {
  auto memory = device().memory().allocate(std::max<size_t>(values.size() * sizeof(T), 1), 256,
                                           machine::AllocationKind::Device);
  if (!memory) {
    ADD_FAILURE() << memory.error().text();
    return nullptr;
  }
  std::memcpy(reinterpret_cast<void*>(*memory), values.data(), values.size() * sizeof(T));
  return reinterpret_cast<T*>(*memory);
}

/// Device memory for `count` values, all bytes 0xee.
template <class T>
T* buffer(size_t count) {
  std::vector<T> values(count);
  std::memset(values.data(), 0xee, count * sizeof(T));
  return upload(values);
}

struct Launch {
  uint32_t grid = 1;
  uint32_t block = 32;
  uint32_t cluster = 1;
  uint32_t dynamic_shared = 0;
  machine::LaunchOptions options;
  std::string printed;              ///< receives device printf
  event::Sink* listener = nullptr;  ///< receives events
  bool overlaps_previous = false;   ///< programmatic dependent launch
};

/// "head" plus a body that uses the kernel's parameters: a whole module for sm_90a.
inline std::string module_of(std::string_view body) {
  return ".version 8.6\n.target sm_90a\n.address_size 64\n" + std::string(body);
}

/// Loads `ptx`, launches `kernel` with 8-byte parameters. Failures to load are test failures.
inline machine::LaunchResult run(const std::string& ptx, std::string_view kernel,
                                 std::initializer_list<const void*> parameters, Launch launch = {},
                                 std::string* printed = nullptr) {
  machine::LaunchResult failed;
  failed.fault.kind = machine::FaultKind::Unsupported;
  Result<ptx::Module> module = ptx::parse(ptx, "test.ptx");
  if (!module) {
    ADD_FAILURE() << module.error().text();
    return failed;
  }
  Result<uint32_t> id = device().load(std::move(*module));
  if (!id) {
    ADD_FAILURE() << id.error().text();
    return failed;
  }
  device().set_kernel_options({.without_data = launch.options.no_data});
  Result<const machine::Kernel*> found = device().kernel(*id, kernel);
  if (!found) {
    ADD_FAILURE() << found.error().text();
    return failed;
  }
  machine::LaunchRequest request;
  request.kernel = *found;
  request.grid[0] = launch.grid;
  request.block[0] = launch.block;
  request.cluster[0] = launch.cluster;
  request.explicit_cluster = launch.cluster > 1;
  request.dynamic_shared = launch.dynamic_shared;
  request.options = launch.options;
  request.listener = launch.listener;
  request.overlaps_previous = launch.overlaps_previous;
  request.print = [printed](std::string_view text) {
    if (printed != nullptr) printed->append(text);
  };
  for (const void* parameter : parameters) {
    const auto value = reinterpret_cast<uint64_t>(parameter);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    request.parameters.insert(request.parameters.end(), bytes, bytes + sizeof value);
  }
  Result<machine::LaunchResult> result = device().launch(request);
  if (!result) {
    ADD_FAILURE() << result.error().text();
    return failed;
  }
  return std::move(*result);
}

inline const void* scalar(uint64_t value) {
  return reinterpret_cast<const void*>(value);
}

}  // namespace sluice::test
