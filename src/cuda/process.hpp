// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The one engine in a process. libcudart and libcuda, of whatever version, are thin layers over it, so that
// memory, streams and errors are shared as they are on a GPU. Created at the first call, never destroyed
// (programs call the runtime from their own destructors).
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda/channel.hpp"
#include "cuda/code.hpp"
#include "cuda/device_profile.hpp"
#include "cuda/errors.hpp"
#include "cuda/graph.hpp"
#include "cuda/handles.hpp"
#include "cuda/memory.hpp"
#include "cuda/settings.hpp"
#include "cuda/stream.hpp"
#include "machine/device.hpp"

namespace sluice::check {
class Checker;
}
namespace sluice::timeline {
class Recorder;
}

namespace sluice::cuda {

/// A driver context: the primary one of a device, or one that the program made.
struct Context {
  CUcontext handle = nullptr;
  int device = 0;
  unsigned flags = 0;
  bool primary = false;
  int retained = 0;
};

/// A pool of stream-ordered memory. Freed memory goes back at once, whatever the release threshold says.
struct Pool {
  CUmemoryPool handle = nullptr;
  int device = 0;
  uint64_t release_threshold = 0;
  uint64_t used_high = 0, reserved_high = 0;
  std::map<int, uint64_t> attributes;
};

class CheckedRecording;

class Process {
 public:
  static Process& get();

  std::recursive_mutex mutex;  ///< held by every call; see Call in calls.hpp
  Settings settings;
  Channel channel;
  DeviceProfile profile;
  std::vector<int> visible;  ///< the devices that the program sees
  machine::Device machine;
  std::unique_ptr<check::Checker> checker;       ///< of `sluice check`, and of a timeline that is checked
  std::unique_ptr<timeline::Recorder> recorder;  ///< of `sluice timeline`, else null
  std::unique_ptr<CheckedRecording> checked_recording;  ///< where there are both
  /// Who hears the events of launches; null: nobody.
  event::Sink* listener() const;
  Memory memory;
  Code code;
  Streams streams;
  Graphs graphs;
  HandleTable<Context, HandleKind::Context> contexts;
  HandleTable<Pool, HandleKind::Pool> pools;

  std::set<std::pair<int, int>> peers;  ///< (device, peer) that may reach each other
  bool driver_initialised = false;
  uint64_t clock_ns = 0;  ///< virtual time: the sum of modelled durations
  uint64_t launches_matched = 0;
  uint64_t launch_ordinal = 0;

  // --- the life of the process
  // ------------------------------------------------------------------------------------------------------
  /// Whether this is a child of fork whose parent had used the device: it cannot.
  bool is_forked() const { return forked_; }
  /// Before every runtime call that needs a device. The runtime ends with the process, in the order in which
  /// exit handlers run: what ends later finds it unloading.
  Status start_runtime();

  // --- faults
  // ------------------------------------------------------------------------------------------------------
  /// A kernel failed; the next synchronising call returns the code, and so does every call after it.
  void fault(Status status) {
    if (pending_fault_ == kOk) pending_fault_ = status;
  }
  bool faulted() const { return pending_fault_ != kOk; }
  Status sticky() const { return sticky_; }
  /// Waits for all work: hands out what kernels printed, and shows a fault that happened.
  Status synchronise();
  /// Gives back what the device's primary context holds. After a fault the process gets no new context, as on
  /// an H200.
  Status reset(int device);

  // --- output
  // ------------------------------------------------------------------------------------------------------
  /// Collects what kernels print until the next synchronisation, as a GPU's buffer does. `text` is what one
  /// call of printf or one failed assert made: the first goes to stdout, the second to stderr.
  void print(std::string_view text);
  void flush_printed();
  /// Reports a call that exists but does nothing, once per name.
  void say_unimplemented(std::string_view call, std::string_view detail = {});

  // --- devices and contexts
  // ------------------------------------------------------------------------------------------
  int device_count() const { return static_cast<int>(visible.size()); }
  bool has_device(int device) const { return device >= 0 && device < device_count(); }
  /// Of the calling thread; device 0 where it has chosen none.
  int current_device();
  void set_current_device(int device);
  Context* primary_context(int device);
  std::vector<CUcontext>& context_stack();
  CUmemoryPool default_pool(int device);
  CUmemoryPool current_pool(int device);
  void set_current_pool(int device, CUmemoryPool pool) { current_pools_[device] = pool; }
  std::map<int, uint64_t>& limits(int device) { return limits_[device]; }

 private:
  Process();
  ~Process();  // never called

  /// In the child, after fork: none of the parent's threads is here, whatever they were doing.
  void after_fork();

  bool forked_ = false;
  bool runtime_started_ = false, runtime_ended_ = false;
  Status pending_fault_ = kOk;
  Status sticky_ = kOk;
  std::string printed_, asserted_;
  std::set<std::string, std::less<>> said_;
  std::map<int, CUcontext> primaries_;
  std::map<int, CUmemoryPool> default_pools_, current_pools_;
  std::map<int, std::map<int, uint64_t>> limits_;
};

}  // namespace sluice::cuda
