// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// JSON as people write it by hand: a tree in which every value knows its line and column, numbers keep their
// spelling, members their order, and a member that stands twice is an error. Comments are allowed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sluice::cli {

struct Json {
  enum class Kind : uint8_t { Null, Boolean, Number, Text, List, Object };

  Kind kind = Kind::Null;
  uint32_t line = 1, column = 1;
  std::string text;                ///< of a text; a number as it is spelt; "true" or "false"
  std::vector<Json> values;        ///< of a list; of an object's members
  std::vector<std::string> names;  ///< of an object's members
};

/// The error's place is "line:column".
Result<Json> parse_json(std::string_view text);

/// A value together with its path from the root, which is how errors name it. Refers to the tree and to the
/// file's name; both outlive it.
class Field {
 public:
  Field(const Json& value, const std::string& file) : value_(&value), file_(&file) {}

  const Json& json() const { return *value_; }
  bool is(Json::Kind kind) const { return value_->kind == kind; }
  const std::string& path() const { return path_; }
  /// "file:line:column: path".
  std::string place() const;
  Error wrong(std::string message) const { return {std::move(message), place()}; }

  size_t size() const { return value_->values.size(); }
  Field item(size_t index) const;
  /// The member's value with this index; its name is `json().names[index]`.
  Field member(size_t index) const;
  std::optional<Field> find(std::string_view name) const;
  Result<Field> need(std::string_view name) const;

  /// An object all of whose members are among `known`; names the first that is not.
  Result<void> only(std::initializer_list<std::string_view> known) const;
  Result<uint64_t> whole(uint64_t least, uint64_t most) const;
  /// A list of whole numbers, or one number for a list of one.
  Result<std::vector<uint64_t>> wholes(size_t fewest, size_t most_entries, uint64_t least,
                                       uint64_t most) const;
  Result<double> number() const;
  Result<std::string> text() const;
  Result<bool> boolean() const;
  /// The index of a text among `words`.
  Result<uint8_t> one_of(std::initializer_list<std::string_view> words) const;

 private:
  Field at(size_t index, std::string path) const;

  const Json* value_;
  const std::string* file_;
  std::string path_;
};

}  // namespace sluice::cli
