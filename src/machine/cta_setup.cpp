// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Cluster, CTA and warp construction. Shared memory starts with a fixed pattern rather than zeros: a program
// that relies on zeroed shared memory must not look right here.
#include "machine/cta_setup.hpp"

#include <algorithm>

namespace sluice::machine {
namespace {

constexpr uint8_t kFreshShared = 0xcd;
constexpr uint32_t kStackBytes =
    64 * 1024;  ///< local memory of a thread for calls beyond the kernel's own frame and for alloca

void unflatten(uint64_t linear, const uint32_t (&extent)[3], uint32_t (&index)[3]) {
  index[0] = static_cast<uint32_t>(linear % extent[0]);
  index[1] = static_cast<uint32_t>(linear / extent[0] % extent[1]);
  index[2] = static_cast<uint32_t>(linear / extent[0] / extent[1]);
}

std::unique_ptr<Warp> make_warp(Cta& cta, const Kernel& kernel, uint32_t index, uint32_t threads) {
  auto warp = std::make_unique<Warp>();
  const BoundFunction& entry = *kernel.functions[0];
  warp->cta = &cta;
  warp->index = index;
  warp->threads = threads >= 32 ? kAllLanes : (uint32_t{1} << threads) - 1;
  warp->live = warp->threads;
  reserve_registers(*warp, entry.frame_bytes);
  reinterpret_cast<uint32_t*>(warp->registers.data() + warp->register_shift)[kTruePredicate] = kAllLanes;
  warp->frames.push_back(FrameNode{0, 0, 0, 0, 0, warp->threads});
  warp->splits.push_back(Split{.pc = 0, .lanes = warp->threads});
  warp->local_bytes = entry.local_bytes + (kernel.functions.size() > 1 || entry.allocates ? kStackBytes : 0);
  warp->local.resize(size_t{warp->local_bytes} * kLanes);
  warp->register_budget = kernel.registers;
  return warp;
}

/// What the launch options name of a launch's CTAs.
bool is_named(const LaunchOptions& options, const Cta& cta) {
  return options.ctas.empty() || std::ranges::any_of(options.ctas, [&](const auto& range) {
           return cta.linear >= range.first && cta.linear <= range.second;
         });
}

/// Gives the CTA its memory and threads.
void populate(Cta& cta, const LaunchContext& launch) {
  cta.shared.assign(launch.shared_bytes, kFreshShared);
  const uint32_t warps = (launch.threads + 31) / 32;
  for (uint32_t w = 0; w < warps; ++w)
    cta.warps.push_back(make_warp(cta, *launch.kernel, w, std::min(32u, launch.threads - w * 32)));
  cta.live_warps = warps;
  cta.live_threads = launch.threads;
  cta.warpgroups.resize((warps + 3) / 4);
}

}  // namespace

void reserve_registers(Warp& warp, uint32_t bytes) {
  constexpr uint32_t kAlign = 64;
  if (warp.registers.size() >= size_t{bytes} + kAlign) return;
  std::vector<uint8_t> grown(std::max<size_t>(size_t{bytes} + kAlign, warp.registers.size() * 2));
  const auto misaligned = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(grown.data()) % kAlign);
  const uint32_t shift = misaligned == 0 ? 0 : kAlign - misaligned;
  if (!warp.registers.empty()) {
    const size_t old = warp.registers.size() - warp.register_shift;
    std::copy_n(warp.registers.data() + warp.register_shift, std::min(old, grown.size() - shift),
                grown.data() + shift);
  }
  warp.registers = std::move(grown);
  warp.register_shift = shift;
}

std::unique_ptr<Cluster> make_cluster(Worker& worker, const LaunchContext& launch, uint64_t index) {
  const LaunchRequest& request = *launch.request;
  auto cluster = std::make_unique<Cluster>();
  cluster->worker = &worker;
  cluster->linear = static_cast<uint32_t>(index);
  unflatten(index, launch.clusters, cluster->index);

  for (uint32_t rank = 0; rank < launch.cluster_ctas; ++rank) {
    auto cta = std::make_unique<Cta>();
    cta->cluster = cluster.get();
    cta->rank = rank;
    uint32_t inside[3];
    unflatten(rank, request.cluster, inside);
    for (int i = 0; i < 3; ++i) cta->index[i] = cluster->index[i] * request.cluster[i] + inside[i];
    cta->linear = cta->index[0] + request.grid[0] * (cta->index[1] + request.grid[1] * cta->index[2]);
    cluster->ctas.push_back(std::move(cta));
  }

  // A cluster of which the launch options name one CTA runs as a whole: its CTAs reach into each other. Of
  // the others the CTAs exist, but have no threads.
  const auto size = static_cast<uint64_t>(launch.cluster_ctas);
  const auto named = static_cast<uint64_t>(
      std::ranges::count_if(cluster->ctas, [&](const auto& cta) { return is_named(request.options, *cta); }));
  LaunchStatistics& statistics = worker.statistics();
  if (named == 0) {
    statistics.ctas_skipped += size;
    return cluster;
  }
  for (const auto& cta : cluster->ctas) populate(*cta, launch);
  statistics.ctas_run += size;
  statistics.ctas_added += size - named;
  return cluster;
}

}  // namespace sluice::machine
