// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// State that is still there when a program's destructors run. Programs call the engine from destructors of
// static and thread_local objects and from atexit handlers, which may run after the engine's own. So no
// object of the engine's library is destroyed by the C++ runtime (tests/api checks it).
#pragma once

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace sluice {

/// A value that lives as long as the process: `static const auto& table = immortal(make_table());`.
template <class T>
T& immortal(T value) {
  return *new T(std::move(value));
}

/// A T of each thread, made when first asked for. It dies after the thread's thread_local objects; that of
/// the first thread lives as long as the process. Use it as a static object.
template <class T>
class PerThread {
 public:
  PerThread() {
    if (pthread_key_create(&key_, [](void* value) { delete static_cast<T*>(value); }) == 0) return;
    std::fputs("sluice: internal error: no key for the state of threads is left\n", stderr);
    std::abort();
  }

  T& operator*() const {
    void* value = pthread_getspecific(key_);
    if (value == nullptr) pthread_setspecific(key_, value = new T());
    return *static_cast<T*>(value);
  }
  T* operator->() const { return &**this; }

 private:
  pthread_key_t key_{};
};

}  // namespace sluice
