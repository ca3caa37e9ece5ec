// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// `--trace FILE`: the kernel with a recorder in it, and what it recorded as a file for `sluice timeline`.
#include "traced.hpp"

#include <cstdint>

#include "command_line.hpp"
#include "sluice/host/launch.hpp"
#include "sluice/trace/recording.hpp"
#include "traced_program.hpp"

namespace example {
namespace {

TracedProgram choose_traced(const TraceRequest& request) {
  return request.typed ? traced_layer2_program(request.stages, request.ctas)
                       : traced_layer1_program(request.stages, request.ctas);
}

void check_recording(const TraceRequest& request, const sluice::trace::RecordingError& error) {
  if (error) fail(request.program, "%s", error.text);
}

}  // namespace

void run_traced(const TraceRequest& request, const CUtensorMap& map, const TileJob& job) {
  const TracedProgram program = choose_traced(request);
  sluice::LaunchShape shape;
  shape.grid = dim3(request.ctas);
  shape.cluster = dim3(request.ctas);
  shape.cta = dim3(kThreads);
  shape.shared_bytes = program.shared.total;
  sluice::trace::Extent extent;
  extent.ctas = static_cast<std::uint32_t>(request.ctas);
  extent.warps = kThreads / 32;
  extent.records = static_cast<std::uint32_t>(request.tiles) * 4 + 2 * kMaxStages + 8;  // all of a producer's
  sluice::trace::Recording recording;
  check_recording(request, recording.allocate(extent));
  const sluice::LaunchError error = sluice::launch(program.kernel, shape, map, job, recording.buffer());
  if (error) fail(request.program, "launch: %s", error.text);
  sluice::trace::Launched launched;
  launched.kernel = request.typed ? "async_pipeline_typed" : "async_pipeline";
  launched.grid[0] = launched.cluster[0] = extent.ctas;
  launched.cta[0] = kThreads;
  check_recording(request, recording.read(launched));
  check_recording(request, recording.write(request.file, {request.argv, request.argv + request.argc}));
}

}  // namespace example
