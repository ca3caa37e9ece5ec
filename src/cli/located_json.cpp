// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The reader of located JSON.
#include "cli/located_json.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice::cli {
namespace {

constexpr uint32_t kDeepest = 64;
constexpr size_t kMostMembers = 4096;  // of one object

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

void append_utf8(std::string& out, uint32_t code) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    tail(12), tail(6), tail(0);
  }
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<Json> document() {
    SLUICE_ASSIGN_OR_RETURN(Json root, value(0));
    SLUICE_TRY(skip_space());
    if (at_ != text_.size()) return expected("the end of the file");
    return root;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  uint32_t column() const { return static_cast<uint32_t>(at_ - line_begin_ + 1); }
  Error wrong(std::string message) const {
    return {std::move(message), fmt::format("{}:{}", line_, column())};
  }

  Error expected(std::string_view what) const {
    if (at_ == text_.size()) return wrong(fmt::format("expected {}, found the end of the file", what));
    const unsigned char c = static_cast<unsigned char>(text_[at_]);
    if (c < ' ' || c > '~') return wrong(fmt::format("expected {}, found the byte 0x{:02x}", what, c));
    return wrong(fmt::format("expected {}, found '{}'", what, text_[at_]));
  }

  bool accept(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  void step() {
    if (text_[at_++] != '\n') return;
    ++line_;
    line_begin_ = at_;
  }

  // White space and comments.
  Result<void> skip_space() {
    while (at_ < text_.size()) {
      if (text_.substr(at_, 2) == "//") {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (text_.substr(at_, 2) == "/*") {
        const size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) return wrong("this comment does not end");
        while (at_ < end + 2) step();
      } else if (std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
        step();
      } else {
        break;
      }
    }
    return {};
  }

  Result<Json> value(uint32_t depth) {
    SLUICE_TRY(skip_space());
    if (depth > kDeepest) return wrong(fmt::format("nested deeper than {} levels", kDeepest));
    Json json;
    json.line = line_;
    json.column = column();
    SLUICE_TRY(fill(json, depth));
    return json;
  }

  Result<void> fill(Json& json, uint32_t depth) {
    const char c = peek();
    if (c == '{') return object(json, depth);
    if (c == '[') return list(json, depth);
    if (c == '"') {
      json.kind = Json::Kind::Text;
      return string(json.text);
    }
    if (c == '-' || is_digit(c)) return number(json);
    for (const std::string_view word : {"true", "false", "null"}) {
      if (!accept(word)) continue;
      json.kind = word == "null" ? Json::Kind::Null : Json::Kind::Boolean;
      json.text = word;
      return {};
    }
    return expected("a value");
  }

  Result<void> list(Json& json, uint32_t depth) {
    json.kind = Json::Kind::List;
    ++at_;
    SLUICE_TRY(skip_space());
    if (accept("]")) return {};
    for (;;) {
      SLUICE_ASSIGN_OR_RETURN(Json item, value(depth + 1));
      json.values.push_back(std::move(item));
      SLUICE_TRY(skip_space());
      if (accept("]")) return {};
      if (!accept(",")) return expected("',' or ']'");
    }
  }

  Result<void> object(Json& json, uint32_t depth) {
    json.kind = Json::Kind::Object;
    ++at_;
    SLUICE_TRY(skip_space());
    if (accept("}")) return {};
    for (;;) {
      SLUICE_TRY(skip_space());
      if (peek() != '"') return expected("a member's name in quotes");
      const Error here = wrong("");
      std::string name;
      SLUICE_TRY(string(name));
      if (std::find(json.names.begin(), json.names.end(), name) != json.names.end())
        return Error{fmt::format("the member '{}' stands here twice", name), here.place};
      if (json.names.size() == kMostMembers)
        return Error{fmt::format("an object has at most {} members", kMostMembers), here.place};
      SLUICE_TRY(skip_space());
      if (!accept(":")) return expected("':'");
      SLUICE_ASSIGN_OR_RETURN(Json member, value(depth + 1));
      json.names.push_back(std::move(name));
      json.values.push_back(std::move(member));
      SLUICE_TRY(skip_space());
      if (accept("}")) return {};
      if (!accept(",")) return expected("',' or '}'");
    }
  }

  Result<void> digits() {
    if (!is_digit(peek())) return expected("a digit");
    while (is_digit(peek())) ++at_;
    return {};
  }

  Result<void> number(Json& json) {
    json.kind = Json::Kind::Number;
    const size_t begin = at_;
    (void)accept("-");
    const bool has_leading_zero = peek() == '0';
    SLUICE_TRY(digits());
    const size_t first = text_[begin] == '-' ? begin + 1 : begin;
    if (has_leading_zero && at_ - first > 1) {
      at_ = first;
      return wrong("a number does not begin with 0");
    }
    if (accept(".")) SLUICE_TRY(digits());
    if (accept("e") || accept("E")) {
      if (!accept("+")) (void)accept("-");
      SLUICE_TRY(digits());
    }
    json.text = text_.substr(begin, at_ - begin);
    return {};
  }

  Result<uint32_t> hex4() {
    uint32_t code = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = peek();
      const bool is_letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      if (!is_digit(c) && !is_letter) return expected("four hexadecimal digits");
      code = code << 4 | static_cast<uint32_t>(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
      ++at_;
    }
    return code;
  }

  Result<void> escape(std::string& out) {
    ++at_;
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const size_t known = at_ < text_.size() ? kNames.find(text_[at_]) : std::string_view::npos;
    if (known != std::string_view::npos) {
      out += kMeanings[known];
      ++at_;
      return {};
    }
    if (!accept("u")) return expected("an escape such as \\n or \\u00e4");
    SLUICE_ASSIGN_OR_RETURN(uint32_t code, hex4());
    if (code >= 0xd800 && code < 0xdc00) {
      if (!accept("\\u")) return expected("the second half of a surrogate pair");
      SLUICE_ASSIGN_OR_RETURN(const uint32_t low, hex4());
      if (low < 0xdc00 || low >= 0xe000) return wrong("this is no second half of a surrogate pair");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
      return wrong("the first half of this surrogate pair is missing");
    }
    append_utf8(out, code);
    return {};
  }

  Result<void> string(std::string& out) {
    const Error begin = wrong("this text does not end on its line");
    ++at_;
    while (peek() != '"') {
      if (at_ == text_.size() || peek() == '\n') return begin;
      if (static_cast<unsigned char>(peek()) < ' ') return expected("a character or an escape");
      if (peek() == '\\') {
        SLUICE_TRY(escape(out));
      } else {
        out += text_[at_++];
      }
    }
    ++at_;
    return {};
  }

  std::string_view text_;
  size_t at_ = 0, line_begin_ = 0;
  uint32_t line_ = 1;
};

}  // namespace

Result<Json> parse_json(std::string_view text) {
  return Reader(text).document();
}

}  // namespace sluice::cli
