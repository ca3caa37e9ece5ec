// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The way functions of the engine and the tools say that they failed: a value or an `Error`, handed back.
// No exception crosses a room; a caller that ignores a Result is told so by the compiler.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace sluice {

/// What went wrong and where.
struct Error {
  std::string message;  ///< one or more lines, lower case, no full stop, no place in it
  std::string place;    ///< "file:line:column", a symbol, or empty where there is no place

  /// "place: message", or the message alone.
  [[nodiscard]] std::string text() const { return place.empty() ? message : place + ": " + message; }
};

namespace detail {
/// Prints `what` to stderr and aborts.
[[noreturn]] void bad_result_access(const char* what);
}  // namespace detail

/// A value of type T, or an Error. Converts implicitly from either, so `return value;` and
/// `return Error{...};` both work. Reading the wrong side ends the program (always, also in release builds).
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  [[nodiscard]] T& operator*() & { return value(); }
  [[nodiscard]] const T& operator*() const& { return value(); }
  [[nodiscard]] T&& operator*() && { return std::move(value()); }
  [[nodiscard]] T* operator->() { return &value(); }
  [[nodiscard]] const T* operator->() const { return &value(); }

  [[nodiscard]] T& value() & {
    if (!has_value()) detail::bad_result_access("internal error: value of a failed Result was read\n");
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] const T& value() const& {
    if (!has_value()) detail::bad_result_access("internal error: value of a failed Result was read\n");
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] T&& value() && { return std::move(static_cast<Result&>(*this).value()); }
  [[nodiscard]] T value_or(T other) const& { return has_value() ? value() : std::move(other); }

  [[nodiscard]] const Error& error() const& {
    if (has_value()) detail::bad_result_access("internal error: error of a good Result was read\n");
    return *std::get_if<1>(&state_);
  }
  [[nodiscard]] Error&& error() && {
    return std::move(const_cast<Error&>(static_cast<const Result&>(*this).error()));
  }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value, or an Error. A default-constructed one is success.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)), failed_(true) {}

  [[nodiscard]] bool has_value() const { return !failed_; }
  explicit operator bool() const { return !failed_; }
  void operator*() const {}

  [[nodiscard]] const Error& error() const& {
    if (!failed_) detail::bad_result_access("internal error: error of a good Result was read\n");
    return error_;
  }
  [[nodiscard]] Error&& error() && {
    return std::move(const_cast<Error&>(static_cast<const Result&>(*this).error()));
  }

 private:
  Error error_;
  bool failed_ = false;
};

/// Leaves the calling function with the error of `expr` where that failed; the value is dropped.
#define SLUICE_TRY(expr)                                                   \
  do {                                                                     \
    if (auto sluice_try_result = (expr); !sluice_try_result.has_value()) { \
      return std::move(sluice_try_result).error();                         \
    }                                                                      \
  } while (false)

/// `SLUICE_ASSIGN_OR_RETURN(auto x, f());` declares x, or leaves the calling function with f's error.
#define SLUICE_ASSIGN_OR_RETURN(declaration, expr) \
  SLUICE_ASSIGN_OR_RETURN_IMPL(SLUICE_CONCAT(sluice_result_, __LINE__), declaration, expr)
#define SLUICE_ASSIGN_OR_RETURN_IMPL(name, declaration, expr) \
  auto name = (expr);                                         \
  if (!name.has_value()) return std::move(name).error();      \
  declaration = *std::move(name)
#define SLUICE_CONCAT(a, b) SLUICE_CONCAT_IMPL(a, b)
#define SLUICE_CONCAT_IMPL(a, b) a##b

}  // namespace sluice
