// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Recognises images and takes the PTX out of them.
#include "cuda/image.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "ptx/cubin.hpp"
#include "ptx/fatbin.hpp"

namespace sluice::cuda {
namespace {

constexpr uint32_t kElfMark = 0x464c457f;
constexpr uint32_t kWrapperMark = 0x466243b1;
constexpr uint32_t kContainerMark = 0xba55ed50;
constexpr uint32_t kCapability = 90;

// The result of cuLinkComplete: this mark, the number of texts, then each text with its size before it.
constexpr std::string_view kLinkMark("\0sluice-link\0\0\0\0", 16);

void append_number(std::string& out, uint64_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

uint64_t take_number(const char*& at) {
  uint64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
  return value;
}

Status read_link_container(const char* image, ImageContents* out) {
  const char* at = image + kLinkMark.size();
  for (uint64_t left = take_number(at); left != 0; --left) {
    const uint64_t bytes = take_number(at);
    out->texts.emplace_back(at, bytes);
    at += bytes;
  }
  return kOk;
}

Status no_ptx(std::string headline, ImageFailure* failure) {
  failure->status = cudaErrorNoKernelImageForDevice;
  failure->headline = std::move(headline);
  failure->why = "the engine executes PTX; machine code alone cannot run on it";
  failure->help =
      "build with `-gencode arch=compute_90a,code=[compute_90a,sm_90a]`, which embeds the PTX beside the "
      "machine code";
  return failure->status;
}

Status damaged(const Error& error, ImageFailure* failure) {
  *failure = {cudaErrorInvalidKernelImage, "a fat binary cannot be read: " + error.text(), "", ""};
  return failure->status;
}

// Registers of the kernels in the machine code beside the PTX. Damaged machine code says nothing; it is not
// executed.
void note_registers(const ptx::FatBinary& container, ImageContents* out) {
  const ptx::FatEntry* entry = ptx::choose_cubin(container.entries, kCapability);
  if (entry == nullptr) return;
  const auto unpacked = ptx::contents(*entry);
  if (!unpacked) return;
  const auto cubin = ptx::read_cubin(*unpacked);
  if (!cubin) return;
  for (const ptx::CubinKernel& kernel : cubin->kernels)
    out->registers.push_back({kernel.name, kernel.registers});
}

// One container is a module of its own; with -rdc there are several, whose PTX is linked.
Status read_containers(const std::vector<ptx::FatBinary>& containers, ImageContents* out,
                       ImageFailure* failure) {
  std::string architectures;
  for (const ptx::FatBinary& container : containers) {
    note_registers(container, out);
    for (const ptx::FatEntry& entry : container.entries) {
      architectures += (architectures.empty() ? "" : ", ") + entry.architecture();
    }
    const ptx::FatEntry* entry = ptx::choose_ptx(container.entries, kCapability);
    if (entry == nullptr) continue;
    auto text = ptx::text(*entry);
    if (!text) return damaged(text.error(), failure);
    out->texts.push_back(*std::move(text));
  }
  if (!out->texts.empty()) return kOk;
  return no_ptx(fmt::format("no PTX for an sm_90a device in a fat binary (it holds {})",
                            architectures.empty() ? "nothing" : architectures),
                failure);
}

}  // namespace

std::string link_container(const std::vector<std::string>& texts) {
  std::string out(kLinkMark);
  append_number(out, texts.size());
  for (const std::string& text : texts) {
    append_number(out, text.size());
    out += text;
  }
  return out;
}

Status read_image(const void* image, ImageContents* out, ImageFailure* failure) {
  const char* bytes = static_cast<const char*>(image);
  uint32_t mark = 0;
  std::memcpy(&mark, bytes, sizeof mark);
  if (mark == kElfMark) return no_ptx("a module holds machine code only (cubin), no PTX", failure);
  if (mark == kWrapperMark) {
    auto containers = ptx::read_wrapper(image);
    if (!containers) return damaged(containers.error(), failure);
    return read_containers(*containers, out, failure);
  }
  if (mark == kContainerMark) {
    auto container = ptx::read_fat_binary_at(image);
    if (!container) return damaged(container.error(), failure);
    return read_containers({*std::move(container)}, out, failure);
  }
  if (std::memcmp(bytes, kLinkMark.data(), kLinkMark.size()) == 0) return read_link_container(bytes, out);
  out->texts.emplace_back(bytes);
  return kOk;
}

}  // namespace sluice::cuda
