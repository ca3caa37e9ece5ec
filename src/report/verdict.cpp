// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Wording and precedence of verdicts.
#include "report/verdict.hpp"

#include "base/words.hpp"

#include <fmt/format.h>
#include <string.h>

#include <nlohmann/json.hpp>

namespace sluice::report {
void Tally::count(const Diagnostic& diagnostic) {
  switch (diagnostic.blame) {
    case Blame::Program:
      ++(diagnostic.level == Level::Error ? findings : warnings);
      break;
    case Blame::Unsupported:
      ++unsupported;
      break;
    case Blame::Undecided:
      ++undecided;
      break;
    case Blame::Internal:
      ++internal;
      break;
    case Blame::Nobody:
      break;
  }
}

int exit_status(const Tally& tally, int program_status, int finding_status) {
  if (tally.internal != 0) return kExitInternal;
  if (tally.unsupported != 0) return kExitUnsupported;
  if (tally.findings != 0 || (tally.warnings_are_errors && tally.warnings != 0)) return finding_status;
  if (tally.interrupted_by != 0) return 128 + tally.interrupted_by;
  if (tally.undecided != 0) return kExitUndecided;
  return program_status;
}

std::string verdict_line(const Tally& tally) {
  std::string found;
  if (tally.internal != 0) {
    found = counted(tally.internal, "internal error");
  } else if (tally.findings != 0) {
    found = counted(tally.findings, "finding");
  } else if (tally.undecided != 0) {
    found = "not decided";
  } else {
    found = "no finding";
  }
  std::string line = fmt::format("verdict: {} in {} of {} schedules, {}", found, tally.schedules_run,
                                 tally.schedules_planned, counted(tally.kernels, "kernel"));
  if (tally.warnings != 0) line += ", " + counted(tally.warnings, "warning");
  if (tally.refused_launches != 0)
    line += ", " + counted(tally.refused_launches, "launch refused", "launches refused");
  if (tally.unsupported != 0 && tally.refused_launches == 0) line += ", unsupported";
  if (tally.skipped_launches != 0)
    line += ", " + counted(tally.skipped_launches, "launch skipped", "launches skipped");
  if (tally.ctas_left_out != 0) {
    line += fmt::format(", {} of {} CTAs run", tally.ctas_run, tally.ctas_run + tally.ctas_left_out);
  }
  if (tally.without_data) line += ", data not computed";
  if (tally.interrupted_by != 0) line += ", interrupted by " + signal_name(tally.interrupted_by);
  return line;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

nlohmann::json to_json(const Tally& tally) {
  return {{"schedules_run", tally.schedules_run},
          {"schedules_planned", tally.schedules_planned},
          {"kernels", tally.kernels},
          {"refused_launches", tally.refused_launches},
          {"skipped_launches", tally.skipped_launches},
          {"ctas_run", tally.ctas_run},
          {"ctas_left_out", tally.ctas_left_out},
          {"without_data", tally.without_data},
          {"findings", tally.findings},
          {"warnings", tally.warnings},
          {"unsupported", tally.unsupported},
          {"undecided", tally.undecided},
          {"internal", tally.internal},
          {"interrupted_by", tally.interrupted_by},
          {"verdict", verdict_line(tally).substr(9)}};
}

}  // namespace sluice::report
