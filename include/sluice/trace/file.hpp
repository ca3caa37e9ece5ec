// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Decoded launches as a trace file, version 1: one JSON object per line, which `sluice timeline` reads. Host
// only, the standard library alone.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "sluice/trace/decode.hpp"

namespace sluice::trace {

namespace detail {

/// `text` as a JSON string.
inline std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      result += '\\';
      result += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(letter));
      result += escape;
    } else {
      result += letter;
    }
  }
  return result + '"';
}

/// One line, member by member.
class Line {
 public:
  explicit Line(const char* kind) { text("kind", kind); }
  Line() = default;

  Line& number(const char* name, uint64_t value) { return raw(name, std::to_string(value)); }
  Line& signed_number(const char* name, int64_t value) { return raw(name, std::to_string(value)); }
  Line& flag(const char* name, bool value) { return raw(name, value ? "true" : "false"); }
  Line& text(const char* name, const std::string& value) { return raw(name, quoted(value)); }
  template <class Items>
  Line& list(const char* name, const Items& items) {
    std::string joined;
    for (const auto& item : items) joined += (joined.empty() ? "" : ",") + item;
    return raw(name, '[' + joined + ']');
  }
  Line& extent(const char* name, const std::array<uint32_t, 3>& values) {
    return list(name, std::array<std::string, 3>{std::to_string(values[0]), std::to_string(values[1]),
                                                 std::to_string(values[2])});
  }

  std::string take() { return '{' + members_ + "}\n"; }

 private:
  Line& raw(const char* name, const std::string& value) {
    members_ += (members_.empty() ? "\"" : ",\"") + std::string(name) + "\":" + value;
    return *this;
  }

  std::string members_;
};

inline void add_barrier(Line& line, const Event& event, const Decoded& launch) {
  line.number("barrier", event.barrier);
  if (event.of != event.cta) line.number("of", event.of);
  line.signed_number("phase", event.phase);
  if (event.ring < 0) return;
  line.number("ring", static_cast<uint64_t>(event.ring)).number("stage", event.stage);
  line.text("part", event.is_empty ? "empty" : "full");
  line.number("stages", launch.rings[static_cast<std::size_t>(event.ring)].stages);
}

inline std::string event_line(const Event& event, const Decoded& launch) {
  constexpr const char* kKinds[] = {"role", "wait", "arrive", "copy", "sync", "mark"};
  Line line(kKinds[static_cast<int>(event.kind)]);
  line.number("t", event.t);
  if (event.has_end) line.number("end", event.end);
  line.number("cta", event.cta).number("warp", event.warp);
  switch (event.kind) {
    case EventKind::Role:
    case EventKind::Mark:
      line.text("name", event.name);
      break;
    case EventKind::Wait:
      add_barrier(line, event, launch);
      line.number("parity", event.parity).flag("waited", event.waited);
      break;
    case EventKind::Arrive:
      add_barrier(line, event, launch);
      line.number("count", event.count);
      if (event.bytes != 0) line.number("bytes", event.bytes);
      break;
    case EventKind::Copy:
      line.number("bytes", event.bytes).text("to", "global").text("what", "store");
      break;
    case EventKind::StoreWait:
      line.text("what", "store");
      break;
  }
  return line.take();
}

inline std::string launch_lines(const Decoded& launch, std::size_t ordinal) {
  std::vector<std::string> ctas;
  for (uint32_t i = 0; i < launch.recorded_ctas; ++i) ctas.push_back(std::to_string(launch.first_cta + i));
  Line head("launch");
  head.number("launch", ordinal).text("kernel", launch.launched.kernel);
  head.extent("grid", launch.launched.grid).extent("block", launch.launched.cta);
  head.extent("cluster", launch.launched.cluster).list("ctas", ctas);
  head.number("ctas_left_out", launch.launched.ctas() - launch.recorded_ctas);
  std::string lines = head.take();
  for (const auto& [barrier, name] : launch.names)
    lines += Line("name").number("barrier", barrier).text("name", name).take();
  for (const Event& event : launch.events) lines += event_line(event, launch);
  Line end("end");
  end.number("t", launch.end).flag("failed", launch.launched.failed).number("left_out", launch.left_out);
  return lines + end.take();
}

inline std::string header_line(const std::vector<std::string>& program, bool is_clock_measured) {
  Line line;
  line.text("format", "sluice-trace").number("version", 1).text("source", "gpu").text("clock", "ns");
  line.text("about",
            is_clock_measured
                ? "%globaltimer in nanoseconds, from clocks of the SMs that were read next to it"
                : "%globaltimer in nanoseconds; too short to measure the SMs' clock, which was taken to "
                  "run at its nominal rate");
  if (!program.empty()) {
    std::vector<std::string> words;
    for (const std::string& word : program) words.push_back(quoted(word));
    line.list("program", words);
  }
  return line.take();
}

}  // namespace detail

/// A trace of these launches. `program` is the command line that made them, or empty.
inline std::string trace_text(const std::vector<Decoded>& launches, const std::vector<std::string>& program) {
  bool is_clock_measured = true;
  for (const Decoded& launch : launches) is_clock_measured = is_clock_measured && launch.is_clock_measured;
  std::string text = detail::header_line(program, is_clock_measured);
  for (std::size_t i = 0; i < launches.size(); ++i) text += detail::launch_lines(launches[i], i);
  return text;
}

}  // namespace sluice::trace
