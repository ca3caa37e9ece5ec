// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Merging and wording.
#include "check/findings.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace sluice::check {
namespace {

/// Whether people who read a finding want to see this file: not a header of the toolkit or of a library.
bool is_own_file(const std::string& path) {
  for (const char* part :
       {"/include/cuda/", "/include/cccl/", "/include/cute/", "/include/cutlass/", "/include/sluice/",
        "/targets/", "/include/crt/", "/include/cooperative_groups", "/include/sm_", "/include/device_"}) {
    if (path.find(part) != std::string::npos) return false;
  }
  return path.rfind("/usr/include/", 0) != 0 && path.rfind("/usr/local/cuda", 0) != 0;
}

bool same_places(const Finding& a, const Finding& b) {
  return a.name == b.name && std::equal(a.spots.begin(), a.spots.end(), b.spots.begin(), b.spots.end(),
                                        [](const Spot& x, const Spot& y) { return x.origin == y.origin; });
}

constexpr size_t kMostDistinct = 64;  ///< distinct findings kept per launch

}  // namespace

std::string readable(const std::string& symbol) {
  int status = 0;
  char* const text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : symbol;
  std::free(text);
  return result;
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
  kernel_ = readable(details.kernel);
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
  if (list.size() < kMostDistinct) list.push_back({std::move(finding)});
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
  // The innermost frame that the person wrote, then those around it.
  std::vector<report::Frame> frames;
  for (uint32_t at = instruction.place; at != event::kNoIndex; at = origins_->places[at].inlined_at) {
    const event::SourcePlace& p = origins_->places[at];
    std::string function = p.function == event::kNoIndex ? "" : readable(origins_->functions[p.function]);
    frames.push_back({origins_->files[p.file], p.line, p.column, std::move(function)});
  }
  const auto own =
      std::find_if(frames.begin(), frames.end(), [](const report::Frame& f) { return is_own_file(f.file); });
  const auto first = own == frames.end() ? frames.begin() : own;
  place.file = first->file;
  place.line = first->line;
  place.column = first->column;
  place.inlined.assign(first + 1, frames.end());
  if (first != frames.begin()) place.library = frames.front().function;
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
  }
  for (const Counted& warning : warnings_) told.push_back(diagnose(warning));
  errors_.clear();
  warnings_.clear();
  return told;
}

std::string Findings::symbol_name(uint32_t offset) const {
  if (origins_ == nullptr) return "";
  for (const event::SharedSymbol& symbol : origins_->shared) {
    if (symbol.bytes == 0 || offset < symbol.offset || offset >= symbol.offset + symbol.bytes) continue;
    // Of `kernel(int*)::full` the last part is the name.
    std::string name = readable(symbol.name);
    const size_t colons = name.rfind("::");
    if (colons != std::string::npos) name = name.substr(colons + 2);
    return name;
  }
  return "";
}

std::string Findings::shared_name(uint32_t offset) const {
  const std::string name = symbol_name(offset);
  return name.empty() ? "shared memory" : name;
}

std::string Findings::barrier_name(uint32_t offset) const {
  const std::string name = symbol_name(offset);
  if (name.empty()) return fmt::format("the mbarrier at shared offset 0x{:x}", offset);
  for (const event::SharedSymbol& symbol : origins_->shared) {
    const uint32_t inside = offset - symbol.offset;
    if (symbol.bytes == 0 || offset < symbol.offset || inside >= symbol.bytes) continue;
    if (symbol.bytes == 8) return name;
    if (symbol.bytes % 8 == 0 && inside % 8 == 0 && symbol.bytes <= 256)
      return fmt::format("{}[{}]", name, inside / 8);
    return fmt::format("{}+0x{:x}", name, inside);
  }
  return name;
}

}  // namespace sluice::check
