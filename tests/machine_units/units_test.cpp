// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The asynchronous units through small kernels with expectations worked out by hand.
#include <gtest/gtest.h>

#include <numeric>

#include "machine/units/mbarrier.hpp"
#include "machine_core/harness.hpp"

namespace sluice::machine {
namespace {

using test::buffer;
using test::Launch;
using test::module_of;
using test::run;
using test::upload;

std::vector<uint32_t> counting(size_t count, uint32_t first = 0) {
  std::vector<uint32_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

Launch with(CopyTiming timing, uint32_t threads, uint64_t seed = 1) {
  Launch launch;
  launch.block = threads;
  launch.options.timing = timing;
  launch.options.seed = seed;
  return launch;
}

/// Thread 0 copies 1024 bytes and all read them: `WAIT` decides whether they wait.
std::string load_and_read(bool waits) {
  return module_of(std::string(R"(
.visible .entry k(.param .u64 out, .param .u64 in)
{
.reg .pred %p, %lead;
.reg .b32 %me, %bar, %stage, %v, %at;
.reg .b64 %out, %in, %token;
.shared .align 128 .b8 stage[1024];
.shared .align 8 .b64 bar;
ld.param.u64 %out, [out];
ld.param.u64 %in, [in];
mov.u32 %me, %tid.x;
mov.u32 %bar, bar;
mov.u32 %stage, stage;
shl.b32 %at, %me, 2;
add.u32 %at, %at, %stage;
mov.u32 %v, 0;
st.shared.u32 [%at], %v;
setp.eq.u32 %lead, %me, 0;
@%lead mbarrier.init.shared::cta.b64 [%bar], 1;
fence.proxy.async;
bar.sync 0;
@%lead mbarrier.arrive.expect_tx.shared::cta.b64 %token, [%bar], 1024;
@%lead cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%stage], [%in], 1024, [%bar];
)") +
                   (waits ? "TRY:\nmbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 0;\n@!%p bra TRY;\n"
                          : "bar.sync 0;\n") +
                   R"(
ld.shared.u32 %v, [%at];
mul.wide.u32 %token, %me, 4;
add.u64 %token, %token, %out;
st.global.u32 [%token], %v;
ret;
}
)");
}

TEST(Copies, AreThereAfterTheWaitWheneverTheyLand) {
  const auto expected = counting(256, 5);
  for (const CopyTiming timing : {CopyTiming::Early, CopyTiming::Late, CopyTiming::Shuffled}) {
    auto* in = upload(expected);
    auto* out = buffer<uint32_t>(256);
    const LaunchResult result = run(load_and_read(true), "k", {out, in}, with(timing, 256));
    ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.message;
    EXPECT_EQ(std::vector<uint32_t>(out, out + 256), expected);
    EXPECT_EQ(result.statistics.mbarrier_phases, 1u);
    EXPECT_EQ(result.statistics.copies, 1u);
  }
}

TEST(Copies, AreSeenTooEarlyWithoutAWait) {
  const auto values = counting(256, 5);
  auto* in = upload(values);
  auto* early = buffer<uint32_t>(256);
  auto* late = buffer<uint32_t>(256);
  EXPECT_EQ(run(load_and_read(false), "k", {early, in}, with(CopyTiming::Early, 256)).fault.kind,
            FaultKind::None);
  EXPECT_EQ(run(load_and_read(false), "k", {late, in}, with(CopyTiming::Late, 256)).fault.kind,
            FaultKind::None);
  EXPECT_EQ(std::vector<uint32_t>(early, early + 256), values);
  EXPECT_EQ(std::vector<uint32_t>(late, late + 256), std::vector<uint32_t>(256, 0));
}

TEST(Copies, MoveNothingWithoutDataButKeepTheProtocol) {
  auto* in = upload(counting(256, 5));
  auto* out = buffer<uint32_t>(256);
  Launch launch = with(CopyTiming::Early, 256);
  launch.options.no_data = true;
  const LaunchResult result = run(load_and_read(true), "k", {out, in}, launch);
  ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.message;
  EXPECT_EQ(std::vector<uint32_t>(out, out + 256), std::vector<uint32_t>(256, 0));
  EXPECT_EQ(result.statistics.mbarrier_phases, 1u);
}

TEST(Copies, OutsideGlobalMemoryAreTheGpusError) {
  auto* in = upload(counting(128));  // half of what is read
  auto* out = buffer<uint32_t>(256);
  const LaunchResult result = run(load_and_read(true), "k", {out, in}, with(CopyTiming::Early, 256));
  EXPECT_EQ(result.fault.kind, FaultKind::IllegalAddress);
}

/// A ring of two stages: warp 0 loads twelve tiles of 256 bytes, warp 1 adds them up.
constexpr const char* kRing = R"(
.visible .entry k(.param .u64 out, .param .u64 in)
{
.reg .pred %p, %lead;
.reg .b32 %me, %full, %empty, %stage, %v, %sum, %n, %s, %parity, %f, %e, %at, %lane;
.reg .b64 %out, %in, %token, %wide;
.shared .align 128 .b8 stage[512];
.shared .align 8 .b64 full[2];
.shared .align 8 .b64 empty[2];
ld.param.u64 %out, [out];
ld.param.u64 %in, [in];
mov.u32 %me, %tid.x;
and.b32 %lane, %me, 31;
mov.u32 %full, full;
mov.u32 %empty, empty;
setp.ne.u32 %lead, %me, 0;
@%lead bra READY;
mbarrier.init.shared::cta.b64 [%full], 1;
mbarrier.init.shared::cta.b64 [%full+8], 1;
mbarrier.init.shared::cta.b64 [%empty], 32;
mbarrier.init.shared::cta.b64 [%empty+8], 32;
fence.mbarrier_init.release.cluster;
READY:
bar.sync 0;
mov.u32 %n, 0;
mov.u32 %sum, 0;
setp.ge.u32 %p, %me, 32;
@%p bra CONSUMER;
setp.ne.u32 %p, %me, 0;
@%p bra DONE;
PRODUCE:
and.b32 %s, %n, 1;
shr.u32 %parity, %n, 1;
and.b32 %parity, %parity, 1;
xor.b32 %parity, %parity, 1;
shl.b32 %e, %s, 3;
add.u32 %f, %full, %e;
add.u32 %e, %empty, %e;
WAIT_EMPTY:
mbarrier.try_wait.parity.shared::cta.b64 %p, [%e], %parity;
@!%p bra WAIT_EMPTY;
mbarrier.arrive.expect_tx.shared::cta.b64 %token, [%f], 256;
mov.u32 %stage, stage;
shl.b32 %at, %s, 8;
add.u32 %stage, %stage, %at;
mul.wide.u32 %wide, %n, 256;
add.u64 %wide, %wide, %in;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%stage], [%wide], 256, [%f];
add.u32 %n, %n, 1;
setp.lt.u32 %p, %n, 12;
@%p bra PRODUCE;
bra DONE;
CONSUMER:
and.b32 %s, %n, 1;
shr.u32 %parity, %n, 1;
and.b32 %parity, %parity, 1;
shl.b32 %e, %s, 3;
add.u32 %f, %full, %e;
add.u32 %e, %empty, %e;
WAIT_FULL:
mbarrier.try_wait.parity.shared::cta.b64 %p, [%f], %parity;
@!%p bra WAIT_FULL;
mov.u32 %stage, stage;
shl.b32 %at, %s, 8;
add.u32 %stage, %stage, %at;
shl.b32 %at, %lane, 2;
add.u32 %at, %at, %stage;
ld.shared.u32 %v, [%at];
add.u32 %sum, %sum, %v;
ld.shared.u32 %v, [%at+128];
add.u32 %sum, %sum, %v;
mbarrier.arrive.shared::cta.b64 _, [%e];
add.u32 %n, %n, 1;
setp.lt.u32 %p, %n, 12;
@%p bra CONSUMER;
mul.wide.u32 %wide, %lane, 4;
add.u64 %wide, %wide, %out;
st.global.u32 [%wide], %sum;
DONE:
ret;
}
)";

TEST(Mbarrier, CarriesARing) {
  const auto values = counting(12 * 64);
  std::vector<uint32_t> expected(32, 0);
  for (uint32_t i = 0; i < values.size(); ++i) expected[i % 32] += values[i];
  auto* in = upload(values);
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const CopyTiming timing = seed == 1   ? CopyTiming::Early
                              : seed == 2 ? CopyTiming::Late
                                          : CopyTiming::Shuffled;
    auto* out = buffer<uint32_t>(32);
    const LaunchResult result = run(module_of(kRing), "k", {out, in}, with(timing, 64, seed));
    ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.message << "\n" << result.detail;
    EXPECT_EQ(std::vector<uint32_t>(out, out + 32), expected);
    // Twelve fillings and twelve releases.
    EXPECT_EQ(result.statistics.mbarrier_phases, 24u);
  }
}

/// Words that an H200 left behind (docs/results/h200-behaviour.txt): after init, one phase, and some
/// arrivals.
TEST(Mbarrier, HasTheWordOfAnH200) {
  struct Seen {
    uint64_t word;
    uint32_t expected, pending;
    bool phase;
  };
  for (const Seen& seen : {Seen{0x7ffff800001ffffe, 1, 1, false}, Seen{0xfffff800001ffffc, 2, 1, true},
                           Seen{0x7ffff000001ffffc, 2, 2, false}, Seen{0xfffc1800001fff02, 127, 125, true},
                           Seen{0x8000200000000004, 1048574, 1048572, true}}) {
    const MbarrierWord word = MbarrierWord::unpack(seen.word);
    EXPECT_EQ(word.expected, seen.expected);
    EXPECT_EQ(word.pending, seen.pending);
    EXPECT_EQ(word.phase, seen.phase);
    EXPECT_EQ(word.tx, 0);
    EXPECT_EQ(word.pack(), seen.word);
  }
  MbarrierWord word{.expected = 5, .pending = 2, .tx = 3072, .phase = true};
  EXPECT_EQ(word.pack() >> 33, 0xfffff3feull >> 1);  // the upper half of a state token with bytes due
  word.tx = -16;
  EXPECT_EQ(MbarrierWord::unpack(word.pack()).tx, -16);
}

TEST(Mbarrier, ThatNeverCompletesIsADeadlock) {
  const LaunchResult result = run(module_of(R"(
.visible .entry k()
{
.reg .pred %p;
.shared .align 8 .b64 bar;
mbarrier.init.shared::cta.b64 [bar], 2;
mbarrier.arrive.shared::cta.b64 _, [bar];
TRY:
mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0;
@!%p bra TRY;
ret;
}
)"),
                                  "k", {}, with(CopyTiming::Early, 1));
  EXPECT_EQ(result.fault.kind, FaultKind::Timeout);
}

TEST(Mbarrier, TryWaitGivesUpAfterItsTimeAndTestWaitAtOnce) {
  auto* out = buffer<uint32_t>(4);
  const LaunchResult result = run(module_of(R"(
.visible .entry k(.param .u64 out)
{
.reg .pred %p;
.reg .b32 %v;
.reg .b64 %out, %t0, %t1;
.shared .align 8 .b64 bar;
ld.param.u64 %out, [out];
mbarrier.init.shared::cta.b64 [bar], 1;
mbarrier.test_wait.parity.shared::cta.b64 %p, [bar], 0;
selp.u32 %v, 1, 0, %p;
st.global.u32 [%out], %v;
mbarrier.test_wait.parity.shared::cta.b64 %p, [bar], 1;
selp.u32 %v, 1, 0, %p;
st.global.u32 [%out+4], %v;
mov.u64 %t0, %globaltimer;
mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0, 500000;
mov.u64 %t1, %globaltimer;
selp.u32 %v, 1, 0, %p;
st.global.u32 [%out+8], %v;
sub.u64 %t1, %t1, %t0;
cvt.u32.u64 %v, %t1;
st.global.u32 [%out+12], %v;
ret;
}
)"),
                                  "k", {out}, with(CopyTiming::Early, 1));
  ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.message;
  EXPECT_EQ(out[0], 0u);
  EXPECT_EQ(out[1], 1u);  // the phase before the first counts as completed
  EXPECT_EQ(out[2], 0u);
  EXPECT_GE(out[3], 500'000u);
  EXPECT_LT(out[3], 2'000'000u);
}

TEST(Mbarrier, OffItsAlignmentIsTheGpusError) {
  const LaunchResult result = run(module_of(R"(
.visible .entry k()
{
.reg .b32 %a;
.shared .align 8 .b64 bar[2];
mov.u32 %a, bar;
mbarrier.init.shared::cta.b64 [%a+4], 1;
ret;
}
)"),
                                  "k", {}, with(CopyTiming::Early, 1));
  EXPECT_EQ(result.fault.kind, FaultKind::MisalignedAddress);
}

TEST(Mbarrier, OfAnotherCtaOfTheCluster) {
  // Rank 1 arrives on the barrier of rank 0 and sends it a value with st.async.
  auto* out = buffer<uint32_t>(2);
  Launch launch = with(CopyTiming::Late, 32);
  launch.grid = launch.cluster = 2;
  const LaunchResult result = run(module_of(R"(
.visible .entry k(.param .u64 out)
{
.reg .pred %p, %one;
.reg .b32 %rank, %bar, %slot, %remote, %v, %me;
.reg .b64 %out;
.shared .align 8 .b64 bar;
.shared .align 8 .b64 slot;
ld.param.u64 %out, [out];
mov.u32 %rank, %cluster_ctarank;
mov.u32 %me, %tid.x;
setp.eq.u32 %one, %me, 0;
mov.u32 %bar, bar;
mov.u32 %slot, slot;
@%one mbarrier.init.shared::cta.b64 [%bar], 2;
fence.mbarrier_init.release.cluster;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
@!%one bra DONE;
setp.eq.u32 %p, %rank, 0;
@%p bra ZERO;
mapa.shared::cluster.u32 %remote, %bar, 0;
mapa.shared::cluster.u32 %slot, %slot, 0;
mov.u32 %v, 77;
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%slot], %v, [%remote];
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%remote];
bra DONE;
ZERO:
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 4;
TRY:
mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [%bar], 0;
@!%p bra TRY;
ld.shared.u32 %v, [%slot];
st.global.u32 [%out], %v;
DONE:
barrier.cluster.arrive;
barrier.cluster.wait;
ret;
}
)"),
                                  "k", {out}, launch);
  ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.message << "\n" << result.detail;
  EXPECT_EQ(out[0], 77u);
}

/// cp.async: four groups of one copy each per thread, waited for one after the other.
TEST(CpAsync, GroupsAndZeroFill) {
  const auto values = counting(32 * 4 * 4, 100);
  auto* in = upload(values);
  for (const CopyTiming timing : {CopyTiming::Early, CopyTiming::Late, CopyTiming::Shuffled}) {
    auto* out = buffer<uint32_t>(32 * 4 * 4);
    const LaunchResult result = run(module_of(R"(
.visible .entry k(.param .u64 out, .param .u64 in)
{
.reg .pred %p;
.reg .b32 %me, %stage, %v, %g, %size;
.reg .b64 %out, %in, %wide;
.shared .align 16 .b8 stage[2048];
ld.param.u64 %out, [out];
ld.param.u64 %in, [in];
mov.u32 %me, %tid.x;
mul.wide.u32 %wide, %me, 16;
add.u64 %in, %in, %wide;
add.u64 %out, %out, %wide;
shl.b32 %stage, %me, 4;
mov.u32 %v, stage;
add.u32 %stage, %stage, %v;
cp.async.cg.shared.global [%stage], [%in], 16;
cp.async.commit_group;
mov.u32 %size, 8;
cp.async.ca.shared.global [%stage+512], [%in+512], 16, %size;
cp.async.commit_group;
setp.lt.u32 %p, %me, 16;
cp.async.ca.shared.global [%stage+1024], [%in+1024], 16, %p;
cp.async.commit_group;
cp.async.ca.shared.global [%stage+1536], [%in+1536], 4;
cp.async.ca.shared.global [%stage+1544], [%in+1544], 8, 4;
cp.async.wait_group 2;
ld.shared.u32 %v, [%stage+12];
st.global.u32 [%out], %v;
cp.async.wait_group 1;
ld.shared.u32 %v, [%stage+516];
st.global.u32 [%out+4], %v;
ld.shared.u32 %v, [%stage+520];
st.global.u32 [%out+8], %v;
cp.async.wait_group 0;
ld.shared.u32 %v, [%stage+1024];
st.global.u32 [%out+512], %v;
cp.async.wait_all;
ld.shared.u32 %v, [%stage+1536];
st.global.u32 [%out+1024], %v;
ld.shared.u32 %v, [%stage+1544];
st.global.u32 [%out+1028], %v;
ld.shared.u32 %v, [%stage+1548];
st.global.u32 [%out+1032], %v;
ret;
}
)"),
                                    "k", {out, in}, with(timing, 32));
    ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.message;
    for (uint32_t t = 0; t < 32; ++t) {
      EXPECT_EQ(out[t * 4], values[t * 4 + 3]);
      EXPECT_EQ(out[t * 4 + 1], values[128 + t * 4 + 1]);
      EXPECT_EQ(out[t * 4 + 2], 0u);
      EXPECT_EQ(out[128 + t * 4], t < 16 ? 0 : values[256 + t * 4]);
      EXPECT_EQ(out[256 + t * 4], values[384 + t * 4]);
      EXPECT_EQ(out[256 + t * 4 + 1], values[384 + t * 4 + 2]);
      EXPECT_EQ(out[256 + t * 4 + 2], 0u);
    }
  }
}

TEST(CpAsync, ArrivesOnABarrierWhenItsCopiesHaveLanded) {
  const auto values = counting(64 * 4);
  auto* in = upload(values);
  for (const bool counted : {true, false}) {
    for (const CopyTiming timing : {CopyTiming::Early, CopyTiming::Late, CopyTiming::Shuffled}) {
      auto* out = buffer<uint32_t>(64);
      // With .noinc the barrier counts the arrivals; without, a plain arrival of each thread completes the
      // phase.
      std::string body = R"(
.visible .entry k(.param .u64 out, .param .u64 in)
{
.reg .pred %p;
.reg .b32 %me, %stage, %v, %other;
.reg .b64 %out, %in, %wide;
.shared .align 16 .b8 stage[1024];
.shared .align 8 .b64 bar;
ld.param.u64 %out, [out];
ld.param.u64 %in, [in];
mov.u32 %me, %tid.x;
setp.eq.u32 %p, %me, 0;
@%p mbarrier.init.shared::cta.b64 [bar], 64;
bar.sync 0;
mul.wide.u32 %wide, %me, 16;
add.u64 %in, %in, %wide;
shl.b32 %other, %me, 4;
mov.u32 %stage, stage;
add.u32 %v, %stage, %other;
cp.async.cg.shared.global [%v], [%in], 16;
ARRIVE
TRY:
mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0;
@!%p bra TRY;
xor.b32 %other, %other, 1008;
add.u32 %v, %stage, %other;
ld.shared.u32 %v, [%v];
mul.wide.u32 %wide, %me, 4;
add.u64 %out, %out, %wide;
st.global.u32 [%out], %v;
ret;
}
)";
      const std::string arrive =
          counted
              ? "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];"
              : "cp.async.mbarrier.arrive.shared::cta.b64 [bar];\nmbarrier.arrive.shared::cta.b64 _, [bar];";
      body.replace(body.find("ARRIVE"), 6, arrive);
      const LaunchResult result = run(module_of(body), "k", {out, in}, with(timing, 64));
      ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.message << "\n" << result.detail;
      for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], values[(63 - t) * 4]) << t;
      EXPECT_EQ(result.statistics.mbarrier_phases, 1u);
    }
  }
}

/// The beginning of a kernel whose threads copy 16 bytes each: from %in to %v, which lies %other behind
/// %stage.
std::string piece_per_thread(const std::string& shared) {
  return R"(
.visible .entry k(.param .u64 out, .param .u64 in)
{
.reg .pred %p;
.reg .b32 %x, %v, %other, %stage, %me;
.reg .b64 %wide, %in, %out;
.shared .align 16 .b8 )" +
         shared + R"(;
mov.u32 %me, %tid.x;
mov.u32 %stage, stage;
shl.b32 %other, %me, 4;
add.u32 %v, %stage, %other;
mul.wide.u32 %wide, %me, 16;
ld.param.u64 %in, [in];
add.u64 %in, %in, %wide;
ld.param.u64 %out, [out];
)";
}

TEST(CpAsync, ArrivalsWaitForEarlierCopiesOnly) {
  // No group is ever committed: each arrival must tell the copies before it from those that come later.
  constexpr uint32_t kStages = 4, kThreads = 64;
  const auto values = counting(kStages * kThreads * 4);
  auto* in = upload(values);
  std::string issue, consume;
  for (uint32_t s = 0; s < kStages; ++s) {
    const std::string stage = std::to_string(s * kThreads * 16), bar = std::to_string(s * 8);
    issue += "cp.async.cg.shared.global [%v+" + stage + "], [%in+" + stage + "], 16;\n";
    issue += "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar+" + bar + "];\n";
    consume += "TRY" + bar + ":\nmbarrier.try_wait.parity.shared::cta.b64 %p, [bar+" + bar + "], 0;\n";
    consume += "@!%p bra TRY" + bar + ";\nld.shared.u32 %x, [%other+" + stage + "];\n";
    consume += "st.global.u32 [%out+" + std::to_string(s * kThreads * 4) + "], %x;\n";
  }
  const std::string body = piece_per_thread("stage[4096];\n.shared .align 8 .b64 bar[4]") + R"(
setp.eq.u32 %p, %me, 0;
@%p mbarrier.init.shared::cta.b64 [bar], 64;
@%p mbarrier.init.shared::cta.b64 [bar+8], 64;
@%p mbarrier.init.shared::cta.b64 [bar+16], 64;
@%p mbarrier.init.shared::cta.b64 [bar+24], 64;
bar.sync 0;
xor.b32 %other, %other, 1008;
add.u32 %other, %stage, %other;
mul.wide.u32 %wide, %me, 4;
add.u64 %out, %out, %wide;
)" + issue + consume + "ret;\n}\n";
  for (const CopyTiming timing : {CopyTiming::Early, CopyTiming::Late, CopyTiming::Shuffled}) {
    for (uint64_t seed = 1; seed <= (timing == CopyTiming::Shuffled ? 8u : 1u); ++seed) {
      auto* out = buffer<uint32_t>(kStages * kThreads);
      Launch launch = with(timing, kThreads, seed);
      launch.options.timeout_seconds = 20;
      const LaunchResult result = run(module_of(body), "k", {out, in}, launch);
      ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.message << "\n" << result.detail;
      for (uint32_t i = 0; i < kStages * kThreads; ++i)
        EXPECT_EQ(out[i], values[(i / kThreads * kThreads + (kThreads - 1 - i % kThreads)) * 4]) << i;
      EXPECT_EQ(result.statistics.mbarrier_phases, kStages);
    }
  }
}

TEST(CpAsync, ThatLandLateCostTimeInProportion) {
  // Every thread has all of its copies in flight at once. A search through all of them at each landing would
  // make this take minutes.
  constexpr uint32_t kThreads = 1024, kCopies = 32;
  auto* in = upload(counting(kThreads * 4));
  auto* out = buffer<uint32_t>(kThreads);
  std::string body = piece_per_thread("stage[16384]");
  for (uint32_t i = 0; i < kCopies; ++i)
    body += "cp.async.cg.shared.global [%v], [%in], 16;\ncp.async.commit_group;\n";
  for (uint32_t i = kCopies; i-- > 0;) body += "cp.async.wait_group " + std::to_string(i) + ";\n";
  body += R"(
ld.shared.u32 %x, [%v];
mul.wide.u32 %wide, %me, 4;
add.u64 %out, %out, %wide;
st.global.u32 [%out], %x;
ret;
}
)";
  for (const CopyTiming timing : {CopyTiming::Late, CopyTiming::Shuffled}) {
    Launch launch = with(timing, kThreads);
    launch.options.timeout_seconds = 20;
    const LaunchResult result = run(module_of(body), "k", {out, in}, launch);
    ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.message << "\n" << result.detail;
    for (uint32_t t = 0; t < kThreads; ++t) ASSERT_EQ(out[t], t * 4) << t;
  }
}

TEST(BulkGroups, HoldUntilTheStoresHaveLanded) {
  // Two groups of stores; after waiting for all but one the stage of the first may be overwritten.
  for (const CopyTiming timing : {CopyTiming::Early, CopyTiming::Late, CopyTiming::Shuffled}) {
    auto* out = buffer<uint32_t>(128);
    const LaunchResult result = run(module_of(R"(
.visible .entry k(.param .u64 out)
{
.reg .pred %p;
.reg .b32 %me, %stage, %v, %at;
.reg .b64 %out;
.shared .align 128 .b8 stage[512];
ld.param.u64 %out, [out];
mov.u32 %me, %tid.x;
mov.u32 %stage, stage;
shl.b32 %at, %me, 2;
add.u32 %at, %at, %stage;
st.shared.u32 [%at], %me;
add.u32 %v, %me, 1000;
st.shared.u32 [%at+256], %v;
fence.proxy.async;
bar.sync 0;
setp.ne.u32 %p, %me, 0;
@%p bra DONE;
cp.async.bulk.global.shared::cta.bulk_group [%out], [%stage], 256;
cp.async.bulk.commit_group;
add.u32 %v, %stage, 256;
cp.async.bulk.global.shared::cta.bulk_group [%out+256], [%v], 256;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 1;
mov.u32 %v, 0xffffffff;
st.shared.u32 [%stage+16], %v;
cp.async.bulk.wait_group 0;
DONE:
ret;
}
)"),
                                    "k", {out}, with(timing, 64));
    ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.message;
    for (uint32_t t = 0; t < 64; ++t) {
      EXPECT_EQ(out[t], t);
      EXPECT_EQ(out[64 + t], 1000 + t);
    }
  }
}

TEST(RedAsync, AddsInAnotherCta) {
  auto* out = buffer<uint32_t>(4);
  Launch launch = with(CopyTiming::Shuffled, 32);
  launch.grid = launch.cluster = 4;
  const LaunchResult result = run(module_of(R"(
.visible .entry k(.param .u64 out)
{
.reg .pred %p, %one;
.reg .b32 %rank, %bar, %slot, %v, %me;
.reg .b64 %out;
.shared .align 8 .b64 bar;
.shared .align 8 .b32 slot;
ld.param.u64 %out, [out];
mov.u32 %rank, %cluster_ctarank;
mov.u32 %me, %tid.x;
setp.eq.u32 %one, %me, 0;
mov.u32 %bar, bar;
mov.u32 %slot, slot;
mov.u32 %v, 5;
@%one st.shared.u32 [%slot], %v;
@%one mbarrier.init.shared::cta.b64 [%bar], 1;
@%one mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 512;
fence.mbarrier_init.release.cluster;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
mapa.shared::cluster.u32 %bar, %bar, 0;
mapa.shared::cluster.u32 %slot, %slot, 0;
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%slot], %me, [%bar];
setp.eq.u32 %p, %rank, 0;
and.pred %p, %p, %one;
@!%p bra DONE;
TRY:
mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0;
@!%p bra TRY;
ld.shared.u32 %v, [slot];
st.global.u32 [%out], %v;
DONE:
barrier.cluster.arrive;
barrier.cluster.wait;
ret;
}
)"),
                                  "k", {out}, launch);
  ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.message << "\n" << result.detail;
  EXPECT_EQ(out[0], 5u + 4 * (31 * 32 / 2));
}

}  // namespace
}  // namespace sluice::machine
