// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Signal handlers for the time of a launch. A program may have handlers of its own: they are called as ever,
// and those that it sets meanwhile stay.
#include "cuda/crash_guard.hpp"

#include <cstddef>

#include "machine/executing.hpp"

namespace sluice::cuda {
namespace {

std::atomic<uint32_t>* g_mark = nullptr;
std::array<struct sigaction, CrashGuard::kSignals.size()> g_previous;

void note(int signal, siginfo_t* info, void*) {
  if (machine::Executing::here() && g_mark != nullptr) g_mark->store(static_cast<uint32_t>(signal));
  for (size_t i = 0; i < g_previous.size(); ++i) {
    if (CrashGuard::kSignals[i] == signal) sigaction(signal, &g_previous[i], nullptr);
  }
  // A faulting instruction runs again and meets the previous handler; a signal that was sent is sent again.
  if (info->si_code <= 0) raise(signal);
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == note;
}

}  // namespace

CrashGuard::CrashGuard(std::atomic<uint32_t>& mark) {
  g_mark = &mark;
  struct sigaction action {};
  action.sa_sigaction = note;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &g_previous[i]);
}

CrashGuard::~CrashGuard() {
  for (size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction current {};
    sigaction(kSignals[i], nullptr, &current);
    if (is_ours(current)) sigaction(kSignals[i], &g_previous[i], nullptr);
  }
  g_mark = nullptr;
}

}  // namespace sluice::cuda
