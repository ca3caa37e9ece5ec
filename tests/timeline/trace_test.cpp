// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The file form of traces: a trace of a GPU as its document describes it, and what is wrong with others.
#include <gtest/gtest.h>

#include <sstream>

#include "timeline/model.hpp"
#include "timeline/table.hpp"

namespace {

using namespace sluice;
using namespace sluice::timeline;

const std::string kHeader = R"({"format":"sluice-trace","version":1,"source":"engine","clock":"step"})"
                            "\n";
const std::string kLaunch = R"({"kind":"launch","launch":0,"kernel":"k","ctas":[0]})"
                            "\n";

std::string error_of(const std::string& text) {
  std::istringstream in(text);
  const auto trace = read_trace(in, "t");
  return trace ? "none" : trace.error().text();
}

TEST(trace, gpu_trace_says_itself_which_barrier_is_what) {
  const auto trace = read_trace_file(TIMELINE_TRACES "/gpu.trace");
  ASSERT_TRUE(trace) << trace.error().text();
  ASSERT_EQ(trace->launches.size(), 1u);
  const Model m = build_model(*trace, trace->launches[0], 0);
  ASSERT_EQ(m.rings.size(), 1u);
  const Ring& ring = m.rings[0];
  EXPECT_EQ(ring.stages.size(), 2u);
  ASSERT_EQ(ring.uses.size(), 3u);
  EXPECT_EQ(ring.uses[2].producer_parity, 0u);
  EXPECT_EQ(ring.uses[0].full, 800u);  // when it was seen; the first record is the zero
  EXPECT_EQ(ring.uses[0].released, 1100u);
  EXPECT_EQ(m.agents[0].role, "producer");
  EXPECT_TRUE(m.states.empty());
  EXPECT_EQ(place_text(m, m.waits[ring.uses[2].acquires[0]].at), "ring.cu:40");
  const std::string text = to_text(m, {});
  EXPECT_NE(text.find("recorded on a GPU; times in ns"), std::string::npos) << text;
  EXPECT_NE(text.find("0: waits 952"), std::string::npos) << text;
}

// A warp whose waits are missing would be replayed as if it had worked in that time.
TEST(trace, what_more_stages_bring_is_not_told_of_a_trace_that_lacks_records) {
  auto trace = read_trace_file(TIMELINE_TRACES "/gpu.trace");
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_EQ(build_model(*trace, trace->launches[0], 0).rings.at(0).what_if.size(), 3u);
  trace->launches[0].left_out = 1;
  const Model m = build_model(*trace, trace->launches[0], 0);
  EXPECT_TRUE(m.rings.at(0).what_if.empty());
  EXPECT_NE(m.rings[0].verdict.find("lacks records"), std::string::npos) << m.rings[0].verdict;
}

TEST(trace, what_is_wrong_is_told_with_its_line) {
  EXPECT_EQ(error_of(""), "t: the trace is empty");
  EXPECT_EQ(error_of("hello\n"), "t:1: this is not a trace: its first line is not the header");
  EXPECT_EQ(error_of(R"({"format":"sluice-trace","version":2})"),
            "t:1: the trace is of version 2; this tool reads version 1");
  EXPECT_EQ(error_of(kHeader + "[]\n"), "t:2: this line is not a JSON object");
  EXPECT_EQ(error_of(kHeader + R"({"kind":"flip","t":1})" + "\n"),
            "t:2: this line belongs to a launch, and none has begun");
  EXPECT_EQ(error_of(kHeader + kLaunch + R"({"kind":"flip","t":1,"cta":0,"warp":0,"barrier":8})" + "\n"),
            "t:3: 'phase' is missing");
  EXPECT_EQ(error_of(kHeader + kLaunch + R"({"kind":"exit","t":-1,"cta":0,"warp":0})" + "\n"),
            "t:3: 't' is not a whole number that fits");
  EXPECT_EQ(error_of(kHeader + kLaunch + R"({"kind":"sync","t":5,"end":4,"cta":0,"warp":0})" + "\n"),
            "t:3: 'end' is before 't'");
  EXPECT_EQ(error_of(kHeader + kLaunch + R"({"kind":"exit","t":5,"cta":0,"warp":0,"at":9})" + "\n"),
            "t:3: 'at' names place 9, which has not been told");
}

TEST(trace, a_trace_that_was_cut_off_is_read_as_far_as_it_goes) {
  std::istringstream in(kHeader + kLaunch + R"({"kind":"exit","t":5,"cta":0,"warp":0})" + "\n{\"kind\":\"ex");
  const auto trace = read_trace(in, "t");
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_EQ(trace->launches[0].records.size(), 1u);
  EXPECT_FALSE(trace->launches[0].ended);
}

TEST(trace, records_are_sorted_by_time_and_else_stay) {
  std::istringstream in(kHeader + kLaunch + R"({"kind":"exit","t":5,"cta":0,"warp":0})" + "\n" +
                        R"({"kind":"exit","t":3,"cta":0,"warp":1})" + "\n" +
                        R"({"kind":"exit","t":5,"cta":0,"warp":2})" + "\n");
  const auto trace = read_trace(in, "t");
  ASSERT_TRUE(trace) << trace.error().text();
  const auto& records = trace->launches[0].records;
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].warp, 1u);
  EXPECT_EQ(records[1].warp, 0u);
  EXPECT_EQ(records[2].warp, 2u);
}

}  // namespace
