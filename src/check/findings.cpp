// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Merging and wording.
#include "check/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "event/places.hpp"

namespace sluice::check {
namespace {

bool same_places(const Finding& a, const Finding& b) {
  return a.name == b.name && std::equal(a.spots.begin(), a.spots.end(), b.spots.begin(), b.spots.end(),
                                        [](const Spot& x, const Spot& y) { return x.origin == y.origin; });
}

constexpr size_t kMostDistinct = 64;  ///< distinct findings kept per launch

}  // namespace

std::string bare_function(const std::string& readable) {
  std::string name;
  int depth = 0;  // of template arguments
  for (size_t i = 0; i < readable.size(); ++i) {
    const char c = readable[i];
    // "operator" names and "(anonymous namespace)" hold such characters themselves.
    if (readable.compare(i, 8, "operator") == 0) return readable;
    if (readable.compare(i, 11, "(anonymous ") == 0 && depth == 0) {
      i = readable.find(')', i);
      if (i == std::string::npos) return readable;
      if (readable.compare(i + 1, 2, "::") == 0) i += 2;
      continue;
    }
    if (c == '(' && depth == 0) break;
    if (c == '<') ++depth;
    if (depth == 0 && c == ' ')
      name.clear();  // what stands before is the result's type
    else if (depth == 0)
      name += c;
    if (c == '>') --depth;
  }
  // Scopes that the compiler or a library's versions have put in between.
  std::string kept;
  for (size_t at = 0; at <= name.size();) {
    size_t end = name.find("::", at);
    if (end == std::string::npos) end = name.size();
    const std::string part = name.substr(at, end - at);
    const bool added = part.rfind("_INTERNAL_", 0) == 0 || (part.rfind("__", 0) == 0 && end != name.size());
    if (!added) kept += (kept.empty() ? "" : "::") + part;
    at = end + 2;
  }
  return kept.empty() ? readable : kept;
}

std::string lanes_text(uint32_t warp, uint32_t lanes) {
  if (lanes == 0xffffffffu || lanes == 0) return fmt::format("warp {}", warp);
  if ((lanes & (lanes - 1)) == 0) return fmt::format("warp {} lane {}", warp, std::countr_zero(lanes));
  const int first = std::countr_zero(lanes), last = 31 - std::countl_zero(lanes);
  if (std::popcount(lanes) == last - first + 1) return fmt::format("warp {} lanes {}-{}", warp, first, last);
  return fmt::format("warp {} lanes 0x{:08x}", warp, lanes);
}

void Findings::begin_launch(const event::LaunchDetails& details) {
  origins_ = details.origins;
  kernel_ = event::readable(details.kernel);
  errors_.clear();
  warnings_.clear();
}

void Findings::add(Finding finding) {
  std::vector<Counted>& list = finding.level == report::Level::Error ? errors_ : warnings_;
  for (Counted& known : list) {
    if (!same_places(known.finding, finding)) continue;
    ++known.times;
    return;
  }
  if (list.size() == kMostDistinct) return;
  list.push_back({std::move(finding)});
  const bool is_consequence = &list == &errors_ && errors_.size() > 1;
  if (on_finding_ && !is_consequence) on_finding_(list.back().finding);
}

std::string Findings::where() const {
  return fmt::format("kernel `{}`", kernel_);
}

report::Place Findings::place_of(const Spot& spot) const {
  report::Place place;
  place.label = spot.label;
  if (origins_ == nullptr || spot.origin >= origins_->instructions.size()) return place;
  const event::Origin& instruction = origins_->instructions[spot.origin];
  if (instruction.place == event::kNoIndex) {
    place.file = origins_->module;
    place.line = instruction.ptx_line;
    std::string text(
        origins_->text.substr(instruction.text_begin, instruction.text_end - instruction.text_begin));
    std::replace(text.begin(), text.end(), '\n', ' ');
    place.label += place.label.empty() ? text : ": " + text;
    return place;
  }
  std::vector<report::Frame> frames;
  const std::vector<event::SourcePlace> chain = event::frames_of(*origins_, spot.origin);
  for (const event::SourcePlace& p : chain) {
    std::string function =
        p.function == event::kNoIndex ? "" : event::readable(origins_->functions[p.function]);
    frames.push_back({origins_->files[p.file], p.line, p.column, std::move(function)});
  }
  const auto first = frames.begin() + static_cast<std::ptrdiff_t>(event::own_frame(*origins_, chain));
  place.file = first->file;
  place.line = first->line;
  place.column = first->column;
  place.inlined.assign(first + 1, frames.end());
  if (first != frames.begin()) place.library = bare_function(frames.front().function);
  return place;
}

report::Diagnostic Findings::diagnose(const Counted& counted) const {
  const Finding& f = counted.finding;
  report::Diagnostic d;
  d.level = f.level;
  d.blame = report::Blame::Program;
  d.name = f.name;
  d.headline = f.headline;
  d.where = f.agent.empty() ? where() : where() + ", " + f.agent;
  for (const Spot& spot : f.spots) d.places.push_back(place_of(spot));
  d.state = f.state;
  d.why = f.why;
  d.help = f.help;
  d.notes = f.notes;
  d.times = counted.times;
  d.unit = "times in this launch";
  return d;
}

std::vector<report::Diagnostic> Findings::take() {
  std::vector<report::Diagnostic> told;
  if (!errors_.empty()) {
    told.push_back(diagnose(errors_.front()));
    std::vector<std::string> later;
    for (size_t i = 1; i < errors_.size(); ++i) {
      const std::string& name = errors_[i].finding.name;
      if (name == told.back().name) continue;
      if (std::find(later.begin(), later.end(), name) == later.end()) later.push_back(name);
    }
    if (!later.empty()) {
      std::string names;
      for (const std::string& name : later) names += (names.empty() ? "" : ", ") + name;
      told.back().notes.push_back(
          fmt::format("later in the launch, maybe in consequence and not told on its own: {}", names));
    }
    for (size_t i = 1; i < errors_.size(); ++i) told.back().later.push_back(diagnose(errors_[i]));
  }
  for (const Counted& warning : warnings_) told.push_back(diagnose(warning));
  errors_.clear();
  warnings_.clear();
  return told;
}

std::string Findings::symbol_name(uint32_t offset) const {
  const event::SharedSymbol* const symbol =
      origins_ == nullptr ? nullptr : event::symbol_at(*origins_, offset);
  return symbol == nullptr ? "" : event::short_name(*symbol);
}

std::string Findings::shared_name(uint32_t offset) const {
  const std::string name = symbol_name(offset);
  return name.empty() ? "shared memory" : fmt::format("`{}`", name);
}

std::string Findings::barrier_name(uint32_t offset) const {
  const std::string name = origins_ == nullptr ? "" : event::barrier_name(*origins_, offset);
  return name.empty() ? fmt::format("the mbarrier at shared offset 0x{:x}", offset) : name;
}

}  // namespace sluice::check
