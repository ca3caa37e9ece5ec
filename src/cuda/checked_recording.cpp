// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/checked_recording.hpp"

namespace sluice::cuda {

CheckedRecording::CheckedRecording(check::Checker& checker, timeline::Recorder& recorder)
    : checker_(checker), recorder_(recorder) {
  checker_.on_finding([this](const check::Finding& finding) {
    found_.push_back({finding.name, finding.headline + "; " + finding.help, finding.who});
  });
}

void CheckedRecording::receive(const event::Event& e) {
  checker_.receive(e);
  // The end of a launch may show what is wrong with it, and nothing is recorded behind the end.
  if (e.kind == event::Kind::LaunchEnd) mark(e);
  if ((recorder_.wants() & event::mask_of(e.kind)) != 0) recorder_.receive(e);
  mark(e);
}

void CheckedRecording::finish(const machine::Fault& fault, const machine::LaunchRequest& launch) {
  event::Event where;
  where.cta = fault.cta[0] + launch.grid[0] * (fault.cta[1] + launch.grid[1] * fault.cta[2]);
  where.warp = fault.warp;
  where.lanes = uint32_t{1} << (fault.lane % 32);
  where.origin = event::kNoIndex;
  mark(where);
  recorder_.finish();
}

void CheckedRecording::mark(const event::Event& e) {
  for (const Mark& mark : found_) {
    event::Event where = e;
    if (mark.who.lanes != 0) {
      where.cta = mark.who.cta;
      where.warp = mark.who.warp;
      where.lanes = mark.who.lanes;
    }
    recorder_.mark(where, mark.name, mark.words);
  }
  found_.clear();
}

}  // namespace sluice::cuda
