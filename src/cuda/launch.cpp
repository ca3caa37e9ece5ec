// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Launch checks, filters, and the translation of the machine's faults into CUDA errors and diagnostics.
#include "cuda/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "base/host_clock.hpp"
#include "check/checker.hpp"
#include "cuda/checked_recording.hpp"
#include "cuda/crash_guard.hpp"
#include "cuda/device_queries.hpp"
#include "cuda/phases.hpp"
#include "cuda/process.hpp"
#include "event/places.hpp"
#include "timeline/recorder.hpp"

namespace sluice::cuda {
namespace {

using machine::FaultKind;

constexpr uint32_t kPortableCluster = 8;
constexpr int kAssumedRegisters = 32;

uint64_t volume(const uint32_t (&extent)[3]) {
  return uint64_t{extent[0]} * extent[1] * extent[2];
}

/// What a fault is called, on both sides: the CUDA error and the name of the finding.
struct FaultMeaning {
  FaultKind kind;
  Status status;
  const char* finding;
  report::Blame blame;
};

constexpr FaultMeaning kMeanings[] = {
    {FaultKind::IllegalAddress, cudaErrorIllegalAddress, "out-of-bounds", report::Blame::Program},
    {FaultKind::MisalignedAddress, cudaErrorMisalignedAddress, "misaligned-access", report::Blame::Program},
    {FaultKind::IllegalInstruction, cudaErrorIllegalInstruction, "device-trap", report::Blame::Program},
    {FaultKind::InvalidAddressSpace, cudaErrorInvalidAddressSpace, "out-of-bounds", report::Blame::Program},
    {FaultKind::HardwareStack, cudaErrorIllegalAddress, "out-of-bounds", report::Blame::Program},
    {FaultKind::Assert, cudaErrorAssert, "device-trap", report::Blame::Program},
    {FaultKind::Trap, cudaErrorLaunchFailure, "device-trap", report::Blame::Program},
    {FaultKind::LaunchFailure, cudaErrorLaunchFailure, "device-trap", report::Blame::Program},
    {FaultKind::Timeout, cudaErrorLaunchTimeout, "deadlock", report::Blame::Program},
    {FaultKind::Undecided, cudaErrorLaunchTimeout, "", report::Blame::Undecided},
    {FaultKind::NeedsData, cudaErrorNotSupported, "unsupported", report::Blame::Unsupported},
    {FaultKind::Unsupported, cudaErrorNotSupported, "unsupported", report::Blame::Unsupported},
};

const FaultMeaning& meaning_of(FaultKind kind) {
  const auto found = std::find_if(std::begin(kMeanings), std::end(kMeanings),
                                  [&](const FaultMeaning& meaning) { return meaning.kind == kind; });
  return found != std::end(kMeanings) ? *found : kMeanings[7];
}

const char* finding_of(const machine::Fault& fault) {
  return *fault.name != '\0' ? fault.name : meaning_of(fault.kind).finding;
}

// "file.cu:12" as a place; nothing where there is no line.
std::optional<report::Place> place_from(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon + 1 == text.size()) return std::nullopt;
  char* end = nullptr;
  const unsigned long line = std::strtoul(text.c_str() + colon + 1, &end, 10);
  if (*end != '\0' || line == 0) return std::nullopt;
  report::Place place;
  place.file = text.substr(0, colon);
  place.line = static_cast<uint32_t>(line);
  return place;
}

report::Diagnostic describe(Process& process, const Function& function, const machine::LaunchResult& result,
                            bool time_is_over) {
  const machine::Fault& fault = result.fault;
  const FaultMeaning& meaning = meaning_of(fault.kind);
  report::Diagnostic diagnostic;
  diagnostic.blame = time_is_over ? report::Blame::Undecided : meaning.blame;
  const bool undecided = diagnostic.blame == report::Blame::Undecided;
  diagnostic.level = undecided ? report::Level::Note : report::Level::Error;
  diagnostic.name = time_is_over ? "" : finding_of(fault);
  diagnostic.headline = time_is_over ? fmt::format("the kernel ran longer than the limit of {} s",
                                                   process.settings.timeout_seconds)
                                     : fault.message;
  if (undecided) diagnostic.headline = "not decided: " + diagnostic.headline;
  const std::string readable = event::readable(function.name);
  if (fault.kind == FaultKind::Timeout) {
    diagnostic.where = fmt::format("kernel `{}`", readable);
  } else {
    diagnostic.where = fmt::format("kernel `{}`, cta ({},{},{}), warp {} lane {}", readable, fault.cta[0],
                                   fault.cta[1], fault.cta[2], fault.warp, fault.lane);
    const std::string text = process.machine.place(*function.kernel, fault.function, fault.instruction);
    if (const auto place = place_from(text)) {
      diagnostic.places.push_back(*place);
    } else if (!text.empty()) {
      diagnostic.where = text + ", " + diagnostic.where;
    }
  }
  diagnostic.state = result.detail;
  while (!diagnostic.state.empty() && diagnostic.state.back() == '\n') diagnostic.state.pop_back();
  diagnostic.why = fault.why;
  if (fault.kind == FaultKind::NeedsData) {
    diagnostic.help = "this says nothing about your program; run it without `--no-data`";
  } else if (meaning.blame == report::Blame::Unsupported) {
    diagnostic.help =
        "this says nothing about your program; `sluice isa --missing` lists what the engine does not execute";
  } else {
    diagnostic.notes.push_back(
        fmt::format("the synchronising call returns {} to the program", runtime_error_name(meaning.status)));
  }
  diagnostic.unit = "times";
  return diagnostic;
}

/// Tells what the checkers have found in the launch. True if that explains its fault too.
bool tell_findings(Process& process, const machine::Fault& fault) {
  if (process.checker == nullptr) return false;
  const FaultMeaning& meaning = meaning_of(fault.kind);
  const bool is_finding = fault.kind != FaultKind::None && fault.kind != FaultKind::Timeout &&
                          meaning.blame == report::Blame::Program;
  if (is_finding) {
    process.checker->add_fault(finding_of(fault), fault.message, fault.origin,
                               fmt::format("cta ({},{},{}), warp {} lane {}", fault.cta[0], fault.cta[1],
                                           fault.cta[2], fault.warp, fault.lane));
  }
  const bool has_error = process.checker->has_error();
  std::vector<report::Diagnostic> findings = process.checker->take();
  if (has_error && fault.kind != FaultKind::None) {
    report::Diagnostic& cause = findings.front();
    const bool is_cause = fault.kind == FaultKind::Timeout || cause.headline == fault.message;
    if (!is_cause) cause.notes.push_back(fmt::format("the launch then fails: {}", fault.message));
    cause.notes.push_back(
        fmt::format("the synchronising call returns {} to the program", runtime_error_name(meaning.status)));
  }
  for (const report::Diagnostic& finding : findings) process.channel.say(finding);
  return has_error;
}

void refuse(Process& process, Function& function) {
  ++process.channel.counters().refused_launches;
  if (function.refusal && !function.refusal_said) process.channel.say(*function.refusal);
  function.refusal_said = true;
}

bool selected_by_name(const Settings& settings, const std::string& name) {
  const auto matches = [&](const std::string& pattern) { return kernel_name_matches(pattern, name); };
  const auto& only = settings.kernel_names;
  const auto& excluded = settings.excluded_kernel_names;
  if (std::any_of(excluded.begin(), excluded.end(), matches)) return false;
  return only.empty() || std::any_of(only.begin(), only.end(), matches);
}

// Whether the command line wants this launch to run.
bool is_selected(Process& process, const Function& function) {
  const Settings& settings = process.settings;
  if (!selected_by_name(settings, function.name)) return false;
  const uint64_t ordinal = process.launches_matched++;
  return ordinal >= settings.launch_skip && ordinal - settings.launch_skip < settings.launch_count;
}

Status check_cluster(const Process& process, const Function& function, const KernelCall& call, bool given) {
  const auto& required = function.required_cluster;
  const bool is_required = required[0] != 0;
  if (is_required && given &&
      !std::equal(std::begin(required), std::end(required), std::begin(call.cluster))) {
    return cudaErrorInvalidClusterSize;
  }
  const uint64_t ctas = volume(call.cluster);
  const uint64_t limit =
      function.non_portable_cluster ? process.machine.limits().max_cluster : kPortableCluster;
  if (ctas == 0 || ctas > limit) return cudaErrorInvalidClusterSize;
  for (int i = 0; i < 3; ++i) {
    if (call.grid[i] % call.cluster[i] != 0) return cudaErrorInvalidClusterSize;
  }
  return kOk;
}

Status gather_parameters(const machine::Kernel& kernel, void** arguments, void** extra,
                         std::vector<uint8_t>* out) {
  out->assign(kernel.parameter_bytes, 0);
  if (extra != nullptr) {
    const void* buffer = nullptr;
    size_t bytes = 0;
    for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
      if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
        buffer = extra[i + 1];
      } else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) {
        bytes = *static_cast<const size_t*>(extra[i + 1]);
      } else {
        return cudaErrorInvalidValue;
      }
    }
    if (buffer == nullptr || bytes < kernel.parameter_bytes) return cudaErrorInvalidValue;
    std::memcpy(out->data(), buffer, kernel.parameter_bytes);
    return kOk;
  }
  if (!kernel.parameters.empty() && arguments == nullptr) return cudaErrorInvalidValue;
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const machine::KernelParameter& parameter = kernel.parameters[i];
    if (arguments[i] == nullptr) return cudaErrorInvalidValue;
    std::memcpy(out->data() + parameter.offset, arguments[i], parameter.bytes);
  }
  return kOk;
}

}  // namespace

KernelResources resources_of(const Function& function, int threads, uint64_t dynamic_shared) {
  const machine::Kernel& kernel = *function.kernel;
  const int registers = kernel.registers == 0 ? kAssumedRegisters : static_cast<int>(kernel.registers);
  return {threads, registers, kernel.static_shared + dynamic_shared};
}

uint32_t default_dynamic_shared(const Process& process, const Function& function) {
  const auto limit =
      static_cast<uint32_t>(process.profile.limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
  const uint32_t used = function.kernel == nullptr ? 0 : function.kernel->static_shared;
  return used < limit ? limit - used : 0;
}

Status prepare_launch(Process& process, Function& function, const LaunchShape& shape, void** arguments,
                      void** extra, KernelCall* out) {
  out->function = function.handle;
  if (function.kernel == nullptr) {
    if (!selected_by_name(process.settings, function.name)) return kOk;  // it will not run
    refuse(process, function);
    return cudaErrorNotSupported;
  }
  const machine::Kernel& kernel = *function.kernel;
  std::copy(std::begin(shape.grid), std::end(shape.grid), out->grid);
  std::copy(std::begin(shape.block), std::end(shape.block), out->block);
  out->cooperative = shape.cooperative;

  // Attributes of the launch.
  bool cluster_given = false;
  for (size_t i = 0; i < shape.attribute_count; ++i) {
    const CUlaunchAttribute& attribute = shape.attributes[i];
    switch (attribute.id) {
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        out->cluster[0] = attribute.value.clusterDim.x;
        out->cluster[1] = attribute.value.clusterDim.y;
        out->cluster[2] = attribute.value.clusterDim.z;
        cluster_given = true;
        break;
      case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        out->cooperative = attribute.value.cooperative != 0;
        break;
      case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        out->priority = attribute.value.priority;
        break;
      case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        if (attribute.value.deviceUpdatableKernelNode.deviceUpdatable != 0) return cudaErrorNotSupported;
        break;
      default:
        break;  // hints, and orders that running launches one after the other satisfies
    }
    out->attributes.push_back(attribute);
  }

  // Extents.
  const DeviceProfile& device = process.profile;
  constexpr CUdevice_attribute kGrid[] = {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
                                          CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                                          CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z};
  constexpr CUdevice_attribute kBlock[] = {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
                                           CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                                           CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z};
  for (int i = 0; i < 3; ++i) {
    const bool grid_fits =
        shape.grid[i] != 0 && shape.grid[i] <= static_cast<uint32_t>(device.limit(kGrid[i]));
    const bool block_fits =
        shape.block[i] != 0 && shape.block[i] <= static_cast<uint32_t>(device.limit(kBlock[i]));
    if (!grid_fits || !block_fits) return cudaErrorInvalidValue;  // as the driver of an H200 answers
  }
  const uint64_t threads = volume(shape.block);
  if (threads > static_cast<uint64_t>(device.limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK))) {
    return cudaErrorInvalidValue;
  }
  const auto& required = kernel.directives.reqntid;
  if (required[0] != 0 && !std::equal(required.begin(), required.end(), std::begin(shape.block))) {
    return cudaErrorInvalidValue;
  }
  if (threads > kernel.max_threads()) return cudaErrorInvalidValue;

  // Clusters.
  if (!cluster_given) {
    const bool is_required = function.required_cluster[0] != 0;
    for (int i = 0; i < 3; ++i) out->cluster[i] = is_required ? function.required_cluster[i] : 1;
  }
  if (const Status s = check_cluster(process, function, *out, cluster_given); s != kOk) return s;

  // Resources.
  if (shape.dynamic_shared >
      std::max(function.max_dynamic_shared, default_dynamic_shared(process, function))) {
    return out->cooperative ? cudaErrorCooperativeLaunchTooLarge : cudaErrorInvalidValue;
  }
  out->dynamic_shared = shape.dynamic_shared;
  const KernelResources resources = resources_of(function, static_cast<int>(threads), shape.dynamic_shared);
  const int fitting = ctas_per_multiprocessor(device, resources);
  if (fitting == 0) return cudaErrorLaunchOutOfResources;
  if (out->cooperative) {
    const uint64_t resident =
        volume(out->cluster) > 1
            ? active_clusters(device, resources, static_cast<int>(volume(out->cluster))) *
                  volume(out->cluster)
            : uint64_t(fitting) * device.limit(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    if (volume(shape.grid) > resident) return cudaErrorCooperativeLaunchTooLarge;
  }
  return gather_parameters(kernel, arguments, extra, &out->parameters);
}

namespace {

Result<machine::LaunchResult> guarded_launch(Process& process, Function& function,
                                             const machine::LaunchRequest& request) {
  Counters& counters = process.channel.counters();
  if (function.readable.empty()) function.readable = event::readable(function.name);
  counters.kernel[function.readable.copy(counters.kernel, sizeof counters.kernel - 1)] = '\0';
  const CrashGuard guard(counters.crash);
  return process.machine.launch(request);
}

/// Clusters run as a whole; says so where more CTAs ran than the command line named.
void say_whole_clusters(Process& process, const machine::LaunchStatistics& statistics) {
  if (statistics.ctas_added == 0) return;
  report::Diagnostic diagnostic;
  diagnostic.level = report::Level::Note;
  diagnostic.blame = report::Blame::Nobody;
  diagnostic.headline = "`--ctas` names a part of a cluster; the whole cluster runs";
  diagnostic.unit = "launches";
  process.channel.say(diagnostic);
}

}  // namespace

Status run_kernel(Process& process, const KernelCall& call, bool overlaps_previous) {
  Function* function = process.code.find(call.function);
  if (function == nullptr) return cudaErrorInvalidResourceHandle;
  if (process.faulted()) return kOk;
  Counters& counters = process.channel.counters();
  if (!is_selected(process, *function)) {
    ++counters.skipped_launches;
    return kOk;
  }
  if (function->kernel == nullptr) return cudaErrorInvalidResourceHandle;

  const Settings& settings = process.settings;
  machine::LaunchRequest request;
  request.kernel = function->kernel;
  std::copy(std::begin(call.grid), std::end(call.grid), request.grid);
  std::copy(std::begin(call.block), std::end(call.block), request.block);
  std::copy(std::begin(call.cluster), std::end(call.cluster), request.cluster);
  request.dynamic_shared = call.dynamic_shared;
  request.parameters = call.parameters;
  request.cooperative = call.cooperative;
  request.overlaps_previous = overlaps_previous;
  request.options.timing = settings.copies == "late"       ? machine::CopyTiming::Late
                           : settings.copies == "shuffled" ? machine::CopyTiming::Shuffled
                                                           : machine::CopyTiming::Early;
  request.options.seed = settings.seed;
  request.options.perturb = settings.perturb;
  request.options.hasty_waits = settings.hasty_waits;
  request.options.side_by_side = settings.side_by_side;
  request.options.no_data = settings.no_data;
  request.options.follow_definedness = process.machine.memory().defined() != nullptr;
  request.options.undefined_is_error = settings.uninit == "error";
  request.options.workers = settings.workers;
  request.options.timeout_seconds = settings.timeout_seconds;
  request.options.ctas = settings.ctas;
  size_t heap_bytes = 0;
  (void)device_limit(process, CU_LIMIT_MALLOC_HEAP_SIZE, &heap_bytes);
  request.options.heap_bytes = heap_bytes;
  request.options.record_phases = !settings.phases_file.empty();
  request.listener = process.listener();
  std::mutex print_mutex;
  request.print = [&](std::string_view text) {
    const std::lock_guard lock(print_mutex);
    process.print(text);
  };

  const uint64_t started = host_clock_ns();
  counters.launch_started_ns = started;
  auto result = guarded_launch(process, *function, request);
  counters.launch_started_ns = 0;
  const double seconds = static_cast<double>(host_clock_ns() - started) * 1e-9;
  if (!result) {
    report::Diagnostic diagnostic;
    diagnostic.blame = report::Blame::Internal;
    diagnostic.headline = "internal error: " + result.error().text();
    diagnostic.where = fmt::format("kernel `{}`", event::readable(function->name));
    process.channel.say(diagnostic);
    return cudaErrorLaunchOutOfResources;
  }

  if (request.options.record_phases)
    append_phases(settings.phases_file, process.launch_ordinal, function->name, *result);
  ++counters.kernels;
  counters.ctas_run += result->statistics.ctas_run;
  counters.ctas_left_out += result->statistics.ctas_skipped;
  say_whole_clusters(process, result->statistics);
  // MODEL: a launch takes 2 us and the device retires one warp instruction per scheduler and ns.
  constexpr uint64_t kSchedulers = 4 * 132;
  process.clock_ns += 2000 + result->statistics.warp_instructions / kSchedulers;
  if (settings.verbosity >= 1) {
    process.channel.log(
        fmt::format("launch {}: {} grid ({},{},{}) block ({},{},{}) cluster ({},{},{}): {} thread "
                    "instructions in {:.3f} s",
                    process.launch_ordinal, event::readable(function->name), call.grid[0], call.grid[1],
                    call.grid[2], call.block[0], call.block[1], call.block[2], call.cluster[0],
                    call.cluster[1], call.cluster[2], result->statistics.thread_instructions, seconds));
  }
  ++process.launch_ordinal;
  const bool explained = tell_findings(process, result->fault);
  if (process.checked_recording != nullptr) process.checked_recording->finish(result->fault, request);
  if (process.recorder != nullptr) process.recorder->finish();
  if (result->fault.kind == FaultKind::None) return kOk;

  const bool time_is_over = result->fault.kind == FaultKind::Timeout && settings.timeout_seconds > 0 &&
                            seconds >= settings.timeout_seconds;
  if (!explained || time_is_over) process.channel.say(describe(process, *function, *result, time_is_over));
  process.fault(meaning_of(result->fault.kind).status);
  return kOk;
}

}  // namespace sluice::cuda
