// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Splits that wait for the same thing at the same place are one line.
#include "machine/stuck_report.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>

#include "base/words.hpp"
#include "machine/device.hpp"
#include "machine/units/mbarrier.hpp"

namespace sluice::machine {
namespace {

struct MbarrierWait {
  uint32_t offset, parity;
};

/// What the split waits for, if it is an mbarrier: parked at it, or in a loop that looks at it.
std::optional<MbarrierWait> mbarrier_wait(const Split& split) {
  const auto unpack = [](uint64_t offset, uint64_t parity) {
    return MbarrierWait{static_cast<uint32_t>(offset), static_cast<uint32_t>(parity & 1)};
  };
  if (split.wait == Wait::Mbarrier) return unpack(split.key, split.value);
  if (split.wait == Wait::None && split.looked != kNoLook)
    return unpack(split.looked & ~uint64_t{7}, split.looked);
  return std::nullopt;
}

/// What one warp or several do, as the end of a sentence.
std::string what(const Split& split, bool many) {
  const auto wait = [&](std::string_view rest) { return fmt::format("wait{} {}", many ? "" : "s", rest); };
  if (const auto mbarrier = mbarrier_wait(split)) {
    return wait(fmt::format("for phase parity {} of the mbarrier at shared offset 0x{:x}", mbarrier->parity,
                            mbarrier->offset));
  }
  switch (split.wait) {
    case Wait::None:
      return many ? "run in a loop that changes nothing" : "runs in a loop that changes nothing";
    case Wait::Mbarrier:
      break;
    case Wait::NamedBarrier:
      return wait(fmt::format("at named barrier {}", split.key));
    case Wait::ClusterBarrier:
      return wait("at the cluster barrier");
    case Wait::Rendezvous:
      return wait("for other lanes of the warp at an aligned or collective instruction");
    case Wait::WarpSync:
      return wait(fmt::format("at bar.warp.sync for lanes 0x{:08x}", split.value));
    case Wait::BulkGroup:
      return wait("for bulk copies");
    case Wait::CpAsyncGroup:
      return wait("for cp.async copies");
    case Wait::Wgmma:
      return wait("for wgmma operations");
    case Wait::Registers:
      return wait(fmt::format("for {} registers (setmaxnreg)", split.key));
    case Wait::Sleep:
      return many ? "sleep in a loop that changes nothing" : "sleeps in a loop that changes nothing";
    case Wait::Dependency:
      return wait("for the kernel before it");
  }
  return wait("");
}

/// `kernel.cu:77 (pipeline_tma_async.hpp:90, mbarrier.hpp:120)`: the line of the kernel, then what is inlined
/// there.
std::string place_with_frames(const program::Function& function, uint32_t instruction) {
  const uint32_t first = instruction < function.code.size() ? function.code[instruction].loc : ptx::kNone;
  if (first == ptx::kNone) return place_of(function, instruction);
  std::vector<const ptx::Location*> frames;
  for (uint32_t at = first; at != ptx::kNone; at = frames.back()->inlined_at)
    frames.push_back(&function.module->locations[at]);
  const auto path = [&](const ptx::Location& l) {
    return std::string_view(function.module->files[l.file].path);
  };
  std::string text = fmt::format("{}:{}", path(*frames.back()), frames.back()->line);
  frames.pop_back();
  for (size_t i = frames.size(); i-- > 0;) {
    const std::string_view whole = path(*frames[i]);
    text += fmt::format("{}{}:{}", i + 1 == frames.size() ? " (" : ", ", whole.substr(whole.rfind('/') + 1),
                        frames[i]->line);
  }
  return frames.empty() ? text : text + ")";
}

/// What the current phase of an mbarrier still waits for.
std::string what_is_missing(MbarrierPlace place) {
  const MbarrierWord word = MbarrierWord::unpack(mbarrier_load(place));
  std::string text =
      fmt::format("mbarrier at shared offset 0x{:x} of CTA {}: phase {} (parity {}) waits for ", place.offset,
                  place.cta->linear, mbarrier_completed(place), word.phase ? 1 : 0);
  text += fmt::format("{} of {} arrivals", word.pending, word.expected);
  if (word.tx > 0) text += fmt::format(" and {} bytes", word.tx);
  if (word.tx < 0) text += fmt::format("; {} bytes have come that nothing expected", -word.tx);
  return text + "\n";
}

}  // namespace

void place_fault(Fault& fault, const Warp& warp, const Split& split) {
  fault.function = warp.frames[split.frame].function;
  fault.instruction = split.pc;
  std::copy(warp.cta->index, warp.cta->index + 3, fault.cta);
  fault.warp = warp.index;
  fault.lane = static_cast<uint32_t>(std::countr_zero(split.lanes));
}

StuckReport describe_stuck(const LaunchContext& launch, const std::vector<const Cluster*>& clusters) {
  struct Key {
    uint32_t cta;
    std::string place, one, many;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, std::set<uint32_t>> groups;
  std::map<std::pair<uint32_t, uint32_t>, Cta*> mbarriers;  // by CTA and offset
  StuckReport report;
  bool first = true;
  for (const Cluster* cluster : clusters) {
    for (const auto& cta : cluster->ctas) {
      for (const auto& warp : cta->warps) {
        for (const Split& split : warp->splits) {
          const uint32_t function = warp->frames[split.frame].function;
          const std::string place = place_with_frames(*launch.kernel->functions[function]->lowered, split.pc);
          groups[Key{cta->linear, place, what(split, false), what(split, true)}].insert(warp->index);
          if (const auto wait = mbarrier_wait(split)) mbarriers[{cta->linear, wait->offset}] = cta.get();
          if (first) {
            first = false;
            place_fault(report.fault, *warp, split);
          }
        }
      }
    }
  }
  constexpr size_t kMostLines = 24;  // of each kind
  size_t lines = 0;
  for (const auto& [key, warps] : groups) {
    if (lines++ == kMostLines) {
      report.text += fmt::format("... and {} more groups\n", groups.size() - kMostLines);
      break;
    }
    const bool many = warps.size() > 1;
    report.text += fmt::format("{}: CTA {} warp{} {} {}\n", key.place, key.cta, many ? "s" : "",
                               ranges_text(warps), many ? key.many : key.one);
  }
  lines = 0;
  for (const auto& [place, cta] : mbarriers) {
    if (lines++ == kMostLines) {
      report.text += fmt::format("... and {} more mbarriers\n", mbarriers.size() - kMostLines);
      break;
    }
    report.text += what_is_missing({cta, place.second});
  }
  report.fault.kind = FaultKind::Timeout;
  report.fault.message = "every live thread waits, and nothing in flight can wake one";
  return report;
}

}  // namespace sluice::machine
