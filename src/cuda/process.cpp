// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The process's engine: construction from the settings, synchronisation, devices and contexts.
#include "cuda/process.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "base/lifetime.hpp"
#include "check/checker.hpp"
#include "cuda/checked_recording.hpp"
#include "cuda/visible_devices.hpp"
#include "timeline/recorder.hpp"

namespace sluice::cuda {
namespace {

thread_local int t_device = 0;

std::vector<CUcontext>& contexts_of_this_thread() {
  static const PerThread<std::vector<CUcontext>> contexts;
  return *contexts;
}

Process* g_process = nullptr;

Settings settings_of_this_process() {
  const char* text = std::getenv(kSettingsVariable);
  if (text == nullptr) return {};
  auto settings = settings_from_json_text(text);
  if (settings) return *std::move(settings);
  std::fprintf(stderr, "sluice: %s; running with defaults\n", settings.error().text().c_str());
  return {};
}

machine::DeviceLimits machine_limits(const DeviceProfile& profile, int devices) {
  const auto number = [&](CUdevice_attribute a) { return static_cast<uint32_t>(profile.limit(a)); };
  machine::DeviceLimits limits;
  // All devices share the arena; each one's capacity is counted in Memory. Managed and pinned memory come on
  // top.
  limits.memory_bytes = profile.total_memory() * (static_cast<uint64_t>(devices) + 1);
  limits.multiprocessors = number(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  limits.threads_per_multiprocessor = number(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  limits.ctas_per_multiprocessor = number(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  limits.registers_per_multiprocessor = number(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  limits.shared_per_multiprocessor = number(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  limits.shared_per_cta = number(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  return limits;
}

// What kernels printed after the last synchronisation goes out before the program's streams are closed.
__attribute__((destructor)) void flush_at_exit() {
  if (g_process != nullptr) g_process->flush_printed();
}

}  // namespace

Process& Process::get() {
  static Process* const process = g_process = new Process();
  return *process;
}

Process::Process()
    : settings(settings_of_this_process()),
      channel(settings.report_directory),
      profile(DeviceProfile::named(settings.device).value_or(*DeviceProfile::named("h200"))),
      visible(visible_devices(std::getenv("CUDA_VISIBLE_DEVICES"), settings.device_count, profile)),
      machine(machine_limits(profile, settings.device_count)),
      memory(machine.memory(), profile.total_memory(), settings.device_count),
      code(*this),
      streams(*this),
      graphs(*this) {
  machine.set_kernel_options(
      {.lazy_unsupported = settings.lazy_unsupported, .without_data = settings.no_data});
  pthread_atfork(nullptr, nullptr, [] { get().after_fork(); });
  if (settings.tool == "check" || settings.checked_timeline) {
    checker = std::make_unique<check::Checker>();
    if (settings.uninit != "off" && !settings.no_data) machine.memory().follow_definedness();
  }
  if (!settings.trace_folder.empty()) {
    recorder = std::make_unique<timeline::Recorder>(timeline::RecorderOptions{
        .file = fmt::format("{}/{}.trace", settings.trace_folder, getpid()), .ctas = settings.traced_ctas});
    if (checker != nullptr) checked_recording = std::make_unique<CheckedRecording>(*checker, *recorder);
  }
  if (machine.memory().ready()) return;
  report::Diagnostic diagnostic;
  diagnostic.blame = report::Blame::Internal;
  diagnostic.headline = "internal error: the address range of device memory cannot be reserved";
  diagnostic.why =
      "something else in this process lies there, or the limit on address space (ulimit -v) is too small";
  diagnostic.help = "raise the limit; every allocation fails until then";
  channel.say(diagnostic);
}

Process::~Process() = default;

event::Sink* Process::listener() const {
  if (checked_recording != nullptr) return checked_recording.get();
  return recorder != nullptr ? static_cast<event::Sink*>(recorder.get()) : checker.get();
}

void Process::after_fork() {
  new (&mutex) std::recursive_mutex;
  forked_ = driver_initialised;
  // The parent prints what its kernels have printed.
  printed_.clear();
  asserted_.clear();
}

Status Process::start_runtime() {
  if (runtime_ended_) return cudaErrorCudartUnloading;
  if (device_count() == 0) return cudaErrorNoDevice;
  driver_initialised = true;
  if (!std::exchange(runtime_started_, true)) std::atexit([] { get().runtime_ended_ = true; });
  return kOk;
}

Status Process::synchronise() {
  flush_printed();
  sticky_ = pending_fault_;
  return sticky_;
}

Status Process::reset(int device) {
  const bool shown = sticky_ != kOk;
  const Status status = synchronise();
  if (status == kOk) {
    code.reset(device);
    memory.reset(device);
    return kOk;
  }
  pending_fault_ = sticky_ = cudaErrorDevicesUnavailable;
  return shown ? kOk : status;
}

void Process::print(std::string_view text) {
  // The machine words a failed assert as the driver does.
  const bool is_assert = text.find(": block: [") != std::string_view::npos &&
                         text.find("] Assertion `") != std::string_view::npos;
  (is_assert ? asserted_ : printed_) += text;
}

void Process::flush_printed() {
  std::fwrite(printed_.data(), 1, printed_.size(), stdout);
  std::fwrite(asserted_.data(), 1, asserted_.size(), stderr);
  printed_.clear();
  asserted_.clear();
}

void Process::say_unimplemented(std::string_view call, std::string_view detail) {
  if (!said_.emplace(call).second) return;
  report::Diagnostic diagnostic;
  diagnostic.level = report::Level::Note;
  diagnostic.blame = report::Blame::Nobody;
  diagnostic.name = "unsupported-call";
  diagnostic.headline =
      fmt::format("the engine does not implement `{}`; the call returned \"operation not supported\"", call);
  diagnostic.why = detail;
  channel.say(diagnostic);
}

int Process::current_device() {
  const auto& stack = context_stack();
  if (!stack.empty()) {
    if (const Context* context = contexts.find(stack.back())) return context->device;
  }
  return t_device;
}

void Process::set_current_device(int device) {
  t_device = device;
  const CUcontext primary = primary_context(device)->handle;
  // The runtime replaces the thread's current context.
  auto& stack = context_stack();
  if (stack.empty()) {
    stack.push_back(primary);
  } else {
    stack.back() = primary;
  }
}

Context* Process::primary_context(int device) {
  CUcontext& handle = primaries_[device];
  if (handle == nullptr) {
    auto context = std::make_unique<Context>();
    context->device = device;
    context->primary = true;
    Context* raw = context.get();
    raw->handle = handle = contexts.add<CUcontext>(std::move(context));
  }
  return contexts.find(handle);
}

std::vector<CUcontext>& Process::context_stack() {
  return contexts_of_this_thread();
}

CUmemoryPool Process::default_pool(int device) {
  CUmemoryPool& handle = default_pools_[device];
  if (handle == nullptr) {
    auto pool = std::make_unique<Pool>();
    pool->device = device;
    Pool* raw = pool.get();
    raw->handle = handle = pools.add<CUmemoryPool>(std::move(pool));
  }
  return handle;
}

CUmemoryPool Process::current_pool(int device) {
  const auto it = current_pools_.find(device);
  return it != current_pools_.end() && pools.find(it->second) != nullptr ? it->second : default_pool(device);
}

}  // namespace sluice::cuda
