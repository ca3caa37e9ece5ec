// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Which bytes of device memory hold a value: one mark per byte, at the same distance from the start of the
// arena. Kept only in checks that follow definedness (definedness_watch.hpp).
#pragma once

#include <cstdint>

namespace sluice::machine {

/// Marks of bytes in memory. Fresh memory is undefined.
constexpr uint8_t kUndefined = 0;
constexpr uint8_t kComputed = 1;  ///< undefined, and made by an operation on undefined bytes: no mere copy
constexpr uint8_t kDefined = 0xff;

class DefinedBytes {
 public:
  /// For memory at [base, base + bytes). Only addresses are taken until something is marked.
  DefinedBytes(uint64_t base, uint64_t bytes);
  ~DefinedBytes();
  DefinedBytes(const DefinedBytes&) = delete;
  DefinedBytes& operator=(const DefinedBytes&) = delete;

  /// The mark of a byte, those of its neighbours behind it; null for memory outside the arena.
  uint8_t* marks(const void* host) const {
    const uint64_t at = reinterpret_cast<uint64_t>(host) - base_;
    return at < bytes_ ? marks_ + at : nullptr;
  }
  void define(const void* first, uint64_t bytes);
  void forget(const void* first, uint64_t bytes);
  /// Memory was copied: marks go with it, and what comes from outside the arena is defined.
  void move(const void* to, const void* from, uint64_t bytes);

 private:
  uint64_t base_ = 0;
  uint64_t bytes_ = 0;
  uint8_t* marks_ = nullptr;
};

}  // namespace sluice::machine
