// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What subcommands share: where the tool speaks, and how it ends.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
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
  /// When to use colours: always, never, or auto (on a terminal, unless NO_COLOR is set).
  void use_colors(const std::string& when);
  bool colored() const { return colored_; }

 private:
  void clear_progress();

  std::FILE* file_ = nullptr;
  bool has_progress_ = false;
  bool colored_ = false;
};

/// Help texts with a usage line of our own, values named without the rules that check them, and no two blank
/// lines in a row.
class HelpFormat : public CLI::Formatter {
 public:
  explicit HelpFormat(std::string usage) : usage_(std::move(usage)) { column_width(34); }
  std::string make_usage(const CLI::App*, std::string) const override { return "usage: " + usage_ + "\n"; }
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;

 private:
  std::string usage_;
};

/// Checks of option values that say in a sentence what they take.
CLI::Validator whole_number(uint64_t least, uint64_t most = UINT64_MAX);
CLI::Validator seconds();

/// Writes to stdout, the one way in which the tool does. Returns the exit status: where the text cannot be
/// written, that of a wrong command line, after a sentence on stderr.
int print_out(std::string_view text);

/// Reports a wrong command line: `error: ...` and a hint, on stderr. Returns the exit status.
int usage_error(std::string_view message, std::string_view command);
/// The same for what is wrong in a file that the command line names; the message says where and what to do.
int input_error(std::string_view message);
/// The same where the folder for reports cannot be made.
int no_report_folder(std::string_view message);

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
void add_timeline_command(Tool& tool);
void add_explain_command(Tool& tool);
void add_isa_command(Tool& tool);
void add_completion_command(Tool& tool);

}  // namespace sluice::cli
