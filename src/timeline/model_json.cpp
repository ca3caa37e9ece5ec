// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// One function per struct of the model.
#include "timeline/model_json.hpp"

#include <string>
#include <vector>

namespace sluice::timeline {
namespace {

using Json = nlohmann::ordered_json;

void put(Json& j, const char* name, uint32_t index) {
  if (index != kNone) j[name] = index;
}
template <class T>
void put(Json& j, const char* name, const std::optional<T>& value) {
  if (value) j[name] = *value;
}
void put_at(Json& j, uint32_t at) {
  if (at != 0) j["at"] = at;
}

const char* word(Part part) {
  return part == Part::Full ? "full" : part == Part::Empty ? "empty" : "";
}
const char* word(SpanKind kind) {
  return kind == SpanKind::Product ? "product" : kind == SpanKind::Sync ? "sync" : "role";
}
const char* word(CauseKind kind) {
  return kind == CauseKind::Arrival ? "arrival" : "copy";
}
const char* word(Limit limit) {
  return limit == Limit::Consumers  ? "consumers"
         : limit == Limit::Producer ? "producer"
         : limit == Limit::Neither  ? "neither"
                                    : "unknown";
}

Json json_of(const TracePlace& p) {
  Json j = {{"file", p.file}, {"line", p.line}};
  if (p.column != 0) j["column"] = p.column;
  if (!p.function.empty()) j["function"] = p.function;
  return j;
}

Json json_of(const Agent& a) {
  return {{"cta", a.cta},   {"warp", a.warp},   {"lanes", a.lanes},
          {"role", a.role}, {"begin", a.begin}, {"end", a.end}};
}

Json json_of(const Barrier& b) {
  Json j = {{"address", b.address}, {"name", b.name}};
  put(j, "ring", b.ring);
  put(j, "stage", b.stage);
  if (b.part != Part::Unknown) j["part"] = word(b.part);
  if (b.expected >= 0) j["expected"] = b.expected;
  Json& flips = j["flips"] = Json::array();
  for (const auto& flip : b.flips) flips.push_back(flip ? Json(*flip) : Json());
  return j;
}

Json json_of(const Arrival& a) {
  Json j = {{"t", a.t}};
  put(j, "agent", a.agent);
  put(j, "barrier", a.barrier);
  j["phase"] = a.phase;
  j["count"] = a.count;
  if (a.bytes != 0) j["bytes"] = a.bytes;
  if (a.drop != 0) j["drop"] = a.drop;
  if (a.is_async) j["is_async"] = true;
  put(j, "trip", a.trip);
  put_at(j, a.at);
  return j;
}

Json json_of(const Copy& c) {
  Json j = {{"id", c.id}, {"issued", c.issued}};
  put(j, "landed", c.landed);
  put(j, "agent", c.agent);
  put(j, "barrier", c.barrier);
  if (c.phase >= 0) j["phase"] = c.phase;
  j["bytes"] = c.bytes;
  j["what"] = c.what;
  if (c.to_global) j["to_global"] = true;
  if (c.ranks != 0) j["ranks"] = c.ranks;
  put(j, "trip", c.trip);
  put_at(j, c.at);
  return j;
}

Json json_of(const Wait& w) {
  Json j = {{"asked", w.asked}};
  put(j, "end", w.end);
  j["waited"] = w.waited;
  put(j, "agent", w.agent);
  put(j, "barrier", w.barrier);
  j["lanes"] = w.lanes;
  j["phase"] = w.phase;
  j["parity"] = w.parity;
  if (w.ended_by != CauseKind::None) {
    j["ended_by"] = word(w.ended_by);
    j["cause"] = w.cause;
  }
  put(j, "trip", w.trip);
  put_at(j, w.at);
  return j;
}

Json json_of(const Span& s) {
  Json j = {{"kind", word(s.kind)}, {"begin", s.begin}, {"end", s.end}, {"name", s.name}};
  put(j, "agent", s.agent);
  put_at(j, s.at);
  return j;
}

Json json_of(const Mark& m) {
  Json j = {{"t", m.t}, {"name", m.name}, {"text", m.text}};
  put(j, "agent", m.agent);
  put_at(j, m.at);
  return j;
}

Json json_of(const StateChange& s) {
  Json j = {{"t", s.t}, {"what", to_string(s.what)}};
  put(j, "barrier", s.barrier);
  put(j, "agent", s.agent);
  j["count"] = s.count;
  j["bytes"] = s.bytes;
  j["pending"] = s.pending;
  j["due"] = s.due;
  j["phase"] = s.phase;
  put_at(j, s.at);
  return j;
}

Json json_of(const Use& u) {
  Json j = {{"stage", u.stage}, {"ordinal", u.ordinal}};
  put(j, "producer_parity", u.producer_parity);
  put(j, "consumer_parity", u.consumer_parity);
  j["acquires"] = u.acquires;
  j["arms"] = u.arms;
  j["copies"] = u.copies;
  j["reads"] = u.reads;
  j["releases"] = u.releases;
  j["bytes"] = u.bytes;
  put(j, "acquired", u.acquired);
  put(j, "filling", u.filling);
  put(j, "full", u.full);
  put(j, "seen", u.seen);
  put(j, "released", u.released);
  if (u.states) j["states"] = {u.states->filling, u.states->full, u.states->used, u.states->empty};
  return j;
}

Json json_of(const Stage& s) {
  Json j = Json::object();
  put(j, "full", s.full);
  put(j, "empty", s.empty);
  j["empty_share"] = s.empty_share;
  j["filling_share"] = s.filling_share;
  j["full_share"] = s.full_share;
  j["used_share"] = s.used_share;
  return j;
}

Json json_of(const RoleWaits& r) {
  Json j = {{"agent", r.agent}, {"is_producer", r.is_producer},
            {"trips", r.trips}, {"waits", r.waits},
            {"time", r.time},   {"life", r.life}};
  put(j, "longest", r.longest);
  return j;
}

Json json_of(const WhatIf& w) {
  return {{"stages", w.stages}, {"time", w.time}};
}

Json json_of(const Ring& r);

template <class T>
Json list_of(const std::vector<T>& items) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(json_of(item));
  return list;
}

Json json_of(const Ring& r) {
  return {{"stages", list_of(r.stages)},
          {"producers", r.producers},
          {"consumers", r.consumers},
          {"uses", list_of(r.uses)},
          {"waits", list_of(r.waits)},
          {"empty_offset", r.empty_offset},
          {"begin", r.begin},
          {"end", r.end},
          {"limit", word(r.limit)},
          {"what_if", list_of(r.what_if)},
          {"verdict", r.verdict}};
}

}  // namespace

Json to_json(const Model& m) {
  return {{"format", "sluice-timeline"},
          {"version", 1},
          {"source", m.source == Source::Gpu ? "gpu" : "engine"},
          {"clock", m.clock},
          {"about", m.about},
          {"kernel", m.kernel},
          {"launch", m.launch},
          {"cta", m.cta},
          {"grid", m.grid},
          {"block", m.block},
          {"cluster", m.cluster},
          {"failed", m.failed},
          {"left_out", m.left_out},
          {"end", m.end},
          {"places", list_of(m.places)},
          {"agents", list_of(m.agents)},
          {"barriers", list_of(m.barriers)},
          {"arrivals", list_of(m.arrivals)},
          {"copies", list_of(m.copies)},
          {"waits", list_of(m.waits)},
          {"spans", list_of(m.spans)},
          {"marks", list_of(m.marks)},
          {"states", list_of(m.states)},
          {"rings", list_of(m.rings)}};
}

}  // namespace sluice::timeline
