// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Stream, event and capture calls.
#include "cuda/stream_queries.hpp"

#include "cuda/process.hpp"

namespace sluice::cuda {

Status record_event(Process& process, CUevent event, CUstream handle) {
  Stream* stream = process.streams.find(handle);
  if (stream == nullptr || process.streams.find_event(event) == nullptr)
    return cudaErrorInvalidResourceHandle;
  return process.streams.submit(*stream, EventRecord{event});
}

Status wait_event(Process& process, CUstream handle, CUevent event) {
  Stream* stream = process.streams.find(handle);
  if (stream == nullptr || process.streams.find_event(event) == nullptr)
    return cudaErrorInvalidResourceHandle;
  return process.streams.submit(*stream, EventWait{event});
}

Status query_event(Process& process, CUevent handle) {
  const Event* event = process.streams.find_event(handle);
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  if (event->capture != nullptr) {
    event->capture->invalidated = true;
    return cudaErrorCapturedEvent;
  }
  return process.synchronise();
}

Status synchronise_event(Process& process, CUevent handle) {
  return query_event(process, handle);
}

Status elapsed_time(Process& process, float* milliseconds, CUevent begin, CUevent end) {
  if (milliseconds == nullptr) return cudaErrorInvalidValue;
  const Event* first = process.streams.find_event(begin);
  const Event* last = process.streams.find_event(end);
  if (first == nullptr || last == nullptr) return cudaErrorInvalidResourceHandle;
  if (!first->recorded || !last->recorded) return cudaErrorInvalidResourceHandle;
  if (((first->flags | last->flags) & CU_EVENT_DISABLE_TIMING) != 0) return cudaErrorInvalidResourceHandle;
  *milliseconds =
      static_cast<float>((static_cast<double>(last->time_ns) - static_cast<double>(first->time_ns)) * 1e-6);
  return kOk;
}

Status begin_capture(Process& process, CUstream handle, CUstreamCaptureMode mode) {
  Stream* stream = process.streams.find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  return process.streams.begin_capture(*stream, mode, nullptr, {});
}

Status begin_capture_to_graph(Process& process, CUstream handle, CUgraph graph,
                              const CUgraphNode* dependencies, const CUgraphEdgeData*, size_t count,
                              CUstreamCaptureMode mode) {
  Stream* stream = process.streams.find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  const Graph* target = process.graphs.find(graph);
  if (target == nullptr || (count != 0 && dependencies == nullptr)) return cudaErrorInvalidValue;
  for (size_t i = 0; i < count; ++i) {
    if (target->find(dependencies[i]) == nullptr) return cudaErrorInvalidValue;
  }
  return process.streams.begin_capture(*stream, mode, graph, {dependencies, dependencies + count});
}

Status end_capture(Process& process, CUstream handle, CUgraph* out) {
  Stream* stream = process.streams.find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (out == nullptr) return cudaErrorInvalidValue;
  return process.streams.end_capture(*stream, out);
}

Status capture_info(Process& process, CUstream handle, const CaptureInfo& out) {
  Stream* stream = process.streams.find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (out.status == nullptr) return cudaErrorInvalidValue;
  if (const Status s = process.streams.capture_status(*stream, out.status); s != kOk) return s;
  if (*out.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return kOk;
  if (out.id != nullptr) *out.id = stream->capture->id;
  if (out.graph != nullptr) *out.graph = stream->capture->graph;
  if (out.dependencies != nullptr) *out.dependencies = stream->dependencies.data();
  if (out.count != nullptr) *out.count = stream->dependencies.size();
  if (out.edges != nullptr) *out.edges = nullptr;
  return kOk;
}

Status update_capture_dependencies(Process& process, CUstream handle, const CUgraphNode* dependencies,
                                   size_t count, unsigned flags) {
  Stream* stream = process.streams.find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->capture == nullptr) return cudaErrorIllegalState;
  if (count != 0 && dependencies == nullptr) return cudaErrorInvalidValue;
  const Graph* graph = process.graphs.find(stream->capture->graph);
  for (size_t i = 0; i < count; ++i) {
    if (graph == nullptr || graph->find(dependencies[i]) == nullptr) return cudaErrorInvalidValue;
  }
  if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) {
    stream->dependencies.assign(dependencies, dependencies + count);
  } else if (flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES) {
    stream->dependencies.insert(stream->dependencies.end(), dependencies, dependencies + count);
  } else {
    return cudaErrorInvalidValue;
  }
  return kOk;
}

Status stream_attribute(Process& process, CUstream handle, CUlaunchAttributeID attribute,
                        CUlaunchAttributeValue* out) {
  const Stream* stream = process.streams.find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (out == nullptr) return cudaErrorInvalidValue;
  *out = {};
  const auto it = stream->attributes.find(attribute);
  if (it != stream->attributes.end()) {
    *out = it->second;
  } else if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
    out->priority = stream->priority;
  } else if (attribute == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY) {
    out->syncPolicy = CU_SYNC_POLICY_AUTO;
  }
  return kOk;
}

Status set_stream_attribute(Process& process, CUstream handle, CUlaunchAttributeID attribute,
                            const CUlaunchAttributeValue* value) {
  Stream* stream = process.streams.find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (value == nullptr) return cudaErrorInvalidValue;
  stream->attributes[attribute] = *value;
  if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY) stream->priority = value->priority;
  return kOk;
}

Status copy_stream_attributes(Process& process, CUstream to, CUstream from) {
  Stream* target = process.streams.find(to);
  const Stream* source = process.streams.find(from);
  if (target == nullptr || source == nullptr) return cudaErrorInvalidResourceHandle;
  target->attributes = source->attributes;
  return kOk;
}

}  // namespace sluice::cuda
