// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Splits that wait for the same thing at the same place are one line.
#include "machine/stuck_report.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "machine/device.hpp"

namespace sluice::machine {
namespace {

std::string what(const Split& split) {
  switch (split.wait) {
    case Wait::None:
      return "runs in a loop that changes nothing";
    case Wait::Mbarrier:
      return fmt::format("waits for phase parity {} of the mbarrier at shared offset 0x{:x}", split.value & 1,
                         split.key);
    case Wait::NamedBarrier:
      return fmt::format("waits at named barrier {}", split.key);
    case Wait::ClusterBarrier:
      return "waits at the cluster barrier";
    case Wait::Rendezvous:
      return "waits for other lanes of the warp at an aligned or collective instruction";
    case Wait::WarpSync:
      return fmt::format("waits at bar.warp.sync for lanes 0x{:08x}", split.value);
    case Wait::BulkGroup:
      return "waits for bulk copies";
    case Wait::CpAsyncGroup:
      return "waits for cp.async copies";
    case Wait::Wgmma:
      return "waits for wgmma operations";
    case Wait::Registers:
      return fmt::format("waits for {} registers (setmaxnreg)", split.key);
    case Wait::Sleep:
      return "sleeps in a loop that changes nothing";
    case Wait::Dependency:
      return "waits for the kernel before it";
  }
  return "waits";
}

std::string ranges(const std::set<uint32_t>& numbers) {
  std::string text;
  for (auto it = numbers.begin(); it != numbers.end();) {
    const uint32_t first = *it;
    uint32_t last = first;
    while (++it != numbers.end() && *it == last + 1) ++last;
    if (!text.empty()) text += ", ";
    text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  }
  return text;
}

}  // namespace

StuckReport describe_stuck(const LaunchContext& launch, const std::vector<const Cluster*>& clusters) {
  struct Key {
    uint32_t cta, function, pc;
    std::string text;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, std::set<uint32_t>> groups;
  StuckReport report;
  bool first = true;
  for (const Cluster* cluster : clusters) {
    for (const auto& cta : cluster->ctas) {
      for (const auto& warp : cta->warps) {
        for (const Split& split : warp->splits) {
          const uint32_t function = warp->frames[split.frame].function;
          groups[Key{cta->linear, function, split.pc, what(split)}].insert(warp->index);
          if (first) {
            first = false;
            report.fault.function = function;
            report.fault.instruction = split.pc;
            std::copy(cta->index, cta->index + 3, report.fault.cta);
            report.fault.warp = warp->index;
            report.fault.lane = static_cast<uint32_t>(std::countr_zero(split.lanes));
          }
        }
      }
    }
  }
  constexpr size_t kMostLines = 24;
  size_t lines = 0;
  for (const auto& [key, warps] : groups) {
    if (++lines > kMostLines) {
      report.text += fmt::format("... and {} more groups\n", groups.size() - kMostLines);
      break;
    }
    report.text +=
        fmt::format("{}: CTA {} warp{} {} {}\n", launch.device->place(*launch.kernel, key.function, key.pc),
                    key.cta, warps.size() == 1 ? "" : "s", ranges(warps), key.text);
  }
  report.fault.kind = FaultKind::Timeout;
  report.fault.message = "every live thread waits, and nothing in flight can wake one";
  return report;
}

}  // namespace sluice::machine
