// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs an experiment (hardware_case.hpp) on the engine.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

#include "hardware_case.hpp"
#include "machine/device.hpp"
#include "machine/tensor_map.hpp"
#include "machine_core/harness.hpp"

namespace sluice::hardware {

/// The one device of the process: device memory lies at fixed addresses.
inline machine::Device& engine() {
  return test::device();
}

inline machine::TensorMapInfo info_of(const MapSpec& spec, uint64_t address) {
  machine::TensorMapInfo m;
  m.im2col = spec.im2col;
  m.type = static_cast<machine::TensorType>(spec.type);
  m.rank = static_cast<uint8_t>(spec.rank);
  m.address = address;
  for (unsigned i = 0; i < 5; ++i) {
    m.dims[i] = spec.dims[i];
    m.box[i] = spec.box[i];
    m.steps[i] = spec.steps[i];
    if (i < 4) m.strides[i] = spec.strides[i];
    if (i < 3) m.lower[i] = spec.lower[i], m.upper[i] = spec.upper[i];
  }
  m.channels = spec.channels;
  m.pixels = spec.pixels;
  m.interleave = static_cast<uint8_t>(spec.interleave);
  m.swizzle = static_cast<uint8_t>(spec.swizzle);
  m.fill = static_cast<uint8_t>(spec.oob);
  return m;
}

struct Outcome {
  std::string refused;  ///< why it did not start; empty when it did
  machine::LaunchResult result;
  std::vector<Bytes> outputs;
};

inline const machine::Kernel* kernel_of(const std::string& ptx, std::string& refused) {
  static std::map<std::string, const machine::Kernel*> known;
  if (const auto found = known.find(ptx); found != known.end()) return found->second;
  Result<ptx::Module> module = ptx::parse(ptx, "case.ptx");
  if (!module) {
    refused = module.error().text();
    return nullptr;
  }
  Result<uint32_t> id = engine().load(std::move(*module));
  if (!id) {
    refused = id.error().text();
    return nullptr;
  }
  Result<const machine::Kernel*> kernel = engine().kernel(*id, "k");
  if (!kernel) {
    refused = kernel.error().text();
    return nullptr;
  }
  return known[ptx] = *kernel;
}

template <class T>
void append_parameter(std::vector<uint8_t>& bytes, const T& value, size_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
  const size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

inline Outcome run_on_engine(const Case& c, machine::LaunchOptions options = {}) {
  Outcome outcome;
  machine::LaunchRequest request;
  request.kernel = kernel_of(c.ptx, outcome.refused);
  if (request.kernel == nullptr) return outcome;
  std::vector<uint64_t> memory;
  for (const Bytes& bytes : c.buffers) {
    Result<uint64_t> at = engine().memory().allocate(bytes.size(), 256, machine::AllocationKind::Device);
    if (!at) {
      outcome.refused = at.error().text();
      return outcome;
    }
    std::memcpy(reinterpret_cast<void*>(*at), bytes.data(), bytes.size());
    memory.push_back(*at);
  }
  for (const Argument& a : c.arguments) {
    switch (a.kind) {
      case Argument::Buffer:
        append_parameter(request.parameters, memory[a.value] + a.offset, 8);
        break;
      case Argument::Word64:
        append_parameter(request.parameters, a.value, 8);
        break;
      case Argument::Word32:
        append_parameter(request.parameters, static_cast<uint32_t>(a.value), 4);
        break;
      case Argument::Map: {
        const MapSpec& spec = c.maps[a.value];
        Result<machine::TensorMapWords> words =
            machine::encode_tensor_map(info_of(spec, memory[spec.buffer] + spec.offset));
        if (!words) {
          outcome.refused = words.error().text();
          return outcome;
        }
        append_parameter(request.parameters, *words, 64);
        break;
      }
    }
  }
  request.grid[0] = request.cluster[0] = c.cluster;
  request.explicit_cluster = c.cluster > 1;
  request.block[0] = c.threads;
  request.options = options;
  Result<machine::LaunchResult> result = engine().launch(request);
  if (!result) {
    outcome.refused = result.error().text();
  } else {
    outcome.result = std::move(*result);
    for (const uint32_t index : c.outputs) {
      const auto* from = reinterpret_cast<const uint8_t*>(memory[index]);
      outcome.outputs.emplace_back(from, from + c.buffers[index].size());
    }
  }
  for (const uint64_t at : memory) engine().memory().release(at);
  return outcome;
}

}  // namespace sluice::hardware
