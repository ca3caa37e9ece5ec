// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// One thing that a tool has to say about a run: a finding about the program, a refusal, a note, or an error
// of our own. The text form is the one people read; the JSON form travels from the process under test to the
// command line and out through `--json`. Where a finding comes from and how its words are chosen is left to
// the rooms that make it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sluice::report {

enum class Level : uint8_t { Error, Warning, Note };

/// Whose matter it is; decides the exit status.
enum class Blame : uint8_t {
  Program,      ///< a finding (101)
  Unsupported,  ///< our limit (102)
  Undecided,    ///< a bound was reached without a verdict (103)
  Internal,     ///< our bug (104)
  Nobody,       ///< information only
};

/// A call on the way to a place that was inlined.
struct Frame {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  std::string function;  ///< that the line belongs to, may be empty
  std::string source{};  ///< text of the line as a report has kept it, may be empty
};

/// A source line with its caret label.
struct Place {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  std::string label;           ///< what happens here, may be empty
  std::string library;         ///< function of a library that does it for this line, may be empty
  std::vector<Frame> inlined;  ///< calls through which the line was inlined, innermost first
  uint64_t offset = 0;  ///< a place in the machine code of the object `file`, whose line is not known; else 0
  std::string source{};  ///< text of the line as a report has kept it, may be empty
};

struct Diagnostic {
  Level level = Level::Error;
  Blame blame = Blame::Program;
  std::string name;      ///< kebab-case code, such as "unsupported"
  std::string headline;  ///< one line, lower case, no full stop
  std::string where;     ///< kernel and agent in words, may be empty
  std::vector<Place> places;
  std::string state, why, help;  ///< paragraphs, may be empty, may hold several lines
  std::vector<std::string> notes;
  uint64_t times = 1;          ///< how many equal ones were merged into this
  uint64_t times_told = 1;     ///< `times` when it was told
  std::string unit = "times";  ///< what `times` counts, such as "launches of this kernel"
  /// Of an error: those after it in the same launch, which are told only where it is suppressed.
  std::vector<Diagnostic> later{};

  /// Equal diagnostics of one run are merged: same name, headline and places; of warnings, same name and
  /// places.
  std::string merge_key() const;
};

std::string_view to_string(Level level);
std::string_view to_string(Blame blame);

/// The text form, ending in a newline. Source lines are read from disk where they can be found. `colored`:
/// with the escape sequences of terminals.
std::string render_text(const Diagnostic& diagnostic, bool colored = false);

/// With the text of source lines that can be read, so that a later report can tell the same place by it.
nlohmann::json to_json(const Diagnostic& diagnostic);
/// An error names the member that is missing or of the wrong type.
Result<Diagnostic> diagnostic_from_json(const nlohmann::json& value);

}  // namespace sluice::report
