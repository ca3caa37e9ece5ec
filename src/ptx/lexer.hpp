// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading PTX text character by character: white space and comments, words, numbers, strings, and errors with
// their place. There is no token list; the parser asks for what it expects.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::ptx {

/// A place in the text.
struct Mark {
  uint32_t offset = 0;
  uint32_t line = 1;
  uint32_t line_begin = 0;  ///< offset of the line's first character
};

/// A literal: an integer, the bits of a 32-bit float, or the bits of a 64-bit float.
struct Literal {
  enum class Kind : uint8_t { Int, F32, F64 };
  Kind kind = Kind::Int;
  uint64_t bits = 0;
  bool is_unsigned = false;  ///< written with U, or too large for a signed 64-bit integer
};

class Lexer {
 public:
  Lexer(std::string_view text, std::string_view name) : text_(text), name_(name) { skip_space(); }

  /// All of these leave the position behind white space and comments.
  [[nodiscard]] bool at_end() const { return mark_.offset >= text_.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[mark_.offset]; }
  [[nodiscard]] char peek(size_t ahead) const {
    return mark_.offset + ahead < text_.size() ? text_[mark_.offset + ahead] : '\0';
  }
  /// Takes `c` if it is next.
  bool accept(char c) {
    if (peek() != c || at_end()) return false;
    advance(1);
    return true;
  }
  /// Takes `text` if it is next (two- and three-character operators).
  bool accept(std::string_view text);
  /// Takes `.word` if it is next, as a whole word.
  bool accept_directive(std::string_view word);
  /// Takes an identifier: letters, digits, `_`, `$`, with a leading `%` perhaps. Empty if none is next.
  std::string_view identifier();
  /// Takes `.word` and returns it without the dot; `::` belongs to the word. Empty if none is next.
  std::string_view directive();
  /// `.word` that comes next, without taking it.
  [[nodiscard]] std::string_view peek_directive() const;
  /// Takes an instruction word: parts joined by dots (white space around them allowed), `::` inside a part.
  /// Where the parts are not adjacent in the text, `joined` holds them and is what the result refers to.
  std::string_view instruction_word(std::string& joined);
  /// Takes a literal; false if none is next or it is malformed.
  bool literal(Literal& out);
  /// Takes a "string"; false if none is next or it does not end.
  bool string(std::string& out);
  /// Takes everything up to the `}` that belongs to an open `{`; strings and comments are respected.
  bool skip_braces();

  [[nodiscard]] const Mark& mark() const { return mark_; }
  void rewind(const Mark& mark) { mark_ = mark; }
  [[nodiscard]] uint32_t line() const { return mark_.line; }
  [[nodiscard]] uint32_t column() const { return mark_.offset - mark_.line_begin + 1; }
  [[nodiscard]] std::string_view text() const { return text_; }

  /// The message with the source line and a caret below it; place is "name:line:column".
  [[nodiscard]] Error error(const Mark& at, std::string_view message) const;
  /// What stands next, for messages: "'foo'", "end of file".
  [[nodiscard]] std::string next_for_people() const;

 private:
  void advance(size_t n) {
    mark_.offset += static_cast<uint32_t>(n);
    skip_space();
  }
  void skip_space();

  std::string_view text_;
  std::string_view name_;
  Mark mark_;
};

}  // namespace sluice::ptx
