// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// One kernel from a file: memory is made and filled, the kernel launched through the engine's own calls,
// results written.
#include "cli/launch_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "cli/input_file.hpp"
#include "cli/launch_arguments.hpp"
#include "cli/launch_memory.hpp"
#include "cli/launch_plan.hpp"
#include "cli/launch_spec.hpp"
#include "cuda/launch.hpp"
#include "cuda/process.hpp"
#include "ptx/ast.hpp"

namespace sluice::cli {
namespace {

constexpr uint64_t kMostPtx = uint64_t{1} << 29, kMostSpec = uint64_t{1} << 24;
constexpr int kFailed = 1;

// "a, b, c", or the first of them.
std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kListed = 10;
  if (names.empty()) return "none";
  const size_t shown = std::min(names.size(), kListed);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<long>(shown), ", "));
  return shown == names.size() ? text : fmt::format("{} and {} more", text, names.size() - shown);
}

/// The launch being made. Errors are about the files.
class FileLaunch {
 public:
  FileLaunch(cuda::Process& process, const LaunchSpec& spec) : process_(process), spec_(spec) {}

  /// Runs, or plans, the launch. Returns the exit status.
  Result<int> run(ptx::Module module, bool dry_run);

 private:
  Result<cuda::Status> load(ptx::Module module, CUmodule* out);
  Result<cuda::Function*> find_kernel(CUmodule module, const std::string& file);
  Result<void> make_buffers();
  Result<int> deliver();

  cuda::Process& process_;
  const LaunchSpec& spec_;
  BufferMemory buffers_;
};

Result<cuda::Status> FileLaunch::load(ptx::Module module, CUmodule* out) {
  std::vector<ptx::Module> modules;
  modules.push_back(std::move(module));
  cuda::LoadFailure failure;
  const cuda::Status status = process_.code.load_modules(std::move(modules), 0, out, &failure);
  if (status == cuda::kOk || !failure.diagnostic) return status;
  if (failure.diagnostic->blame == report::Blame::Program) return Error{failure.log, ""};
  process_.channel.say(*failure.diagnostic);
  return status;
}

Result<cuda::Function*> FileLaunch::find_kernel(CUmodule handle, const std::string& file) {
  std::vector<cuda::Function*> all, named;
  std::vector<std::string> names;
  for (CUfunction candidate : process_.code.find_module(handle)->functions) {
    all.push_back(process_.code.find(candidate));
    names.push_back(all.back()->name);
    if (cuda::kernel_name_matches(spec_.kernel, names.back())) named.push_back(all.back());
  }
  if (spec_.kernel.empty() && all.size() == 1) return all.front();
  if (spec_.kernel.empty()) {
    return Error{fmt::format("which kernel? the member 'kernel' must name one of those in '{}': {}", file,
                             listed(names)),
                 spec_.kernel_place};
  }
  if (named.size() == 1) return named.front();
  return Error{fmt::format("{} of the kernels in '{}' are called '{}'; there are: {}",
                           named.empty() ? "none" : "several", file, spec_.kernel, listed(names)),
               spec_.kernel_place};
}

Result<void> FileLaunch::make_buffers() {
  for (const BufferSpec& buffer : spec_.buffers) {
    void* memory = nullptr;
    if (process_.memory.allocate(buffer.bytes(), cuda::Origin::Device, 0, 0, &memory) != cuda::kOk) {
      return Error{fmt::format("the buffer needs {} bytes, the device has {} left", buffer.bytes(),
                               process_.memory.capacity() - process_.memory.used(0)),
                   buffer.place};
    }
    buffers_[buffer.name] = static_cast<uint8_t*>(memory);
    SLUICE_TRY(fill_buffer(buffer, buffers_[buffer.name]));
  }
  return {};
}

Result<int> FileLaunch::deliver() {
  int status = 0;
  for (const BufferSpec& buffer : spec_.buffers) {
    SLUICE_ASSIGN_OR_RETURN(const Delivery delivery, deliver_buffer(buffer, buffers_[buffer.name]));
    if (const int failed = print_out(delivery.text); failed != 0) return failed;
    if (!delivery.equal) status = kFailed;
  }
  return status;
}

Result<int> FileLaunch::run(ptx::Module module, bool dry_run) {
  const std::string file = module.name;
  CUmodule handle = nullptr;
  SLUICE_ASSIGN_OR_RETURN(const cuda::Status loaded, load(std::move(module), &handle));
  if (loaded != cuda::kOk) return kFailed;
  SLUICE_ASSIGN_OR_RETURN(cuda::Function* const function, find_kernel(handle, file));
  SLUICE_TRY(make_buffers());
  if (process_.code.prepare(*function) != cuda::kOk) return kFailed;
  SLUICE_ASSIGN_OR_RETURN(auto values, argument_values(spec_, buffers_));
  if (function->kernel != nullptr) {
    SLUICE_TRY(check_arguments(spec_, values, function->kernel->parameters));
    SLUICE_TRY(check_shape(process_.profile, *function, spec_));
  }

  // The file may ask for as much shared memory and as large a cluster as the device has.
  function->max_dynamic_shared =
      static_cast<uint32_t>(process_.profile.limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  function->non_portable_cluster = true;
  cuda::LaunchShape shape;
  std::copy(std::begin(spec_.grid), std::end(spec_.grid), shape.grid);
  std::copy(std::begin(spec_.block), std::end(spec_.block), shape.block);
  shape.dynamic_shared = spec_.shared;
  shape.cooperative = spec_.cooperative;
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {spec_.cluster[0], spec_.cluster[1], spec_.cluster[2]};
  if (spec_.cluster[0] != 0) {
    shape.attributes = &cluster;
    shape.attribute_count = 1;
  }
  std::vector<void*> pointers;
  for (std::vector<uint8_t>& bytes : values) pointers.push_back(bytes.data());
  cuda::KernelCall call;
  const cuda::Status checked =
      cuda::prepare_launch(process_, *function, shape, pointers.data(), nullptr, &call);
  if (checked == cudaErrorNotSupported) return kFailed;  // which is said
  if (checked != cuda::kOk) {
    return Error{fmt::format("the launch is refused: {} ({})", cuda::error_text(checked),
                             cuda::runtime_error_name(checked)),
                 spec_.place};
  }
  if (dry_run) return print_out(launch_plan(process_, *function, spec_, call, file));
  if (cuda::run_kernel(process_, call) != cuda::kOk || process_.synchronise() != cuda::kOk) return kFailed;
  return deliver();
}

// The exit status of the process.
int run_launch(const LaunchFiles& files, bool dry_run) {
  const auto wrong_file = [](const Error& error) { return input_error(error.text()); };
  const auto spec = parse_launch_spec(files.spec, files.spec_name);
  if (!spec) return wrong_file(spec.error());
  auto module = ptx::parse(files.ptx, files.ptx_name);
  if (!module) return wrong_file(module.error());
  const auto status = FileLaunch(cuda::Process::get(), *spec).run(*std::move(module), dry_run);
  return status ? *status : wrong_file(status.error());
}

}  // namespace

Result<LaunchFiles> read_launch_files(const std::string& ptx_name, const std::string& spec_name) {
  LaunchFiles files{ptx_name, "", spec_name, ""};
  SLUICE_ASSIGN_OR_RETURN(files.ptx, read_text_file(ptx_name, "PTX", kMostPtx));
  SLUICE_ASSIGN_OR_RETURN(files.spec, read_text_file(spec_name, "a launch description", kMostSpec));
  return files;
}

Starter launch_starter(LaunchFiles files, bool dry_run) {
  return [files = std::move(files), dry_run](const cuda::Settings& settings) {
    return start_child([&] {
      setenv(cuda::kSettingsVariable, cuda::to_json_text(settings).c_str(), 1);
      return run_launch(files, dry_run);
    });
  };
}

}  // namespace sluice::cli
