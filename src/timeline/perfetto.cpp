// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include "timeline/perfetto.hpp"

#include <fmt/format.h>

#include <string>

namespace sluice::timeline {
namespace {

using Json = nlohmann::ordered_json;

// Processes of the trace. The tracks of rings follow kStages, one process per ring.
constexpr uint32_t kWarps = 1, kCopies = 2, kStages = 3;

/// Microseconds, the unit of the format.
double micros(uint64_t t) {
  return static_cast<double>(t) / 1000.0;
}

class Events {
 public:
  explicit Events(const Model& model) : model_(model) {}

  Json take() {
    tracks();
    for (const Span& span : model_.spans)
      slice(kWarps, span.agent, span.name, span.begin, span.end, place(span.at));
    for (const Wait& wait : model_.waits) add(wait);
    for (const Arrival& arrival : model_.arrivals) add(arrival);
    for (const Mark& mark : model_.marks)
      instant(mark.agent, mark.name, mark.t, {{"text", mark.text}, {"source", place_text(model_, mark.at)}});
    for (const Copy& copy : model_.copies) add(copy);
    for (uint32_t r = 0; r < model_.rings.size(); ++r) add(r, model_.rings[r]);
    return std::move(events_);
  }

 private:
  Json place(uint32_t at) const { return {{"source", place_text(model_, at)}}; }
  std::string barrier(uint32_t index) const { return index == kNone ? "" : model_.barriers[index].name; }

  void name(const char* what, uint32_t pid, uint32_t tid, const std::string& text) {
    events_.push_back({{"ph", "M"}, {"name", what}, {"pid", pid}, {"tid", tid}, {"args", {{"name", text}}}});
  }
  void tracks() {
    name("process_name", kWarps, 0, "warps of " + model_.kernel);
    name("process_name", kCopies, 0, "copies in flight");
    for (uint32_t i = 0; i < model_.agents.size(); ++i) {
      const Agent& agent = model_.agents[i];
      const std::string cta = agent.cta == model_.cta ? "" : fmt::format("CTA {} ", agent.cta);
      name("thread_name", kWarps, i, fmt::format("{}warp {} {}", cta, agent.warp, agent.role));
    }
  }

  void slice(uint32_t pid, uint32_t tid, const std::string& text, uint64_t begin, uint64_t end,
             Json details) {
    events_.push_back({{"ph", "X"},
                       {"name", text},
                       {"pid", pid},
                       {"tid", tid},
                       {"ts", micros(begin)},
                       {"dur", micros(end - begin)},
                       {"args", std::move(details)}});
  }
  void instant(uint32_t agent, const std::string& text, uint64_t t, Json details) {
    const bool is_of_warp = agent != kNone;
    events_.push_back({{"ph", "i"},
                       {"s", is_of_warp ? "t" : "g"},
                       {"name", text},
                       {"pid", kWarps},
                       {"tid", is_of_warp ? agent : 0},
                       {"ts", micros(t)},
                       {"args", std::move(details)}});
  }
  void flow(const char* phase, uint32_t agent, uint64_t t, uint32_t id) {
    Json event = {{"ph", phase},  {"name", "ends the wait"}, {"cat", "cause"}, {"id", id}, {"pid", kWarps},
                  {"tid", agent}, {"ts", micros(t)}};
    if (*phase == 'f') event["bp"] = "e";
    events_.push_back(std::move(event));
  }

  /// A flow binds to slices, and an arrival is none: its flow begins in a slice of no length.
  void add(const Wait& wait) {
    const uint64_t end = wait.end.value_or(model_.end);
    Json details = {{"barrier", barrier(wait.barrier)},
                    {"phase", wait.phase},
                    {"parity", wait.parity},
                    {"waited", wait.waited},
                    {"source", place_text(model_, wait.at)}};
    if (wait.trip != kNone) details["tile"] = wait.trip;
    if (!wait.end) details["never_ended"] = true;
    slice(kWarps, wait.agent, fmt::format("wait {}", barrier(wait.barrier)), wait.asked, end,
          std::move(details));
    if (wait.ended_by != CauseKind::Arrival || !wait.end) return;
    const Arrival& cause = model_.arrivals[wait.cause];
    if (cause.agent == kNone || cause.t > *wait.end) return;
    flow("s", cause.agent, cause.t, ++flows_);
    flow("f", wait.agent, *wait.end, flows_);
  }
  void add(const Arrival& arrival) {
    Json details = {{"barrier", barrier(arrival.barrier)},
                    {"phase", arrival.phase},
                    {"count", arrival.count},
                    {"bytes", arrival.bytes},
                    {"source", place_text(model_, arrival.at)}};
    slice(kWarps, arrival.agent, fmt::format("arrive {}", barrier(arrival.barrier)), arrival.t, arrival.t,
          std::move(details));
  }
  void add(const Copy& copy) {
    for (const char* phase : {"b", "e"}) {
      const uint64_t t = *phase == 'b' ? copy.issued : copy.landed.value_or(model_.end);
      events_.push_back({{"ph", phase},
                         {"cat", "copy"},
                         {"id", copy.id},
                         {"name", fmt::format("{} {}", copy.what, barrier(copy.barrier))},
                         {"pid", kCopies},
                         {"tid", 0},
                         {"ts", micros(t)},
                         {"args", {{"bytes", copy.bytes}, {"source", place_text(model_, copy.at)}}}});
    }
  }

  void add(uint32_t index, const Ring& ring) {
    const uint32_t pid = kStages + index;
    name("process_name", pid, 0, fmt::format("stages of ring {}", index));
    for (uint32_t stage = 0; stage < ring.stages.size(); ++stage)
      name("thread_name", pid, stage, fmt::format("stage {}", stage));
    for (uint32_t tile = 0; tile < ring.uses.size(); ++tile) {
      const Use& use = ring.uses[tile];
      if (!use.states) continue;
      state(pid, use.stage, "filling", use.states->filling, use.states->full, tile);
      state(pid, use.stage, "full", use.states->full, use.states->used, tile);
      state(pid, use.stage, "in use", use.states->used, use.states->empty, tile);
    }
  }
  void state(uint32_t pid, uint32_t stage, const char* text, uint64_t begin, uint64_t end, uint32_t tile) {
    if (end > begin) slice(pid, stage, text, begin, end, {{"tile", tile}});
  }

  const Model& model_;
  Json events_ = Json::array();
  uint32_t flows_ = 0;
};

}  // namespace

Json to_perfetto(const Model& model) {
  return {{"displayTimeUnit", "ns"},
          {"otherData", {{"kernel", model.kernel}, {"clock", model.clock}, {"about", model.about}}},
          {"traceEvents", Events(model).take()}};
}

}  // namespace sluice::timeline
