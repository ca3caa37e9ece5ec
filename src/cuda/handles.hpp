// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Handles: what programs hold are numbers in the shape of pointers, never addresses of engine objects, and
// never given twice. A stale, foreign or made-up handle is therefore found out by a table lookup instead of
// being followed, and two runs of a program see the same values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace sluice::cuda {

enum class HandleKind : uint64_t {
  Context = 1,
  Stream,
  Event,
  Module,
  Function,
  Graph,
  ChildGraph,
  GraphNode,
  GraphExec,
  Pool,
  Link,
  UserObject,
};

template <class T, HandleKind kKind>
class HandleTable {
 public:
  /// Takes the object over and returns its handle.
  template <class Handle>
  Handle add(std::unique_ptr<T> object) {
    const uint64_t value = kFirst + 16 * ++serial_;
    objects_.emplace(value, std::move(object));
    return reinterpret_cast<Handle>(value);
  }
  /// The object, or null if `handle` is not a live one of this table.
  T* find(const void* handle) const {
    const auto it = objects_.find(reinterpret_cast<uint64_t>(handle));
    return it == objects_.end() ? nullptr : it->second.get();
  }
  /// Gives the object back to the caller; null if the handle is not live.
  std::unique_ptr<T> take(const void* handle) {
    const auto it = objects_.find(reinterpret_cast<uint64_t>(handle));
    if (it == objects_.end()) return nullptr;
    std::unique_ptr<T> object = std::move(it->second);
    objects_.erase(it);
    return object;
  }
  const std::map<uint64_t, std::unique_ptr<T>>& all() const { return objects_; }

 private:
  // Non-canonical on x86-64 and aarch64: following one by mistake faults at once.
  static constexpr uint64_t kFirst = 0x5C00'0000'0000'0000 + (static_cast<uint64_t>(kKind) << 40);
  uint64_t serial_ = 0;
  std::map<uint64_t, std::unique_ptr<T>> objects_;
};

}  // namespace sluice::cuda
