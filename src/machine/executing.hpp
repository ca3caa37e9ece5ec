// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Which host threads execute a kernel right now. A crash of one of them is the engine's fault, not the
// program's.
#pragma once

#include <unistd.h>

#include <array>
#include <atomic>

namespace sluice::machine {

/// The calling thread executes a kernel. Threads are known by their ids, not by a thread-local variable: a
/// signal handler may look there, and the engine may be loaded late.
class Executing {
 public:
  Executing() : slot_(take_slot()) {}
  ~Executing() {
    if (slot_ != nullptr) slot_->store(0);
  }
  Executing(const Executing&) = delete;
  Executing& operator=(const Executing&) = delete;

  /// Whether the calling thread executes a kernel; may be asked in a signal handler.
  static bool here() {
    const pid_t self = gettid();
    for (const std::atomic<pid_t>& thread : threads_) {
      if (thread.load() == self) return true;
    }
    return false;
  }

 private:
  static std::atomic<pid_t>* take_slot() {
    const pid_t self = gettid();
    for (std::atomic<pid_t>& thread : threads_) {
      pid_t free = 0;
      if (thread.compare_exchange_strong(free, self)) return &thread;
    }
    return nullptr;  // more threads than slots: a crash of this one is not told apart
  }

  static inline std::array<std::atomic<pid_t>, 1024> threads_{};
  std::atomic<pid_t>* slot_;
};

}  // namespace sluice::machine
