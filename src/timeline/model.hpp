// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What one CTA of a launch did, as plain data: who waited for what and why it ended, which copies flew, and
// the rings of stages that were recognised from this behaviour. The table, the summary and the pictures are
// made from it, and its JSON form (model_json.hpp) is what a page embeds. Members that name another thing
// hold its index in the list of Model; kNone is none. Times are in the clock of the trace, from the launch's
// start.
//
// How rings are recognised (find_rings.cpp): a stage is a pair of mbarriers. Whoever waits on `empty` then
// arrives on `full` or sends copies there, and whoever waits on `full` then arrives on `empty`. The full one
// is the one that receives bytes or, where none does, the one that completes first. Stages at one distance in
// memory, with the same producers, consumers and counts, form a ring, numbered by address. Barriers that
// receive bytes and have no partner form rings without `empty` (threads then meet in another way before a
// stage is filled again). A trace of a GPU says itself which barrier is what.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "timeline/trace.hpp"

namespace sluice::timeline {

constexpr uint32_t kNone = 0xffffffffu;

/// A warp that appears in the trace of the CTA. Warps of other CTAs of the cluster that act on its barriers
/// are agents, too.
struct Agent {
  uint32_t cta = 0, warp = 0;
  uint32_t lanes = 0;  ///< those that did something on a barrier; 0 = unknown
  std::string role;  ///< "producer", "consumer", "producer and consumer", a role that the trace tells, or ""
  uint64_t begin = 0, end = 0;  ///< of what is known of it
};

struct Barrier {
  uint32_t address = 0;
  std::string name;  ///< the program's, else by ring and part: "full[1]", "ring 1 empty[0]"; else its address
  uint32_t ring = kNone, stage = kNone;
  Part part = Part::Unknown;
  int64_t expected = -1;                       ///< arrivals per phase; -1 = unknown
  std::vector<std::optional<uint64_t>> flips;  ///< when each phase completed, by ordinal
};

/// Arrivals, announced bytes, or both, of one warp instruction.
struct Arrival {
  uint32_t agent = kNone, barrier = kNone;
  uint64_t t = 0;
  int64_t phase = 0, count = 0, bytes = 0, drop = 0;
  uint32_t at = 0;        ///< into Model::places
  bool is_async = false;  ///< in the name of a copy (cp.async)
  uint32_t trip = kNone;  ///< of the ring of its barrier: into Ring::uses
};

/// A copy in flight. A multicast is one copy with a landing per CTA; here stands that of this CTA.
struct Copy {
  uint64_t id = 0;
  uint32_t agent = kNone;
  uint32_t barrier = kNone;  ///< that it signals
  uint64_t issued = 0;
  std::optional<uint64_t> landed{};
  int64_t phase = -1;  ///< in which it counts; -1 = unknown
  int64_t bytes = 0;
  uint32_t ranks = 0;  ///< multicast mask
  bool to_global = false;
  std::string what;
  uint32_t at = 0;
  uint32_t trip = kNone;
};

enum class CauseKind : uint8_t { None, Arrival, Copy };

/// A wait of one warp on one phase of a barrier.
struct Wait {
  uint32_t agent = kNone, barrier = kNone;
  uint32_t lanes = 0;
  int64_t phase = 0;
  uint32_t parity = 0;
  uint64_t asked = 0;
  std::optional<uint64_t> end;           ///< none: it never went on
  bool waited = false;                   ///< it did not pass at once
  CauseKind ended_by = CauseKind::None;  ///< what completed the phase, where the wait had to wait for it
  uint32_t cause = kNone;                ///< into arrivals or copies
  uint32_t at = 0;
  uint32_t trip = kNone;  ///< the use that it acquires (on empty) or reads (on full): into Ring::uses
  uint64_t waited_for() const { return end ? *end - asked : 0; }
};

/// Other spans of an agent: products of wgmma, waits at barriers of threads, roles.
enum class SpanKind : uint8_t { Product, Sync, Role };
struct Span {
  SpanKind kind{};
  uint32_t agent = kNone;
  uint64_t begin = 0, end = 0;
  std::string name;
  uint32_t at = 0;
};

struct Mark {
  uint64_t t = 0;
  uint32_t agent = kNone;
  std::string name, text;
  uint32_t at = 0;
};

/// One change of a barrier's state, with the state after it. Only on the engine, which sees them all.
struct StateChange {
  uint64_t t = 0;
  uint32_t barrier = kNone, agent = kNone;
  RecordKind what{};  ///< Init, Arrive, Land or Flip
  int64_t count = 0;  ///< arrivals
  int64_t bytes = 0;  ///< announced (Arrive) or landed (Land)
  int64_t pending = 0, due = 0;
  uint64_t phase = 0;  ///< ordinal of the phase that is open after it
  uint32_t at = 0;
};

/// One filling of a stage: a row of the table, a tile.
/// When a filled stage enters each of its states; each lasts until the next. In a pipeline that breaks its
/// protocol a moment that comes too early is put off to the one before, and none lies behind the next
/// filling.
struct StageStates {
  uint64_t filling = 0, full = 0, used = 0, empty = 0;
};

struct Use {
  uint32_t stage = 0;
  uint64_t ordinal = 0;              ///< of this filling of the stage: the phase of `full`
  uint32_t producer_parity = kNone;  ///< that the producer waited for: the phase of its PipelineState
  uint32_t consumer_parity = kNone;
  std::vector<uint32_t> acquires;  ///< waits on empty
  std::vector<uint32_t> arms;      ///< arrivals on full
  std::vector<uint32_t> copies;
  std::vector<uint32_t> reads;        ///< waits on full
  std::vector<uint32_t> releases;     ///< arrivals on empty
  int64_t bytes = 0;                  ///< announced
  std::optional<uint64_t> acquired;   ///< the producer may fill: the last acquire ended
  std::optional<uint64_t> filling;    ///< the first arm or copy
  std::optional<uint64_t> full;       ///< full completed; on a GPU: first seen
  std::optional<uint64_t> seen;       ///< the first consumer went on
  std::optional<uint64_t> released;   ///< empty completed; on a GPU: the last release
  std::optional<StageStates> states;  ///< of a use that was filled
};

struct Stage {
  uint32_t full = kNone, empty = kNone;  ///< barriers; empty may be none
  /// Share of the ring's life in each state: empty (may be filled), filling (armed or copying), full (landed,
  /// nobody has seen it), in use (until all have released it).
  double empty_share = 0, filling_share = 0, full_share = 0, used_share = 0;
};

/// Waiting of one warp in its role in a ring.
struct RoleWaits {
  uint32_t agent = kNone;
  bool is_producer = false;  ///< waits on empty; else on full
  uint64_t trips = 0;        ///< uses it took part in
  uint64_t waits = 0;        ///< waits that did not pass at once
  uint64_t time = 0;         ///< in them
  uint64_t life = 0;         ///< from its first operation on the ring to its last
  uint32_t longest = kNone;  ///< into Model::waits
};

/// What the recorded durations give with another number of stages (replay.hpp).
struct WhatIf {
  uint32_t stages = 0;
  uint64_t time = 0;  ///< from the first operation on the ring to the last
};

enum class Limit : uint8_t { Unknown, Consumers, Producer, Neither };

struct Ring {
  std::vector<Stage> stages;
  std::vector<uint32_t> producers, consumers;  ///< agents
  std::vector<Use> uses;                       ///< in the order in which the producers filled: the trips
  std::vector<RoleWaits> waits;
  int64_t empty_offset = 0;  ///< the release of use u counts in phase u + offset of empty (0: start free)
  uint64_t begin = 0, end = 0;
  Limit limit = Limit::Unknown;
  std::vector<WhatIf> what_if;  ///< [0]: with as many stages as it has, then more
  std::string verdict;          ///< a sentence: what limits it, and whether more stages would help
};

struct Model {
  Source source = Source::Engine;
  std::string clock, about;
  std::string kernel;
  uint64_t launch = 0;
  uint32_t cta = 0;
  std::array<uint32_t, 3> grid{}, block{}, cluster{};
  bool failed = false;
  uint64_t left_out = 0;  ///< records that the trace does not hold
  uint64_t end = 0;
  std::vector<TracePlace> places;
  std::vector<Agent> agents;  ///< sorted by CTA (this one first) and warp
  std::vector<Barrier> barriers;
  std::vector<Arrival> arrivals;
  std::vector<Copy> copies;
  std::vector<Wait> waits;
  std::vector<Span> spans;
  std::vector<Mark> marks;
  std::vector<StateChange> states;
  std::vector<Ring> rings;
};

/// The model of one CTA of a launch. The launch must have recorded it.
Model build_model(const Trace& trace, const TraceLaunch& launch, uint32_t cta);

/// "layer1.cuh:80" for a place, "" for none.
std::string place_text(const Model& model, uint32_t at);

}  // namespace sluice::timeline
