// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams and events: creation, submission, capture.
//
// MODEL: a captured operation depends on the stream's last captured ones; a wait adds what the event stands
// for and brings the waiting stream into the capture, as CUDA documents for cudaStreamBeginCapture.
#include <algorithm>
#include <set>
#include <type_traits>
#include <utility>

#include "cuda/calls.hpp"
#include "cuda/launch.hpp"
#include "cuda/process.hpp"

namespace sluice::cuda {
namespace {

thread_local CUstreamCaptureMode t_capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

constexpr uint64_t kCopyNs = 1000;  ///< MODEL: what a copy, fill or host call takes at least

// Virtual duration of moving bytes, at the rates of a card: about 4 TB/s in device memory.
uint64_t copy_duration(uint64_t bytes) {
  return kCopyNs + bytes / 4096;
}

std::unique_ptr<Stream> make_stream(uint64_t id, int device, unsigned flags, CUstream handle) {
  auto stream = std::make_unique<Stream>();
  stream->id = id;
  stream->device = device;
  stream->flags = flags;
  stream->handle = handle;
  return stream;
}

}  // namespace

CUgraphNodeType node_type(const Operation& operation) {
  constexpr CUgraphNodeType kTypes[] = {CU_GRAPH_NODE_TYPE_EMPTY,      CU_GRAPH_NODE_TYPE_KERNEL,
                                        CU_GRAPH_NODE_TYPE_MEMCPY,     CU_GRAPH_NODE_TYPE_MEMSET,
                                        CU_GRAPH_NODE_TYPE_HOST,       CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                                        CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_GRAPH,
                                        CU_GRAPH_NODE_TYPE_MEM_ALLOC,  CU_GRAPH_NODE_TYPE_MEM_FREE};
  static_assert(std::size(kTypes) == std::variant_size_v<Operation>);
  return kTypes[operation.index()];
}

Status Streams::create(int device, unsigned flags, int priority, CUstream* out) {
  if ((flags & ~unsigned{CU_STREAM_NON_BLOCKING}) != 0) return cudaErrorInvalidValue;
  auto stream = make_stream(next_id_++, device, flags, nullptr);
  Stream* raw = stream.get();
  // Priorities outside the range are clamped, as documented.
  raw->priority = std::clamp(priority, -5, 0);
  *out = raw->handle = streams_.add<CUstream>(std::move(stream));
  return kOk;
}

Status Streams::destroy(CUstream handle) {
  Stream* stream = streams_.find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (Capture* const capture = stream->capture.get(); capture != nullptr && capture->origin == stream) {
    capture->invalidated = true;
    leave_capture(*stream);
  } else if (capture != nullptr) {
    std::erase(capture->streams, stream);
    capture->left_behind.insert(capture->left_behind.end(), stream->dependencies.begin(),
                                stream->dependencies.end());
  }
  streams_.take(handle);
  return kOk;
}

Stream* Streams::find(CUstream handle) {
  if (handle == nullptr || handle == CU_STREAM_LEGACY) {
    const int device = process_.current_device();
    auto& stream = legacy_[device];
    if (!stream) stream = make_stream(next_id_++, device, 0, CU_STREAM_LEGACY);
    return stream.get();
  }
  if (handle == CU_STREAM_PER_THREAD) {
    const int device = process_.current_device();
    auto& stream = per_thread_[{std::this_thread::get_id(), device}];
    if (!stream) stream = make_stream(next_id_++, device, 0, CU_STREAM_PER_THREAD);
    return stream.get();
  }
  return streams_.find(handle);
}

Status Streams::create_event(unsigned flags, int device, CUevent* out) {
  constexpr unsigned kKnown = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  if ((flags & ~kKnown) != 0) return cudaErrorInvalidValue;
  if ((flags & CU_EVENT_INTERPROCESS) != 0 && (flags & CU_EVENT_DISABLE_TIMING) == 0)
    return cudaErrorInvalidValue;
  auto event = std::make_unique<Event>();
  event->flags = flags;
  event->device = device;
  *out = events_.add<CUevent>(std::move(event));
  return kOk;
}

Status Streams::destroy_event(CUevent handle) {
  return events_.take(handle) == nullptr ? cudaErrorInvalidResourceHandle : kOk;
}

Event* Streams::find_event(CUevent handle) {
  return events_.find(handle);
}

bool Streams::any_blocking_capture(int device) const {
  return std::any_of(captures_.begin(), captures_.end(), [&](const auto& capture) {
    return std::any_of(capture->streams.begin(), capture->streams.end(), [&](const Stream* s) {
      return s->device == device && (s->flags & CU_STREAM_NON_BLOCKING) == 0;
    });
  });
}

Status Streams::submit(Stream& stream, Operation operation) {
  if (const auto* wait = std::get_if<EventWait>(&operation)) {
    Event* event = find_event(wait->event);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    // A wait for captured work takes the stream into the capture.
    if (event->capture != nullptr && stream.capture == nullptr) {
      if (is_legacy(stream)) return cudaErrorStreamCaptureImplicit;
      stream.capture = event->capture;
      stream.capture->streams.push_back(&stream);
      stream.dependencies = event->dependencies;
      return kOk;
    }
  }
  if (stream.capture != nullptr) return capture_operation(stream, std::move(operation));
  if (is_legacy(stream) && any_blocking_capture(stream.device)) {
    for (const auto& capture : captures_) capture->invalidated = true;
    return cudaErrorStreamCaptureImplicit;
  }

  struct Execute {
    Streams& streams;
    Process& process;
    Stream& stream;
    Status operator()(NoWork&) const { return kOk; }
    Status operator()(KernelCall& call) const {
      const uint64_t before = std::exchange(stream.launches_at_kernel, 0);
      const bool overlaps = call.may_overlap() && before != 0 && before == process.launch_ordinal;
      const Status s = run_kernel(process, call, overlaps);
      stream.launches_at_kernel = process.launch_ordinal;
      return s;
    }
    Status operator()(Copy& copy) const {
      stream.launches_at_kernel = 0;
      if (const Status s = process.memory.check(copy); s != kOk) return s;
      if (!process.faulted()) process.memory.perform(copy);
      process.clock_ns += copy_duration(copy.width * copy.height * copy.depth);
      return kOk;
    }
    Status operator()(Fill& fill) const {
      stream.launches_at_kernel = 0;
      if (const Status s = process.memory.check(fill); s != kOk) return s;
      if (!process.faulted()) process.memory.perform(fill);
      process.clock_ns += copy_duration(fill.width * fill.element * fill.height * fill.depth);
      return kOk;
    }
    Status operator()(HostCall& call) const {
      stream.launches_at_kernel = 0;
      process.clock_ns += kCopyNs;
      if (process.faulted()) return kOk;
      // The function may wait for another thread of the program, which may call CUDA.
      process.mutex.unlock();
      {
        const InHostFunction inside;
        call.function(call.data);
      }
      process.mutex.lock();
      return kOk;
    }
    Status operator()(EventRecord& record) const {
      Event* event = streams.find_event(record.event);
      if (event == nullptr) return cudaErrorInvalidResourceHandle;
      event->recorded = true;
      event->capture = nullptr;
      event->dependencies.clear();
      event->time_ns = ++process.clock_ns;
      return kOk;
    }
    Status operator()(EventWait&) const {
      stream.launches_at_kernel = 0;
      return kOk;
    }
    Status operator()(ChildGraph& child) const { return process.graphs.run(*child.graph, stream); }
    // MODEL: memory of allocation nodes stays at its address, so that the graph can run again; a free node
    // does nothing.
    Status operator()(GraphAllocation& allocation) const {
      process.memory.take_for_graph(allocation.address);
      return kOk;
    }
    Status operator()(GraphFree&) const { return kOk; }
  };
  return std::visit(Execute{*this, process_, stream}, operation);
}

Status Streams::submit_and_wait(Stream& stream, Operation operation) {
  if (const Status s = forbid_while_capturing(); s != kOk) return s;
  if (stream.capture != nullptr) {
    stream.capture->invalidated = true;
    return cudaErrorStreamCaptureUnsupported;
  }
  if (const Status s = submit(stream, std::move(operation)); s != kOk) return s;
  return process_.synchronise();
}

Status Streams::synchronise(Stream& stream) {
  if (stream.capture != nullptr) {
    stream.capture->invalidated = true;
    return cudaErrorStreamCaptureUnsupported;
  }
  if (is_legacy(stream) && any_blocking_capture(stream.device)) {
    for (const auto& capture : captures_) capture->invalidated = true;
    return cudaErrorStreamCaptureImplicit;
  }
  return process_.synchronise();
}

// --- capture
// --------------------------------------------------------------------------------------------------------

Status Streams::capture_operation(Stream& stream, Operation operation) {
  Capture& capture = *stream.capture;
  if (capture.invalidated) return cudaErrorStreamCaptureInvalidated;
  Graph* graph = process_.graphs.find(capture.graph);
  if (graph == nullptr) return cudaErrorStreamCaptureInvalidated;

  if (const auto* record = std::get_if<EventRecord>(&operation)) {
    Event* event = find_event(record->event);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    event->capture = stream.capture;
    event->dependencies = stream.dependencies;
    return kOk;
  }
  if (const auto* wait = std::get_if<EventWait>(&operation)) {
    const Event* event = find_event(wait->event);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    if (event->capture == nullptr) {
      if (!event->recorded) return kOk;
      capture.invalidated = true;
      return cudaErrorStreamCaptureIsolation;
    }
    if (event->capture != stream.capture) {
      capture.invalidated = true;
      return cudaErrorStreamCaptureMerge;
    }
    for (CUgraphNode node : event->dependencies) {
      auto& own = stream.dependencies;
      if (std::find(own.begin(), own.end(), node) == own.end()) own.push_back(node);
    }
    return kOk;
  }

  if (const auto* copy = std::get_if<Copy>(&operation)) {
    if (const Status s = process_.memory.check(*copy); s != kOk) return s;
  } else if (const auto* fill = std::get_if<Fill>(&operation)) {
    if (const Status s = process_.memory.check(*fill); s != kOk) return s;
  }
  CUgraphNode node = nullptr;
  const auto& before = stream.dependencies;
  if (const Status s = process_.graphs.add_node(*graph, before.data(), nullptr, before.size(),
                                                std::move(operation), &node);
      s != kOk) {
    capture.invalidated = true;
    return s;
  }
  stream.dependencies = {node};
  return kOk;
}

Status Streams::begin_capture(Stream& stream, CUstreamCaptureMode mode, CUgraph graph,
                              std::vector<CUgraphNode> dependencies) {
  if (is_legacy(stream)) return cudaErrorStreamCaptureUnsupported;
  if (stream.capture != nullptr) return cudaErrorIllegalState;
  if (mode != CU_STREAM_CAPTURE_MODE_GLOBAL && mode != CU_STREAM_CAPTURE_MODE_THREAD_LOCAL &&
      mode != CU_STREAM_CAPTURE_MODE_RELAXED) {
    return cudaErrorInvalidValue;
  }
  auto capture = std::make_shared<Capture>();
  capture->id = next_capture_++;
  capture->owns_graph = graph == nullptr;
  capture->graph = graph != nullptr ? graph : process_.graphs.create();
  capture->origin = &stream;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->streams = {&stream};
  stream.dependencies = std::move(dependencies);
  stream.capture = capture;
  captures_.push_back(std::move(capture));
  return kOk;
}

void Streams::leave_capture(Stream& stream) {
  const std::shared_ptr<Capture> capture = stream.capture;
  for (Stream* other : capture->streams) {
    other->capture = nullptr;
    other->dependencies.clear();
  }
  captures_.erase(std::remove(captures_.begin(), captures_.end(), capture), captures_.end());
  for (const auto& [handle, event] : events_.all()) {
    if (event->capture == capture) {
      event->capture = nullptr;
      event->dependencies.clear();
    }
  }
}

Status Streams::end_capture(Stream& stream, CUgraph* out) {
  *out = nullptr;
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture == nullptr) return cudaErrorIllegalState;
  if (capture->origin != &stream) {
    capture->invalidated = true;
    return cudaErrorStreamCaptureUnmatched;
  }
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != std::this_thread::get_id()) {
    return cudaErrorStreamCaptureWrongThread;
  }

  // Every stream that joined must have been joined back: its last nodes come before the origin's.
  std::set<CUgraphNode> reached(stream.dependencies.begin(), stream.dependencies.end());
  std::vector<CUgraphNode> open(reached.begin(), reached.end());
  while (!open.empty()) {
    const Node* node = process_.graphs.find_node(open.back());
    open.pop_back();
    if (node == nullptr) continue;
    for (const Edge& edge : node->dependencies) {
      if (reached.insert(edge.from).second) open.push_back(edge.from);
    }
  }
  const auto is_reached = [&](CUgraphNode node) { return reached.contains(node); };
  const bool joined = std::ranges::all_of(capture->left_behind, is_reached) &&
                      std::ranges::all_of(capture->streams, [&](const Stream* other) {
                        return std::ranges::all_of(other->dependencies, is_reached);
                      });

  const Status status = capture->invalidated ? cudaErrorStreamCaptureInvalidated
                        : joined             ? cudaSuccess
                                             : cudaErrorStreamCaptureUnjoined;
  leave_capture(stream);
  if (status == kOk) {
    *out = capture->graph;
  } else if (capture->owns_graph) {
    (void)process_.graphs.destroy(capture->graph);
  }
  return status;
}

Status Streams::forbid_while_capturing() {
  if (t_capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return kOk;
  bool forbidden = false;
  for (const auto& capture : captures_) {
    if (capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED) continue;
    const bool own = capture->thread == std::this_thread::get_id();
    const bool global =
        capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && t_capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!own && !global) continue;
    capture->invalidated = true;
    forbidden = true;
  }
  return forbidden ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

CUstreamCaptureMode Streams::exchange_mode(CUstreamCaptureMode mode) {
  return std::exchange(t_capture_mode, mode);
}

Status Streams::capture_status(const Stream& stream, CUstreamCaptureStatus* out) const {
  if (is_legacy(stream) && any_blocking_capture(stream.device)) return cudaErrorStreamCaptureImplicit;
  *out = stream.capture == nullptr     ? CU_STREAM_CAPTURE_STATUS_NONE
         : stream.capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                       : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return kOk;
}

}  // namespace sluice::cuda
