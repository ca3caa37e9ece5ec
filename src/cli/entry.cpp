// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// `sluice`: parsing of the command line down to the subcommand.
#include "cli/entry.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "cli/command.hpp"

#ifndef SLUICE_VERSION
#error "the build says which version this is"
#endif

namespace sluice::cli {
namespace {

constexpr const char* kAbout =
    "Runs CUDA programs for NVIDIA Hopper GPUs (sm_90a) on the CPU.\n"
    "The program under test is not changed; it needs the shared CUDA runtime and embedded PTX.";

constexpr const char* kStatuses =
    "Exit status: the program's own when nothing was found; 101 a finding, 102 something the engine cannot\n"
    "execute, 103 not decided within a bound, 104 an error of the tool itself, 2 a wrong command line.\n";

}  // namespace

int run_tool(int argc, char** argv) {
  int status = 0;
  CLI::App app(kAbout, "sluice");
  app.footer(kStatuses);
  app.set_version_flag("--version", "sluice " SLUICE_VERSION, "print the version");
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpFormat>("sluice COMMAND [options]"));
  add_run_command(app, &status);
  add_isa_command(app, &status);
  add_completion_command(app, &status);
  if (argc < 2) {
    std::fputs(app.help().c_str(), stderr);
    return kExitUsage;
  }

  std::string command = "sluice";
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->get_name() == argv[1]) command += " " + sub->get_name();
  }
  // The parser reports by exceptions; they end here.
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);  // --help and --version, on stdout
  } catch (const CLI::ParseError& e) {
    std::string message = e.what();
    while (!message.empty() && (message.back() == '\n' || message.back() == '.')) message.pop_back();
    if (command == "sluice" && argv[1][0] != '-') message = fmt::format("unknown subcommand '{}'", argv[1]);
    return usage_error(message, command);
  }
  return status;
}

}  // namespace sluice::cli
