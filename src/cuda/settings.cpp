// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Settings to JSON and back, and the matching of kernel names.
#include "cuda/settings.hpp"
#include "event/places.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>

namespace sluice::cuda {
namespace {

// Calls visit(name, member) for every member: the one list that writer and reader share.
template <class SettingsType, class Visit>
void for_each_member(SettingsType& s, Visit visit) {
  visit("tool", s.tool);
  visit("device", s.device);
  visit("device_count", s.device_count);
  visit("kernel_names", s.kernel_names);
  visit("excluded_kernel_names", s.excluded_kernel_names);
  visit("launch_skip", s.launch_skip);
  visit("launch_count", s.launch_count);
  visit("ctas", s.ctas);
  visit("no_data", s.no_data);
  visit("lazy_unsupported", s.lazy_unsupported);
  visit("timeout_seconds", s.timeout_seconds);
  visit("copies", s.copies);
  visit("seed", s.seed);
  visit("uninit", s.uninit);
  visit("perturb", s.perturb);
  visit("hasty_waits", s.hasty_waits);
  visit("side_by_side", s.side_by_side);
  visit("workers", s.workers);
  visit("verbosity", s.verbosity);
  visit("phases_file", s.phases_file);
  visit("trace_folder", s.trace_folder);
  visit("checked_timeline", s.checked_timeline);
  visit("traced_ctas", s.traced_ctas);
  visit("report_directory", s.report_directory);
}

// "void ns::kernel<4>(int*)" -> "ns::kernel": what a user types.
std::string bare_name(std::string name) {
  int depth = 0;
  size_t begin = 0, end = name.size();
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<' || c == '(') {
      // "(anonymous namespace)" is part of the name.
      if (c == '(' && depth == 0 && name.compare(i, 11, "(anonymous ") == 0) {
        i = name.find(')', i);
        if (i == std::string::npos) break;
        continue;
      }
      if (depth++ == 0 && (c == '(' || end == name.size())) {
        end = i;
        break;
      }
    } else if (c == ' ' && depth == 0) {
      begin = i + 1;
    }
  }
  return name.substr(begin, end - begin);
}

}  // namespace

std::string to_json_text(const Settings& settings) {
  nlohmann::json value;
  for_each_member(settings, [&](const char* name, const auto& member) { value[name] = member; });
  return value.dump();
}

Result<Settings> settings_from_json_text(std::string_view text) {
  const nlohmann::json value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) return Error{"the settings are not a JSON object", kSettingsVariable};
  Settings settings;
  std::string wrong;
  size_t known = 0;
  for_each_member(settings, [&](const char* name, auto& member) {
    const auto it = value.find(name);
    if (it == value.end()) return;
    ++known;
    // The library reports a wrong type by an exception; it ends here.
    try {
      it->get_to(member);
    } catch (const nlohmann::json::exception&) {
      wrong = name;
    }
  });
  if (!wrong.empty())
    return Error{fmt::format("the setting '{}' has the wrong type", wrong), kSettingsVariable};
  if (known != value.size()) return Error{"there are settings of another build", kSettingsVariable};
  return settings;
}

bool kernel_name_matches(std::string_view pattern, std::string_view mangled) {
  const std::string readable = event::readable(std::string(mangled));
  constexpr std::string_view kRegex = "regex:";
  if (pattern.substr(0, kRegex.size()) == kRegex) {
    // A wrong expression was refused by the command line; here it matches nothing.
    try {
      return std::regex_search(readable, std::regex(std::string(pattern.substr(kRegex.size()))));
    } catch (const std::regex_error&) {
      return false;
    }
  }
  if (pattern == mangled || pattern == readable) return true;
  const std::string bare = bare_name(readable);
  if (pattern == bare) return true;
  // Without its namespaces too.
  const size_t colon = bare.rfind("::");
  return colon != std::string::npos && pattern == std::string_view(bare).substr(colon + 2);
}

}  // namespace sluice::cuda
