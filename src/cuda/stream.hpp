// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams, events and stream capture.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "cuda/errors.hpp"
#include "cuda/handles.hpp"
#include "cuda/work.hpp"

namespace sluice::cuda {

struct Stream;

/// A capture under way: the graph that grows and the streams that take part.
struct Capture {
  uint64_t id = 0;
  CUgraph graph = nullptr;
  bool owns_graph = true;  ///< false for cudaStreamBeginCaptureToGraph
  Stream* origin = nullptr;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  bool invalidated = false;
  std::vector<Stream*> streams;
  std::vector<CUgraphNode> left_behind;  ///< last nodes of streams that were destroyed meanwhile
};

struct Stream {
  CUstream handle = nullptr;
  uint64_t id = 0;
  unsigned flags = 0;
  int priority = 0;
  int device = 0;
  std::shared_ptr<Capture> capture;       ///< null while nothing is captured
  std::vector<CUgraphNode> dependencies;  ///< what the next captured node depends on
  std::map<int, CUlaunchAttributeValue> attributes;
  /// Launches of the process when the stream's last work, a kernel, had run; 0 if its last work was another.
  uint64_t launches_at_kernel = 0;
};

struct Event {
  unsigned flags = 0;
  int device = 0;
  bool recorded = false;
  uint64_t time_ns = 0;                   ///< virtual clock at the recording
  std::shared_ptr<Capture> capture;       ///< the capture that recorded it last, if any
  std::vector<CUgraphNode> dependencies;  ///< what that recording stands for
};

class Process;

/// Every function expects the process's lock to be held.
class Streams {
 public:
  explicit Streams(Process& process) : process_(process) {}

  Status create(int device, unsigned flags, int priority, CUstream* out);
  Status destroy(CUstream handle);
  /// The stream of a handle; null, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD mean the current device's own
  /// streams. Null if the handle is not live.
  Stream* find(CUstream handle);
  static bool is_legacy(const Stream& stream) { return stream.handle == CU_STREAM_LEGACY; }

  Status create_event(unsigned flags, int device, CUevent* out);
  Status destroy_event(CUevent handle);
  Event* find_event(CUevent handle);

  /// Records the operation where the stream is being captured, else executes it. After a fault nothing is
  /// executed.
  Status submit(Stream& stream, Operation operation);
  /// The same for work that the host waits for: not allowed while capturing, and a synchronisation
  /// afterwards.
  Status submit_and_wait(Stream& stream, Operation operation);
  /// Waits for the stream (everything has been done already): shows a fault that happened. Not while
  /// capturing.
  Status synchronise(Stream& stream);

  Status begin_capture(Stream& stream, CUstreamCaptureMode mode, CUgraph graph,
                       std::vector<CUgraphNode> dependencies);
  Status end_capture(Stream& stream, CUgraph* out);
  /// For calls that a capture forbids, such as cudaMalloc under a global-mode capture: 900, and the capture
  /// is lost.
  Status forbid_while_capturing();
  bool is_capturing(const Stream& stream) const { return stream.capture != nullptr; }
  CUstreamCaptureMode exchange_mode(CUstreamCaptureMode mode);
  Status capture_status(const Stream& stream, CUstreamCaptureStatus* out) const;

 private:
  Status capture_operation(Stream& stream, Operation operation);
  /// Ends the stream's capture for all streams that take part.
  void leave_capture(Stream& stream);
  bool any_blocking_capture(int device) const;

  Process& process_;
  uint64_t next_id_ = 1;
  uint64_t next_capture_ = 1;
  HandleTable<Stream, HandleKind::Stream> streams_;
  HandleTable<Event, HandleKind::Event> events_;
  std::map<int, std::unique_ptr<Stream>> legacy_;
  std::map<std::pair<std::thread::id, int>, std::unique_ptr<Stream>> per_thread_;
  std::vector<std::shared_ptr<Capture>> captures_;  ///< under way
};

}  // namespace sluice::cuda
