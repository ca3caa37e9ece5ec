// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading traces, line by line.
#include "timeline/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

namespace sluice::timeline {
namespace {

using nlohmann::json;

struct KindRow {
  RecordKind kind;
  const char* name;
  bool needs_barrier;
  bool needs_phase;
};

constexpr KindRow kKinds[] = {
    {RecordKind::Role, "role", false, false},    {RecordKind::Wait, "wait", true, true},
    {RecordKind::Arrive, "arrive", true, false}, {RecordKind::Copy, "copy", false, false},
    {RecordKind::Land, "land", false, false},    {RecordKind::Init, "init", true, false},
    {RecordKind::Flip, "flip", true, true},      {RecordKind::Product, "product", false, false},
    {RecordKind::Sync, "sync", false, false},    {RecordKind::Exit, "exit", false, false},
    {RecordKind::Mark, "mark", false, false},
};

/// The members of one line. The first that is wrong is kept as a sentence.
class Line {
 public:
  explicit Line(const json& value) : value_(value) {}

  bool has(const char* name) const { return value_.contains(name); }

  /// A whole number; what stands in `out` remains where the member is absent.
  template <class T>
  void number(const char* name, T& out, bool required = false) {
    const auto at = value_.find(name);
    if (at == value_.end()) {
      if (required) wrong(fmt::format("'{}' is missing", name));
      return;
    }
    const bool fits = at->is_number_unsigned()
                          ? at->get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<T>::max())
                          : at->is_number_integer() && std::numeric_limits<T>::is_signed &&
                                at->get<int64_t>() >= static_cast<int64_t>(std::numeric_limits<T>::min());
    if (!fits) return wrong(fmt::format("'{}' is not a whole number that fits", name));
    out = at->get<T>();
  }

  void text(const char* name, std::string& out, bool required = false) {
    const auto at = value_.find(name);
    if (at == value_.end()) {
      if (required) wrong(fmt::format("'{}' is missing", name));
      return;
    }
    if (!at->is_string()) return wrong(fmt::format("'{}' is not a string", name));
    out = at->get<std::string>();
  }

  void flag(const char* name, bool& out) {
    const auto at = value_.find(name);
    if (at == value_.end()) return;
    if (!at->is_boolean()) return wrong(fmt::format("'{}' is neither true nor false", name));
    out = at->get<bool>();
  }

  template <class T>
  void numbers(const char* name, std::vector<T>& out) {
    const auto at = value_.find(name);
    if (at == value_.end()) return;
    if (!at->is_array()) return wrong(fmt::format("'{}' is not a list of whole numbers", name));
    for (const json& item : *at) {
      if (!item.is_number_unsigned() || item.get<uint64_t>() > std::numeric_limits<T>::max())
        return wrong(fmt::format("'{}' is not a list of whole numbers", name));
      out.push_back(item.get<T>());
    }
  }

  void extent(const char* name, std::array<uint32_t, 3>& out) {
    std::vector<uint32_t> values;
    numbers(name, values);
    if (!has(name)) return;
    if (values.size() != 3 || std::count(values.begin(), values.end(), 0u) != 0)
      return wrong(fmt::format("'{}' is not a list of three numbers above 0", name));
    std::copy(values.begin(), values.end(), out.begin());
  }

  void wrong(std::string sentence) {
    if (wrong_.empty()) wrong_ = std::move(sentence);
  }
  const std::string& what_is_wrong() const { return wrong_; }

 private:
  const json& value_;
  std::string wrong_;
};

void read_header(Line& line, Trace& trace) {
  std::string format, source, clock;
  uint64_t version = 0;
  line.text("format", format);
  if (format != "sluice-trace") return line.wrong("this is not a trace: its first line is not the header");
  line.number("version", version, true);
  if (version != 1)
    return line.wrong(fmt::format("the trace is of version {}; this tool reads version 1", version));
  line.text("source", source, true);
  line.text("clock", clock, true);
  line.text("about", trace.about);
  if (source != "engine" && source != "gpu") line.wrong("'source' is neither \"engine\" nor \"gpu\"");
  if (clock != "step" && clock != "ns") line.wrong("'clock' is neither \"step\" nor \"ns\"");
  trace.source = source == "gpu" ? Source::Gpu : Source::Engine;
  trace.clock = clock;
}

void read_launch(Line& line, Trace& trace) {
  TraceLaunch launch;
  line.number("launch", launch.ordinal);
  line.text("kernel", launch.kernel, true);
  line.extent("grid", launch.grid);
  line.extent("block", launch.block);
  line.extent("cluster", launch.cluster);
  line.numbers("ctas", launch.ctas);
  line.number("ctas_left_out", launch.ctas_left_out);
  trace.launches.push_back(std::move(launch));
}

void read_place(Line& line, Trace& trace) {
  constexpr uint32_t kMostPlaces = 1u << 24;
  TracePlace place;
  uint32_t number = 0;
  line.number("place", number, true);
  line.text("file", place.file, true);
  line.number("line", place.line, true);
  line.number("column", place.column);
  line.text("function", place.function);
  if (number == 0 || number >= kMostPlaces) return line.wrong("'place' is not a number from 1 to 16777215");
  if (number >= trace.places.size()) trace.places.resize(number + 1);
  trace.places[number] = std::move(place);
}

void read_barrier(Line& line, const KindRow& row, Record& r) {
  r.of = r.cta;
  r.has_barrier = line.has("barrier");
  line.number("barrier", r.barrier, row.needs_barrier);
  line.number("of", r.of);
  line.number("phase", r.phase, row.needs_phase);
  if (r.phase < -1) line.wrong("'phase' is below -1");
  line.number("ring", r.ring);
  line.number("stage", r.stage);
  line.number("stages", r.stages);
  std::string part;
  line.text("part", part);
  if (!part.empty() && part != "full" && part != "empty")
    line.wrong("'part' is neither \"full\" nor \"empty\"");
  r.part = part == "full" ? Part::Full : part == "empty" ? Part::Empty : Part::Unknown;
}

void read_record(Line& line, const KindRow& row, const Trace& trace, TraceLaunch& launch) {
  Record r;
  r.kind = row.kind;
  r.count = row.kind == RecordKind::Arrive ? 1 : 0;
  line.number("t", r.t, true);
  line.number("cta", r.cta, true);
  line.number("warp", r.warp, row.kind != RecordKind::Mark);
  line.number("lanes", r.lanes);
  line.number("at", r.at);
  if (r.at >= trace.places.size() && r.at != 0)
    line.wrong(fmt::format("'at' names place {}, which has not been told", r.at));
  uint64_t end = 0;
  line.number("end", end);
  if (line.has("end")) r.end = end;
  if (r.end && end < r.t) line.wrong("'end' is before 't'");
  read_barrier(line, row, r);
  line.number("parity", r.parity);
  line.flag("waited", r.waited);
  line.number("count", r.count, row.kind == RecordKind::Init);
  line.number("bytes", r.bytes);
  line.number("drop", r.drop);
  line.number(row.kind == RecordKind::Arrive ? "copy" : "id", r.id);
  line.number("ranks", r.ranks);
  line.number("warps", r.warps);
  line.text("text", r.text);
  if (row.kind == RecordKind::Copy) {
    std::string to = "shared";
    line.text("to", to);
    r.to_global = to == "global";
  }
  const bool has_name = row.kind == RecordKind::Role || row.kind == RecordKind::Mark;
  line.text(has_name ? "name" : "what", r.name, has_name);
  launch.records.push_back(std::move(r));
}

/// Takes one line that is not the header.
void read_line(Line& line, Trace& trace) {
  std::string kind;
  line.text("kind", kind, true);
  if (kind == "launch") return read_launch(line, trace);
  if (kind == "place") return read_place(line, trace);
  const bool is_open = !trace.launches.empty() && !trace.launches.back().ended;
  const auto* const row =
      std::find_if(std::begin(kKinds), std::end(kKinds), [&](const KindRow& k) { return kind == k.name; });
  const bool is_known = row != std::end(kKinds) || kind == "end" || kind == "name";
  if (!is_known) return;
  if (!is_open) return line.wrong("this line belongs to a launch, and none has begun");
  TraceLaunch& launch = trace.launches.back();
  if (kind == "end") {
    line.number("t", launch.end);
    line.flag("failed", launch.failed);
    line.number("left_out", launch.left_out);
    launch.ended = true;
  } else if (kind == "name") {
    std::pair<uint32_t, std::string> name;
    line.number("barrier", name.first, true);
    line.text("name", name.second, true);
    launch.names.push_back(std::move(name));
  } else {
    read_record(line, *row, trace, launch);
  }
}

/// Times of a GPU are as its clock read them; the first record of a launch is its zero.
void start_at_zero(TraceLaunch& launch) {
  if (launch.records.empty()) return;
  const uint64_t first = launch.records.front().t;
  for (Record& r : launch.records) {
    r.t -= first;
    if (r.end) *r.end -= first;
  }
  launch.end -= std::min(launch.end, first);
}

void finish(TraceLaunch& launch, Source source) {
  std::stable_sort(launch.records.begin(), launch.records.end(),
                   [](const Record& a, const Record& b) { return a.t < b.t; });
  if (source == Source::Gpu) start_at_zero(launch);
  for (const Record& r : launch.records) launch.end = std::max(launch.end, r.end.value_or(r.t));
}

}  // namespace

std::string_view to_string(RecordKind kind) {
  for (const KindRow& row : kKinds) {
    if (row.kind == kind) return row.name;
  }
  return "";
}

Result<Trace> read_trace(std::istream& in, const std::string& file) {
  Trace trace;
  std::string text;
  uint64_t number = 0;
  while (std::getline(in, text)) {
    ++number;
    if (text.empty()) continue;
    const json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
    const std::string place = fmt::format("{}:{}", file, number);
    if (!value.is_object()) {
      // The program may have been stopped in the middle of its last line.
      if (number > 1 && in.eof()) break;
      return Error{number == 1 ? "this is not a trace: its first line is not the header"
                               : "this line is not a JSON object",
                   place};
    }
    Line line(value);
    if (number == 1) {
      read_header(line, trace);
      if (value.contains("program")) {
        for (const json& word : value["program"]) {
          if (word.is_string()) trace.program.push_back(word.get<std::string>());
        }
      }
    } else {
      read_line(line, trace);
    }
    if (!line.what_is_wrong().empty()) return Error{line.what_is_wrong(), place};
  }
  if (number == 0) return Error{"the trace is empty", file};
  for (TraceLaunch& launch : trace.launches) finish(launch, trace.source);
  return trace;
}

Result<Trace> read_trace_file(const std::string& file) {
  std::ifstream in(file);
  if (!in) return Error{fmt::format("cannot read the trace: {}", std::strerror(errno)), file};
  return read_trace(in, file);
}

}  // namespace sluice::timeline
