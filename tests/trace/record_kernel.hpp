// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Running a kernel that records itself, and the list of such cases.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../unit_layer2/ring_kernels.hpp"
#include "sluice/trace.hpp"

namespace trace_tests {

using ring_kernels::Case;

/// Trips and what is none, in trip_cases.cu.
void add_trip_cases(std::vector<Case>& cases);

/// Starts a kernel whose last argument is a trace buffer and gives what it recorded to `judge`.
template <class... Parameters, class... Arguments>
std::string record(void (*kernel)(Parameters...), const sluice::LaunchShape& shape,
                   const sluice::trace::Extent& extent,
                   const std::function<std::string(const sluice::trace::Decoded&)>& judge,
                   Arguments&&... arguments) {
  sluice::trace::Recording recording;
  if (const auto error = recording.allocate(extent)) return error.text;
  const std::string wrong = ring_kernels::run_kernel(kernel, shape, arguments..., recording.buffer());
  if (!wrong.empty()) return wrong;
  uint64_t made = 0;
  uint64_t kept = 0;
  if (const auto error = recording.count(&made, &kept)) return error.text;
  sluice::trace::Launched launched;
  launched.kernel = "kernel";
  launched.grid = {shape.grid.x, shape.grid.y, shape.grid.z};
  launched.cta = {shape.cta.x, shape.cta.y, shape.cta.z};
  launched.cluster = {shape.cluster.x, shape.cluster.y, shape.cluster.z};
  if (const auto error = recording.read(launched)) return error.text;
  const sluice::trace::Decoded& trace = recording.launches()[0];
  // A wait whose end had no room is left out as well.
  if (trace.left_out < made - kept || trace.left_out > made - kept + trace.recorded_ctas * 32)
    return "left out: " + std::to_string(trace.left_out) + " of " + std::to_string(made - kept);
  return judge(trace);
}

}  // namespace trace_tests
