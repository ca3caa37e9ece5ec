// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// From events to lines.
#include "timeline/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "event/places.hpp"
#include "report/json_text.hpp"

namespace sluice::timeline {
namespace {

using event::Event;
using event::Kind;
using event::OperationKind;

constexpr uint32_t kWarpgroupWarps = 4;
constexpr const char* kAboutClock = "one step per instruction of a warp, all warps side by side";

std::string json_string(const std::string& text) {
  return report::json_text(nlohmann::json(text));
}

std::string triple(const uint32_t (&extent)[3]) {
  return fmt::format("[{},{},{}]", extent[0], extent[1], extent[2]);
}

uint64_t volume(const uint32_t (&extent)[3]) {
  return uint64_t{extent[0]} * extent[1] * extent[2];
}

/// The cluster in which a linear CTA lies.
uint32_t cluster_of(uint64_t cta, const event::LaunchDetails& d) {
  const uint64_t x = cta % d.grid[0], y = cta / d.grid[0] % d.grid[1], z = cta / d.grid[0] / d.grid[1];
  const uint64_t across = d.grid[0] / d.cluster[0], down = d.grid[1] / d.cluster[1];
  return static_cast<uint32_t>(x / d.cluster[0] + across * (y / d.cluster[1] + down * (z / d.cluster[2])));
}

/// The linear CTAs of the clusters.
std::vector<uint64_t> ctas_of(const std::set<uint32_t>& clusters, const event::LaunchDetails& d) {
  std::vector<uint64_t> ctas;
  for (uint64_t cta = 0; cta < volume(d.grid); ++cta) {
    if (clusters.count(cluster_of(cta, d)) != 0) ctas.push_back(cta);
  }
  return ctas;
}

const char* word_of(OperationKind kind) {
  switch (kind) {
    case OperationKind::CpAsync:
      return "cp.async";
    case OperationKind::StoreAsync:
      return "st.async";
    default:
      return "bulk";
  }
}

}  // namespace

Recorder::~Recorder() {
  finish();
  if (file_ != nullptr) std::fclose(file_);
}

event::KindMask Recorder::wants() const {
  constexpr Kind kWanted[] = {Kind::LaunchBegin,
                              Kind::LaunchEnd,
                              Kind::CtaBegin,
                              Kind::LanesExit,
                              Kind::MbarrierInit,
                              Kind::MbarrierArrive,
                              Kind::MbarrierExpectTx,
                              Kind::MbarrierCompleteTx,
                              Kind::MbarrierFlip,
                              Kind::MbarrierWait,
                              Kind::MbarrierPending,
                              Kind::NamedArrive,
                              Kind::NamedWait,
                              Kind::NamedComplete,
                              Kind::ClusterArrive,
                              Kind::ClusterWait,
                              Kind::WarpSync,
                              Kind::WgmmaIssue,
                              Kind::AsyncIssue,
                              Kind::AsyncComplete,
                              Kind::GroupCommit,
                              Kind::GroupWait,
                              Kind::Stuck};
  event::KindMask mask = 0;
  for (const Kind kind : kWanted) mask |= event::mask_of(kind);
  return mask;
}

void Recorder::receive(const Event& e) {
  if (e.kind == Kind::LaunchBegin) return begin_launch(e);
  if (e.kind == Kind::LaunchEnd) return end_launch(e);
  if (!is_recorded(e)) return;
  if (e.kind == Kind::Stuck) return record_stuck(e);
  record(e, clock_.time_of(e));
}

// --- launches -----------------------------------------------------------------------------------------

void Recorder::begin_launch(const Event& e) {
  finish();
  const event::LaunchDetails& d = *e.details;
  if (file_ == nullptr) {
    file_ = std::fopen(options_.file.c_str(), "w");
    if (file_ == nullptr) return;
    write(
        fmt::format(R"({{"format":"sluice-trace","version":1,"source":"engine","clock":"step","about":{}}})",
                    json_string(kAboutClock)));
  }
  clock_.begin_launch();
  origins_ = d.origins;
  clusters_.clear();
  ctas_.clear();
  named_.clear();
  places_of_origin_.clear();
  left_out_ = 0;
  for (const uint64_t cta : options_.ctas) {
    if (cta < volume(d.grid)) clusters_.insert(cluster_of(cta, d));
  }
  const std::vector<uint64_t> ctas = ctas_of(clusters_, d);
  write(fmt::format(
      R"({{"kind":"launch","launch":{},"kernel":{},"grid":{},"block":{},"cluster":{},"ctas":[{}],"ctas_left_out":{}}})",
      launches_++, json_string(event::readable(d.kernel)), triple(d.grid), triple(d.block), triple(d.cluster),
      fmt::join(ctas, ","), volume(d.grid) - ctas.size()));
}

void Recorder::end_launch(const Event& e) {
  if (file_ == nullptr) return;
  flush_arrival();
  origins_ = nullptr;
  has_ended_ = true;
  has_failed_ = e.value != 0;
}

void Recorder::finish() {
  if (!has_ended_) return;
  has_ended_ = false;
  write(fmt::format(R"({{"kind":"end","t":{},"failed":{},"left_out":{}}})", clock_.now(), has_failed_,
                    left_out_));
  std::fflush(file_);
}

bool Recorder::is_recorded(const Event& e) {
  if (file_ == nullptr) return false;
  if (e.kind == Kind::CtaBegin && clusters_.count(static_cast<uint32_t>(e.operation)) != 0)
    ctas_.insert(e.cta);
  return ctas_.count(e.cta) != 0;
}

// --- records ------------------------------------------------------------------------------------------

void Recorder::record(const Event& e, const Moment& m) {
  switch (e.kind) {
    case Kind::MbarrierInit:
      name_barrier(m.barrier.offset);
      return write_record(head("init", e, m.begin) +
                          fmt::format(R"(,"barrier":{},"count":{}}})", m.barrier.offset, e.value));
    case Kind::MbarrierArrive:
    case Kind::MbarrierExpectTx:
      return record_arrival(e, m);
    case Kind::MbarrierCompleteTx:
      return write_record(head("land", e, m.begin) + barrier(e, m) +
                          fmt::format(R"(,"id":{},"bytes":{}}})", e.operation, e.value));
    case Kind::MbarrierFlip:
      return write_record(head("flip", e, m.begin) + barrier(e, m) + "}");
    case Kind::MbarrierWait:
      return write_record(
          head("wait", e, m.begin) + barrier(e, m) +
          fmt::format(R"(,"parity":{},"end":{},"waited":{}}})", e.value & 1, m.end, m.end > m.begin));
    case Kind::AsyncIssue:
      return record_issue(e, m);
    case Kind::NamedComplete:
      for (const Released& r : m.released) {
        Event waiter = e;
        waiter.warp = r.warp;
        waiter.lanes = r.lanes;
        waiter.origin = event::kNoIndex;
        write_record(head("sync", waiter, r.since) +
                     fmt::format(R"(,"end":{},"what":"bar","id":{}}})", m.end, e.value));
      }
      return;
    case Kind::ClusterWait:
      return write_record(head("sync", e, m.begin) + fmt::format(R"(,"end":{},"what":"cluster"}})", m.end));
    case Kind::LanesExit:
      return write_record(head("exit", e, m.begin) + "}");
    default:
      return;
  }
}

void Recorder::record_arrival(const Event& e, const Moment& m) {
  const auto continues = [&](const Arrival& a) {
    return a.open && a.event.cta == e.cta && a.event.warp == e.warp && a.event.lanes == e.lanes &&
           a.event.origin == e.origin && a.event.phase == e.phase && a.event.kind != e.kind &&
           a.moment.begin == m.begin && a.moment.barrier == m.barrier;
  };
  if (!continues(arrival_)) {
    flush_arrival();
    arrival_ = {.event = e, .moment = m, .open = true};
    arrival_.event.addresses = {};
  }
  const auto lanes = static_cast<int64_t>(std::popcount(e.lanes));
  if (e.kind == Kind::MbarrierArrive) {
    arrival_.count += e.value * lanes;
    arrival_.event.detail = e.detail;
    arrival_.event.operation = e.operation;
  } else {
    arrival_.bytes += e.value * lanes;
  }
}

void Recorder::flush_arrival() {
  if (!arrival_.open) return;
  arrival_.open = false;
  const Event& e = arrival_.event;
  std::string line = head("arrive", e, arrival_.moment.begin) + barrier(e, arrival_.moment);
  if (arrival_.count != 1) line += fmt::format(R"(,"count":{})", arrival_.count);
  if (arrival_.bytes != 0) line += fmt::format(R"(,"bytes":{})", arrival_.bytes);
  if (e.detail != 0) line += fmt::format(R"(,"drop":{})", e.detail * std::popcount(e.lanes));
  if (e.operation != 0) line += fmt::format(R"(,"copy":{})", e.operation);
  write_record(line + "}");
}

void Recorder::record_issue(const Event& e, const Moment& m) {
  const auto kind = static_cast<OperationKind>(e.value);
  if (kind == OperationKind::Prefetch || kind == OperationKind::DeferredArrivalNoinc) return;
  if (kind == OperationKind::DeferredArrival) {
    // It adds the arrival that it will make.
    return write_record(head("arrive", e, m.begin) + fmt::format(R"(,"barrier":{})", m.barrier.offset) +
                        fmt::format(R"(,"count":-1,"copy":{}}})", e.operation));
  }
  if (kind == OperationKind::Wgmma) {
    Event group = e;
    group.warp = e.warp / kWarpgroupWarps * kWarpgroupWarps;
    group.lanes = 0;
    return write_record(head("product", group, m.begin) + fmt::format(R"(,"end":{},"id":{},"warps":{}}})",
                                                                      m.end, e.operation, kWarpgroupWarps));
  }
  const bool is_out = kind == OperationKind::BulkToGlobal;
  std::string line = head("copy", e, m.begin) +
                     fmt::format(R"(,"id":{},"bytes":{},"to":"{}","what":"{}")", e.operation, e.bytes,
                                 is_out ? "global" : "shared", is_out ? "store" : word_of(kind));
  if (!e.addresses.empty()) {
    line += fmt::format(R"(,"barrier":{})", m.barrier.offset);
    if (m.barrier.cta != e.cta) line += fmt::format(R"(,"of":{})", m.barrier.cta);
  }
  if (e.detail != 0) line += fmt::format(R"(,"ranks":{})", e.detail);
  write_record(line + "}");
  // A copy that signals no barrier tells nobody that it is over.
  if (e.addresses.empty())
    write_record(head("land", e, m.end) + fmt::format(R"(,"id":{},"bytes":{}}})", e.operation, e.bytes));
}

void Recorder::record_stuck(const Event& e) {
  if (static_cast<event::Waiting>(e.value) != event::Waiting::Mbarrier || e.addresses.empty()) return;
  const BarrierPlace place = clock_.place_of(e.cta, e.addresses[0]);
  const uint64_t since = clock_.waiting_since(e.cta, e.warp, place, clock_.now());
  write_record(head("wait", e, since) +
               fmt::format(R"(,"barrier":{},"of":{},"phase":{},"parity":{},"waited":true}})", place.offset,
                           place.cta, clock_.open_phase(place, e.phase & 1), e.phase & 1));
}

// --- lines --------------------------------------------------------------------------------------------

std::string Recorder::head(const char* kind, const Event& e, uint64_t t) {
  if (&e != &arrival_.event) flush_arrival();
  const uint32_t place = place_number(e.origin);
  std::string line = fmt::format(R"({{"kind":"{}","t":{},"cta":{},"warp":{})", kind, t, e.cta, e.warp);
  if (e.lanes != 0) line += fmt::format(R"(,"lanes":{})", e.lanes);
  if (place != 0) line += fmt::format(R"(,"at":{})", place);
  return line;
}

std::string Recorder::barrier(const Event& e, const Moment& m) const {
  std::string text = fmt::format(R"(,"barrier":{})", m.barrier.offset);
  if (m.barrier.cta != e.cta) text += fmt::format(R"(,"of":{})", m.barrier.cta);
  return text + fmt::format(R"(,"phase":{})", static_cast<int64_t>(e.phase));
}

/// The number of the place of an instruction, told before it is used; 0 where there is none.
uint32_t Recorder::place_number(uint32_t origin) {
  if (origins_ == nullptr || origin >= origins_->instructions.size()) return 0;
  if (const auto known = places_of_origin_.find(origin); known != places_of_origin_.end())
    return known->second;
  std::string file = origins_->module, function;
  uint32_t line = origins_->instructions[origin].ptx_line, column = 0;
  if (const auto frames = event::frames_of(*origins_, origin); !frames.empty()) {
    const event::SourcePlace& own = frames[event::own_frame(*origins_, frames)];
    file = origins_->files[own.file];
    line = own.line;
    column = own.column;
    if (frames.front().function != event::kNoIndex)
      function = event::readable(origins_->functions[frames.front().function]);
  }
  const auto [at, is_new] = places_.try_emplace({file, line, column, function}, places_.size() + 1);
  if (is_new) {
    std::string text = fmt::format(R"({{"kind":"place","place":{},"file":{},"line":{})", at->second,
                                   json_string(file), line);
    if (column != 0) text += fmt::format(R"(,"column":{})", column);
    if (!function.empty()) text += fmt::format(R"(,"function":{})", json_string(function));
    write(text + "}");
  }
  return places_of_origin_[origin] = at->second;
}

void Recorder::name_barrier(uint32_t offset) {
  if (origins_ == nullptr || !named_.insert(offset).second) return;
  const std::string name = event::barrier_name(*origins_, offset);
  if (!name.empty())
    write(fmt::format(R"({{"kind":"name","barrier":{},"name":{}}})", offset, json_string(name)));
}

void Recorder::mark(const Event& e, const std::string& name, const std::string& text) {
  if (file_ == nullptr || ctas_.count(e.cta) == 0 || e.lanes == 0) return mark(name, text);
  write_record(head("mark", e, clock_.time_at(e)) +
               fmt::format(R"(,"name":{},"text":{}}})", json_string(name), json_string(text)));
}

void Recorder::mark(const std::string& name, const std::string& text) {
  if (file_ == nullptr || ctas_.empty()) return;
  write_record(fmt::format(R"({{"kind":"mark","t":{},"cta":{},"warp":0,"name":{},"text":{}}})", clock_.now(),
                           *ctas_.begin(), json_string(name), json_string(text)));
}

void Recorder::write_record(std::string line) {
  if (records_ >= options_.most_records) {
    ++left_out_;
    return;
  }
  ++records_;
  write(line);
}

void Recorder::write(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), file_);
  std::fputc('\n', file_);
}

}  // namespace sluice::timeline
