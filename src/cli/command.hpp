// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What subcommands share: where the tool speaks, and how it ends.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::cli {

constexpr int kExitUsage = 2;

/// Where the tool speaks: stderr or the log file, never stdout.
class Voice {
 public:
  Voice() = default;
  Voice(const Voice&) = delete;
  Voice& operator=(const Voice&) = delete;
  ~Voice();

  /// Speaks to the file from now on; false if it cannot be opened.
  bool open(const std::string& path);
  void say(std::string_view text);
  /// A line that the next one replaces; only on a terminal.
  void progress(std::string_view line);
  bool on_terminal() const;

 private:
  void clear_progress();

  std::FILE* file_ = nullptr;
  bool has_progress_ = false;
};

/// Help texts with a usage line of our own.
class HelpFormat : public CLI::Formatter {
 public:
  explicit HelpFormat(std::string usage) : usage_(std::move(usage)) { column_width(34); }
  std::string make_usage(const CLI::App*, std::string) const override { return "usage: " + usage_ + "\n"; }

 private:
  std::string usage_;
};

/// Reports a wrong command line: `error: ...` and a hint, on stderr. Returns the exit status.
int usage_error(std::string_view message, std::string_view command);

/// A subcommand that runs a program: what stands behind its own options goes to `*program`, unparsed.
struct ProgramCommand {
  CLI::App* app = nullptr;
  std::vector<std::string>* program = nullptr;
};

/// The command line while it is put together and parsed.
struct Tool {
  CLI::App app;
  std::vector<ProgramCommand> program_commands;
  int status = 0;  ///< set by the subcommand that ran
};

/// Each subcommand adds itself to the parser.
void add_run_command(Tool& tool);
void add_check_command(Tool& tool);
void add_explain_command(Tool& tool);
void add_isa_command(Tool& tool);
void add_completion_command(Tool& tool);

}  // namespace sluice::cli
