// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Records the launches of a process as a trace (docs/trace-format.md): a sink that gives each event its
// virtual time and writes a line. What the lines mean is told in the document; who reads them is trace.hpp.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "event/event.hpp"
#include "timeline/clock.hpp"

namespace sluice::timeline {

struct RecorderOptions {
  std::string file;                   ///< written when the first launch begins
  std::vector<uint64_t> ctas;         ///< linear CTAs to record, with those of their clusters
  uint64_t most_records = 1'000'000;  ///< of the process; what comes after is counted, not written
};

class Recorder : public event::Sink {
 public:
  explicit Recorder(RecorderOptions options) : options_(std::move(options)) {}
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  event::KindMask wants() const override;
  void receive(const event::Event& e) override;

  /// Records a finding about the launch that runs, or has ended last: at the event that shows it, which may
  /// be of a kind that is not recorded, or at the latest time known.
  void mark(const event::Event& e, const std::string& name, const std::string& text);
  void mark(const std::string& name, const std::string& text);
  /// No more marks will come for the launch that has ended.
  void finish();

 private:
  /// An arrival that waits for the bytes announced by the same instruction, which are told beside it.
  struct Arrival {
    event::Event event;
    Moment moment;
    int64_t count = 0, bytes = 0;
    bool open = false;
  };

  void begin_launch(const event::Event& e);
  void end_launch(const event::Event& e);
  bool is_recorded(const event::Event& e);
  void record(const event::Event& e, const Moment& m);
  void record_arrival(const event::Event& e, const Moment& m);
  void record_issue(const event::Event& e, const Moment& m);
  void record_stuck(const event::Event& e);
  void flush_arrival();
  /// "kind", time and agent of a record, and its place; the line stays open.
  std::string head(const char* kind, const event::Event& e, uint64_t t);
  std::string barrier(const event::Event& e, const Moment& m) const;
  uint32_t place_number(uint32_t origin);
  void name_barrier(uint32_t offset);
  void write_record(std::string line);
  void write(const std::string& text);

  RecorderOptions options_;
  Clock clock_;
  std::FILE* file_ = nullptr;
  uint64_t records_ = 0;                         ///< written, of all launches
  uint64_t left_out_ = 0;                        ///< of this launch
  bool has_ended_ = false, has_failed_ = false;  ///< the launch whose end is to be written
  uint32_t launches_ = 0;
  const event::Origins* origins_ = nullptr;
  std::set<uint32_t> clusters_;                              ///< of interest, in this launch
  std::set<uint32_t> ctas_;                                  ///< that have begun and are of interest
  std::set<uint32_t> named_;                                 ///< offsets whose name has been told
  std::unordered_map<uint32_t, uint32_t> places_of_origin_;  ///< of this launch
  std::map<std::tuple<std::string, uint32_t, uint32_t, std::string>, uint32_t> places_;
  Arrival arrival_;
};

}  // namespace sluice::timeline
