// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Experiments between two CTAs of a cluster: st.async, red.async and arrivals at the other's barrier. And
// what the other files leave out: copies to shared::cta, waits for a state token, tensor maps that change
// memory.
#pragma once

#include "bulk_copy_cases.hpp"
#include "hardware_case.hpp"
#include "map_cases.hpp"
#include "mbarrier_cases.hpp"
#include "tensor_shot.hpp"

namespace sluice::hardware {

/// CTA 0 issues `operations`, each to its own 16 bytes of CTA 1's stage, `bytes` apiece.
inline void add_async_store(std::vector<Case>& cases, const std::string& name,
                            const std::vector<std::string>& operations, uint32_t bytes) {
  StageKernel kernel;
  kernel.parameters = ", .param .u32 shared_offset";
  kernel.prologue = R"(.reg .b32 %peer, %peer_bar;
mapa.shared::cluster.u32 %peer, %tile, 1;
mapa.shared::cluster.u32 %peer_bar, %bar, 1;
)";
  kernel.fill = "mad.lo.u32 %v, %i, 0x9e3779b1, 0x7fffffff;";
  uint32_t at = 0;
  for (const std::string& operation : operations) {
    kernel.copy +=
        fill_in(operation, {{"at", "[%peer+" + std::to_string(at) + "]"}, {"bar", "[%peer_bar]"}}) + "\n";
    at += 16;
  }
  kernel.expected = operations.size() * bytes;
  Case c;
  c.name = "remote/" + name;
  c.cluster = 2;
  c.ptx = stage_load_ptx(kernel);
  c.arguments.push_back({Argument::Buffer, c.add_buffer(Bytes((kStageHeader + kStageBytes) * 2), true)});
  c.arguments.push_back({Argument::Word32, 64});
  cases.push_back(std::move(c));
}

/// Numbers for operands of the type; the wide ones do not fit 32 bits.
inline std::vector<std::string> remote_values(const std::string& type) {
  if (type == "f32") return {"0f00000001", "0f80000000", "0f7F812345", "0f3F800000"};
  if (type == "f64")
    return {"0d0000000000000001", "0d8000000000000000", "0d7FF0000000012345", "0d3FF0000000000000"};
  if (type == "b64" || type == "u64" || type == "s64")
    return {"0", "1", "0xffffffffffffffff", "0x8000000000000000", "0x123456789abcdef0", "0x80000001"};
  return {"0", "1", "0xffffffff", "0x80000000", "0x7fffffff", "0x12345678", "0x80000001"};
}

inline void add_async_stores(std::vector<Case>& cases) {
  for (const std::string type : {"b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"}) {
    const uint32_t width = type.substr(1) == "64" ? 8 : 4;
    for (const uint32_t count : {1u, 2u, 4u}) {
      if (count * width > 16) continue;
      const std::vector<std::string> values = remote_values(type);
      std::vector<std::string> operations;
      for (size_t first = 0; first < values.size(); ++first) {
        std::vector<std::string> some;
        for (uint32_t i = 0; i < count; ++i) some.push_back(values[(first + i) % values.size()]);
        const std::string vector = count == 1 ? "" : ".v" + std::to_string(count);
        operations.push_back("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes" + vector + "." +
                             type + " $at$, " + (count == 1 ? some[0] : "{" + join(some) + "}") + ", $bar$;");
      }
      add_async_store(cases, "store_" + type + "_" + std::to_string(count), operations, count * width);
    }
  }
  const std::pair<const char*, std::vector<const char*>> reductions[] = {
      {"add", {"u32", "s32", "u64"}}, {"inc", {"u32"}}, {"dec", {"u32"}}, {"min", {"u32", "s32"}},
      {"max", {"u32", "s32"}},        {"and", {"b32"}}, {"or", {"b32"}},  {"xor", {"b32"}}};
  for (const auto& [operation, types] : reductions) {
    for (const std::string type : types) {
      std::vector<std::string> operations;
      for (const std::string& value : remote_values(type)) {
        operations.push_back("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." +
                             std::string(operation) + "." + type + " $at$, " + value + ", $bar$;");
      }
      add_async_store(cases, std::string("reduce_") + operation + "_" + type, operations,
                      type == "u64" ? 8 : 4);
    }
  }
}

/// CTA 1 does the steps to a barrier of CTA 0, which then looks at it: each step in a life of its own, as in
/// mbarrier_cases.hpp.
inline std::string remote_barrier_ptx(uint32_t count, const std::vector<std::string>& steps) {
  std::string inits, operations, looks;
  for (size_t last = 0; last < steps.size(); ++last) {
    const std::string at = std::to_string(last * 8);
    inits += "mbarrier.init.shared::cta.b64 [bars+" + at + "], " + std::to_string(count) + ";\n";
    for (size_t i = 0; i <= last; ++i)
      operations += fill_in(steps[i], {{"bar", "[%peer+" + at + "]"}}) + "\n";
    looks += fill_in(R"(mbarrier.test_wait.parity.shared::cta.b64 %p, [bars+$at$], 0;
selp.u32 %seen, 1, 0, %p;
st.global.u32 [%out+8], %seen;
mbarrier.test_wait.parity.shared::cta.b64 %p, [bars+$at$], 1;
selp.u32 %seen, 1, 0, %p;
st.global.u32 [%out+12], %seen;
mbarrier.inval.shared::cta.b64 [bars+$at$];
membar.cta;
nanosleep.u32 1000;
ld.volatile.shared.b64 %word, [bars+$at$];
st.global.b64 [%out], %word;
add.u64 %out, %out, 16;
)",
                     {{"at", at}});
  }
  return fill_in(R"(.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p;
.reg .b32 %rank, %bars, %peer, %seen;
.reg .b64 %out, %word;
.shared .align 8 .b64 bars[$count$];
ld.param.u64 %out, [out];
cvta.to.global.u64 %out, %out;
mov.u32 %rank, %cluster_ctarank;
mov.u32 %bars, bars;
mapa.shared::cluster.u32 %peer, %bars, 0;
$inits$fence.mbarrier_init.release.cluster;
barrier.cluster.arrive;
barrier.cluster.wait;
setp.eq.u32 %p, %rank, 0;
@%p bra DONE;
$operations$DONE:
barrier.cluster.arrive;
barrier.cluster.wait;
setp.ne.u32 %p, %rank, 0;
@%p bra END;
$looks$END:
barrier.cluster.arrive;
barrier.cluster.wait;
ret;
}
)",
                 {{"count", std::to_string(steps.size())},
                  {"inits", inits},
                  {"operations", operations},
                  {"looks", looks}});
}

inline void add_remote_barriers(std::vector<Case>& cases) {
  const std::string place = "shared::cluster.b64 ";
  const auto arrive = [&](const std::string& form, const std::string& operand) {
    return "mbarrier." + form + ".release.cluster." + place + "_, $bar$" + operand + ";";
  };
  const auto bytes = [&](const std::string& form, int count) {
    return "mbarrier." + form + ".relaxed.cluster." + place + "$bar$, " + std::to_string(count) + ";";
  };
  const auto add = [&](const std::string& name, uint32_t count, const std::vector<std::string>& steps) {
    Case c;
    c.name = "remote/" + name;
    c.cluster = 2;
    c.threads = 1;
    c.ptx = remote_barrier_ptx(count, steps);
    c.arguments.push_back({Argument::Buffer, c.add_buffer(Bytes(steps.size() * 16), true)});
    cases.push_back(std::move(c));
  };
  add("arrive", 4,
      {arrive("arrive", ""), arrive("arrive", ", 2"), arrive("arrive", ", 1"), arrive("arrive", ", 4"),
       arrive("arrive", ", 3")});
  add("drop", 5,
      {arrive("arrive_drop", ""), arrive("arrive_drop", ", 2"), arrive("arrive", ", 2"),
       arrive("arrive_drop", ", 1"), arrive("arrive", "")});
  add("expect", 2,
      {arrive("arrive.expect_tx", ", 48"), bytes("complete_tx", 16), bytes("expect_tx", 64),
       arrive("arrive", ""), bytes("complete_tx", 96), arrive("arrive.expect_tx", ", 8")});
  add("drop_expect", 3,
      {arrive("arrive_drop.expect_tx", ", 32"), bytes("complete_tx", 32), arrive("arrive", ", 2"),
       arrive("arrive_drop.expect_tx", ", 16"), arrive("arrive", ""), bytes("complete_tx", 16)});
}

/// try_wait with the token of an arrive, before and after the phase completed.
inline void add_state_wait(std::vector<Case>& cases) {
  Case c;
  c.name = "remote/try_wait_state";
  c.threads = 1;
  std::string body;
  for (const char* hint : {"", ", 500"}) {
    for (const char* step : {"", "mbarrier.arrive.shared::cta.b64 _, [bar];\n"}) {
      body += std::string(step) + "mbarrier.try_wait.shared::cta.b64 %p, [bar], %state" + hint + R"(;
selp.u32 %seen, 1, 0, %p;
st.global.u32 [%out], %seen;
add.u64 %out, %out, 4;
)";
    }
    body += "mbarrier.arrive.shared::cta.b64 %state, [bar];\n";
  }
  c.ptx = fill_in(R"(.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p;
.reg .b32 %seen;
.reg .b64 %out, %state;
.shared .align 8 .b64 bar;
ld.param.u64 %out, [out];
cvta.to.global.u64 %out, %out;
mbarrier.init.shared::cta.b64 [bar], 2;
mbarrier.arrive.shared::cta.b64 %state, [bar];
$body$
ret;
}
)",
                  {{"body", body}});
  c.arguments.push_back({Argument::Buffer, c.add_buffer(Bytes(16), true)});
  cases.push_back(std::move(c));
}

/// Loads to the window of the own CTA: those of other files with another destination.
inline void add_own_window_loads(std::vector<Case>& cases) {
  std::vector<Case> loads;
  for (const uint32_t bytes : {16u, 2000u}) {
    BulkShot shot;
    shot.name = "bulk_" + std::to_string(bytes);
    shot.bytes = bytes;
    shot.global_offset = 48;
    add_bulk_shot(loads, shot);
  }
  TensorShot tile;
  tile.name = "tile";
  tile.map = dense_map(1, {100, 40}, {32, 18});
  tile.map.swizzle = 2;
  tile.coordinates = {88, 30};
  tile.tensor_bytes = bytes_of(tile.map);
  add_shot(loads, tile);
  TensorShot im2col;
  im2col.name = "im2col";
  im2col.map = dense_map(1, {32, 9, 8, 2}, {});
  im2col.map.im2col = im2col.im2col = true;
  im2col.map.channels = 16;
  im2col.map.pixels = 24;
  im2col.map.lower[0] = im2col.map.lower[1] = -1;
  im2col.map.upper[0] = im2col.map.upper[1] = -1;
  im2col.coordinates = {8, 0, 0, 0};
  im2col.offsets = {1, 2};
  im2col.tensor_bytes = bytes_of(im2col.map);
  add_shot(loads, im2col);
  for (Case& c : loads) {
    c.name = "remote/own_window_" + c.name;
    for (const auto& [from, to] :
         {std::pair<std::string, std::string>{".shared::cluster.global.", ".shared::cta.global."},
          {".version 8.3", ".version 8.6"}}) {
      const size_t at = c.ptx.find(from);
      c.ptx.replace(at, from.size(), to);
    }
    cases.push_back(std::move(c));
  }
}

/// A map that is changed in shared memory, copied to global memory, and written out from there.
inline void add_map_copy(std::vector<Case>& cases) {
  Case c;
  c.name = "remote/tensormap_copy";
  c.threads = 32;
  c.ptx = R"(.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out, .param .align 64 .b8 map[128])
{
.reg .b32 %me;
.reg .b64 %out, %from, %to, %word, %at;
.shared .align 128 .b8 copy[128];
ld.param.u64 %out, [out];
cvta.to.global.u64 %out, %out;
mov.u32 %me, %tid.x;
and.b32 %me, %me, 15;
mul.wide.u32 %at, %me, 8;
mov.b64 %from, map;
add.u64 %from, %from, %at;
ld.param.b64 %word, [%from];
mov.b64 %to, copy;
add.u64 %to, %to, %at;
st.shared.b64 [%to], %word;
bar.warp.sync -1;
tensormap.replace.tile.global_address.shared::cta.b1024.b64 [copy], 0x7f0123456780;
tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [copy], 1, 5;
bar.warp.sync -1;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%out], [copy], 128;
ret;
}
)";
  c.arguments.push_back({Argument::Buffer, c.add_buffer(Bytes(128), true)});
  c.maps.push_back(dense_map(1, {64, 32}, {16, 8}));
  c.maps[0].buffer = c.add_buffer(Bytes(8192));
  c.arguments.push_back({Argument::Map, 0});
  cases.push_back(std::move(c));
}

inline void add_remote_cases(std::vector<Case>& cases) {
  using S = BarrierStep;
  add_barrier_case(cases, "remote/drop_no_complete",
                   {{S::Init, 5},
                    {S::DropNoComplete, 1},
                    {S::PendingCount, 0},
                    {S::DropNoComplete, 2},
                    {S::Arrive, 2},
                    {S::Arrive, 2}});
  add_async_stores(cases);
  add_remote_barriers(cases);
  add_state_wait(cases);
  add_own_window_loads(cases);
  add_map_copy(cases);
}

}  // namespace sluice::hardware
