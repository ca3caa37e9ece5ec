// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Rendering of diagnostics. The layout is `level[name]: headline`, the place with its source line, then the
// paragraphs state, why, help, seen and the notes, each left out where it is empty.
#include "report/diagnostic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

namespace sluice::report {
namespace {

constexpr std::array<std::string_view, 3> kLevels = {"error", "warning", "note"};
constexpr std::array<std::string_view, 5> kBlames = {"program", "unsupported", "undecided", "internal",
                                                     "nobody"};

std::optional<std::string> source_line(const std::string& file, uint32_t line) {
  std::ifstream in(file);
  std::string text;
  for (uint32_t n = 0; n < line && std::getline(in, text); ++n) {
  }
  if (!in || line == 0) return std::nullopt;
  std::replace(text.begin(), text.end(), '\t', ' ');
  return text;
}

/// Adds the text of the line to what a report says of a place.
nlohmann::json with_source(nlohmann::json place) {
  constexpr size_t kMostText = 200;
  const auto line = source_line(place["file"].get<std::string>(), place["line"].get<uint32_t>());
  const size_t first = line ? line->find_first_not_of(' ') : std::string::npos;
  if (first != std::string::npos)
    place["source"] = line->substr(first, std::min(kMostText, line->find_last_not_of(" \r") + 1 - first));
  return place;
}

/// Escape sequences around text, where colours are wanted.
class Ink {
 public:
  explicit Ink(bool on) : on_(on) {}
  std::string operator()(std::string_view code, std::string_view text) const {
    return on_ && !text.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }

 private:
  bool on_;
};

constexpr std::string_view kBold = "1", kFirst = "1;31", kOther = "1;34", kFrame = "34";
constexpr std::string_view kLevelInks[] = {"1;31", "1;33", "1;36"};

// Appends `label` and the lines of `text`, the later ones indented under the first.
void append_paragraph(std::string& out, const Ink& ink, std::string_view label, std::string_view text) {
  if (text.empty()) return;
  out += ink(kBold, label);
  out.append(7 - label.size(), ' ');
  for (char c : text) {
    out += c;
    if (c == '\n') out.append(7, ' ');
  }
  out += '\n';
}

void append_source(std::string& out, const Ink& ink, const Place& place, bool is_first) {
  const auto text = source_line(place.file, place.line);
  if (!text) {
    if (!place.label.empty()) out += fmt::format("       {}\n", place.label);
    return;
  }
  const std::string number = std::to_string(place.line);
  const std::string margin(std::max<size_t>(number.size(), 4), ' ');
  const std::string bar = ink(kFrame, "|");
  out += fmt::format("{} {}\n{} {} {}\n", margin, bar,
                     ink(kFrame, fmt::format("{:>{}}", number, margin.size())), bar, *text);
  const size_t first = text->find_first_not_of(' ');
  if (first == std::string::npos) return;
  const size_t begin = place.column > 1 && place.column <= text->size() ? place.column - 1 : first;
  const char mark = is_first ? '^' : '-';
  std::string marked = std::string(text->size() - begin, mark) + " " + place.label;
  while (marked.back() == ' ') marked.pop_back();
  out += fmt::format("{} {} {}{}", margin, bar, std::string(begin, ' '),
                     ink(is_first ? kFirst : kOther, marked));
  out += '\n';
}

void append_place(std::string& out, const Ink& ink, const Place& place, bool is_first,
                  std::string_view where) {
  if (is_first) {
    out += fmt::format("  {} {}", ink(kFrame, "-->"), place.file);
    if (place.line != 0) out += fmt::format(":{}", place.line);
    if (place.column != 0) out += fmt::format(":{}", place.column);
    if (!where.empty()) out += fmt::format(", {}", where);
    out += '\n';
  } else {
    out += fmt::format("  {} {}", ink(kFrame, ":::"), place.file);
    out += place.line != 0 ? fmt::format(":{}\n", place.line) : "\n";
  }
  append_source(out, ink, place, is_first);
  if (!place.library.empty()) out += fmt::format("       in `{}`\n", place.library);
  for (const Frame& frame : place.inlined)
    out += fmt::format("       called from {}:{}\n", frame.file, frame.line);
}

template <size_t N>
std::optional<size_t> index_of(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) return std::nullopt;
  return it - names.begin();
}

}  // namespace

std::string_view to_string(Level level) {
  return kLevels[static_cast<size_t>(level)];
}
std::string_view to_string(Blame blame) {
  return kBlames[static_cast<size_t>(blame)];
}

std::string Diagnostic::merge_key() const {
  std::string key = fmt::format("{}\n{}", to_string(level), name);
  // What a warning says of one place may differ in numbers from one time to the next.
  const bool is_placed = level == Level::Warning && !places.empty() && places.front().line != 0;
  if (!is_placed) key += "\n" + headline;
  for (const Place& place : places) {
    key += fmt::format("\n{}:{}:{}:{}", place.file, place.line, place.column, place.offset);
    for (const Frame& frame : place.inlined)
      key += fmt::format(" {}:{}:{}", frame.file, frame.line, frame.column);
  }
  return key;
}

std::string render_text(const Diagnostic& diagnostic, bool colored) {
  const Ink ink(colored);
  std::string level(to_string(diagnostic.level));
  if (!diagnostic.name.empty()) level += fmt::format("[{}]", diagnostic.name);
  std::string out = fmt::format("{}{}\n", ink(kLevelInks[static_cast<size_t>(diagnostic.level)], level),
                                ink(kBold, ": " + diagnostic.headline));
  for (size_t i = 0; i < diagnostic.places.size(); ++i) {
    append_place(out, ink, diagnostic.places[i], i == 0, diagnostic.where);
  }
  if (diagnostic.places.empty() && !diagnostic.where.empty())
    out += fmt::format("  --> {}\n", diagnostic.where);
  append_paragraph(out, ink, "state:", diagnostic.state);
  append_paragraph(out, ink, "why:", diagnostic.why);
  append_paragraph(out, ink, "help:", diagnostic.help);
  if (diagnostic.times > 1) {
    append_paragraph(out, ink, "seen:", fmt::format("{} {}", diagnostic.times, diagnostic.unit));
  }
  for (const std::string& note : diagnostic.notes) append_paragraph(out, ink, "note:", note);
  return out;
}

nlohmann::json to_json(const Diagnostic& diagnostic) {
  nlohmann::json places = nlohmann::json::array();
  for (const Place& place : diagnostic.places) {
    nlohmann::json value = with_source(
        {{"file", place.file}, {"line", place.line}, {"column", place.column}, {"label", place.label}});
    if (!place.library.empty()) value["library"] = place.library;
    if (place.offset != 0) value["offset"] = place.offset;
    for (const Frame& f : place.inlined)
      value["inlined"].push_back(
          with_source({{"file", f.file}, {"line", f.line}, {"column", f.column}, {"function", f.function}}));
    places.push_back(std::move(value));
  }
  nlohmann::json later = nlohmann::json::array();
  for (const Diagnostic& other : diagnostic.later) later.push_back(to_json(other));
  nlohmann::json json = {{"level", to_string(diagnostic.level)},
                         {"blame", to_string(diagnostic.blame)},
                         {"name", diagnostic.name},
                         {"headline", diagnostic.headline},
                         {"where", diagnostic.where},
                         {"places", std::move(places)},
                         {"state", diagnostic.state},
                         {"why", diagnostic.why},
                         {"help", diagnostic.help},
                         {"notes", diagnostic.notes},
                         {"times", diagnostic.times},
                         {"unit", diagnostic.unit}};
  if (!later.empty()) json["later"] = std::move(later);
  return json;
}

Result<Diagnostic> diagnostic_from_json(const nlohmann::json& value) {
  // The library reports a missing member by an exception; it ends here.
  try {
    Diagnostic d;
    const auto level = index_of(kLevels, value.at("level").get<std::string>());
    const auto blame = index_of(kBlames, value.at("blame").get<std::string>());
    if (!level || !blame) return Error{"unknown level or blame in a diagnostic", ""};
    d.level = static_cast<Level>(*level);
    d.blame = static_cast<Blame>(*blame);
    value.at("name").get_to(d.name);
    value.at("headline").get_to(d.headline);
    value.at("where").get_to(d.where);
    for (const auto& place : value.at("places")) {
      Place p{place.at("file"), place.at("line"), place.at("column"), place.at("label"), "", {}, 0};
      p.source = place.value("source", "");
      p.library = place.value("library", "");
      p.offset = place.value("offset", uint64_t{0});
      for (const auto& f : place.value("inlined", nlohmann::json::array()))
        p.inlined.push_back(
            {f.at("file"), f.at("line"), f.at("column"), f.at("function"), f.value("source", "")});
      d.places.push_back(std::move(p));
    }
    value.at("state").get_to(d.state);
    value.at("why").get_to(d.why);
    value.at("help").get_to(d.help);
    value.at("notes").get_to(d.notes);
    value.at("times").get_to(d.times);
    value.at("unit").get_to(d.unit);
    for (const auto& other : value.value("later", nlohmann::json::array())) {
      auto later = diagnostic_from_json(other);
      if (!later) return later.error();
      d.later.push_back(*std::move(later));
    }
    return d;
  } catch (const nlohmann::json::exception& e) {
    return Error{fmt::format("a diagnostic cannot be read: {}", e.what()), ""};
  }
}

}  // namespace sluice::report
