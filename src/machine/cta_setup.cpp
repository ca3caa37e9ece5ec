// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Cluster, CTA and warp construction. Shared memory starts with a fixed pattern rather than zeros: a program
// that relies on zeroed shared memory must not look right here.
#include "machine/cta_setup.hpp"

#include <algorithm>
#include <memory>
#include <utility>

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

/// The memory of a vector, without its values.
template <class T>
std::vector<T> emptied(std::vector<T>& old) {
  old.clear();
  return std::move(old);
}

/// A fresh object in the place of an old one.
template <class T>
void renew(T& object) {
  std::destroy_at(&object);
  std::construct_at(&object);
}

/// Leaves nothing of the old warp but its memory.
void make_warp(std::unique_ptr<Warp>& place, Cta& cta, const Kernel& kernel, uint32_t index,
               uint32_t threads) {
  if (place == nullptr) place = std::make_unique<Warp>();
  Warp* const warp = place.get();
  std::vector<uint8_t> registers = std::move(warp->registers), local = emptied(warp->local);
  std::vector<FrameNode> frames = emptied(warp->frames);
  std::vector<Split> splits = emptied(warp->splits);
  const uint32_t shift = warp->register_shift;
  renew(*warp);
  warp->registers = std::move(registers);
  warp->register_shift = shift;
  std::ranges::fill(warp->registers, uint8_t{0});
  warp->frames = std::move(frames);
  warp->splits = std::move(splits);
  warp->local = std::move(local);
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
}

/// Leaves nothing of the old CTA but its memory and that of its warps, which come to life when it is
/// populated.
void renew_cta(std::unique_ptr<Cta>& place) {
  if (place == nullptr) place = std::make_unique<Cta>();
  std::vector<uint8_t> shared = emptied(place->shared);
  std::vector<std::unique_ptr<Warp>> warps = std::move(place->warps);
  renew(*place);
  place->shared = std::move(shared);
  place->warps = std::move(warps);
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
  cta.warps.resize(warps);
  for (uint32_t w = 0; w < warps; ++w)
    make_warp(cta.warps[w], cta, *launch.kernel, w, std::min(32u, launch.threads - w * 32));
  cta.live_warps = warps;
  cta.live_threads = launch.threads;
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

std::unique_ptr<Cluster> make_cluster(Worker& worker, const LaunchContext& launch, uint64_t index,
                                      std::unique_ptr<Cluster> spare) {
  const LaunchRequest& request = *launch.request;
  std::unique_ptr<Cluster> cluster = spare != nullptr ? std::move(spare) : std::make_unique<Cluster>();
  std::vector<std::unique_ptr<Cta>> ctas = std::move(cluster->ctas);
  ctas.resize(launch.cluster_ctas);
  renew(*cluster);
  cluster->worker = &worker;
  cluster->linear = static_cast<uint32_t>(index);
  unflatten(index, launch.clusters, cluster->index);

  for (uint32_t rank = 0; rank < launch.cluster_ctas; ++rank) {
    std::unique_ptr<Cta>& cta = ctas[rank];
    renew_cta(cta);
    cta->cluster = cluster.get();
    cta->rank = rank;
    uint32_t inside[3];
    unflatten(rank, request.cluster, inside);
    for (int i = 0; i < 3; ++i) cta->index[i] = cluster->index[i] * request.cluster[i] + inside[i];
    cta->linear = cta->index[0] + request.grid[0] * (cta->index[1] + request.grid[1] * cta->index[2]);
  }
  cluster->ctas = std::move(ctas);

  // A cluster of which the launch options name one CTA runs as a whole: its CTAs reach into each other. Of
  // the others the CTAs exist, but have no threads.
  const auto size = static_cast<uint64_t>(launch.cluster_ctas);
  const auto named = static_cast<uint64_t>(
      std::ranges::count_if(cluster->ctas, [&](const auto& cta) { return is_named(request.options, *cta); }));
  LaunchStatistics& statistics = worker.statistics();
  if (named == 0) {
    for (const auto& cta : cluster->ctas) cta->warps.clear();
    statistics.ctas_skipped += size;
    return cluster;
  }
  for (const auto& cta : cluster->ctas) populate(*cta, launch);
  statistics.ctas_run += size;
  statistics.ctas_added += size - named;
  return cluster;
}

}  // namespace sluice::machine
