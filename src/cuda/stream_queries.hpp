// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Stream, event and capture calls in the form that both APIs share.
#pragma once

#include <cuda.h>

#include <cstddef>

#include "cuda/errors.hpp"
#include "cuda/stream.hpp"

namespace sluice::cuda {

Status record_event(Process& process, CUevent event, CUstream stream);
Status wait_event(Process& process, CUstream stream, CUevent event);
Status query_event(Process& process, CUevent event);
Status synchronise_event(Process& process, CUevent event);
Status elapsed_time(Process& process, float* milliseconds, CUevent begin, CUevent end);

Status begin_capture(Process& process, CUstream stream, CUstreamCaptureMode mode);
Status begin_capture_to_graph(Process& process, CUstream stream, CUgraph graph,
                              const CUgraphNode* dependencies, const CUgraphEdgeData* edges, size_t count,
                              CUstreamCaptureMode mode);
Status end_capture(Process& process, CUstream stream, CUgraph* out);

/// What a query of a capture hands out; pointers that the caller gave as null stay unused.
struct CaptureInfo {
  CUstreamCaptureStatus* status = nullptr;
  cuuint64_t* id = nullptr;
  CUgraph* graph = nullptr;
  const CUgraphNode** dependencies = nullptr;
  const CUgraphEdgeData** edges = nullptr;
  size_t* count = nullptr;
};
Status capture_info(Process& process, CUstream stream, const CaptureInfo& out);
Status update_capture_dependencies(Process& process, CUstream stream, const CUgraphNode* dependencies,
                                   size_t count, unsigned flags);

Status stream_attribute(Process& process, CUstream stream, CUlaunchAttributeID attribute,
                        CUlaunchAttributeValue* out);
Status set_stream_attribute(Process& process, CUstream stream, CUlaunchAttributeID attribute,
                            const CUlaunchAttributeValue* value);
Status copy_stream_attributes(Process& process, CUstream to, CUstream from);

}  // namespace sluice::cuda
