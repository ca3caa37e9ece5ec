// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A run of `sluice timeline` that is checked as well: both listeners hear all events, and each finding
// becomes a mark in the trace, at the event that shows it.
#pragma once

#include <utility>
#include <vector>

#include "check/checker.hpp"
#include "event/event.hpp"
#include "machine/launch.hpp"
#include "timeline/recorder.hpp"

namespace sluice::cuda {

class CheckedRecording : public event::Sink {
 public:
  CheckedRecording(check::Checker& checker, timeline::Recorder& recorder);
  event::KindMask wants() const override { return checker_.wants() | recorder_.wants(); }
  void receive(const event::Event& e) override;
  /// The launch is over, and what has ended it, if anything has, is told to the checker.
  void finish(const machine::Fault& fault, const machine::LaunchRequest& launch);

 private:
  void mark(const event::Event& e);

  check::Checker& checker_;
  timeline::Recorder& recorder_;
  struct Mark {
    std::string name, words;
    check::Who who;
  };
  std::vector<Mark> found_;  ///< not marked yet
};

}  // namespace sluice::cuda
