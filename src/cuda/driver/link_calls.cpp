// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// JIT linking of the driver API. Inputs are PTX; the "cubin" that comes out is a private container of the PTX
// texts that cuModuleLoadData of this engine takes back (see image.hpp).
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

#include "cuda/calls.hpp"
#include "cuda/image.hpp"

using namespace sluice::cuda;

namespace {

struct Link {
  std::vector<std::string> texts;
  std::string result;  ///< owned until the link state is destroyed
};

HandleTable<Link, HandleKind::Link>& links() {
  static auto* const table = new HandleTable<Link, HandleKind::Link>();
  return *table;
}

// Adds one input; machine code and archives are refused by name.
Status add_input(Process& p, CUlinkState state, CUjitInputType type, const void* data, size_t bytes) {
  Link* link = links().find(state);
  if (link == nullptr) return cudaErrorInvalidResourceHandle;
  if (data == nullptr || bytes == 0) return cudaErrorInvalidValue;
  if (type == CU_JIT_INPUT_PTX) {
    const char* text = static_cast<const char*>(data);
    link->texts.emplace_back(text, strnlen(text, bytes));
    return kOk;
  }
  if (type == CU_JIT_INPUT_FATBINARY) {
    ImageContents contents;
    ImageFailure failure;
    if (read_image(data, &contents, &failure) == kOk) {
      link->texts.insert(link->texts.end(), contents.texts.begin(), contents.texts.end());
      return kOk;
    }
  }
  p.say_unimplemented("cuLinkAddData", "inputs other than PTX");
  return cudaErrorNotSupported;
}

}  // namespace

SLUICE_DRIVER(cuLinkCreate_v2, unsigned, CUjit_option*, void**, CUlinkState* out) {
  return driver_call("cuLinkCreate", [&](Process&) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = links().add<CUlinkState>(std::make_unique<Link>());
    return kOk;
  });
}
SLUICE_DRIVER_OLD(cuLinkCreate, unsigned count, CUjit_option* options, void** values, CUlinkState* out) {
  return sluice_drv_cuLinkCreate_v2(count, options, values, out);
}
SLUICE_DRIVER(cuLinkAddData_v2, CUlinkState state, CUjitInputType type, void* data, size_t bytes, const char*,
              unsigned, CUjit_option*, void**) {
  return driver_call("cuLinkAddData", [&](Process& p) { return add_input(p, state, type, data, bytes); });
}
SLUICE_DRIVER_OLD(cuLinkAddData, CUlinkState state, CUjitInputType type, void* data, size_t bytes,
                  const char* name, unsigned count, CUjit_option* options, void** values) {
  return sluice_drv_cuLinkAddData_v2(state, type, data, bytes, name, count, options, values);
}
SLUICE_DRIVER(cuLinkAddFile_v2, CUlinkState state, CUjitInputType type, const char* path, unsigned,
              CUjit_option*, void**) {
  return driver_call("cuLinkAddFile", [&](Process& p) -> Status {
    if (path == nullptr) return cudaErrorInvalidValue;
    std::ifstream in(path, std::ios::binary);
    if (!in) return cudaErrorFileNotFound;
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    return add_input(p, state, type, bytes.c_str(), bytes.size() + 1);
  });
}
SLUICE_DRIVER_OLD(cuLinkAddFile, CUlinkState state, CUjitInputType type, const char* path, unsigned count,
                  CUjit_option* options, void** values) {
  return sluice_drv_cuLinkAddFile_v2(state, type, path, count, options, values);
}
SLUICE_DRIVER(cuLinkComplete, CUlinkState state, void** out, size_t* bytes) {
  return driver_call("cuLinkComplete", [&](Process&) -> Status {
    Link* link = links().find(state);
    if (link == nullptr) return cudaErrorInvalidResourceHandle;
    if (out == nullptr || link->texts.empty()) return cudaErrorInvalidValue;
    link->result = link_container(link->texts);
    *out = link->result.data();
    if (bytes != nullptr) *bytes = link->result.size();
    return kOk;
  });
}
SLUICE_DRIVER(cuLinkDestroy, CUlinkState state) {
  return driver_call("cuLinkDestroy", [&](Process&) -> Status {
    return links().take(state) == nullptr ? cudaErrorInvalidResourceHandle : cudaSuccess;
  });
}
