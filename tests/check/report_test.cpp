// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Findings on their way out: SARIF, suppressions, the pages of `sluice explain`.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "check/findings.hpp"
#include "check/pages.hpp"
#include "report/sarif.hpp"
#include "report/suppressions.hpp"

namespace {

using namespace sluice::report;
namespace check = sluice::check;

Diagnostic race(const std::string& file, uint32_t line) {
  Diagnostic d;
  d.name = "shared-race";
  d.headline = "two accesses to tile are not ordered";
  d.why = "nothing orders them";
  d.places = {{file, line, 5, "(2) write", "", {{"caller.cu", 90, 3, "outer"}}},
              {file, line + 1, 0, "(1) read", "", {}}};
  return d;
}

std::string file_with(const std::string& name, const std::string& text) {
  const std::string path = (std::filesystem::path(testing::TempDir()) / name).string();
  std::ofstream(path) << text;
  return path;
}

TEST(sarif, result_names_rule_place_and_related_places) {
  Diagnostic refusal;
  refusal.blame = Blame::Unsupported;
  const auto log = to_sarif({race("a/kernel.cu", 12), refusal}, 0, "1.2", check::meaning_of);
  EXPECT_EQ(log["version"], "2.1.0");
  const auto& run = log["runs"][0];
  ASSERT_EQ(run["tool"]["driver"]["rules"].size(), 1u);
  const std::string meaning = run["tool"]["driver"]["rules"][0]["shortDescription"]["text"];
  EXPECT_EQ(meaning, check::meaning_of("shared-race"));
  EXPECT_GT(meaning.size(), 20u);
  EXPECT_EQ(meaning.find('\n'), std::string::npos);
  ASSERT_EQ(run["results"].size(), 1u);
  const auto& result = run["results"][0];
  EXPECT_EQ(result["ruleId"], "shared-race");
  EXPECT_EQ(result["level"], "error");
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["region"]["startLine"], 12);
  EXPECT_EQ(result["relatedLocations"].size(), 2u);
}

TEST(sarif, path_is_a_uri_reference) {
  const auto log = to_sarif({race("/my work/50%/k\u00e9rnel.cu", 3)}, 0, "1", check::meaning_of);
  EXPECT_EQ(log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "/my%20work/50%25/k%C3%A9rnel.cu");
}

TEST(sarif, call_that_two_places_share_is_told_once) {
  Diagnostic d = race("a.cu", 1);
  d.places = {{"a.cu", 1, 0, "", "", {{"a.cu", 9, 0, "f"}}}, {"a.cu", 2, 0, "", "", {{"a.cu", 9, 0, "f"}}}};
  EXPECT_EQ(to_sarif({d}, 0, "1", check::meaning_of)["runs"][0]["results"][0]["relatedLocations"].size(), 2u);
}

bool is_name(const std::string& name) {
  return name == "shared-race" || name == "global-race" || name == "missing-wait";
}

TEST(suppressions, entry_covers_its_name_and_place_only) {
  Suppressions s;
  ASSERT_TRUE(s.add_file(file_with("s1", "# known\nshared-race kernel.cu:12\nmissing-wait\n"), is_name));
  EXPECT_TRUE(s.covers(race("a/kernel.cu", 12)));
  EXPECT_TRUE(s.covers(race("a/kernel.cu", 11)));  // its second place
  EXPECT_FALSE(s.covers(race("a/kernel.cu", 30)));
  EXPECT_FALSE(s.covers(race("a/other_kernel.cu", 12)));
  Diagnostic other = race("a/kernel.cu", 12);
  other.name = "global-race";
  EXPECT_FALSE(s.covers(other));
  other.name = "missing-wait";
  EXPECT_TRUE(s.covers(other));
}

TEST(suppressions, call_around_an_inlined_place_counts) {
  Suppressions s;
  ASSERT_TRUE(s.add_file(file_with("s2", "shared-race caller.cu:90\n"), is_name));
  EXPECT_TRUE(s.covers(race("a/kernel.cu", 12)));
}

TEST(suppressions, wrong_lines_are_refused_with_their_place) {
  Suppressions s;
  const auto wrong = s.add_file(file_with("s3", "\nshared-race kernel.cu:x\n"), is_name);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().text().find("s3:2"), std::string::npos);
  EXPECT_FALSE(s.add_file("/does/not/exist", is_name));
}

TEST(suppressions, names_that_no_finding_has_are_refused) {
  Suppressions s;
  const auto wrong = s.add_file(file_with("s4", "shared-race\nshared-rase\n"), is_name);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().text().find("s4:2"), std::string::npos);
  EXPECT_NE(wrong.error().text().find("shared-rase"), std::string::npos);
}

TEST(suppressions, comment_in_the_source_covers_its_line) {
  Suppressions s;
  const std::string path =
      file_with("k.cu", "a\nb = c;  // sluice: allow shared-race\nc  // sluice: allow shared-race-x\n");
  EXPECT_TRUE(s.covers(race(path, 2)));
  EXPECT_FALSE(s.covers(race(path, 3)));
}

TEST(suppressions, baseline_covers_what_was_there) {
  nlohmann::json report = {{"diagnostics", nlohmann::json::array({to_json(race("a/kernel.cu", 12))})}};
  Suppressions s;
  ASSERT_TRUE(s.add_baseline(file_with("base.json", report.dump())));
  EXPECT_TRUE(s.covers(race("a/kernel.cu", 12)));
  EXPECT_FALSE(s.covers(race("a/kernel.cu", 13)));
  EXPECT_FALSE(s.add_baseline(file_with("bad.json", "[]")));
}

TEST(suppressions, baseline_knows_a_line_by_its_text) {
  const std::string before = file_with("moved.cu", "a\n  b = c;\nd\n");
  nlohmann::json report = {{"diagnostics", nlohmann::json::array({to_json(race(before, 2))})}};
  Suppressions s;
  ASSERT_TRUE(s.add_baseline(file_with("base2.json", report.dump())));
  // Two lines come in front, and another line takes the number.
  const std::string after = file_with("moved.cu", "new\nnew too\na\nb = c;\nd\n");
  const auto told = [&](uint32_t line) {
    return *sluice::report::diagnostic_from_json(to_json(race(after, line)));
  };
  EXPECT_TRUE(s.covers(told(4)));
  EXPECT_FALSE(s.covers(told(2)));
}

TEST(words, function_without_what_the_compiler_adds) {
  using sluice::check::bare_function;
  EXPECT_EQ(bare_function(
                "unsigned long _INTERNAL_5d_k_cu_49::cuda::ptx::__4::mbarrier_arrive<void>(unsigned long*)"),
            "cuda::ptx::mbarrier_arrive");
  EXPECT_EQ(bare_function("(anonymous namespace)::wait(unsigned int)"), "wait");
  EXPECT_EQ(bare_function("bool a::b<(c::d)0>::e<int, 3>(f<g>) const"), "a::b::e");
  EXPECT_EQ(bare_function("__syncwarp(unsigned int)"), "__syncwarp");
  EXPECT_EQ(bare_function("plain"), "plain");
}

TEST(text, colours_only_where_they_are_wanted) {
  const Diagnostic d = race("/does/not/exist.cu", 3);
  EXPECT_EQ(render_text(d).find('\x1b'), std::string::npos);
  std::string colored = render_text(d, true);
  EXPECT_NE(colored.find("\x1b[1;31merror[shared-race]\x1b[0m"), std::string::npos) << colored;
  // Without the escape sequences it is the same text.
  for (size_t at; (at = colored.find('\x1b')) != std::string::npos;)
    colored.erase(at, colored.find('m', at) - at + 1);
  EXPECT_EQ(colored, render_text(d));
}

TEST(pages, every_page_explains_and_helps) {
  const auto pages = sluice::check::pages();
  EXPECT_GE(pages.size(), 40u);
  for (const auto& page : pages) {
    EXPECT_EQ(page.text.substr(0, page.name.size()), page.name);
    for (const char* part : {"\nExample\n", "\nWhy\n", "\nFix\n"})
      EXPECT_NE(page.text.find(part), std::string_view::npos) << page.name << part;
  }
}

}  // namespace
