// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The tool's voice and its usage errors.
#include "cli/command.hpp"

#include <fmt/format.h>
#include <unistd.h>

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

int usage_error(std::string_view message, std::string_view command) {
  const std::string text = fmt::format("error: {}\nhelp:  `{} --help` lists the options\n", message, command);
  std::fwrite(text.data(), 1, text.size(), stderr);
  return kExitUsage;
}

}  // namespace sluice::cli
