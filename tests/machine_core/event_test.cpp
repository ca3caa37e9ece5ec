// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What the machine tells a listener: which events, in which order, with which fields.
#include <algorithm>

#include "event/address.hpp"
#include "machine_core/harness.hpp"

namespace {

using namespace sluice;
using event::Kind;
using test::buffer;
using test::module_of;
using test::run;

/// Keeps what it hears of some kinds.
class Recorder : public event::Sink {
 public:
  explicit Recorder(event::KindMask kinds) : kinds_(kinds) {}
  event::KindMask wants() const override { return kinds_; }
  void receive(const event::Event& e) override {
    events.push_back(e);
    addresses.emplace_back(e.addresses.begin(), e.addresses.end());
    if (e.details != nullptr) origins = *e.details->origins;
  }

  std::vector<Kind> kinds() const {
    std::vector<Kind> all;
    for (const event::Event& e : events) all.push_back(e.kind);
    return all;
  }
  const event::Event* first(Kind kind) const {
    const auto found =
        std::find_if(events.begin(), events.end(), [&](const event::Event& e) { return e.kind == kind; });
    return found == events.end() ? nullptr : &*found;
  }
  std::vector<event::Event> all(Kind kind) const {
    std::vector<event::Event> some;
    for (const event::Event& e : events)
      if (e.kind == kind) some.push_back(e);
    return some;
  }
  std::string text_at(const event::Event& e) const {
    const event::Origin& o = origins.instructions.at(e.origin);
    return std::string(origins.text.substr(o.text_begin, o.text_end - o.text_begin));
  }

  std::vector<event::Event> events;
  std::vector<std::vector<uint64_t>> addresses;
  event::Origins origins;

 private:
  event::KindMask kinds_;
};

event::KindMask kinds(std::initializer_list<Kind> list) {
  event::KindMask mask = 0;
  for (const Kind kind : list) mask |= event::mask_of(kind);
  return mask;
}

std::string kernel(const std::string& body) {
  return module_of(R"(
.visible .entry k(.param .u64 out, .param .u64 in) {
  .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>;
  .shared .align 8 .b64 bar;
  .shared .align 128 .b8 tile[256];
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [in];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, bar;
  mov.u32 %r3, tile;
)" + body + "\n ret; }\n");
}

TEST(events, a_launch_is_framed_by_begin_and_end) {
  Recorder r(kinds(
      {Kind::LaunchBegin, Kind::LaunchEnd, Kind::CtaBegin, Kind::CtaEnd, Kind::WarpBegin, Kind::LanesExit}));
  run(kernel(""), "k", {nullptr, nullptr}, {.block = 40, .listener = &r});
  const std::vector<Kind> expected = {Kind::LaunchBegin, Kind::CtaBegin,  Kind::WarpBegin, Kind::WarpBegin,
                                      Kind::LanesExit,   Kind::LanesExit, Kind::CtaEnd,    Kind::LaunchEnd};
  EXPECT_EQ(r.kinds(), expected);
  EXPECT_EQ(r.events[3].lanes, 0xffu);
  EXPECT_EQ(r.events[7].value, 0);
}

TEST(events, lanes_that_exit_early_are_told_apart) {
  Recorder r(kinds({Kind::LanesExit}));
  run(kernel("setp.lt.u32 %p1, %r1, 8;\n @%p1 ret;"), "k", {nullptr, nullptr}, {.listener = &r});
  ASSERT_EQ(r.events.size(), 2u);
  EXPECT_EQ(r.events[0].lanes, 0xffu);
  EXPECT_EQ(r.events[1].lanes, 0xffffff00u);
}

TEST(events, shared_accesses_carry_generic_addresses_and_their_origin) {
  Recorder r(event::kAllKinds);
  run(kernel("shl.b32 %r4, %r1, 2;\n add.u32 %r5, %r3, %r4;\n st.shared.u32 [%r5], %r1;"), "k",
      {nullptr, nullptr}, {.listener = &r});
  const event::Event* write = r.first(Kind::Write);
  ASSERT_NE(write, nullptr);
  const auto& addresses = r.addresses[static_cast<size_t>(write - r.events.data())];
  ASSERT_EQ(addresses.size(), 32u);
  EXPECT_EQ(addresses[0] >> 32, event::kSharedWindow >> 32);
  EXPECT_EQ(addresses[31] - addresses[0], 31u * 4);
  EXPECT_EQ(write->bytes, 4u);
  EXPECT_EQ(r.text_at(*write), "st.shared.u32 [%r5], %r1;");
  ASSERT_EQ(r.origins.shared.size(), 2u);
  EXPECT_EQ(r.origins.shared[1].name, "tile");
  EXPECT_EQ(r.origins.shared[1].offset, addresses[0] & event::kSharedOffsetMask);
}

TEST(events, phases_of_a_barrier_have_unbounded_ordinals) {
  Recorder r(kinds({Kind::MbarrierInit, Kind::MbarrierArrive, Kind::MbarrierFlip, Kind::MbarrierWait}));
  run(kernel(R"(
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra END;
    mbarrier.init.shared::cta.b64 [%r2], 1;
    mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r2], 1;
    mbarrier.arrive.shared::cta.b64 _, [%r2];
    mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r2], 0;
    mbarrier.arrive.shared::cta.b64 _, [%r2];
    mbarrier.arrive.shared::cta.b64 _, [%r2];
    mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r2], 0;
  END:)"),
      "k", {nullptr, nullptr}, {.listener = &r});
  const std::vector<Kind> expected = {
      Kind::MbarrierInit,   Kind::MbarrierWait, Kind::MbarrierArrive, Kind::MbarrierFlip, Kind::MbarrierWait,
      Kind::MbarrierArrive, Kind::MbarrierFlip, Kind::MbarrierArrive, Kind::MbarrierFlip, Kind::MbarrierWait};
  ASSERT_EQ(r.kinds(), expected);
  EXPECT_EQ(r.events[0].value, 1);
  EXPECT_EQ(r.events[1].phase, ~uint64_t{0});
  EXPECT_EQ(r.events[2].phase, 0u);
  EXPECT_EQ(r.events[4].phase, 0u);
  EXPECT_EQ(r.events[8].phase, 2u);
  EXPECT_EQ(r.events[9].phase, 2u);
}

TEST(events, a_copy_tells_issue_read_write_bytes_and_completion_in_order) {
  auto* in = buffer<uint32_t>(64);
  Recorder r(kinds({Kind::AsyncIssue, Kind::AsyncRead, Kind::AsyncWrite, Kind::AsyncComplete,
                    Kind::MbarrierExpectTx, Kind::MbarrierCompleteTx, Kind::MbarrierFlip}));
  run(kernel(R"(
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra END;
    mbarrier.init.shared::cta.b64 [%r2], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 256;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd2], 256, [%r2];
  END:)"),
      "k", {nullptr, in}, {.listener = &r});
  const std::vector<Kind> expected = {Kind::MbarrierExpectTx, Kind::AsyncIssue,         Kind::AsyncRead,
                                      Kind::AsyncWrite,       Kind::MbarrierCompleteTx, Kind::MbarrierFlip,
                                      Kind::AsyncComplete};
  ASSERT_EQ(r.kinds(), expected);
  EXPECT_EQ(r.events[0].value, 256);
  EXPECT_EQ(r.events[1].bytes, 256u);
  EXPECT_EQ(static_cast<event::OperationKind>(r.events[1].value), event::OperationKind::BulkToShared);
  EXPECT_EQ(r.addresses[1], r.addresses[4]);
  EXPECT_EQ(r.addresses[2][0], reinterpret_cast<uint64_t>(in));
  EXPECT_EQ(r.events[4].operation, r.events[1].operation);
  EXPECT_NE(r.events[1].operation, 0u);
}

TEST(events, a_named_barrier_completes_once_per_generation) {
  Recorder r(kinds({Kind::NamedArrive, Kind::NamedWait, Kind::NamedComplete}));
  run(kernel(R"(
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bar.arrive 3, 64;
    @!%p1 bar.sync 3, 64;
    bar.sync 0;)"),
      "k", {nullptr, nullptr}, {.block = 64, .listener = &r});
  EXPECT_EQ(r.all(Kind::NamedArrive).size(), 1u);
  EXPECT_EQ(r.all(Kind::NamedWait).size(), 3u);
  const auto complete = r.all(Kind::NamedComplete);
  ASSERT_EQ(complete.size(), 2u);
  EXPECT_EQ(complete[0].value, 3);
  EXPECT_EQ(complete[1].value, 0);
  EXPECT_EQ(r.first(Kind::NamedArrive)->bytes, 64u);
}

TEST(events, fences_say_which_proxy_and_scope) {
  Recorder r(kinds({Kind::Fence, Kind::ProxyFence, Kind::InitFence}));
  run(kernel(R"(
    fence.acq_rel.cluster;
    fence.proxy.async.shared::cta;
    fence.mbarrier_init.release.cluster;)"),
      "k", {nullptr, nullptr}, {.listener = &r});
  ASSERT_EQ(r.kinds(), (std::vector<Kind>{Kind::Fence, Kind::ProxyFence, Kind::InitFence}));
  EXPECT_EQ(r.events[0].scope, event::Scope::Cluster);
  EXPECT_EQ(r.events[0].semantics, event::Semantics::AcquireRelease);
  EXPECT_EQ(r.events[1].proxy, event::Proxy::Async);
}

TEST(events, lanes_that_nobody_can_wake_are_told) {
  Recorder r(kinds({Kind::Stuck, Kind::LaunchEnd}));
  run(kernel(R"(
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra OTHERS;
    mbarrier.init.shared::cta.b64 [%r2], 1;
  WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
    @!%p2 bra WAIT;
  OTHERS:
    bar.warp.sync -1;)"),
      "k", {nullptr, nullptr}, {.listener = &r});
  const auto stuck = r.all(Kind::Stuck);
  ASSERT_EQ(stuck.size(), 2u);
  uint32_t lanes = 0;
  for (const event::Event& e : stuck) lanes |= e.lanes;
  EXPECT_EQ(lanes, 0xffffffffu);
  const auto waiting = static_cast<event::Waiting>(stuck[0].lanes == 1 ? stuck[0].value : stuck[1].value);
  EXPECT_EQ(waiting, event::Waiting::Mbarrier);
  ASSERT_NE(r.first(Kind::LaunchEnd), nullptr);
  EXPECT_EQ(r.first(Kind::LaunchEnd)->value, 1);
}

}  // namespace
