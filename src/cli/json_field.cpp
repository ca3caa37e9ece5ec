// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Values of located JSON, asked for as what they must be.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "cli/located_json.hpp"

namespace sluice::cli {
namespace {

// "a, b or c".
std::string listed(const std::vector<std::string_view>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i != 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace

std::string Field::place() const {
  const std::string where = fmt::format("{}:{}:{}", *file_, value_->line, value_->column);
  return path_.empty() ? where : fmt::format("{}: {}", where, path_);
}

Field Field::at(size_t index, std::string path) const {
  Field field(value_->values[index], *file_);
  field.path_ = std::move(path);
  return field;
}

Field Field::item(size_t index) const {
  return at(index, fmt::format("{}[{}]", path_, index));
}

Field Field::member(size_t index) const {
  const std::string& name = value_->names[index];
  return at(index, path_.empty() ? name : fmt::format("{}.{}", path_, name));
}

std::optional<Field> Field::find(std::string_view name) const {
  const auto it = std::find(value_->names.begin(), value_->names.end(), name);
  if (it == value_->names.end()) return std::nullopt;
  return member(static_cast<size_t>(it - value_->names.begin()));
}

Result<Field> Field::need(std::string_view name) const {
  if (auto found = find(name)) return *std::move(found);
  return wrong(fmt::format("the member '{}' is missing", name));
}

Result<void> Field::only(std::initializer_list<std::string_view> known) const {
  if (!is(Json::Kind::Object)) return wrong(fmt::format("an object is wanted here, with {}", listed(known)));
  for (size_t i = 0; i < size(); ++i) {
    if (std::find(known.begin(), known.end(), value_->names[i]) == known.end())
      return member(i).wrong(fmt::format("there is no such member here, only {}", listed(known)));
  }
  return {};
}

Result<uint64_t> Field::whole(uint64_t least, uint64_t most) const {
  const std::string wanted = fmt::format("a whole number from {} to {} is wanted here", least, most);
  const std::string& spelt = value_->text;
  if (!is(Json::Kind::Number)) return wrong(wanted);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(spelt.data(), spelt.data() + spelt.size(), number);
  const bool is_whole = error == std::errc() && end == spelt.data() + spelt.size();
  if (!is_whole || number < least || number > most) return wrong(fmt::format("{}, not {}", wanted, spelt));
  return number;
}

Result<std::vector<uint64_t>> Field::wholes(size_t fewest, size_t most_entries, uint64_t least,
                                            uint64_t most) const {
  const bool is_list = is(Json::Kind::List);
  const size_t count = is_list ? size() : 1;
  if (count < fewest || count > most_entries) {
    return wrong(fewest == most_entries
                     ? fmt::format("{} numbers are wanted here, not {}", fewest, count)
                     : fmt::format("{} to {} numbers are wanted here, not {}", fewest, most_entries, count));
  }
  std::vector<uint64_t> numbers;
  for (size_t i = 0; i < count; ++i) {
    SLUICE_ASSIGN_OR_RETURN(const uint64_t number, (is_list ? item(i) : *this).whole(least, most));
    numbers.push_back(number);
  }
  return numbers;
}

Result<double> Field::number() const {
  if (!is(Json::Kind::Number)) return wrong("a number is wanted here");
  const double number = std::strtod(value_->text.c_str(), nullptr);
  if (std::isinf(number)) return wrong(fmt::format("{} is too large for a number", value_->text));
  return number;
}

Result<std::string> Field::text() const {
  if (!is(Json::Kind::Text)) return wrong("a text in quotes is wanted here");
  return value_->text;
}

Result<bool> Field::boolean() const {
  if (!is(Json::Kind::Boolean)) return wrong("true or false is wanted here");
  return value_->text == "true";
}

Result<uint8_t> Field::one_of(std::initializer_list<std::string_view> words) const {
  const auto found = std::find(words.begin(), words.end(), value_->text);
  if (is(Json::Kind::Text) && found != words.end()) return static_cast<uint8_t>(found - words.begin());
  return wrong(fmt::format("one of {} is wanted here", listed(words)));
}

}  // namespace sluice::cli
