// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// `.file`, `.loc` and the parts of DWARF sections that they lean on (ISA "Debugging Directives"). A `.loc`
// may name the inlined function it belongs to, as a label in .debug_str, and the place that it was inlined
// at, which is the file, line and column of a `.loc` of the caller: so chains of inlined frames are built
// back from the text. LLVM (clang, Triton) says that in a comment behind the `.loc` only:
//   .loc 3 19 3   // include/init.h:19:3 @[ kernel.cu:48:7 @[ kernel.cu:90:5 ] ]
#include "ptx/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <vector>

namespace sluice::ptx {
namespace {

/// `path:line:column`.
struct PlaceText {
  std::string_view path;
  uint32_t line = 0, column = 0;
};

/// Takes `:number` off the end of the text; false if it does not end so.
bool take_number(std::string_view& text, uint32_t& number) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, number);
  if (error != std::errc() || stop != end) return false;
  text = text.substr(0, colon);
  return true;
}

/// The chain of a comment `// place @[ place @[ place ] ]`, innermost first; empty if the rest of the line is
/// anything else.
std::vector<PlaceText> chain_in_comment(std::string_view rest) {
  constexpr std::string_view kAt = " @[ ", kEnd = " ]";
  rest = rest.substr(0, rest.find('\n'));
  const size_t slashes = rest.find("// ");
  if (slashes == std::string_view::npos || rest.find(kAt) == std::string_view::npos) return {};
  rest = rest.substr(slashes + 3);
  while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\r')) rest.remove_suffix(1);
  std::vector<PlaceText> chain;
  for (;;) {
    const size_t at = rest.find(kAt);
    PlaceText place{rest.substr(0, at)};
    if (at == std::string_view::npos) {
      for (size_t i = 0; i < chain.size(); ++i) {
        if (!place.path.ends_with(kEnd)) return {};
        place.path.remove_suffix(kEnd.size());
      }
    }
    if (!take_number(place.path, place.column) || !take_number(place.path, place.line)) return {};
    chain.push_back(place);
    if (at == std::string_view::npos) return chain;
    rest = rest.substr(at + kAt.size());
  }
}

}  // namespace

/// `.file 1 "path", 1690000000, 4711`
bool Parser::parse_file() {
  SourceFile file;
  if (!parse_unsigned(file.number, "a file number")) return false;
  if (!lex_.string(file.path)) return expected("a file name in quotes");
  // Build tools name sources from the build folder: `build/../src/kernel.cu`.
  file.path = std::filesystem::path(file.path).lexically_normal().string();
  for (int i = 0; i < 2 && lex_.accept(','); ++i) {
    const Mark at = lex_.mark();
    Literal ignored;
    if (!lex_.literal(ignored)) return fail(at, "expected a number");
  }
  // The same number with another path would make earlier lines ambiguous; the first one counts.
  if (file_index_.emplace(file.number, uint32_t(module_.files.size())).second)
    module_.files.push_back(std::move(file));
  return true;
}

/// `.loc 1 20 7` and `.loc 1 20 7, function_name $L__info_string3 + 0, inlined_at 2 40 3`
bool Parser::parse_loc() {
  LocationKey key{0, 0, 0, kNone, kNone};
  const std::string_view rest = lex_.text().substr(lex_.mark().offset);
  if (!parse_unsigned(key.file, "a file number") || !parse_unsigned(key.line, "a line number")) return false;
  if (lex_.peek() >= '0' && lex_.peek() <= '9' && !parse_unsigned(key.column, "a column")) return false;
  while (lex_.accept(',')) {
    const Mark at = lex_.mark();
    const std::string_view word = lex_.identifier();
    if (word == "function_name") {
      const std::string_view label = lex_.identifier();
      if (label.empty()) return expected("a label of .debug_str");
      int64_t offset = 0;
      if ((lex_.peek() == '+' || lex_.peek() == '-') && !parse_integer(offset)) return false;
      const auto [found, is_new] = name_index_.try_emplace({label, offset}, uint32_t(name_places_.size()));
      if (is_new) name_places_.emplace_back(label, offset);
      key.name = found->second;
    } else if (word == "inlined_at") {
      uint32_t file = 0;
      uint32_t line = 0;
      uint32_t column = 0;
      if (!parse_unsigned(file, "a file number") || !parse_unsigned(line, "a line number") ||
          !parse_unsigned(column, "a column"))
        return false;
      // The caller's own `.loc` came before; where it did not, the place alone is known.
      const auto known = last_place_.find(std::tuple(file, line, column));
      if (known != last_place_.end()) {
        key.inlined = known->second;
      } else {
        key.inlined = intern({file, line, column, kNone, kNone});
      }
    } else {
      return fail(at, "expected 'function_name' or 'inlined_at'");
    }
  }
  if (key.inlined == kNone) key.inlined = inlined_in_comment(rest, key);
  current_loc_ = intern(key);
  return true;
}

/// The place of the call that the comment behind a `.loc` names; kNone if there is no such comment.
uint32_t Parser::inlined_in_comment(std::string_view rest, const LocationKey& own) {
  const std::vector<PlaceText> chain = chain_in_comment(rest);
  if (chain.empty() || chain.front().line != own.line || chain.front().column != own.column) return kNone;
  uint32_t call = kNone;
  for (size_t i = chain.size() - 1; i > 0; --i) {
    const PlaceText& place = chain[i];
    const auto number = kFirstPathNumber + uint32_t(comment_paths_.size());
    const auto [file, is_new] = comment_path_index_.try_emplace(std::string(place.path), number);
    if (is_new) comment_paths_.emplace_back(place.path);
    call = intern({file->second, place.line, place.column, kNone, call});
  }
  return call;
}

uint32_t Parser::intern(const LocationKey& key) {
  const auto [found, is_new] = location_index_.try_emplace(key, uint32_t(module_.locations.size()));
  if (is_new) module_.locations.push_back({key.file, key.line, key.column, key.name, key.inlined});
  last_place_[std::tuple(key.file, key.line, key.column)] = found->second;
  return found->second;
}

/// `.section .debug_str { label: .b8 1,2,3 ... }`. Of all sections only the strings are kept.
bool Parser::parse_section() {
  const std::string_view section = lex_.directive();
  if (section.empty()) return expected("a section's name");
  const Mark at = lex_.mark();
  if (!expect('{')) return false;
  if (section == "debug_str") return parse_section_data();
  if (!lex_.skip_braces()) return fail(at, fmt::format("section '.{}' has no closing '}}'", section));
  return true;
}

bool Parser::parse_section_data() {
  uint32_t size = 1;
  for (;;) {
    if (lex_.accept('}')) return true;
    if (lex_.at_end()) return expected("'}'");
    if (lex_.peek() == '.') {
      const Mark at = lex_.mark();
      const std::string_view type = lex_.directive();
      size = type == "b8" ? 1 : type == "b16" ? 2 : type == "b32" ? 4 : type == "b64" ? 8 : 0;
      if (size == 0) return fail(at, "expected .b8, .b16, .b32 or .b64");
      do {
        Literal literal;
        const Mark place = lex_.mark();
        if (!lex_.literal(literal) && !parse_expression(literal)) return false;
        if (literal.kind != Literal::Kind::Int) return fail(place, "expected an integer");
        for (uint32_t i = 0; i < size; ++i) debug_str_ += char(literal.bits >> (8 * i));
      } while (lex_.accept(','));
      continue;
    }
    const std::string_view label = lex_.identifier();
    if (label.empty()) return expected("a label or data");
    if (!expect(':')) return false;
    debug_labels_.emplace(label, debug_str_.size());
  }
}

/// Resolves file numbers and names, which may stand behind their uses.
void Parser::finish_lines() {
  // A comment names a file as the compiler was told it: mostly the end of the path in the table.
  for (size_t i = 0; i < comment_paths_.size(); ++i) {
    const std::string path = std::filesystem::path(comment_paths_[i]).lexically_normal().string();
    const auto is_it = [&](const SourceFile& file) {
      return file.path == path || file.path.ends_with("/" + path);
    };
    const auto known = std::find_if(module_.files.begin(), module_.files.end(), is_it);
    const auto index = uint32_t(known - module_.files.begin());
    const auto number = kFirstPathNumber + uint32_t(i);
    if (known == module_.files.end()) module_.files.push_back({number, path});
    file_index_.emplace(number, index);
  }
  for (Location& location : module_.locations) {
    const auto [found, is_new] = file_index_.try_emplace(location.file, uint32_t(module_.files.size()));
    if (is_new) module_.files.push_back({location.file, fmt::format("file {}", location.file)});
    location.file = found->second;
  }
  for (const auto& [label, offset] : name_places_) {
    std::string name;
    if (const auto found = debug_labels_.find(label); found != debug_labels_.end()) {
      const uint64_t begin = found->second + uint64_t(offset);
      if (begin < debug_str_.size()) name = debug_str_.substr(begin, debug_str_.find('\0', begin) - begin);
    }
    // Without the section the label is all there is.
    module_.names.push_back(name.empty() ? std::string(label) : std::move(name));
  }
}

}  // namespace sluice::ptx
