// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Errors of the host side: a sentence in a fixed-size buffer, and a result that holds either a value or such
// a sentence. Nothing here throws, allocates or prints; whoever calls decides where the sentence goes. The
// file needs the standard library alone, so that the rules built on it can be tested without CUDA's runtime.
#pragma once

#include <cstdarg>
#include <cstdio>

namespace sluice::host {

/// What went wrong, in one sentence: the thing, its value, the limit, and what to do. `Rule` is an
/// enumeration whose value 0 means that nothing is wrong.
template <class Rule>
struct Error {
  static constexpr int kTextSize = 384;

  Rule rule{};
  char text[kTextSize] = {};

  /// Returns true if something is wrong.
  explicit operator bool() const { return rule != Rule{}; }

  /// Sets rule and sentence; the arguments are those of `printf`. A longer sentence is cut.
  void set(Rule broken, const char* format, ...) {
    rule = broken;
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, kTextSize, format, arguments);
    va_end(arguments);
  }
};

/// A value or the sentence that says why there is none.
template <class T, class Rule>
class Result {
 public:
  Result(const T& value) : value_(value) {}
  Result(const Error<Rule>& error) : error_(error) {}

  /// Returns true if there is a value.
  explicit operator bool() const { return !error_; }

  /// The value; only to be read if the result is true.
  const T& value() const { return value_; }
  const T& operator*() const { return value_; }

  /// The broken rule (its zero value if there is none), and the sentence (empty if there is none).
  Rule rule() const { return error_.rule; }
  const char* message() const { return error_.text; }
  const Error<Rule>& error() const { return error_; }

 private:
  T value_{};
  Error<Rule> error_{};
};

}  // namespace sluice::host
