// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Experiments on plain bulk copies: between global memory, the CTA's shared memory and that of the cluster.
#pragma once

#include "hardware_case.hpp"
#include "stage_kernels.hpp"

namespace sluice::hardware {

enum class BulkWay { Load, Multicast, ToPeer, Store };

struct BulkShot {
  std::string name;  ///< with its group
  BulkWay way = BulkWay::Load;
  uint32_t bytes = 256;
  uint32_t shared_offset = 0;
  uint32_t global_offset = 0;
  uint32_t barrier_offset = 0;
};

constexpr uint32_t kBulkGlobalBytes = 4096;
constexpr uint32_t kPeerOffset = 4096;  ///< ToPeer: where the bytes go, behind where they come from

inline StageKernel bulk_kernel(const BulkShot& shot) {
  StageKernel kernel;
  kernel.parameters = ", .param .u64 there, .param .u32 shared_offset, .param .u32 bytes";
  kernel.prologue = R"(.reg .b16 %mask;
.reg .b32 %bytes, %peer, %peer_bar;
.reg .b64 %there;
ld.param.u64 %there, [there];
cvta.to.global.u64 %there, %there;
ld.param.u32 %bytes, [bytes];
mov.b16 %mask, 3;
)";
  const std::string barrier = std::to_string(shot.barrier_offset);
  switch (shot.way) {
    case BulkWay::Load:
      kernel.copy =
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%there], "
          "%bytes, [%bar+" +
          barrier + "];";
      break;
    case BulkWay::Multicast:
      kernel.copy =
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
          "[%tile], [%there], %bytes, [%bar], %mask;";
      break;
    case BulkWay::ToPeer:
      kernel.fill = "mad.lo.u32 %v, %i, 0x9e3779b1, %rank;";
      kernel.prologue += R"(mapa.shared::cluster.u32 %peer, %tile, 1;
add.u32 %peer, %peer, )" +
                         std::to_string(kPeerOffset) + R"(;
mapa.shared::cluster.u32 %peer_bar, %bar, 1;
)";
      kernel.copy =
          "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%peer], [%tile], "
          "%bytes, [%peer_bar];";
      break;
    case BulkWay::Store:
      kernel.copy = "cp.async.bulk.global.shared::cta.bulk_group [%there], [%tile], %bytes;";
      break;
  }
  kernel.expected = shot.bytes;
  return kernel;
}

inline void add_bulk_shot(std::vector<Case>& cases, const BulkShot& shot) {
  Case c;
  c.name = shot.name;
  const uint64_t seed = seed_of(shot.name);
  const bool store = shot.way == BulkWay::Store;
  const bool pair = shot.way == BulkWay::Multicast || shot.way == BulkWay::ToPeer;
  c.cluster = pair ? 2 : 1;
  const StageKernel kernel = bulk_kernel(shot);
  c.ptx = store ? stage_store_ptx(kernel) : stage_load_ptx(kernel);
  Bytes out = store ? random_bytes(seed, kStageBytes) : Bytes((kStageHeader + kStageBytes) * c.cluster);
  c.arguments.push_back({Argument::Buffer, c.add_buffer(std::move(out), !store)});
  const uint32_t there = c.add_buffer(random_bytes(seed + 1, kBulkGlobalBytes), store);
  c.arguments.push_back({Argument::Buffer, there, shot.global_offset});
  c.arguments.push_back({Argument::Word32, shot.shared_offset});
  c.arguments.push_back({Argument::Word32, shot.bytes});
  cases.push_back(std::move(c));
}

inline void add_bulk_copies(std::vector<Case>& cases) {
  const std::pair<const char*, BulkWay> ways[] = {{"load", BulkWay::Load},
                                                  {"multicast", BulkWay::Multicast},
                                                  {"to_peer", BulkWay::ToPeer},
                                                  {"store", BulkWay::Store}};
  for (const auto& [name, way] : ways) {
    for (const uint32_t bytes : {16u, 48u, 2000u, 4096u}) {
      BulkShot shot;
      shot.name = std::string("bulk_copy/") + name + "_" + std::to_string(bytes);
      shot.way = way;
      shot.bytes = bytes;
      if (bytes < 4096) shot.shared_offset = 16, shot.global_offset = 48;
      add_bulk_shot(cases, shot);
    }
  }
}

/// Copies that leave the rules: which of them a GPU stops, with which error, and what the others do.
inline void add_bulk_limits(std::vector<Case>& cases) {
  const auto add = [&cases](const std::string& name, BulkShot shot) {
    shot.name = "bulk_limits/" + name;
    add_bulk_shot(cases, shot);
  };
  const std::pair<const char*, BulkWay> ways[] = {{"load", BulkWay::Load}, {"store", BulkWay::Store}};
  for (const auto& [name, way] : ways) {
    const std::string of = name;
    BulkShot shot;
    shot.way = way;
    shot.bytes = 0;
    add(of + "_no_bytes", shot);
    shot.bytes = 24;
    add(of + "_24_bytes", shot);
    shot.bytes = 256;
    shot.shared_offset = 8;
    add(of + "_shared_at_8", shot);
    shot.shared_offset = 1 << 20;
    add(of + "_shared_outside", shot);
    shot.shared_offset = 0;
    shot.global_offset = 8;
    add(of + "_global_at_8", shot);
    shot.global_offset = 1u << 31;
    add(of + "_global_outside", shot);
  }
  for (const uint32_t kibibytes : {16u, 96u, 226u, 228u, 256u}) {
    BulkShot shot;
    shot.bytes = 256;
    shot.shared_offset = kibibytes << 10;
    add("load_shared_outside_" + std::to_string(kibibytes) + "k", shot);
    shot.way = BulkWay::Store;
    add("store_shared_outside_" + std::to_string(kibibytes) + "k", shot);
  }
  BulkShot across;
  across.bytes = 256;
  across.shared_offset = (226u << 10) + 896;
  add("load_shared_across_227k", across);
  BulkShot odd;
  odd.bytes = 8;
  add("load_8_bytes", odd);
  odd.way = BulkWay::ToPeer;
  odd.bytes = 40;
  add("to_peer_40_bytes", odd);
  odd.way = BulkWay::Multicast;
  add("multicast_40_bytes", odd);
  BulkShot barrier;
  barrier.barrier_offset = 4;
  add("barrier_misaligned", barrier);
}

}  // namespace sluice::hardware
