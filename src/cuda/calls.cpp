// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What all entry points share.
#include "cuda/calls.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace sluice::cuda {
namespace {

thread_local Status t_last_error = kOk;
thread_local bool t_in_host_function = false;

}  // namespace

Status& last_error() {
  return t_last_error;
}

InHostFunction::InHostFunction() : error_before_(std::exchange(t_last_error, kOk)) {
  t_in_host_function = true;
}

InHostFunction::~InHostFunction() {
  t_in_host_function = false;
  t_last_error = error_before_;
}

Status detail::refusal(const Process& process, Gate gate) {
  if (gate == Gate::Open) return kOk;
  if (process.is_forked()) return cudaErrorInitializationError;
  if (t_in_host_function) return cudaErrorNotPermitted;
  return gate == Gate::Sticky ? process.sticky() : kOk;
}

void detail::log_call(Process& process, const char* name, Status status) {
  const char* result = runtime_error_name(status);
  process.channel.log(fmt::format("call {}: {}", name, result != nullptr ? result : std::to_string(status)));
}

Status detail::report_exception(Process& process, const char* name, const char* what) {
  report::Diagnostic diagnostic;
  diagnostic.blame = report::Blame::Internal;
  diagnostic.headline = fmt::format("internal error in {}: {}", name, what);
  diagnostic.help = "please report it, with the program if you can";
  process.channel.say(diagnostic);
  return cudaErrorUnknown;
}

}  // namespace sluice::cuda

// What the libraries call for a function that the engine does not implement. The caller's arguments are not
// looked at.
SLUICE_EXPORT cudaError_t sluice_rt_unsupported(const char* name) {
  return sluice::cuda::runtime_call(name, [&](sluice::cuda::Process& process) {
    process.say_unimplemented(name);
    return cudaErrorNotSupported;
  });
}

SLUICE_EXPORT CUresult sluice_drv_unsupported(const char* name) {
  return sluice::cuda::driver_call(
      name,
      [&](sluice::cuda::Process& process) {
        process.say_unimplemented(name);
        return cudaErrorNotSupported;
      },
      sluice::cuda::Gate::Open);
}
