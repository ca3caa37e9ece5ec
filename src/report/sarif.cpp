// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// SARIF: a rule per name, a result per diagnostic.
#include "report/sarif.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "report/verdict.hpp"

namespace sluice::report {
namespace {

using nlohmann::json;

/// A path as a URI reference (RFC 3986): everything but letters, digits and what a path may hold is escaped.
std::string uri_of(std::string_view path) {
  constexpr std::string_view kPlain = "/-._~!$&'()*+,;=@";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string uri;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter_or_digit = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter_or_digit || kPlain.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return uri;
}

json location(const std::string& file, uint32_t line, uint32_t column, const std::string& message) {
  json region = {{"startLine", line == 0 ? 1 : line}};
  if (column != 0) region["startColumn"] = column;
  json result = {
      {"physicalLocation", {{"artifactLocation", {{"uri", uri_of(file)}}}, {"region", std::move(region)}}}};
  if (!message.empty()) result["message"] = {{"text", message}};
  return result;
}

std::string message_of(const Diagnostic& d) {
  std::string text = d.headline;
  for (const std::string* part : {&d.state, &d.why, &d.help}) {
    if (!part->empty()) text += "\n" + *part;
  }
  return text;
}

const char* level_of(const Diagnostic& d) {
  return d.level == Level::Error ? "error" : d.level == Level::Warning ? "warning" : "note";
}

json invocation(int interrupted_by) {
  if (interrupted_by == 0) return {{"executionSuccessful", true}};
  return {{"executionSuccessful", false},
          {"exitSignalName", signal_name(interrupted_by)},
          {"exitSignalNumber", interrupted_by}};
}

}  // namespace

json to_sarif(const std::vector<Diagnostic>& diagnostics, int interrupted_by, std::string_view tool_version,
              const std::function<std::string(std::string_view)>& meaning_of) {
  std::set<std::string> names;
  json results = json::array();
  for (const Diagnostic& d : diagnostics) {
    if (d.blame != Blame::Program) continue;
    names.insert(d.name);
    json result = {{"ruleId", d.name}, {"level", level_of(d)}, {"message", {{"text", message_of(d)}}}};
    json related = json::array();
    // The schema wants each related location once; two places may have calls in common.
    const auto relate = [&related](json place) {
      if (std::find(related.begin(), related.end(), place) == related.end())
        related.push_back(std::move(place));
    };
    for (size_t i = 0; i < d.places.size(); ++i) {
      const Place& p = d.places[i];
      json place = location(p.file, p.line, p.column, p.label);
      if (i == 0)
        result["locations"] = json::array({std::move(place)});
      else
        relate(std::move(place));
      for (const Frame& f : p.inlined) relate(location(f.file, f.line, f.column, "called from here"));
    }
    if (!related.empty()) result["relatedLocations"] = std::move(related);
    results.push_back(std::move(result));
  }
  json rules = json::array();
  for (const std::string& name : names)
    rules.push_back(
        {{"id", name},
         {"shortDescription", {{"text", meaning_of(name)}}},
         {"help", {{"text", "`sluice explain " + name + "` has an example, the reason and the fix"}}}});
  const json driver = {{"name", "sluice"}, {"version", tool_version}, {"rules", std::move(rules)}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", json::array({{{"tool", {{"driver", driver}}},
                                 {"invocations", json::array({invocation(interrupted_by)})},
                                 {"results", std::move(results)}}})}};
}

}  // namespace sluice::report
