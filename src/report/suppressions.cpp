// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading and matching. Keys hold no addresses, counts or process numbers, so that they stay the same from
// run to run.
#include "report/suppressions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace sluice::report {
namespace {

// Places by the text of their lines, so that lines that come or go elsewhere in a file change nothing; by
// their numbers where the text is not known.
std::string key_of(const Diagnostic& d) {
  std::string key = d.name;
  const auto add = [&](const auto& at) {
    key += fmt::format("\n{}:{}", at.file, at.source.empty() ? std::to_string(at.line) : at.source);
  };
  for (const Place& place : d.places) {
    add(place);
    for (const Frame& frame : place.inlined) add(frame);
  }
  return key;
}

bool ends_with_path(const std::string& path, const std::string& end) {
  if (path.size() < end.size() || path.compare(path.size() - end.size(), end.size(), end) != 0) return false;
  return path.size() == end.size() || path[path.size() - end.size() - 1] == '/' || end.front() == '/';
}

bool allowed_in_source(const std::string& file, uint32_t line, const std::string& name) {
  std::ifstream in(file);
  std::string text;
  for (uint32_t n = 0; n < line && std::getline(in, text); ++n) {
  }
  if (!in || line == 0) return false;
  const size_t at = text.find("sluice: allow " + name);
  if (at == std::string::npos) return false;
  const size_t end = at + std::string("sluice: allow ").size() + name.size();
  return end == text.size() || (text[end] != '-' && std::isalnum(static_cast<unsigned char>(text[end])) == 0);
}

}  // namespace

Result<void> Suppressions::add_file(const std::string& path,
                                    const std::function<bool(const std::string&)>& is_name) {
  std::ifstream in(path);
  if (!in) return Error{"cannot read the suppressions", path};
  uint32_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    Entry entry;
    std::string place, more;
    if (!(words >> entry.name)) continue;
    if (!is_name(entry.name))
      return Error{fmt::format("there is no finding '{}': `sluice explain` lists them", entry.name),
                   fmt::format("{}:{}", path, number)};
    words >> place;
    if (words >> more)
      return Error{"a suppression is NAME, NAME FILE or NAME FILE:LINE", fmt::format("{}:{}", path, number)};
    const size_t colon = place.rfind(':');
    entry.file = place.substr(0, colon);
    if (colon != std::string::npos) {
      char* end = nullptr;
      entry.line = static_cast<uint32_t>(std::strtoul(place.c_str() + colon + 1, &end, 10));
      if (*end != '\0' || entry.line == 0)
        return Error{"a suppression's line is not a number", fmt::format("{}:{}", path, number)};
    }
    entries_.push_back(std::move(entry));
  }
  return {};
}

Result<void> Suppressions::add_baseline(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();  // reads nothing of a folder
  const auto report = nlohmann::json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
  if (!report.is_object() || !report.contains("diagnostics"))
    return Error{"this is no report of --json", path};
  for (const auto& value : report["diagnostics"]) {
    auto diagnostic = diagnostic_from_json(value);
    if (!diagnostic) return Error{diagnostic.error().message, path};
    known_.insert(key_of(*diagnostic));
    for (const Diagnostic& later : diagnostic->later) known_.insert(key_of(later));
  }
  return {};
}

bool Suppressions::covers(const Diagnostic& d) const {
  if (d.blame != Blame::Program) return false;
  if (known_.contains(key_of(d))) return true;
  const auto matches = [&](const std::string& file, uint32_t line) {
    const bool listed = std::any_of(entries_.begin(), entries_.end(), [&](const Entry& e) {
      return e.name == d.name && !e.file.empty() && ends_with_path(file, e.file) &&
             (e.line == 0 || e.line == line);
    });
    return listed || allowed_in_source(file, line, d.name);
  };
  for (const Entry& e : entries_) {
    if (e.name == d.name && e.file.empty()) return true;
  }
  for (const Place& place : d.places) {
    if (matches(place.file, place.line)) return true;
    for (const Frame& frame : place.inlined) {
      if (matches(frame.file, frame.line)) return true;
    }
  }
  return false;
}

}  // namespace sluice::report
