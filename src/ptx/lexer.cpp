// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Lexer: see lexer.hpp. Every read is bounded by the text's end; nothing is copied except strings.
#include "ptx/lexer.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>

namespace sluice::ptx {
namespace {

constexpr uint8_t kWord = 1;   // may stand inside an identifier
constexpr uint8_t kDigit = 2;  // 0..9

constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[size_t(c)] = kWord;
  for (int c = 'A'; c <= 'Z'; ++c) classes[size_t(c)] = kWord;
  for (int c = '0'; c <= '9'; ++c) classes[size_t(c)] = kWord | kDigit;
  classes['_'] = classes['$'] = kWord;
  return classes;
}
constexpr auto kClasses = make_classes();

bool is_word(char c) {
  return kClasses[static_cast<uint8_t>(c)] & kWord;
}
bool is_digit(char c) {
  return kClasses[static_cast<uint8_t>(c)] & kDigit;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void Lexer::skip_space() {
  const size_t size = text_.size();
  size_t i = mark_.offset;
  for (;;) {
    if (i >= size) break;
    const char c = text_[i];
    if (c == '\n') {
      ++i;
      ++mark_.line;
      mark_.line_begin = static_cast<uint32_t>(i);
      // A preprocessor line is a comment for us.
      if (i < size && text_[i] == '#')
        while (i < size && text_[i] != '\n') ++i;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++i;
    } else if (c == '/' && i + 1 < size && text_[i + 1] == '/') {
      while (i < size && text_[i] != '\n') ++i;
    } else if (c == '/' && i + 1 < size && text_[i + 1] == '*') {
      i += 2;
      while (i + 1 < size && !(text_[i] == '*' && text_[i + 1] == '/')) {
        if (text_[i] == '\n') {
          ++mark_.line;
          mark_.line_begin = static_cast<uint32_t>(i + 1);
        }
        ++i;
      }
      i = i + 1 < size ? i + 2 : size;
    } else if (c == '\0' && i + 1 == size) {
      ++i;  // an image's text ends with a zero
    } else {
      break;
    }
  }
  mark_.offset = static_cast<uint32_t>(i);
}

bool Lexer::accept(std::string_view text) {
  if (text_.substr(std::min<size_t>(mark_.offset, text_.size()), text.size()) != text) return false;
  advance(text.size());
  return true;
}

std::string_view Lexer::peek_directive() const {
  if (peek() != '.') return {};
  const size_t begin = mark_.offset + 1;
  size_t end = begin;
  while (end < text_.size()) {
    if (is_word(text_[end])) {
      ++end;
    } else if (text_[end] == ':' && end + 2 < text_.size() && text_[end + 1] == ':' &&
               is_word(text_[end + 2])) {
      end += 2;
    } else {
      break;
    }
  }
  return text_.substr(begin, end - begin);
}

std::string_view Lexer::directive() {
  const std::string_view word = peek_directive();
  if (!word.empty()) advance(word.size() + 1);
  return word;
}

bool Lexer::accept_directive(std::string_view word) {
  if (peek_directive() != word) return false;
  advance(word.size() + 1);
  return true;
}

std::string_view Lexer::identifier() {
  const size_t begin = mark_.offset;
  size_t end = begin;
  if (end < text_.size() && text_[end] == '%') ++end;
  if (end == begin && (at_end() || !is_word(text_[end]) || is_digit(text_[end]))) return {};
  while (end < text_.size() && is_word(text_[end])) ++end;
  if (text_[begin] == '%' && end == begin + 1) return {};
  const std::string_view word = text_.substr(begin, end - begin);
  advance(word.size());
  return word;
}

std::string_view Lexer::instruction_word(std::string& joined) {
  const size_t begin = mark_.offset;
  size_t end = begin;
  if (at_end() || !is_word(text_[end]) || is_digit(text_[end])) return {};
  const auto scan = [&] {
    while (end < text_.size()) {
      const char c = text_[end];
      if (is_word(c)) {
        ++end;
      } else if (c == '.' && end + 1 < text_.size() && is_word(text_[end + 1])) {
        ++end;
      } else if (c == ':' && end + 2 < text_.size() && text_[end + 1] == ':' && is_word(text_[end + 2])) {
        end += 2;
      } else {
        break;
      }
    }
  };
  scan();
  std::string_view word = text_.substr(begin, end - begin);
  advance(word.size());
  // `ld.global .u32 ...`: modifiers after white space.
  if (peek() == '.' && is_word(peek(1))) {
    joined.assign(word);
    while (peek() == '.' && is_word(peek(1))) {
      const size_t from = end = mark_.offset;
      scan();
      joined.append(text_.substr(from, end - from));
      advance(end - from);
    }
    word = joined;
  }
  return word;
}

bool Lexer::literal(Literal& out) {
  const size_t begin = mark_.offset;
  const size_t size = text_.size();
  size_t i = begin;
  if (i >= size || !(is_digit(text_[i]) || (text_[i] == '.' && is_digit(peek(1))))) return false;
  const auto at = [&](size_t index) { return index < size ? text_[index] : '\0'; };

  if (at(i) == '0' && (at(i + 1) == 'f' || at(i + 1) == 'F' || at(i + 1) == 'd' || at(i + 1) == 'D')) {
    const bool is_double = at(i + 1) == 'd' || at(i + 1) == 'D';
    const size_t digits = is_double ? 16 : 8;
    uint64_t bits = 0;
    for (size_t d = 0; d < digits; ++d) {
      const int value = hex_digit(at(i + 2 + d));
      if (value < 0) return false;
      bits = bits << 4 | uint64_t(value);
    }
    i += 2 + digits;
    if (is_word(at(i))) return false;
    out = {is_double ? Literal::Kind::F64 : Literal::Kind::F32, bits, false};
    advance(i - begin);
    return true;
  }

  // Decimal floating point: digits with a point or an exponent.
  size_t j = i;
  while (is_digit(at(j))) ++j;
  const bool has_exponent =
      (at(j) == 'e' || at(j) == 'E') &&
      (is_digit(at(j + 1)) || ((at(j + 1) == '+' || at(j + 1) == '-') && is_digit(at(j + 2))));
  const bool has_point =
      at(j) == '.' && !(is_word(at(j + 1)) && !is_digit(at(j + 1)) && at(j + 1) != 'e' && at(j + 1) != 'E');
  if (has_exponent || has_point) {
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + i, text_.data() + size, value);
    if (error == std::errc::invalid_argument) return false;
    if (error == std::errc::result_out_of_range) return false;
    out = {Literal::Kind::F64, std::bit_cast<uint64_t>(value), false};
    i = static_cast<size_t>(end - text_.data());
    if (is_word(at(i))) return false;
    advance(i - begin);
    return true;
  }

  // Integers: 0x, 0b, octal, decimal.
  int base = 10;
  if (at(i) == '0' && (at(i + 1) == 'x' || at(i + 1) == 'X')) {
    base = 16;
    i += 2;
  } else if (at(i) == '0' && (at(i + 1) == 'b' || at(i + 1) == 'B')) {
    base = 2;
    i += 2;
  } else if (at(i) == '0') {
    base = 8;
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text_.data() + i, text_.data() + size, value, base);
  if (error != std::errc()) return false;
  i = static_cast<size_t>(end - text_.data());
  bool is_unsigned = false;
  if (at(i) == 'U' || at(i) == 'u') {
    is_unsigned = true;
    ++i;
  }
  if (is_word(at(i))) return false;
  out = {Literal::Kind::Int, value, is_unsigned || value > uint64_t(INT64_MAX)};
  advance(i - begin);
  return true;
}

bool Lexer::string(std::string& out) {
  if (peek() != '"') return false;
  out.clear();
  size_t i = mark_.offset + 1;
  while (i < text_.size() && text_[i] != '"' && text_[i] != '\n') {
    if (text_[i] == '\\' && i + 1 < text_.size() && (text_[i + 1] == '"' || text_[i + 1] == '\\')) ++i;
    out += text_[i++];
  }
  if (i >= text_.size() || text_[i] != '"') return false;
  advance(i + 1 - mark_.offset);
  return true;
}

bool Lexer::skip_braces() {
  uint32_t depth = 1;
  std::string ignored;
  while (!at_end()) {
    const char c = peek();
    if (c == '"') {
      if (!string(ignored)) return false;
      continue;
    }
    advance(1);
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) return true;
  }
  return false;
}

Error Lexer::error(const Mark& at, std::string_view message) const {
  const size_t begin = std::min<size_t>(at.line_begin, text_.size());
  size_t end = std::min(text_.find('\n', begin), text_.size());
  if (end > begin && text_[end - 1] == '\r') --end;
  // A long line is shown around the place, a tab as one space so that the caret stands right.
  constexpr size_t kWidth = 120;
  size_t column = at.offset >= begin ? at.offset - begin : 0;
  size_t from = column > kWidth - 20 ? column - (kWidth - 20) : 0;
  from = std::min(from, end - begin);
  std::string line(text_.substr(begin + from, std::min(kWidth, end - begin - from)));
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  const size_t caret = std::min(column - from, line.size());
  return Error{fmt::format("{}\n  {}\n  {}^", message, line, std::string(caret, ' ')),
               fmt::format("{}:{}:{}", name_, at.line, column + 1)};
}

std::string Lexer::next_for_people() const {
  if (at_end()) return "end of file";
  size_t end = mark_.offset + 1;
  if (is_word(peek()) || peek() == '%' || peek() == '.')
    while (end < text_.size() && is_word(text_[end]) && end < mark_.offset + 40u) ++end;
  std::string word(text_.substr(mark_.offset, end - mark_.offset));
  for (char& c : word)
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~') c = '?';
  return "'" + word + "'";
}

}  // namespace sluice::ptx
