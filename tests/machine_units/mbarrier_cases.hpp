// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Experiments on mbarrier objects: one thread runs a script of operations and writes, after each (and a
// pause: a GPU does not order the operations with the load that looks at them), the 64-bit word of the
// object, the token or count that came back, and which parities a test sees as completed.
#pragma once

#include "hardware_case.hpp"

namespace sluice::hardware {

/// One step of a script.
struct BarrierStep {
  enum Op {
    Init,
    Arrive,
    ArriveNoComplete,
    ArriveDrop,
    ExpectTx,
    CompleteTx,
    ArriveExpectTx,
    PendingCount,  ///< of the token that the step before returned
    TestState,     ///< test_wait with the token of the last arrive
    Inval,
    DropExpectTx,
  } op;
  uint32_t value;
};

inline std::string barrier_script_ptx(const std::vector<BarrierStep>& script) {
  std::string body;
  for (const BarrierStep& step : script) {
    const std::string value = std::to_string(step.value);
    switch (step.op) {
      case BarrierStep::Init:
        body += "mbarrier.init.shared::cta.b64 [bar], " + value + ";\nmov.b64 %token, 0;\n";
        break;
      case BarrierStep::Arrive:
        body += "mbarrier.arrive.shared::cta.b64 %token, [bar], " + value + ";\nmov.b64 %state, %token;\n";
        break;
      case BarrierStep::ArriveNoComplete:
        body += "mbarrier.arrive.noComplete.shared::cta.b64 %token, [bar], " + value +
                ";\nmov.b64 %state, %token;\n";
        break;
      case BarrierStep::ArriveDrop:
        body +=
            "mbarrier.arrive_drop.shared::cta.b64 %token, [bar], " + value + ";\nmov.b64 %state, %token;\n";
        break;
      case BarrierStep::ExpectTx:
        body += "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], " + value + ";\n";
        break;
      case BarrierStep::CompleteTx:
        body += "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], " + value + ";\n";
        break;
      case BarrierStep::ArriveExpectTx:
        body += "mbarrier.arrive.expect_tx.shared::cta.b64 %token, [bar], " + value +
                ";\nmov.b64 %state, %token;\n";
        break;
      case BarrierStep::DropExpectTx:
        body += "mbarrier.arrive_drop.expect_tx.shared::cta.b64 %token, [bar], " + value +
                ";\nmov.b64 %state, %token;\n";
        break;
      case BarrierStep::PendingCount:
        body += "mbarrier.pending_count.b64 %count, %state;\ncvt.u64.u32 %token, %count;\n";
        break;
      case BarrierStep::TestState:
        body +=
            "mbarrier.test_wait.shared::cta.b64 %p, [bar], %state;\nselp.u32 %count, 1, 0, %p;\n"
            "cvt.u64.u32 %token, %count;\n";
        break;
      case BarrierStep::Inval:
        body += "mbarrier.inval.shared::cta.b64 [bar];\nmov.b64 %token, 0;\n";
        break;
    }
    body +=
        "membar.cta;\nnanosleep.u32 1000;\nmembar.cta;\nld.volatile.shared.b64 %word, [bar];\nst.global.b64 "
        "[%out], %word;\nst.global.b64 [%out+8], "
        "%token;\n"
        "add.u64 %out, %out, 16;\n";
    if (step.op == BarrierStep::Inval) continue;
    body +=
        "mbarrier.test_wait.parity.shared::cta.b64 %p, [bar], 0;\nselp.u32 %count, 1, 0, %p;\n"
        "st.global.u32 [%out], %count;\n"
        "mbarrier.test_wait.parity.shared::cta.b64 %p, [bar], 1;\nselp.u32 %count, 1, 0, %p;\n"
        "st.global.u32 [%out+4], %count;\nadd.u64 %out, %out, 8;\n";
  }
  return fill_in(R"(.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p;
.reg .b32 %count;
.reg .b64 %out, %word, %token, %state;
.shared .align 8 .b64 bar;
ld.param.u64 %out, [out];
cvta.to.global.u64 %out, %out;
mov.b64 %token, 0;
mov.b64 %state, 0;
$body$
ret;
}
)",
                 {{"body", body}});
}

inline void add_barrier_case(std::vector<Case>& cases, const char* name,
                             const std::vector<BarrierStep>& script) {
  Case c;
  c.name = std::string("mbarrier/") + name;
  c.ptx = barrier_script_ptx(script);
  c.threads = 1;
  c.arguments.push_back({Argument::Buffer, c.add_buffer(Bytes(script.size() * 24), true)});
  // An H200 returns the phase and the pending count in the upper half of a state token; what the lower half
  // holds depends on how the instruction was compiled.
  uint32_t at = 0;
  bool held = false;  // the token of an earlier step is written again
  for (const BarrierStep& step : script) {
    switch (step.op) {
      case BarrierStep::Init:
      case BarrierStep::PendingCount:
      case BarrierStep::TestState:
      case BarrierStep::Inval:
        held = false;
        break;
      case BarrierStep::ExpectTx:
      case BarrierStep::CompleteTx:
        break;
      default:
        held = true;
        break;
    }
    if (held) c.undefined.emplace_back(at + 8, 4);
    at += step.op == BarrierStep::Inval ? 16 : 24;
  }
  cases.push_back(std::move(c));
}

inline void add_barrier_cases(std::vector<Case>& cases) {
  using S = BarrierStep;
  constexpr uint32_t kMost = (1u << 20) - 1;
  add_barrier_case(
      cases, "count_1",
      {{S::Init, 1}, {S::Arrive, 1}, {S::TestState, 0}, {S::Arrive, 1}, {S::Arrive, 1}, {S::Inval, 0}});
  add_barrier_case(cases, "count_3",
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
  add_barrier_case(
      cases, "count_most",
      {{S::Init, kMost}, {S::Arrive, 1}, {S::PendingCount, 0}, {S::Arrive, kMost - 1}, {S::Arrive, kMost}});
  add_barrier_case(cases, "drop",
                   {{S::Init, 4},
                    {S::ArriveDrop, 1},
                    {S::PendingCount, 0},
                    {S::Arrive, 3},
                    {S::ArriveDrop, 2},
                    {S::Arrive, 1},
                    {S::Arrive, 1},
                    {S::ArriveDrop, 1},
                    {S::Arrive, 1},
                    {S::ExpectTx, 16},
                    {S::CompleteTx, 16}});
  add_barrier_case(cases, "tx",
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
  add_barrier_case(cases, "tx_range",
                   {{S::Init, 1},
                    {S::ExpectTx, kMost},
                    {S::CompleteTx, 1},
                    {S::ExpectTx, 2},
                    {S::ExpectTx, kMost},
                    {S::CompleteTx, kMost},
                    {S::CompleteTx, kMost},
                    {S::CompleteTx, 1},
                    {S::CompleteTx, kMost},
                    {S::CompleteTx, kMost},
                    {S::Arrive, 1}});
  add_barrier_case(cases, "over_arrival_with_bytes",
                   {{S::Init, 1},
                    {S::ArriveExpectTx, 16},
                    {S::ArriveExpectTx, 16},
                    {S::CompleteTx, 32},
                    {S::Arrive, 1},
                    {S::Arrive, 2}});
  add_barrier_case(cases, "over_arrival_count",
                   {{S::Init, 2}, {S::Arrive, 3}, {S::Arrive, 1}, {S::Arrive, 1}, {S::Arrive, 5}});
  add_barrier_case(cases, "count_zero",
                   {{S::Init, 0},
                    {S::ExpectTx, 16},
                    {S::CompleteTx, 16},
                    {S::Arrive, 1},
                    {S::Arrive, 1},
                    {S::ArriveExpectTx, 16},
                    {S::CompleteTx, 16}});
  add_barrier_case(cases, "count_too_large",
                   {{S::Init, kMost + 1},
                    {S::Arrive, 1},
                    {S::Init, kMost + 3},
                    {S::Arrive, 1},
                    {S::Arrive, 1},
                    {S::Init, 0xffffffffu},
                    {S::Arrive, 1}});
  add_barrier_case(
      cases, "no_complete_completes",
      {{S::Init, 2}, {S::ArriveNoComplete, 2}, {S::Arrive, 1}, {S::ArriveNoComplete, 1}, {S::Arrive, 1}});
  add_barrier_case(cases, "reinit",
                   {{S::Init, 2}, {S::Arrive, 1}, {S::Init, 5}, {S::Arrive, 5}, {S::Init, 1}});
}

}  // namespace sluice::hardware
