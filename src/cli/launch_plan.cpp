// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Limits of launches, and launches in words.
#include "cli/launch_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cuda/launch.hpp"
#include "event/places.hpp"

namespace sluice::cli {
namespace {

constexpr uint64_t kMostClusterCtas = 16;

uint64_t volume(const uint32_t (&extent)[3]) {
  return uint64_t{extent[0]} * extent[1] * extent[2];
}

template <class Extent>
std::string by(const Extent& extent) {
  return fmt::format("{} x {} x {}", extent[0], extent[1], extent[2]);
}

Result<void> check_extents(const cuda::DeviceProfile& device, const uint32_t (&extent)[3],
                           const CUdevice_attribute (&limits)[3], const std::string& place) {
  for (int i = 0; i < 3; ++i) {
    const auto limit = static_cast<uint32_t>(device.limit(limits[i]));
    if (extent[i] > limit)
      return Error{fmt::format("extent {} is {}, the device takes up to {}", "xyz"[i], extent[i], limit),
                   place};
  }
  return {};
}

Result<void> check_block(const cuda::DeviceProfile& device, const machine::Kernel& kernel,
                         const LaunchSpec& spec) {
  SLUICE_TRY(check_extents(device, spec.block,
                           {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                            CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z},
                           spec.block_place));
  const auto wrong = [&](std::string message) { return Error{std::move(message), spec.block_place}; };
  const uint64_t threads = volume(spec.block);
  const auto limit = static_cast<uint64_t>(device.limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  if (threads > limit) return wrong(fmt::format("{} threads, a CTA has at most {}", threads, limit));
  const auto& required = kernel.directives.reqntid;
  if (required[0] != 0 && !std::equal(required.begin(), required.end(), std::begin(spec.block)))
    return wrong(
        fmt::format("the kernel is built for {} threads (.reqntid), not {}", by(required), by(spec.block)));
  if (threads > kernel.max_threads())
    return wrong(
        fmt::format("{} threads, the kernel takes up to {} (.maxntid)", threads, kernel.max_threads()));
  return {};
}

Result<void> check_cluster(const cuda::Function& function, const LaunchSpec& spec) {
  const auto& required = function.required_cluster;
  const bool is_given = spec.cluster[0] != 0;
  const auto wrong = [&](std::string message) {
    return Error{std::move(message), is_given ? spec.cluster_place : spec.grid_place};
  };
  if (!is_given && required[0] == 0) return {};
  if (is_given && required[0] != 0 &&
      !std::equal(std::begin(required), std::end(required), std::begin(spec.cluster)))
    return wrong(fmt::format("the kernel is built for clusters of {} CTAs (.reqnctapercluster), not {}",
                             by(required), by(spec.cluster)));
  const auto& cluster = is_given ? spec.cluster : required;
  if (volume(cluster) > kMostClusterCtas)
    return wrong(fmt::format("{} CTAs, a cluster has at most {}", volume(cluster), kMostClusterCtas));
  for (int i = 0; i < 3; ++i) {
    if (spec.grid[i] % cluster[i] != 0)
      return wrong(
          fmt::format("a grid of {} CTAs does not divide into clusters of {}", by(spec.grid), by(cluster)));
  }
  return {};
}

// Where the bytes of an argument come from.
std::string words_of(const ArgumentSpec& argument, const LaunchSpec& spec) {
  switch (argument.kind) {
    case ArgumentSpec::Kind::Buffer: {
      const BufferSpec& buffer = *spec.buffer(argument.name);
      return fmt::format("buffer {}: {} x {}, {} bytes{}", buffer.name, buffer.count, name_of(buffer.element),
                         buffer.bytes(),
                         argument.offset == 0 ? "" : fmt::format(", from {} on", argument.offset));
    }
    case ArgumentSpec::Kind::TensorMap:
      return fmt::format("tensor map {} over buffer {}", argument.name,
                         spec.tensor_map(argument.name)->buffer);
    case ArgumentSpec::Kind::Structure:
      return fmt::format("structure of {} members", argument.members.size());
    default: {
      std::string digits;
      for (auto byte = argument.bytes.rbegin(); byte != argument.bytes.rend(); ++byte)
        digits += fmt::format("{:02x}", *byte);
      return "0x" + digits;
    }
  }
}

}  // namespace

Result<void> check_shape(const cuda::DeviceProfile& device, const cuda::Function& function,
                         const LaunchSpec& spec) {
  SLUICE_TRY(check_extents(device, spec.grid,
                           {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                            CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z},
                           spec.grid_place));
  SLUICE_TRY(check_block(device, *function.kernel, spec));
  SLUICE_TRY(check_cluster(function, spec));
  const auto limit =
      static_cast<uint64_t>(device.limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  if (function.kernel->static_shared + spec.shared > limit) {
    return Error{
        fmt::format("{} bytes of shared memory and {} that the kernel declares, a CTA has at most {}",
                    spec.shared, function.kernel->static_shared, limit),
        spec.shared_place};
  }
  return {};
}

std::string launch_plan(const cuda::Process& process, const cuda::Function& function, const LaunchSpec& spec,
                        const cuda::KernelCall& call, const std::string& ptx_file) {
  const machine::Kernel& kernel = *function.kernel;
  const auto threads = static_cast<int>(volume(spec.block));
  const cuda::KernelResources resources = cuda::resources_of(function, threads, spec.shared);
  const std::string registers =
      kernel.registers == 0 ? fmt::format("not known without machine code, {} assumed", resources.registers)
                            : fmt::format("{} ({})", kernel.registers, kernel.registers_source);
  std::string text = fmt::format("kernel {} of {}\n", event::readable(function.name), ptx_file);
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<22}{}\n", name, value);
  };
  line("grid", fmt::format("{} = {} CTAs", by(call.grid), volume(call.grid)));
  line("block", fmt::format("{} = {} threads", by(call.block), threads));
  line("cluster", fmt::format("{}{}", by(call.cluster), call.cooperative ? ", cooperative" : ""));
  line("shared memory", fmt::format("{} bytes static, {} dynamic", kernel.static_shared, spec.shared));
  line("registers per thread", registers);
  line("resident CTAs",
       fmt::format("{} per multiprocessor", cuda::ctas_per_multiprocessor(process.profile, resources)));
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const machine::KernelParameter& parameter = kernel.parameters[i];
    line(fmt::format("argument {}", i),
         fmt::format("{}, {} bytes: {}", parameter.name, parameter.bytes, words_of(spec.arguments[i], spec)));
  }
  return text;
}

}  // namespace sluice::cli
