// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Accesses to shared and global memory that nothing orders, and those that are ordered but not visible:
// without a proxy fence, or across CTAs by a scope that is too narrow. Each access is compared with what
// shadow memory remembers of its bytes, by the order that Order knows; nothing has to happen at the same time
// to be found.
//
// Not reported: conflicts of two strong accesses (atomics, volatile, relaxed and the like); a store that
// finds what it stores in place already, after another one; one copy that several threads make, by the same
// cp.async from the same source; reads of a barrier's own bytes. A generic read before an asynchronous write
// needs no proxy fence, only order. free() in device code is a write to the whole block, and ends its
// history: malloc() gives the block to one after the other.
#pragma once

#include <unordered_map>
#include <utility>

#include "check/findings.hpp"
#include "check/ledger.hpp"
#include "check/order.hpp"
#include "check/shadow.hpp"

namespace sluice::check {

class Races {
 public:
  Races(Order& order, Ledger& ledger, Findings& findings)
      : order_(order), ledger_(ledger), findings_(findings) {}

  void begin_launch();
  /// Hands over the accesses to global memory of the launch that has ended.
  Shadow take_global() { return std::exchange(global_, {}); }
  void apply(const event::Event& e);
  /// How many accesses of the launch were forgotten because all records together took too much memory.
  uint64_t forgotten() const { return forgotten_; }
  /// Calls `f(record)` for the remembered writes to these bytes of global memory.
  template <class F>
  void for_global_writes(uint64_t first, uint64_t bytes, F&& f) {
    global_.for_granules(first, bytes, [&](const Granule& granule, uint16_t mask, uint64_t) {
      granule.for_overlapping(mask, [&](const Record& record) {
        if (record.writes()) f(record);
      });
    });
  }

 private:
  /// The access that is looked at now.
  struct Access {
    const event::Event* event = nullptr;
    WarpOrder* warp = nullptr;  ///< of a thread's access
    const Strand* strand = nullptr;
    const Start* start = nullptr;  ///< of an operation's
    Record record;                 ///< without `bytes`
    bool shared = false;
    const Granule* granule = nullptr;  ///< that it is compared with
    uint32_t lanes = 0;
    bool repeats_copy = false;  ///< of the cp.async that has filled the place before
    bool reported = false;      ///< one finding per event is enough
  };

  void thread_access(const event::Event& e);
  void operation_access(const event::Event& e);
  bool repeats_copy(const event::Event& e, uint64_t address);
  void free_block(const event::Event& e);
  void touch(Access& access, uint64_t address, uint64_t bytes);
  template <class F>
  void for_pieces(Access& access, uint64_t address, uint64_t bytes, F&& f);
  void compare(Access& access, const Granule& granule, uint16_t bytes, uint64_t address);
  void compare(Access& access, const Record& older, uint64_t address);
  /// What is wrong between an access and an older one.
  enum class Verdict : uint8_t { Right, NotOrdered, NotFenced, ScopeTooNarrow, AtomicWithinCta };
  Verdict judge(const Access& access, const Record& older) const;
  bool ordered(const Access& access, const Record& older) const;
  bool is_harmless(const Access& access, const Record& older) const;
  void report_race(Access& access, const Record& older, uint64_t address);
  void report_lanes(Access& access, uint64_t address);
  void report_fence(Access& access, const Record& older, uint64_t address);
  void report_narrow_atomics(Access& access, const Record& older, uint64_t address);
  void report_scope(Access& access, const Record& older, uint64_t address);
  void overwritten_barrier(const event::Event& e, const Barrier& b);
  void note_remote(const Access& access, uint32_t cta);
  bool remember_remote(const Access& access, uint32_t cta);
  void note_signal(const event::Event& e);
  void check_started(const Access& access, uint32_t cta);
  void end_cta(const event::Event& e);
  std::string place_name(const Access& access, uint64_t address) const;
  std::string who(const Record& record) const;

  Order& order_;
  Ledger& ledger_;
  Findings& findings_;
  Shadow shared_, global_;
  /// Where a cp.async takes its bytes from; without any it fills with zeros.
  struct Source {
    uint64_t address = 0;
    uint32_t bytes = 0;
    bool operator==(const Source&) const = default;
  };
  uint64_t last_reader_ = 0;  ///< the operation that has read last, and what
  Source last_read_;
  /// By CTA and offset: the source of the last cp.async to it.
  std::unordered_map<uint32_t, std::unordered_map<uint32_t, Source>> copied_from_;
  uint64_t forgotten_ = 0;
  /// Accesses of other CTAs to the shared memory of a CTA: the last of each agent.
  std::unordered_map<uint32_t, std::unordered_map<AgentId, Record>> remote_;
};

}  // namespace sluice::check
