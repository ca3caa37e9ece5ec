// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The tool's voice, its help texts and its usage errors.
#include "cli/command.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace sluice::cli {

Voice::~Voice() {
  clear_progress();
  if (file_ != nullptr) std::fclose(file_);
}

bool Voice::open(const std::string& path) {
  file_ = std::fopen(path.c_str(), "we");
  return file_ != nullptr;
}

bool Voice::on_terminal() const {
  return file_ == nullptr && isatty(STDERR_FILENO) == 1;
}

void Voice::use_colors(const std::string& when) {
  const auto is_set = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  const char* const terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  colored_ = when == "always" || (when == "auto" && on_terminal() && !is_set("NO_COLOR") && !dumb);
}

void Voice::clear_progress() {
  if (has_progress_) std::fputs("\r\x1b[K", stderr);
  has_progress_ = false;
}

void Voice::say(std::string_view text) {
  clear_progress();
  std::FILE* const out = file_ != nullptr ? file_ : stderr;
  std::fwrite(text.data(), 1, text.size(), out);
  std::fflush(out);
}

void Voice::progress(std::string_view line) {
  if (!on_terminal()) return;
  clear_progress();
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
  has_progress_ = true;
}

std::string HelpFormat::make_option_opts(const CLI::Option* option) const {
  if (option->get_positional() || option->get_items_expected_max() == 0) return "";
  // The library appends the rules behind a colon.
  const std::string type = option->get_type_name();
  return " " + type.substr(0, type.find(':'));
}

std::string HelpFormat::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
  for (size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

CLI::Validator whole_number(uint64_t least, uint64_t most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    if (is_number && value >= least && value <= most) return "";
    const std::string range =
        most == UINT64_MAX ? fmt::format("from {} on", least) : fmt::format("from {} to {}", least, most);
    return fmt::format("takes a whole number {}, not '{}'", range, text);
  };
  return {check, ""};
}

CLI::Validator seconds() {
  constexpr double kMost = 1e9;  // beyond a life
  const auto check = [](const std::string& text) -> std::string {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (!text.empty() && *end == '\0' && value > 0 && value <= kMost) return "";
    return fmt::format("takes a number of seconds above 0, not '{}'", text);
  };
  return {check, ""};
}

int print_out(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (std::fflush(stdout) == 0 && written && std::ferror(stdout) == 0) return 0;
  const std::string message = fmt::format("error: cannot write to stdout: {}\n", std::strerror(errno));
  std::fwrite(message.data(), 1, message.size(), stderr);
  return kExitUsage;
}

namespace {

int refuse(std::string_view message, std::string_view help) {
  std::string text = fmt::format("error: {}\n", message);
  if (!help.empty()) text += fmt::format("help:  {}\n", help);
  std::fwrite(text.data(), 1, text.size(), stderr);
  return kExitUsage;
}

}  // namespace

int usage_error(std::string_view message, std::string_view command) {
  return refuse(message, fmt::format("`{} --help` lists the options", command));
}

int input_error(std::string_view message) {
  return refuse(message, "");
}

int no_report_folder(std::string_view message) {
  return refuse(message, "let the environment variable TMPDIR name a folder that can be written");
}

}  // namespace sluice::cli
