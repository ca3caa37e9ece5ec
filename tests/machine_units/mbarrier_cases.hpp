// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Experiments on mbarrier objects: one thread runs a script of operations and writes, for each step, the
// 64-bit word of the object, the token or count that came back, and which parities a test sees as completed.
//
// A GPU keeps the state of a barrier in its synchronisation unit; ordinary loads see what lay in memory
// before until `mbarrier.inval` writes the state back. Every step of a script is therefore looked at in a
// life of its own: on a fresh object the script runs up to that step, then the object is invalidated and its
// word read.
#pragma once

#include "hardware_case.hpp"

namespace sluice::hardware {

/// One step of a script.
struct BarrierStep {
  enum Op {
    Init,
    InitAtRunTime,  ///< the same; the compiler does not know the count
    Arrive,
    ArriveNoComplete,
    ArriveDrop,
    DropNoComplete,
    ExpectTx,
    CompleteTx,
    ArriveExpectTx,
    DropExpectTx,
    PendingCount,  ///< of the token of the last arrive
    TestState,     ///< test_wait with the token of the last arrive
    CopyArrive,    ///< cp.async.mbarrier.arrive, with no copy before it
    CopyArriveNoinc,
  } op;
  uint32_t value;
};

/// Whether the step returns a state token. An H200 returns the phase and the pending count in the upper half;
/// what the lower half holds depends on how the instruction was compiled.
inline bool returns_token(BarrierStep::Op op) {
  switch (op) {
    case BarrierStep::Arrive:
    case BarrierStep::ArriveNoComplete:
    case BarrierStep::ArriveDrop:
    case BarrierStep::DropNoComplete:
    case BarrierStep::ArriveExpectTx:
    case BarrierStep::DropExpectTx:
      return true;
    default:
      return false;
  }
}

/// The instruction of a step on the object at `bar`. Token or count end up in %token.
inline std::string barrier_step_ptx(const BarrierStep& step, const std::string& bar) {
  const std::string value = std::to_string(step.value);
  const auto arrive = [&](const char* name) {
    return std::string("mbarrier.") + name + ".shared::cta.b64 %state, " + bar + ", " + value +
           ";\nmov.b64 %token, %state;\n";
  };
  switch (step.op) {
    case BarrierStep::Init:
      return "mbarrier.init.shared::cta.b64 " + bar + ", " + value + ";\n";
    case BarrierStep::InitAtRunTime:
      return "mov.u32 %count, %ctaid.y;\nadd.u32 %count, %count, " + value +
             ";\nmbarrier.init.shared::cta.b64 " + bar + ", %count;\n";
    case BarrierStep::Arrive:
      return arrive("arrive");
    case BarrierStep::ArriveNoComplete:
      return arrive("arrive.noComplete");
    case BarrierStep::ArriveDrop:
      return arrive("arrive_drop");
    case BarrierStep::DropNoComplete:
      return arrive("arrive_drop.noComplete");
    case BarrierStep::ArriveExpectTx:
      return arrive("arrive.expect_tx");
    case BarrierStep::DropExpectTx:
      return arrive("arrive_drop.expect_tx");
    case BarrierStep::ExpectTx:
      return "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 " + bar + ", " + value + ";\n";
    case BarrierStep::CompleteTx:
      return "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 " + bar + ", " + value + ";\n";
    case BarrierStep::PendingCount:
      return "mbarrier.pending_count.b64 %count, %state;\ncvt.u64.u32 %token, %count;\n";
    case BarrierStep::TestState:
      return "mbarrier.test_wait.shared::cta.b64 %p, " + bar +
             ", %state;\nselp.u32 %count, 1, 0, %p;\ncvt.u64.u32 %token, %count;\n";
    case BarrierStep::CopyArrive:
      return "cp.async.mbarrier.arrive.shared::cta.b64 " + bar + ";\nnanosleep.u32 2000;\n";
    case BarrierStep::CopyArriveNoinc:
      return "cp.async.mbarrier.arrive.noinc.shared::cta.b64 " + bar + ";\nnanosleep.u32 2000;\n";
  }
  return {};
}

inline std::string barrier_script_ptx(const std::vector<BarrierStep>& script) {
  std::string body;
  for (size_t last = 0; last < script.size(); ++last) {
    const std::string bar = "[bars+" + std::to_string(last * 8) + "]";
    for (size_t i = 0; i <= last; ++i) {
      if (i == last) body += "mov.b64 %token, 0;\n";
      body += barrier_step_ptx(script[i], bar);
    }
    body += fill_in(R"(mbarrier.test_wait.parity.shared::cta.b64 %p, $bar$, 0;
selp.u32 %count, 1, 0, %p;
st.global.u32 [%out+16], %count;
mbarrier.test_wait.parity.shared::cta.b64 %p, $bar$, 1;
selp.u32 %count, 1, 0, %p;
st.global.u32 [%out+20], %count;
mbarrier.inval.shared::cta.b64 $bar$;
membar.cta;
nanosleep.u32 1000;
ld.volatile.shared.b64 %word, $bar$;
st.global.b64 [%out], %word;
st.global.b64 [%out+8], %token;
add.u64 %out, %out, 24;
)",
                    {{"bar", bar}});
  }
  return fill_in(R"(.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p;
.reg .b32 %count;
.reg .b64 %out, %word, %token, %state;
.shared .align 8 .b64 bars[$steps$];
ld.param.u64 %out, [out];
cvta.to.global.u64 %out, %out;
mov.b64 %state, 0;
$body$
ret;
}
)",
                 {{"steps", std::to_string(script.size())}, {"body", body}});
}

inline void add_barrier_case(std::vector<Case>& cases, const std::string& name,
                             const std::vector<BarrierStep>& script) {
  Case c;
  c.name = name;
  c.ptx = barrier_script_ptx(script);
  c.threads = 1;
  c.arguments.push_back({Argument::Buffer, c.add_buffer(Bytes(script.size() * 24), true)});
  for (size_t i = 0; i < script.size(); ++i) {
    if (returns_token(script[i].op)) c.undefined.emplace_back(static_cast<uint32_t>(i * 24 + 8), 4);
  }
  cases.push_back(std::move(c));
}

constexpr uint32_t kBarrierLimit = (1u << 20) - 1;  ///< of arrivals, and of bytes in either direction

inline void add_barrier_cases(std::vector<Case>& cases) {
  using S = BarrierStep;
  add_barrier_case(cases, "mbarrier/count_1",
                   {{S::Init, 1}, {S::Arrive, 1}, {S::TestState, 0}, {S::Arrive, 1}, {S::Arrive, 1}});
  add_barrier_case(cases, "mbarrier/count_3",
                   {{S::Init, 3},
                    {S::Arrive, 1},
                    {S::PendingCount, 0},
                    {S::Arrive, 2},
                    {S::PendingCount, 0},
                    {S::ArriveNoComplete, 1},
                    {S::PendingCount, 0},
                    {S::Arrive, 1},
                    {S::TestState, 0},
                    {S::Arrive, 1},
                    {S::TestState, 0}});
  add_barrier_case(cases, "mbarrier/count_most",
                   {{S::Init, kBarrierLimit},
                    {S::Arrive, 1},
                    {S::PendingCount, 0},
                    {S::Arrive, kBarrierLimit - 1},
                    {S::Arrive, kBarrierLimit}});
  add_barrier_case(cases, "mbarrier/drop",
                   {{S::Init, 4},
                    {S::ArriveDrop, 1},
                    {S::PendingCount, 0},
                    {S::Arrive, 3},
                    {S::DropNoComplete, 1},
                    {S::Arrive, 1},
                    {S::Arrive, 1},
                    {S::Arrive, 1},
                    {S::ArriveDrop, 1}});
  add_barrier_case(
      cases, "mbarrier/drop_to_zero",
      {{S::Init, 2}, {S::ArriveDrop, 1}, {S::ArriveDrop, 1}, {S::ExpectTx, 16}, {S::CompleteTx, 16}});
  add_barrier_case(cases, "mbarrier/tx",
                   {{S::Init, 2},
                    {S::ExpectTx, 64},
                    {S::CompleteTx, 16},
                    {S::Arrive, 2},
                    {S::CompleteTx, 48},
                    {S::CompleteTx, 32},
                    {S::ArriveExpectTx, 48},
                    {S::ArriveExpectTx, 16},
                    {S::CompleteTx, 32},
                    {S::DropExpectTx, 8},
                    {S::CompleteTx, 8},
                    {S::Arrive, 1},
                    {S::Arrive, 1}});
  add_barrier_case(cases, "mbarrier/tx_most",
                   {{S::Init, 1},
                    {S::ExpectTx, kBarrierLimit},
                    {S::CompleteTx, kBarrierLimit},
                    {S::CompleteTx, kBarrierLimit},
                    {S::ExpectTx, kBarrierLimit - 1},
                    {S::ArriveExpectTx, 1}});
  add_barrier_case(
      cases, "mbarrier/no_complete_completes",
      {{S::Init, 2}, {S::ArriveNoComplete, 2}, {S::Arrive, 1}, {S::ArriveNoComplete, 1}, {S::Arrive, 1}});
  add_barrier_case(cases, "mbarrier/reinit",
                   {{S::Init, 2}, {S::Arrive, 1}, {S::Init, 5}, {S::Arrive, 5}, {S::Init, 1}});
  add_barrier_case(cases, "mbarrier/copy_arrive",
                   {{S::Init, 2},
                    {S::CopyArrive, 0},
                    {S::CopyArriveNoinc, 0},
                    {S::CopyArriveNoinc, 0},
                    {S::CopyArrive, 0}});
}

/// Programs that leave a barrier's rules: which of them a GPU stops, and what the others leave behind.
inline void add_barrier_faults(std::vector<Case>& cases) {
  using S = BarrierStep;
  const struct {
    const char* name;
    std::vector<BarrierStep> script;
  } scripts[] = {
      {"over_arrival", {{S::Init, 2}, {S::Arrive, 3}}},
      {"over_arrival_by_many", {{S::Init, 2}, {S::Arrive, 1}, {S::Arrive, kBarrierLimit}}},
      {"over_arrival_while_bytes_due", {{S::Init, 1}, {S::ArriveExpectTx, 16}, {S::Arrive, 1}}},
      {"over_arrival_expecting", {{S::Init, 1}, {S::ArriveExpectTx, 16}, {S::ArriveExpectTx, 16}}},
      {"over_arrival_no_complete", {{S::Init, 1}, {S::ArriveExpectTx, 16}, {S::ArriveNoComplete, 1}}},
      {"over_arrival_of_copy", {{S::Init, 1}, {S::ArriveExpectTx, 16}, {S::CopyArriveNoinc, 0}}},
      {"drop_too_many", {{S::Init, 2}, {S::ArriveDrop, 3}}},
      {"drop_more_than_next", {{S::Init, 3}, {S::ArriveDrop, 2}, {S::Arrive, 1}, {S::ArriveDrop, 2}}},
      {"arrive_after_drop_to_zero", {{S::Init, 1}, {S::ArriveDrop, 1}, {S::Arrive, 1}}},
      {"drop_after_drop_to_zero", {{S::Init, 1}, {S::ArriveDrop, 1}, {S::ArriveDrop, 1}}},
      {"expect_one_too_many", {{S::Init, 1}, {S::ExpectTx, kBarrierLimit}, {S::ExpectTx, 1}}},
      {"expect_two_too_many", {{S::Init, 1}, {S::ExpectTx, kBarrierLimit}, {S::ExpectTx, 2}}},
      {"expect_twice_the_most", {{S::Init, 1}, {S::ExpectTx, kBarrierLimit}, {S::ExpectTx, kBarrierLimit}}},
      {"expect_above_most", {{S::Init, 1}, {S::ExpectTx, kBarrierLimit + 1}}},
      {"complete_one_too_many", {{S::Init, 1}, {S::CompleteTx, kBarrierLimit}, {S::CompleteTx, 1}}},
      {"complete_two_too_many", {{S::Init, 1}, {S::CompleteTx, kBarrierLimit}, {S::CompleteTx, 2}}},
      {"complete_twice_the_most",
       {{S::Init, 1}, {S::CompleteTx, kBarrierLimit}, {S::CompleteTx, kBarrierLimit}}},
      {"expect_above_most_after_bytes",
       {{S::Init, 1}, {S::CompleteTx, 64}, {S::ExpectTx, kBarrierLimit + 33}}},
      {"expect_more_than_its_digits", {{S::Init, 1}, {S::ExpectTx, 2 * kBarrierLimit + 18}}},
      {"expect_all_ones", {{S::Init, 1}, {S::ExpectTx, 0xffffffffu}}},
      {"complete_above_most",
       {{S::Init, 1}, {S::ExpectTx, kBarrierLimit}, {S::CompleteTx, kBarrierLimit + 1}}},
      {"arrive_above_most", {{S::Init, 3}, {S::Arrive, kBarrierLimit + 2}}},
      // A driver's compiler may give up on a zero that it sees.
      {"run_time_count_zero", {{S::InitAtRunTime, 0}}},
      {"run_time_count_zero_bytes", {{S::InitAtRunTime, 0}, {S::ExpectTx, 16}, {S::CompleteTx, 16}}},
      {"run_time_count_zero_arrive", {{S::InitAtRunTime, 0}, {S::Arrive, 1}}},
      {"run_time_count_above_most", {{S::InitAtRunTime, kBarrierLimit + 3}, {S::Arrive, 1}}},
      {"count_above_most", {{S::Init, kBarrierLimit + 1}}},
      {"count_above_most_arrive", {{S::Init, kBarrierLimit + 3}, {S::Arrive, 1}}},
      {"count_all_ones", {{S::Init, 0xffffffffu}, {S::Arrive, 1}}},
  };
  for (const auto& s : scripts) add_barrier_case(cases, std::string("mbarrier_limits/") + s.name, s.script);
}

}  // namespace sluice::hardware
