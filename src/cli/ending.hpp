// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// How a run ends before its time: the signals that say so, and what is done to the program then.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace sluice::cli {

/// From here on termination signals and a second interrupt do not end the tool, which stays to give the
/// verdict: `stop_signal` tells them. The first interrupt is the program's, which the terminal tells too. A
/// hang-up that is ignored (nohup) stays so.
void listen_for_signals();

/// In a child that does not call exec: it ends by these signals.
void forget_signals();

/// The signal that told the tool to end; 0: none did.
int stop_signal();

/// Whether somebody ends a program with this signal.
bool is_termination(int signal);

/// Ends the program and those of its descendants that have the engine: they are told to end, and killed where
/// they have not after a second.
class Ending {
 public:
  explicit Ending(pid_t program) : program_(program) {}

  /// To be called every now and then, from when the program is to end until all have.
  void step();
  /// The program has ended; descendants may be left.
  void program_ended() { program_ = 0; }

 private:
  void send(int signal) const;

  pid_t program_;
  uint64_t told_at_ns_ = 0;  ///< 0: not yet
};

}  // namespace sluice::cli
