// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// JSON with places: what is read, and the line and column of what is wrong.
#include "cli/located_json.hpp"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

std::string error_of(std::string_view text) {
  const auto json = parse_json(text);
  return json ? "none" : json.error().text();
}

TEST(LocatedJson, KeepsPlacesOrderAndSpelling) {
  const auto json = parse_json(
      "{ // a comment\n  \"b\": [1, -0.50e2],\n  /* and\n one */ \"a\": \"x\\u00e4\\n\\ud83d\\ude00\"}");
  ASSERT_TRUE(json) << json.error().text();
  ASSERT_EQ(json->names, (std::vector<std::string>{"b", "a"}));
  const Json& list = json->values[0];
  ASSERT_EQ(list.values.size(), 2u);
  EXPECT_EQ(list.values[1].text, "-0.50e2");
  EXPECT_EQ(list.values[1].line, 2u);
  EXPECT_EQ(list.values[1].column, 12u);
  EXPECT_EQ(json->values[1].text, "x\xc3\xa4\n\xf0\x9f\x98\x80");
  EXPECT_EQ(json->values[1].line, 4u);
}

TEST(LocatedJson, ReadsEveryKindOfValue) {
  const auto json = parse_json(" [null, true, false, 0, -1, \"\", {}, []] ");
  ASSERT_TRUE(json) << json.error().text();
  using Kind = Json::Kind;
  std::vector<Kind> kinds;
  for (const Json& value : json->values) kinds.push_back(value.kind);
  EXPECT_EQ(kinds, (std::vector<Kind>{Kind::Null, Kind::Boolean, Kind::Boolean, Kind::Number, Kind::Number,
                                      Kind::Text, Kind::Object, Kind::List}));
}

TEST(LocatedJson, TellsWhereAndWhatIsWrong) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"", "1:1: expected a value, found the end of the file"},
      {"{", "1:2: expected a member's name in quotes, found the end of the file"},
      {"{\"a\" 1}", "1:6: expected ':', found '1'"},
      {"{\"a\": 1,\n \"b\": 2,}", "2:9: expected a member's name in quotes, found '}'"},
      {"{\"a\": 1,\n \"a\": 2}", "2:2: the member 'a' stands here twice"},
      {"[1 2]", "1:4: expected ',' or ']', found '2'"},
      {"[1] x", "1:5: expected the end of the file, found 'x'"},
      {"[01]", "1:2: a number does not begin with 0"},
      {"[1.]", "1:4: expected a digit, found ']'"},
      {"[1e]", "1:4: expected a digit, found ']'"},
      {"[-]", "1:3: expected a digit, found ']'"},
      {"[+1]", "1:2: expected a value, found '+'"},
      {"[NaN]", "1:2: expected a value, found 'N'"},
      {"[\"a\nb\"]", "1:2: this text does not end on its line"},
      {"[\"a", "1:2: this text does not end on its line"},
      {"[\"\\x\"]", "1:4: expected an escape such as \\n or \\u00e4, found 'x'"},
      {"[\"\\u12g4\"]", "1:7: expected four hexadecimal digits, found 'g'"},
      {"[\"\\udc00\"]", "1:9: the first half of this surrogate pair is missing"},
      {"[\"\\ud800x\"]", "1:9: expected the second half of a surrogate pair, found 'x'"},
      {"[\"\t\"]", "1:3: expected a character or an escape, found the byte 0x09"},
      {"[/* ]", "1:2: this comment does not end"},
      {"\xff\xfe", "1:1: expected a value, found the byte 0xff"},
  };
  for (const auto& [text, error] : kCases) EXPECT_EQ(error_of(text), error) << text;
}

TEST(LocatedJson, BoundsDepthAndMembers) {
  EXPECT_EQ(error_of(std::string(100, '[')), "1:66: nested deeper than 64 levels");
  std::string many = "{";
  for (int i = 0; i < 5000; ++i) many += "\"m" + std::to_string(i) + "\":0,";
  EXPECT_NE(error_of(many).find("an object has at most 4096 members"), std::string::npos);
}

}  // namespace
}  // namespace sluice::cli
