// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of the example programs: flags, bounded numbers and names. Whatever is wrong with it is
// answered with one line on stderr and exit status 2, so that a caller can tell bad input (2) from a wrong
// result (1).
#pragma once

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace example {

/// Exit status of a program that could not do its job: bad input, no usable GPU, a CUDA error.
constexpr int kExitCannotRun = 2;

/// Print `PROGRAM: MESSAGE` as one line on stderr and end the process with `kExitCannotRun`.
[[noreturn, gnu::format(printf, 2, 3)]] inline void fail(const char* program, const char* format, ...) {
  std::fflush(stdout);
  char line[1024];  // written at once, so that no other program's line comes between
  const int begun = std::snprintf(line, sizeof line, "%s: ", program);
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line + begun, sizeof line - static_cast<std::size_t>(begun), format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "%s\n", line);
  std::exit(kExitCannotRun);
}

/// Walks the arguments once, front to back:
///
///     CommandLine line("name", argc, argv);
///     while (line.next()) {
///       if (line.flag("--quiet")) quiet = true;
///       else if (line.number("--stages", 1, 6, &stages)) continue;
///       else line.reject();
///     }
class CommandLine {
 public:
  /// From here on the program ends with kExitCannotRun where its output could not be written.
  CommandLine(const char* program, int argc, char** argv) : program_(program), argc_(argc), argv_(argv) {
    std::atexit([] {
      if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
      std::fputs("error: the output could not be written\n", stderr);
      std::_Exit(kExitCannotRun);
    });
  }

  /// Go to the next argument; false when none is left.
  bool next() { return ++position_ < argc_; }

  /// True when the current argument is the flag `name`, which takes no value.
  bool flag(const char* name) const {
    if (is(name)) return true;
    if (std::strncmp(current(), name, std::strlen(name)) == 0 && current()[std::strlen(name)] == '=') {
      fail(program_, "%s takes no value (try --help)", name);
    }
    return false;
  }

  /// True when the current argument is the option `name`; its value, `--name VALUE` or `--name=VALUE`, goes
  /// to `value`.
  bool text(const char* name, const char** value) {
    const std::size_t length = std::strlen(name);
    if (is(name)) {
      if (!next()) fail(program_, "%s needs a value (try --help)", name);
      *value = current();
      return true;
    }
    if (std::strncmp(current(), name, length) != 0 || current()[length] != '=') return false;
    *value = current() + length + 1;
    return true;
  }

  /// The same for a whole number from `low` to `high`; anything else ends the program.
  bool number(const char* name, long low, long high, int* value) {
    const char* written = nullptr;
    if (!text(name, &written)) return false;
    char* end = nullptr;
    const long parsed = std::strtol(written, &end, 10);
    if (end == written || *end != '\0' || parsed < low || parsed > high) {
      fail(program_, "%s must be a whole number from %ld to %ld, not '%s'", name, low, high, written);
    }
    *value = static_cast<int>(parsed);
    return true;
  }

  /// The current argument is none that the program knows: end it.
  [[noreturn]] void reject() const { fail(program_, "unknown option '%s' (try --help)", current()); }

 private:
  const char* current() const { return argv_[position_]; }
  bool is(const char* name) const { return std::strcmp(current(), name) == 0; }

  const char* program_;
  int argc_;
  char** argv_;
  int position_ = 0;
};

}  // namespace example
