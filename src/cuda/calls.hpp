// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The frame of every entry point: export under the engine's name, agreement of the signature with NVIDIA's
// header, the lock, the sticky error, no exception across the C interface, the thread's last error.
//
// The engine exports `sluice_rt_X` for the runtime's X and `sluice_drv_X` for the driver's; the libraries
// that programs load jump there. A form that differs between runtime versions is `sluice_rt12_X`.
#pragma once

#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <cudaProfiler.h>

#include <exception>
#include <mutex>
#include <new>
#include <type_traits>

#include "cuda/errors.hpp"
#include "cuda/process.hpp"

#define SLUICE_EXPORT extern "C" __attribute__((visibility("default")))

/// Begins the definition of a runtime function with the signature of cuda_runtime_api.h.
#define SLUICE_RUNTIME(name, ...)                                                                     \
  SLUICE_EXPORT cudaError_t sluice_rt_##name(__VA_ARGS__);                                            \
  static_assert(std::is_same_v<decltype(sluice_rt_##name), decltype(::name)>, "signature of " #name); \
  cudaError_t sluice_rt_##name(__VA_ARGS__)

/// The same for a form that only the CUDA 12 runtime has; no header of CUDA 13 declares it.
#define SLUICE_RUNTIME_12(name, ...)                         \
  SLUICE_EXPORT cudaError_t sluice_rt12_##name(__VA_ARGS__); \
  cudaError_t sluice_rt12_##name(__VA_ARGS__)

/// Begins the definition of a driver function with the signature of cuda.h.
#define SLUICE_DRIVER(name, ...)                                                                       \
  SLUICE_EXPORT CUresult sluice_drv_##name(__VA_ARGS__);                                               \
  static_assert(std::is_same_v<decltype(sluice_drv_##name), decltype(::name)>, "signature of " #name); \
  CUresult sluice_drv_##name(__VA_ARGS__)

/// The same for a form that cuda.h does not declare (an older version of an entry point).
#define SLUICE_DRIVER_OLD(name, ...)                     \
  SLUICE_EXPORT CUresult sluice_drv_##name(__VA_ARGS__); \
  CUresult sluice_drv_##name(__VA_ARGS__)

namespace sluice::cuda {

/// What a call needs.
enum class Gate : uint8_t {
  Sticky,  ///< a context: returns a fault that has been shown; a runtime call makes the primary context
           ///< current
  Query,   ///< a device: works after a fault
  Open,    ///< nothing: works always (registration, queries of names, versions, the last error)
};

/// The calling thread's last runtime error.
Status& last_error();

/// While it lives, the calling thread runs a host function for a stream: no call that needs a device is
/// permitted, and the errors of those that try stay inside.
class InHostFunction {
 public:
  InHostFunction();
  ~InHostFunction();
  InHostFunction(const InHostFunction&) = delete;
  InHostFunction& operator=(const InHostFunction&) = delete;

 private:
  Status error_before_;
};

namespace detail {

/// Why no call with this gate works here and now; kOk if it does.
Status refusal(const Process& process, Gate gate);

void log_call(Process& process, const char* name, Status status);
Status report_exception(Process& process, const char* name, const char* what);

template <class Body>
Status guarded(const char* name, Gate gate, Body& body) {
  Process& process = Process::get();
  const std::lock_guard lock(process.mutex);
  Status status = refusal(process, gate);
  if (status == kOk) {
    try {
      status = body(process);
    } catch (const std::bad_alloc&) {
      status = cudaErrorMemoryAllocation;
    } catch (const std::exception& e) {
      status = report_exception(process, name, e.what());
    }
  }
  if (process.settings.verbosity >= 2) log_call(process, name, status);
  return status;
}

}  // namespace detail

/// Runs `body(Process&) -> Status` as the runtime function `name`. Without a device only calls with an open
/// gate work.
template <class Body>
cudaError_t runtime_call(const char* name, Body body, Gate gate = Gate::Sticky) {
  auto initialising = [&](Process& process) -> Status {
    if (gate != Gate::Open) {
      if (const Status s = process.start_runtime(); s != kOk) return s;
    }
    if (gate == Gate::Sticky && process.context_stack().empty())
      process.set_current_device(process.current_device());
    return body(process);
  };
  const Status status = detail::guarded(name, gate, initialising);
  if (status != kOk) last_error() = status;
  return static_cast<cudaError_t>(status);
}

/// Runs `body(Process&) -> Status` as the driver function `name`. Before cuInit, or a first runtime call,
/// only calls with an open gate work.
template <class Body>
CUresult driver_call(const char* name, Body body, Gate gate = Gate::Sticky) {
  auto initialised = [&](Process& process) -> Status {
    if (gate != Gate::Open && !process.driver_initialised) return cudaErrorInitializationError;
    return body(process);
  };
  return to_driver(detail::guarded(name, gate, initialised));
}

}  // namespace sluice::cuda
