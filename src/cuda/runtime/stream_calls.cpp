// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams, events and capture of the runtime API.
#include "cuda/calls.hpp"
#include "cuda/stream_queries.hpp"

using namespace sluice::cuda;

namespace {

cudaError_t create_stream(const char* name, cudaStream_t* out, unsigned flags, int priority) {
  return runtime_call(name, [&](Process& p) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    return p.streams.create(p.current_device(), flags, priority, out);
  });
}

cudaError_t create_event(const char* name, cudaEvent_t* out, unsigned flags) {
  return runtime_call(name, [&](Process& p) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    return p.streams.create_event(flags, p.current_device(), out);
  });
}

// Runs `body(Stream&)` on a live stream.
template <class Body>
cudaError_t with_stream(const char* name, cudaStream_t handle, Body body) {
  return runtime_call(name, [&](Process& p) -> Status {
    Stream* stream = p.streams.find(handle);
    return stream == nullptr ? Status{cudaErrorInvalidResourceHandle} : body(p, *stream);
  });
}

}  // namespace

SLUICE_RUNTIME(cudaStreamCreate, cudaStream_t* out) {
  return create_stream("cudaStreamCreate", out, 0, 0);
}
SLUICE_RUNTIME(cudaStreamCreateWithFlags, cudaStream_t* out, unsigned flags) {
  return create_stream("cudaStreamCreateWithFlags", out, flags, 0);
}
SLUICE_RUNTIME(cudaStreamCreateWithPriority, cudaStream_t* out, unsigned flags, int priority) {
  return create_stream("cudaStreamCreateWithPriority", out, flags, priority);
}
SLUICE_RUNTIME(cudaStreamDestroy, cudaStream_t stream) {
  return runtime_call("cudaStreamDestroy", [&](Process& p) { return p.streams.destroy(stream); });
}
SLUICE_RUNTIME(cudaStreamSynchronize, cudaStream_t handle) {
  return with_stream("cudaStreamSynchronize", handle,
                     [](Process& p, Stream& s) { return p.streams.synchronise(s); });
}
SLUICE_RUNTIME(cudaStreamQuery, cudaStream_t handle) {
  return with_stream("cudaStreamQuery", handle,
                     [](Process& p, Stream& s) { return p.streams.synchronise(s); });
}
SLUICE_RUNTIME(cudaStreamGetFlags, cudaStream_t handle, unsigned* flags) {
  return with_stream("cudaStreamGetFlags", handle, [&](Process&, Stream& s) -> Status {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = s.flags;
    return kOk;
  });
}
SLUICE_RUNTIME(cudaStreamGetPriority, cudaStream_t handle, int* priority) {
  return with_stream("cudaStreamGetPriority", handle, [&](Process&, Stream& s) -> Status {
    if (priority == nullptr) return cudaErrorInvalidValue;
    *priority = s.priority;
    return kOk;
  });
}
SLUICE_RUNTIME(cudaStreamGetId, cudaStream_t handle, unsigned long long* id) {
  return with_stream("cudaStreamGetId", handle, [&](Process&, Stream& s) -> Status {
    if (id == nullptr) return cudaErrorInvalidValue;
    *id = s.id;
    return kOk;
  });
}
SLUICE_RUNTIME(cudaStreamGetDevice, cudaStream_t handle, int* device) {
  return with_stream("cudaStreamGetDevice", handle, [&](Process&, Stream& s) -> Status {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = s.device;
    return kOk;
  });
}
SLUICE_RUNTIME(cudaStreamAddCallback, cudaStream_t handle, cudaStreamCallback_t callback, void* data,
               unsigned flags) {
  return with_stream("cudaStreamAddCallback", handle, [&](Process& p, Stream& s) -> Status {
    if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
    if (s.capture != nullptr) {
      s.capture->invalidated = true;
      return cudaErrorStreamCaptureUnsupported;
    }
    struct Call {
      cudaStreamCallback_t callback;
      cudaStream_t stream;
      void* data;
    } call{callback, handle, data};
    return p.streams.submit(s, HostCall{[](void* raw) {
                                          const Call& c = *static_cast<Call*>(raw);
                                          c.callback(c.stream, cudaSuccess, c.data);
                                        },
                                        &call});
  });
}
SLUICE_RUNTIME(cudaStreamWaitEvent, cudaStream_t stream, cudaEvent_t event, unsigned) {
  return runtime_call("cudaStreamWaitEvent", [&](Process& p) { return wait_event(p, stream, event); });
}
SLUICE_RUNTIME(cudaStreamGetAttribute, cudaStream_t stream, cudaLaunchAttributeID attribute,
               cudaLaunchAttributeValue* out) {
  return runtime_call("cudaStreamGetAttribute", [&](Process& p) {
    return stream_attribute(p, stream, static_cast<CUlaunchAttributeID>(attribute),
                            reinterpret_cast<CUlaunchAttributeValue*>(out));
  });
}
SLUICE_RUNTIME(cudaStreamSetAttribute, cudaStream_t stream, cudaLaunchAttributeID attribute,
               const cudaLaunchAttributeValue* value) {
  return runtime_call("cudaStreamSetAttribute", [&](Process& p) {
    return set_stream_attribute(p, stream, static_cast<CUlaunchAttributeID>(attribute),
                                reinterpret_cast<const CUlaunchAttributeValue*>(value));
  });
}
SLUICE_RUNTIME(cudaStreamCopyAttributes, cudaStream_t to, cudaStream_t from) {
  return runtime_call("cudaStreamCopyAttributes",
                      [&](Process& p) { return copy_stream_attributes(p, to, from); });
}

// --- events
// ---------------------------------------------------------------------------------------------------------

SLUICE_RUNTIME(cudaEventCreate, cudaEvent_t* out) {
  return create_event("cudaEventCreate", out, 0);
}
SLUICE_RUNTIME(cudaEventCreateWithFlags, cudaEvent_t* out, unsigned flags) {
  return create_event("cudaEventCreateWithFlags", out, flags);
}
SLUICE_RUNTIME(cudaEventDestroy, cudaEvent_t event) {
  return runtime_call("cudaEventDestroy", [&](Process& p) { return p.streams.destroy_event(event); });
}
SLUICE_RUNTIME(cudaEventRecord, cudaEvent_t event, cudaStream_t stream) {
  return runtime_call("cudaEventRecord", [&](Process& p) { return record_event(p, event, stream); });
}
SLUICE_RUNTIME(cudaEventRecordWithFlags, cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return runtime_call("cudaEventRecordWithFlags", [&](Process& p) -> Status {
    if ((flags & ~unsigned{cudaEventRecordExternal}) != 0) return cudaErrorInvalidValue;
    return record_event(p, event, stream);
  });
}
SLUICE_RUNTIME(cudaEventQuery, cudaEvent_t event) {
  return runtime_call("cudaEventQuery", [&](Process& p) { return query_event(p, event); });
}
SLUICE_RUNTIME(cudaEventSynchronize, cudaEvent_t event) {
  return runtime_call("cudaEventSynchronize", [&](Process& p) { return synchronise_event(p, event); });
}
SLUICE_RUNTIME(cudaEventElapsedTime, float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  return runtime_call("cudaEventElapsedTime",
                      [&](Process& p) { return elapsed_time(p, milliseconds, begin, end); });
}
SLUICE_RUNTIME_12(cudaEventElapsedTime_v2, float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  return sluice_rt_cudaEventElapsedTime(milliseconds, begin, end);
}

// --- capture
// --------------------------------------------------------------------------------------------------------

SLUICE_RUNTIME(cudaStreamBeginCapture, cudaStream_t stream, cudaStreamCaptureMode mode) {
  return runtime_call("cudaStreamBeginCapture", [&](Process& p) {
    return begin_capture(p, stream, static_cast<CUstreamCaptureMode>(mode));
  });
}
SLUICE_RUNTIME(cudaStreamBeginCaptureToGraph, cudaStream_t stream, cudaGraph_t graph,
               const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* edges, size_t count,
               cudaStreamCaptureMode mode) {
  return runtime_call("cudaStreamBeginCaptureToGraph", [&](Process& p) {
    return begin_capture_to_graph(p, stream, graph, dependencies,
                                  reinterpret_cast<const CUgraphEdgeData*>(edges), count,
                                  static_cast<CUstreamCaptureMode>(mode));
  });
}
SLUICE_RUNTIME(cudaStreamEndCapture, cudaStream_t stream, cudaGraph_t* graph) {
  return runtime_call("cudaStreamEndCapture", [&](Process& p) { return end_capture(p, stream, graph); });
}
SLUICE_RUNTIME(cudaStreamIsCapturing, cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return runtime_call("cudaStreamIsCapturing", [&](Process& p) {
    return capture_info(p, stream, {.status = reinterpret_cast<CUstreamCaptureStatus*>(status)});
  });
}
SLUICE_RUNTIME(cudaStreamGetCaptureInfo, cudaStream_t stream, cudaStreamCaptureStatus* status,
               unsigned long long* id, cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
               const cudaGraphEdgeData** edges, size_t* count) {
  return runtime_call("cudaStreamGetCaptureInfo", [&](Process& p) {
    return capture_info(p, stream,
                        {reinterpret_cast<CUstreamCaptureStatus*>(status), reinterpret_cast<cuuint64_t*>(id),
                         graph, dependencies, reinterpret_cast<const CUgraphEdgeData**>(edges), count});
  });
}
SLUICE_RUNTIME_12(cudaStreamGetCaptureInfo, cudaStream_t stream, cudaStreamCaptureStatus* status,
                  unsigned long long* id) {
  return sluice_rt_cudaStreamGetCaptureInfo(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
SLUICE_RUNTIME_12(cudaStreamGetCaptureInfo_v2, cudaStream_t stream, cudaStreamCaptureStatus* status,
                  unsigned long long* id, cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                  size_t* count) {
  return sluice_rt_cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, nullptr, count);
}
SLUICE_RUNTIME_12(cudaStreamGetCaptureInfo_v3, cudaStream_t stream, cudaStreamCaptureStatus* status,
                  unsigned long long* id, cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                  const cudaGraphEdgeData** edges, size_t* count) {
  return sluice_rt_cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, edges, count);
}
SLUICE_RUNTIME(cudaStreamUpdateCaptureDependencies, cudaStream_t stream, cudaGraphNode_t* dependencies,
               const cudaGraphEdgeData*, size_t count, unsigned flags) {
  return runtime_call("cudaStreamUpdateCaptureDependencies", [&](Process& p) {
    return update_capture_dependencies(p, stream, dependencies, count, flags);
  });
}
SLUICE_RUNTIME_12(cudaStreamUpdateCaptureDependencies, cudaStream_t stream, cudaGraphNode_t* dependencies,
                  size_t count, unsigned flags) {
  return sluice_rt_cudaStreamUpdateCaptureDependencies(stream, dependencies, nullptr, count, flags);
}
SLUICE_RUNTIME_12(cudaStreamUpdateCaptureDependencies_v2, cudaStream_t stream, cudaGraphNode_t* dependencies,
                  const cudaGraphEdgeData* edges, size_t count, unsigned flags) {
  return sluice_rt_cudaStreamUpdateCaptureDependencies(stream, dependencies, edges, count, flags);
}
SLUICE_RUNTIME(cudaThreadExchangeStreamCaptureMode, cudaStreamCaptureMode* mode) {
  return runtime_call("cudaThreadExchangeStreamCaptureMode", [&](Process& p) -> Status {
    if (mode == nullptr) return cudaErrorInvalidValue;
    *mode =
        static_cast<cudaStreamCaptureMode>(p.streams.exchange_mode(static_cast<CUstreamCaptureMode>(*mode)));
    return kOk;
  });
}
