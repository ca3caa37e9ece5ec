// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Look-up of driver entry points in the symbol list. The functions themselves are those that our libcuda
// exports, so that a name found here and a name linked to are the same code.
#include "cuda/entry_points.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "cuda/driver_versions.hpp"
#include "cuda/process.hpp"

namespace sluice::cuda {
namespace {

// Our libcuda: it lies beside the library that this code is part of.
void* driver_library() {
  static void* const library = []() -> void* {
    Dl_info self{};
    if (dladdr(reinterpret_cast<const void*>(&runtime_entry_point), &self) == 0 || self.dli_fname == nullptr)
      return nullptr;
    std::string path = self.dli_fname;
    path.erase(path.rfind('/') + 1);
    return dlopen((path + "libcuda.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
  }();
  return library;
}

// The programs and libraries, by where they are loaded, that have looked up entry points of the driver.
struct Lookups {
  std::mutex mutex;
  std::set<const void*> bases;
};
Lookups& lookups() {
  static Lookups& instance = *new Lookups;
  return instance;
}

}  // namespace

void* entry_point(const char* name, int version, bool per_thread, CUdriverProcAddressQueryResult* found) {
  *found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  const DriverForm* best = nullptr;
  for (const DriverForm& form : kDriverForms) {
    if (std::strcmp(form.name, name) != 0) continue;
    if (form.since > version) {
      *found = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
      continue;
    }
    if (best == nullptr || form.since > best->since) best = &form;
  }
  if (best == nullptr || driver_library() == nullptr) return nullptr;
  void* address = nullptr;
  if (per_thread) {
    for (const char* suffix : {"_ptsz", "_ptds"}) {
      if (address == nullptr) address = dlsym(driver_library(), (std::string(best->symbol) + suffix).c_str());
    }
  }
  if (address == nullptr) address = dlsym(driver_library(), best->symbol);
  if (address != nullptr) *found = CU_GET_PROC_ADDRESS_SUCCESS;
  return address;
}

Status runtime_entry_point(const char* name, int version, unsigned long long flags, void** out,
                           CUdriverProcAddressQueryResult* result) {
  constexpr unsigned long long kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (name == nullptr || out == nullptr || flags > (kPerThread | CU_GET_PROC_ADDRESS_LEGACY_STREAM)) {
    return cudaErrorInvalidValue;
  }
  CUdriverProcAddressQueryResult found{};
  *out = entry_point(name, version, (flags & kPerThread) != 0, &found);
  if (result != nullptr) {
    *result = found;
    return kOk;
  }
  return *out != nullptr ? cudaSuccess : cudaErrorSymbolNotFound;
}

void note_lookup(const void* caller) {
  Dl_info info{};
  if (dladdr(caller, &info) == 0) return;
  const std::lock_guard lock(lookups().mutex);
  lookups().bases.insert(info.dli_fbase);
}

bool has_looked_up(const void* caller) {
  Dl_info info{};
  if (dladdr(caller, &info) == 0) return true;
  const std::lock_guard lock(lookups().mutex);
  return lookups().bases.count(info.dli_fbase) != 0;
}

void say_internal_table(Process& process, const void* caller) {
  Dl_info info{};
  std::string_view file =
      dladdr(caller, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "the program";
  file.remove_prefix(file.rfind('/') + 1);
  report::Diagnostic diagnostic;
  diagnostic.blame = report::Blame::Unsupported;
  diagnostic.name = "unsupported";
  diagnostic.headline =
      fmt::format("{} carries a CUDA runtime of its own, which asks for NVIDIA's internal tables", file);
  diagnostic.why =
      "the engine runs PTX through the shared runtime; a static runtime or a library of machine code "
      "(cuBLAS, "
      "cuDNN, ...) cannot run on it";
  diagnostic.help = "build with `-cudart shared`; do without the library's calls on the engine";
  process.channel.say(diagnostic);
}

}  // namespace sluice::cuda
