// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Handlers only take notes; who waits for the program acts on them.
#include "cli/ending.hpp"

#include <signal.h>

#include <algorithm>
#include <array>

#include "base/host_clock.hpp"
#include "cli/descendants.hpp"

namespace sluice::cli {
namespace {

constexpr uint64_t kGraceNs = 1'000'000'000;
constexpr std::array<int, 4> kTerminations = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

volatile sig_atomic_t g_interrupts = 0;
volatile sig_atomic_t g_stop = 0;

void stop(int signal) {
  g_stop = signal;
}

void interrupt(int signal) {
  g_interrupts = g_interrupts + 1;
  if (g_interrupts >= 2) stop(signal);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

bool is_ignored(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

}  // namespace

void listen_for_signals() {
  handle(SIGINT, interrupt);
  handle(SIGQUIT, SIG_IGN);
  handle(SIGTERM, stop);
  if (!is_ignored(SIGHUP)) handle(SIGHUP, stop);
}

void forget_signals() {
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM}) handle(signal, SIG_DFL);
  if (!is_ignored(SIGHUP)) handle(SIGHUP, SIG_DFL);
}

int stop_signal() {
  return g_stop;
}

bool is_termination(int signal) {
  return std::ranges::find(kTerminations, signal) != kTerminations.end();
}

void Ending::step() {
  if (told_at_ns_ == 0) {
    told_at_ns_ = host_clock_ns();
    send(SIGTERM);
  } else if (host_clock_ns() - told_at_ns_ > kGraceNs) {
    send(SIGKILL);
  }
}

void Ending::send(int signal) const {
  if (program_ != 0) kill(program_, signal);
  for (const pid_t process : descendants()) {
    if (process != program_ && has_engine(process)) kill(process, signal);
  }
}

}  // namespace sluice::cli
