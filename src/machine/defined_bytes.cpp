// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Marks in memory of their own, which the host commits page by page.
#include "machine/defined_bytes.hpp"

#include <sys/mman.h>

#include <cstring>

namespace sluice::machine {
namespace {

constexpr uint64_t kPage = 4096;

}  // namespace

DefinedBytes::DefinedBytes(uint64_t base, uint64_t bytes) : base_(base) {
  void* const got =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) return;  // everything counts as defined then
  marks_ = static_cast<uint8_t*>(got);
  bytes_ = bytes;
}

DefinedBytes::~DefinedBytes() {
  if (marks_ != nullptr) munmap(marks_, bytes_);
}

void DefinedBytes::define(const void* first, uint64_t bytes) {
  if (uint8_t* const at = marks(first)) std::memset(at, kDefined, bytes);
}

void DefinedBytes::forget(const void* first, uint64_t bytes) {
  uint8_t* const at = marks(first);
  if (at == nullptr) return;
  // Whole pages go back to the host, which gives them out anew as zeros.
  const auto begin = reinterpret_cast<uint64_t>(at), end = begin + bytes;
  const uint64_t first_page = (begin + kPage - 1) / kPage * kPage, last_page = end / kPage * kPage;
  if (first_page >= last_page) {
    std::memset(at, kUndefined, bytes);
    return;
  }
  std::memset(at, kUndefined, first_page - begin);
  madvise(reinterpret_cast<void*>(first_page), last_page - first_page, MADV_DONTNEED);
  std::memset(reinterpret_cast<void*>(last_page), kUndefined, end - last_page);
}

void DefinedBytes::move(const void* to, const void* from, uint64_t bytes) {
  uint8_t* const target = marks(to);
  if (target == nullptr) return;
  if (const uint8_t* const source = marks(from))
    std::memmove(target, source, bytes);
  else
    std::memset(target, kDefined, bytes);
}

}  // namespace sluice::machine
