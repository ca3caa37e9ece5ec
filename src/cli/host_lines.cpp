// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// One call of addr2line for a place: it answers with a line for the function and one for the place.
#include "cli/host_lines.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

extern char** environ;

namespace sluice::cli {
namespace {

/// What a command writes to its output; empty where it cannot be run.
std::string output_of(std::initializer_list<std::string> command) {
  int ends[2];
  if (pipe(ends) != 0) return "";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
  std::vector<std::string> words(command);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const bool runs = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got; runs && (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  if (runs) waitpid(child, nullptr, 0);
  return text;
}

void find_line(report::Place& place) {
  const std::string answer =
      output_of({"addr2line", "-C", "-f", "-e", place.file, fmt::format("0x{:x}", place.offset)});
  const size_t end = answer.find('\n');
  std::string function = end == std::string::npos ? "" : answer.substr(0, end);
  if (function == "??") function.clear();
  const std::string line = end == std::string::npos ? "" : answer.substr(end + 1);
  const size_t colon = line.rfind(':');
  const unsigned long number =
      colon == std::string::npos ? 0 : std::strtoul(line.c_str() + colon + 1, nullptr, 10);
  if (number != 0) {
    place.file = line.substr(0, colon);
    place.line = static_cast<uint32_t>(number);
    place.offset = 0;
  } else {
    place.label = fmt::format("called at 0x{:x}{}; build with -g to see the line", place.offset,
                              function.empty() ? "" : fmt::format(" in `{}`", function));
  }
}

}  // namespace

void find_host_lines(report::Diagnostic& diagnostic) {
  for (report::Place& place : diagnostic.places)
    if (place.offset != 0) find_line(place);
}

}  // namespace sluice::cli
