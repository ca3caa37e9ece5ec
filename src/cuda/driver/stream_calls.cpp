// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams, events and capture of the driver API.
#include "cuda/calls.hpp"
#include "cuda/stream_queries.hpp"

using namespace sluice::cuda;

namespace {

template <class Body>
CUresult with_stream(const char* name, CUstream handle, Body body) {
  return driver_call(name, [&](Process& p) -> Status {
    Stream* stream = p.streams.find(handle);
    return stream == nullptr ? Status{cudaErrorInvalidResourceHandle} : body(p, *stream);
  });
}

// Stores `value` through `out` where that is not null.
template <class T, class Value>
Status give(T* out, Value value) {
  if (out == nullptr) return cudaErrorInvalidValue;
  *out = static_cast<T>(value);
  return kOk;
}

// A stream's wait for memory. What is not satisfied now never will be: all work before it has been done, and
// what comes after it in program order cannot run first.
template <class T>
CUresult wait_value(const char* name, CUstream handle, CUdeviceptr address, T wanted, unsigned flags) {
  return with_stream(name, handle, [&](Process& p, Stream& stream) -> Status {
    if (stream.capture != nullptr) return cudaErrorNotSupported;
    const T* place = reinterpret_cast<const T*>(address);
    if (address % sizeof(T) != 0 || !p.memory.covers(place, sizeof(T))) return cudaErrorInvalidValue;
    const T value = *place;
    bool satisfied = false;
    switch (flags & 3u) {
      case CU_STREAM_WAIT_VALUE_GEQ:
        satisfied = static_cast<std::make_signed_t<T>>(value - wanted) >= 0;
        break;
      case CU_STREAM_WAIT_VALUE_EQ:
        satisfied = value == wanted;
        break;
      case CU_STREAM_WAIT_VALUE_AND:
        satisfied = (value & wanted) != 0;
        break;
      default:
        satisfied = static_cast<T>(~(value | wanted)) != 0;
        break;
    }
    if (satisfied) return kOk;
    p.say_unimplemented(
        name, "the value is written by later work; the engine runs work in the order of submission");
    return cudaErrorNotSupported;
  });
}

template <class T>
CUresult write_value(const char* name, CUstream handle, CUdeviceptr address, T value) {
  return with_stream(name, handle, [&](Process& p, Stream& stream) -> Status {
    if (stream.capture != nullptr) return cudaErrorNotSupported;
    T* place = reinterpret_cast<T*>(address);
    if (address % sizeof(T) != 0 || !p.memory.covers(place, sizeof(T))) return cudaErrorInvalidValue;
    if (!p.faulted()) *place = value;
    return kOk;
  });
}

}  // namespace

SLUICE_DRIVER(cuStreamCreate, CUstream* out, unsigned flags) {
  return driver_call("cuStreamCreate", [&](Process& p) -> Status {
    return out == nullptr ? Status{cudaErrorInvalidValue}
                          : p.streams.create(p.current_device(), flags, 0, out);
  });
}
SLUICE_DRIVER(cuStreamCreateWithPriority, CUstream* out, unsigned flags, int priority) {
  return driver_call("cuStreamCreateWithPriority", [&](Process& p) -> Status {
    return out == nullptr ? Status{cudaErrorInvalidValue}
                          : p.streams.create(p.current_device(), flags, priority, out);
  });
}
SLUICE_DRIVER(cuStreamDestroy_v2, CUstream handle) {
  return driver_call("cuStreamDestroy", [&](Process& p) { return p.streams.destroy(handle); });
}
SLUICE_DRIVER_OLD(cuStreamDestroy, CUstream handle) {
  return sluice_drv_cuStreamDestroy_v2(handle);
}
SLUICE_DRIVER(cuStreamSynchronize, CUstream handle) {
  return with_stream("cuStreamSynchronize", handle,
                     [](Process& p, Stream& s) { return p.streams.synchronise(s); });
}
SLUICE_DRIVER(cuStreamQuery, CUstream handle) {
  return with_stream("cuStreamQuery", handle, [](Process& p, Stream& s) { return p.streams.synchronise(s); });
}
SLUICE_DRIVER(cuStreamGetFlags, CUstream handle, unsigned* out) {
  return with_stream("cuStreamGetFlags", handle, [&](Process&, Stream& s) { return give(out, s.flags); });
}
SLUICE_DRIVER(cuStreamGetPriority, CUstream handle, int* out) {
  return with_stream("cuStreamGetPriority", handle,
                     [&](Process&, Stream& s) { return give(out, s.priority); });
}
SLUICE_DRIVER(cuStreamGetId, CUstream handle, unsigned long long* out) {
  return with_stream("cuStreamGetId", handle, [&](Process&, Stream& s) { return give(out, s.id); });
}
SLUICE_DRIVER(cuStreamGetDevice, CUstream handle, CUdevice* out) {
  return with_stream("cuStreamGetDevice", handle, [&](Process&, Stream& s) { return give(out, s.device); });
}
SLUICE_DRIVER(cuStreamGetCtx, CUstream handle, CUcontext* out) {
  return with_stream("cuStreamGetCtx", handle,
                     [&](Process& p, Stream& s) { return give(out, p.primary_context(s.device)->handle); });
}
SLUICE_DRIVER(cuStreamWaitEvent, CUstream handle, CUevent event, unsigned) {
  return driver_call("cuStreamWaitEvent", [&](Process& p) { return wait_event(p, handle, event); });
}
SLUICE_DRIVER(cuStreamAddCallback, CUstream handle, CUstreamCallback callback, void* data, unsigned flags) {
  return with_stream("cuStreamAddCallback", handle, [&](Process& p, Stream& s) -> Status {
    if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
    if (s.capture != nullptr) {
      s.capture->invalidated = true;
      return cudaErrorStreamCaptureUnsupported;
    }
    struct Call {
      CUstreamCallback callback;
      CUstream stream;
      void* data;
    } call{callback, handle, data};
    return p.streams.submit(s, HostCall{[](void* raw) {
                                          const Call& c = *static_cast<Call*>(raw);
                                          c.callback(c.stream, CUDA_SUCCESS, c.data);
                                        },
                                        &call});
  });
}
SLUICE_DRIVER(cuStreamAttachMemAsync, CUstream handle, CUdeviceptr address, size_t, unsigned) {
  return with_stream("cuStreamAttachMemAsync", handle, [&](Process& p, Stream&) -> Status {
    const Buffer* buffer = p.memory.find(reinterpret_cast<const void*>(address));
    return buffer != nullptr && buffer->origin == Origin::Managed ? cudaSuccess : cudaErrorInvalidValue;
  });
}
SLUICE_DRIVER(cuStreamGetAttribute, CUstream handle, CUstreamAttrID attribute, CUstreamAttrValue* out) {
  return driver_call("cuStreamGetAttribute",
                     [&](Process& p) { return stream_attribute(p, handle, attribute, out); });
}
SLUICE_DRIVER(cuStreamSetAttribute, CUstream handle, CUstreamAttrID attribute,
              const CUstreamAttrValue* value) {
  return driver_call("cuStreamSetAttribute",
                     [&](Process& p) { return set_stream_attribute(p, handle, attribute, value); });
}
SLUICE_DRIVER(cuStreamCopyAttributes, CUstream to, CUstream from) {
  return driver_call("cuStreamCopyAttributes",
                     [&](Process& p) { return copy_stream_attributes(p, to, from); });
}
SLUICE_DRIVER(cuStreamWaitValue32_v2, CUstream stream, CUdeviceptr address, cuuint32_t value,
              unsigned flags) {
  return wait_value<uint32_t>("cuStreamWaitValue32", stream, address, value, flags);
}
SLUICE_DRIVER(cuStreamWaitValue64_v2, CUstream stream, CUdeviceptr address, cuuint64_t value,
              unsigned flags) {
  return wait_value<uint64_t>("cuStreamWaitValue64", stream, address, value, flags);
}
SLUICE_DRIVER(cuStreamWriteValue32_v2, CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned) {
  return write_value<uint32_t>("cuStreamWriteValue32", stream, address, value);
}
SLUICE_DRIVER(cuStreamWriteValue64_v2, CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned) {
  return write_value<uint64_t>("cuStreamWriteValue64", stream, address, value);
}

// --- events
// ---------------------------------------------------------------------------------------------------------

SLUICE_DRIVER(cuEventCreate, CUevent* out, unsigned flags) {
  return driver_call("cuEventCreate", [&](Process& p) -> Status {
    return out == nullptr ? Status{cudaErrorInvalidValue}
                          : p.streams.create_event(flags, p.current_device(), out);
  });
}
SLUICE_DRIVER(cuEventDestroy_v2, CUevent event) {
  return driver_call("cuEventDestroy", [&](Process& p) { return p.streams.destroy_event(event); });
}
SLUICE_DRIVER_OLD(cuEventDestroy, CUevent event) {
  return sluice_drv_cuEventDestroy_v2(event);
}
SLUICE_DRIVER(cuEventRecord, CUevent event, CUstream stream) {
  return driver_call("cuEventRecord", [&](Process& p) { return record_event(p, event, stream); });
}
SLUICE_DRIVER(cuEventRecordWithFlags, CUevent event, CUstream stream, unsigned flags) {
  return driver_call("cuEventRecordWithFlags", [&](Process& p) -> Status {
    if ((flags & ~unsigned{CU_EVENT_RECORD_EXTERNAL}) != 0) return cudaErrorInvalidValue;
    return record_event(p, event, stream);
  });
}
SLUICE_DRIVER(cuEventQuery, CUevent event) {
  return driver_call("cuEventQuery", [&](Process& p) { return query_event(p, event); });
}
SLUICE_DRIVER(cuEventSynchronize, CUevent event) {
  return driver_call("cuEventSynchronize", [&](Process& p) { return synchronise_event(p, event); });
}
SLUICE_DRIVER(cuEventElapsedTime_v2, float* milliseconds, CUevent begin, CUevent end) {
  return driver_call("cuEventElapsedTime",
                     [&](Process& p) { return elapsed_time(p, milliseconds, begin, end); });
}
SLUICE_DRIVER_OLD(cuEventElapsedTime, float* milliseconds, CUevent begin, CUevent end) {
  return sluice_drv_cuEventElapsedTime_v2(milliseconds, begin, end);
}

// --- capture
// --------------------------------------------------------------------------------------------------------

SLUICE_DRIVER(cuStreamBeginCapture_v2, CUstream stream, CUstreamCaptureMode mode) {
  return driver_call("cuStreamBeginCapture", [&](Process& p) { return begin_capture(p, stream, mode); });
}
SLUICE_DRIVER_OLD(cuStreamBeginCapture, CUstream stream) {
  return sluice_drv_cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}
SLUICE_DRIVER(cuStreamBeginCaptureToGraph, CUstream stream, CUgraph graph, const CUgraphNode* dependencies,
              const CUgraphEdgeData* edges, size_t count, CUstreamCaptureMode mode) {
  return driver_call("cuStreamBeginCaptureToGraph", [&](Process& p) {
    return begin_capture_to_graph(p, stream, graph, dependencies, edges, count, mode);
  });
}
SLUICE_DRIVER(cuStreamEndCapture, CUstream stream, CUgraph* out) {
  return driver_call("cuStreamEndCapture", [&](Process& p) { return end_capture(p, stream, out); });
}
SLUICE_DRIVER(cuStreamIsCapturing, CUstream stream, CUstreamCaptureStatus* status) {
  return driver_call("cuStreamIsCapturing",
                     [&](Process& p) { return capture_info(p, stream, {.status = status}); });
}
SLUICE_DRIVER(cuStreamGetCaptureInfo_v3, CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
              CUgraph* graph, const CUgraphNode** dependencies, const CUgraphEdgeData** edges,
              size_t* count) {
  return driver_call("cuStreamGetCaptureInfo", [&](Process& p) {
    return capture_info(p, stream, {status, id, graph, dependencies, edges, count});
  });
}
SLUICE_DRIVER_OLD(cuStreamGetCaptureInfo_v2, CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                  CUgraph* graph, const CUgraphNode** dependencies, size_t* count) {
  return sluice_drv_cuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, nullptr, count);
}
SLUICE_DRIVER_OLD(cuStreamGetCaptureInfo, CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return sluice_drv_cuStreamGetCaptureInfo_v3(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
SLUICE_DRIVER(cuStreamUpdateCaptureDependencies_v2, CUstream stream, CUgraphNode* dependencies,
              const CUgraphEdgeData*, size_t count, unsigned flags) {
  return driver_call("cuStreamUpdateCaptureDependencies", [&](Process& p) {
    return update_capture_dependencies(p, stream, dependencies, count, flags);
  });
}
SLUICE_DRIVER_OLD(cuStreamUpdateCaptureDependencies, CUstream stream, CUgraphNode* dependencies, size_t count,
                  unsigned flags) {
  return sluice_drv_cuStreamUpdateCaptureDependencies_v2(stream, dependencies, nullptr, count, flags);
}
SLUICE_DRIVER(cuThreadExchangeStreamCaptureMode, CUstreamCaptureMode* mode) {
  return driver_call("cuThreadExchangeStreamCaptureMode", [&](Process& p) -> Status {
    if (mode == nullptr) return cudaErrorInvalidValue;
    *mode = p.streams.exchange_mode(*mode);
    return kOk;
  });
}
