// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Registration, loading and look-up of code.
#include "cuda/code.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cuda/image.hpp"
#include "cuda/launch.hpp"
#include "cuda/link.hpp"
#include "cuda/process.hpp"
#include "event/places.hpp"
#include "ptx/ast.hpp"
#include "ptx/version.hpp"

namespace sluice::cuda {
namespace {

std::string file_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "the program";
}

report::Diagnostic refusal_of(const std::string& kernel, const Error& error, bool without_data) {
  report::Diagnostic diagnostic;
  diagnostic.blame = report::Blame::Unsupported;
  diagnostic.name = "unsupported";
  const size_t end = error.message.find('\n');
  diagnostic.headline = error.message.substr(0, end);
  diagnostic.where = error.place.empty()
                         ? fmt::format("kernel `{}`", event::readable(kernel))
                         : fmt::format("{}, kernel `{}`", error.place, event::readable(kernel));
  diagnostic.state = "found while loading the kernel; none of its instructions ran, no memory changed";
  if (end != std::string::npos) diagnostic.state = error.message.substr(end + 1) + "\n" + diagnostic.state;
  diagnostic.why = "running it approximately could hide or invent findings, so the kernel is refused";
  diagnostic.help = fmt::format(
      "this says nothing about your program; {}leave the kernel out with `--kernel-name-exclude`, or see "
      "`sluice isa --missing`",
      without_data ? "run it without `--no-data`, " : "");
  diagnostic.unit = "launches of this kernel";
  return diagnostic;
}

Status fail(Status status, report::Blame blame, const Error& error, LoadFailure* failure) {
  report::Diagnostic diagnostic;
  diagnostic.blame = blame;
  diagnostic.name = blame == report::Blame::Program ? "invalid-ptx" : "unsupported";
  const size_t end = error.message.find('\n');
  diagnostic.headline = error.message.substr(0, end);
  diagnostic.where = error.place;
  if (end != std::string::npos) diagnostic.state = error.message.substr(end + 1);
  *failure = {status, error.text(), std::move(diagnostic)};
  return status;
}

// Version, target and address size of a module.
Status check_head(const ptx::Module& module, int capability, LoadFailure* failure) {
  const auto refuse = [&](Status status, std::string message) {
    return fail(status, report::Blame::Unsupported, Error{std::move(message), module.name}, failure);
  };
  const uint16_t known = ptx::kNewestVersion / 10;
  if (module.version_major > known)
    return refuse(cudaErrorUnsupportedPtxVersion,
                  fmt::format("the PTX is of version {}.{}; the engine knows the ISA up to {}.x",
                              module.version_major, module.version_minor, known));
  const bool specific = module.target.suffix == 'a' && module.target.sm != static_cast<uint32_t>(capability);
  if (module.target.sm > static_cast<uint32_t>(capability) || specific)
    return refuse(cudaErrorNoKernelImageForDevice,
                  fmt::format("the PTX is for {}, the device is sm_{}a", module.target.name, capability));
  if (module.address_size != 64)
    return refuse(cudaErrorInvalidPtx,
                  fmt::format("the PTX has addresses of {} bits; the device has 64", module.address_size));
  return kOk;
}

bool is_newer(const ptx::Module& module) {
  return module.version_major == ptx::kNewestVersion / 10 && module.version_minor > ptx::kNewestVersion % 10;
}

report::Diagnostic note_of_newer(const ptx::Module& module) {
  report::Diagnostic note;
  note.level = report::Level::Note;
  note.blame = report::Blame::Nobody;
  note.headline = fmt::format("the PTX is of version {}.{}, newer than {}.{}, which the engine knows",
                              module.version_major, module.version_minor, ptx::kNewestVersion / 10,
                              ptx::kNewestVersion % 10);
  note.why = "a minor version adds instructions; one that the engine does not know is refused with its line";
  return note;
}

}  // namespace

// --- start-up registration
// ------------------------------------------------------------------------------------------

void** Code::register_image(const void* wrapper, const void* caller) {
  auto image = std::make_unique<Image>();
  image->data = wrapper;
  image->program = file_of(caller);
  // The handle is a pointer that nobody follows; the object's own address serves.
  void** handle = reinterpret_cast<void**>(image.get());
  images_[handle] = std::move(image);
  return handle;
}

void Code::unregister_image(void** handle) {
  const auto it = images_.find(handle);
  if (it == images_.end()) return;
  for (const auto& [device, module] : it->second->modules) (void)unload(module);
  const auto forget = [&](auto& table) {
    for (auto entry = table.begin(); entry != table.end();) {
      entry = entry->second.image == handle ? table.erase(entry) : std::next(entry);
    }
  };
  forget(host_functions_);
  forget(host_variables_);
  images_.erase(it);
}

void Code::register_function(void** image, const void* host, const char* name) {
  if (images_.count(image) != 0) host_functions_[host] = {image, name};
}

void Code::register_variable(void** image, const void* host, const char* name, size_t) {
  if (images_.count(image) != 0) host_variables_[host] = {image, name};
}

void Code::register_managed(void** image, void** host_pointer, const char* name, size_t) {
  const auto it = images_.find(image);
  if (it == images_.end()) return;
  it->second->managed[name] = host_pointer;
  host_variables_[host_pointer] = {image, name};
}

Status Code::initialise_managed(void** image) {
  const auto it = images_.find(image);
  if (it == images_.end() || it->second->managed.empty()) return kOk;
  Module* module = nullptr;
  return image_module(image, 0, &module);
}

Status Code::image_module(void** handle, int device, Module** out) {
  const auto it = images_.find(handle);
  if (it == images_.end()) return cudaErrorInvalidResourceHandle;
  Image& image = *it->second;
  if (const auto known = image.modules.find(device); known != image.modules.end()) {
    *out = modules_.find(known->second);
    return *out != nullptr ? cudaSuccess : cudaErrorInvalidResourceHandle;
  }
  if (image.failure) return image.failure->status;
  LoadFailure failure;
  CUmodule module = nullptr;
  const Status status = load(image.data, device, &module, &failure);
  if (status != kOk) {
    image.failure = failure;
    return status;
  }
  image.modules[device] = module;
  *out = modules_.find(module);
  for (const auto& [name, host_pointer] : image.managed) {
    const auto variable = (*out)->variables.find(name);
    if (variable != (*out)->variables.end())
      *host_pointer = reinterpret_cast<void*>(variable->second.address);
  }
  return kOk;
}

// --- look-up
// --------------------------------------------------------------------------------------------------------

Status Code::function(const void* symbol, int device, Function** out) {
  if (Function* direct = functions_.find(symbol)) {
    *out = direct;
    return kOk;
  }
  const auto it = host_functions_.find(symbol);
  if (it == host_functions_.end()) return cudaErrorInvalidDeviceFunction;
  Module* module = nullptr;
  if (const Status s = image_module(it->second.image, device, &module); s != kOk) return s;
  const auto known = module->by_name.find(it->second.name);
  if (known == module->by_name.end()) return cudaErrorInvalidDeviceFunction;
  *out = functions_.find(known->second);
  return kOk;
}

Status Code::variable(const void* symbol, int device, const Variable** out) {
  const auto it = host_variables_.find(symbol);
  if (it == host_variables_.end()) return cudaErrorInvalidSymbol;
  Module* module = nullptr;
  if (const Status s = image_module(it->second.image, device, &module); s != kOk) return s;
  const auto known = module->variables.find(it->second.name);
  if (known == module->variables.end()) return cudaErrorInvalidSymbol;
  *out = &known->second;
  return kOk;
}

// --- loading
// --------------------------------------------------------------------------------------------------------

Status Code::load(const void* data, int device, CUmodule* out, LoadFailure* failure) {
  ImageContents contents;
  ImageFailure why;
  if (const Status status = read_image(data, &contents, &why); status != kOk) {
    report::Diagnostic diagnostic;
    diagnostic.blame = report::Blame::Unsupported;
    diagnostic.name = "unsupported";
    diagnostic.headline = why.headline;
    diagnostic.where = file_of(data);
    diagnostic.why = why.why;
    diagnostic.help = why.help;
    process_.channel.say(diagnostic);
    *failure = {status, why.headline, std::nullopt};
    return status;
  }
  if (const Status status = load_texts(contents.texts, device, out, failure); status != kOk) return status;
  Module& module = *modules_.find(*out);
  for (const KernelRegisters& known : contents.registers) {
    if (process_.machine.has_kernel(module.machine_module, known.kernel)) {
      process_.machine.set_registers(module.machine_module, known.kernel, known.registers,
                                     "embedded sm_90a code");
    }
  }
  return kOk;
}

Status Code::load_texts(const std::vector<std::string>& texts, int device, CUmodule* out,
                        LoadFailure* failure) {
  std::vector<ptx::Module> parts;
  Status status = kOk;
  for (const std::string& text : texts) {
    auto module = ptx::parse(
        text, texts.size() == 1 ? "embedded PTX" : fmt::format("embedded PTX {}", parts.size() + 1));
    if (!module) {
      status = fail(cudaErrorInvalidPtx, report::Blame::Program, module.error(), failure);
      break;
    }
    parts.push_back(*std::move(module));
  }
  if (status == kOk) status = load_modules(std::move(parts), device, out, failure);
  if (failure->diagnostic) process_.channel.say(*failure->diagnostic);
  return status;
}

Status Code::load_modules(std::vector<ptx::Module> parts, int device, CUmodule* out, LoadFailure* failure) {
  const int capability = process_.profile.limit(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                         process_.profile.limit(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  for (const ptx::Module& part : parts) {
    if (const Status status = check_head(part, capability, failure); status != kOk) return status;
    if (is_newer(part)) process_.channel.say(note_of_newer(part));
  }
  auto linked = link_modules(std::move(parts));
  if (!linked) return fail(cudaErrorInvalidPtx, report::Blame::Program, linked.error(), failure);
  auto loaded = process_.machine.load(*std::move(linked));
  if (!loaded) return fail(cudaErrorInvalidKernelImage, report::Blame::Unsupported, loaded.error(), failure);

  auto module = std::make_unique<Module>();
  Module* raw = module.get();
  raw->device = device;
  raw->machine_module = *loaded;
  *out = raw->handle = modules_.add<CUmodule>(std::move(module));
  const ptx::Module& source = process_.machine.module(*loaded);
  for (const ptx::Variable& variable : source.variables) {
    const auto place = process_.machine.variable(*loaded, variable.name);
    if (!place || place->bytes == 0) continue;
    raw->variables[variable.name] = {variable.name, place->address, place->bytes, variable.is_managed};
    process_.memory.add_symbol(place->address, place->bytes, device, variable.is_managed);
  }
  for (const ptx::Function& entry : source.functions) {
    if (!entry.is_entry || !entry.is_defined) continue;
    auto function = std::make_unique<Function>();
    function->module = raw;
    function->name = entry.name;
    Function* added = function.get();
    added->handle = functions_.add<CUfunction>(std::move(function));
    raw->functions.push_back(added->handle);
    raw->by_name[entry.name] = added->handle;
  }
  return kOk;
}

Status Code::prepare(Function& function) {
  if (function.kernel != nullptr || function.refusal) return kOk;
  auto kernel = process_.machine.kernel(function.module->machine_module, function.name);
  if (!kernel) {
    function.refusal = refusal_of(function.name, kernel.error(), process_.settings.no_data);
    return kOk;
  }
  function.kernel = *kernel;
  const ptx::Directives& directives = function.kernel->directives;
  std::copy(directives.reqnctapercluster.begin(), directives.reqnctapercluster.end(),
            function.required_cluster);
  function.max_dynamic_shared = default_dynamic_shared(process_, function);
  return kOk;
}

Status Code::unload(CUmodule handle) {
  const auto module = modules_.take(handle);
  if (module == nullptr) return cudaErrorInvalidResourceHandle;
  for (const auto& [name, variable] : module->variables) process_.memory.remove_symbol(variable.address);
  for (CUfunction function : module->functions) functions_.take(function);
  process_.machine.unload(module->machine_module);
  return kOk;
}

void Code::reset(int device) {
  for (const auto& [handle, image] : images_) {
    const auto it = image->modules.find(device);
    if (it == image->modules.end()) continue;
    (void)unload(it->second);
    image->modules.erase(it);
  }
}

}  // namespace sluice::cuda
