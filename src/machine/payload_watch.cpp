// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What each access means for the marks.
#include "machine/payload_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "machine/device.hpp"
#include "machine/state.hpp"

namespace sluice::machine {

using program::PayloadFlow;

PayloadWatch::PayloadWatch(const Kernel& kernel, PayloadMarks& marks) : kernel_(kernel), marks_(marks) {
  for (const auto& function : kernel.functions) {
    std::vector<bool>& brought = brought_.emplace_back();
    for (const PayloadFlow::Source& source : function->payload->sources) brought.push_back(source.always);
  }
}

bool PayloadWatch::access(Warp& warp, uint32_t lanes, uint8_t* const (&pointers)[kLanes], uint32_t bytes) {
  const uint32_t function = warp.frames[warp.frame_node].function;
  const PayloadFlow::Step& step = kernel_.functions[function]->payload->steps[warp.pc];
  const auto each = [&](auto visit) {
    for (uint32_t m = lanes; m != 0; m &= m - 1) visit(pointers[std::countr_zero(m)]);
  };
  bool payload = false;
  if (step.source != PayloadFlow::kNone || step.keeps_payload)
    each([&](const uint8_t* at) { payload = payload || marks_.any(at, bytes); });
  if (payload && step.source != PayloadFlow::kNone && !read(warp, function, step.source)) return false;
  if (!step.stores) return true;
  const bool fed = std::any_of(step.fed_by.begin(), step.fed_by.end(),
                               [&](uint32_t source) { return brought_[function][source]; });
  if (fed)
    each([&](const uint8_t* at) { marks_.mark(at, bytes); });
  else if (!step.keeps_payload)
    each([&](const uint8_t* at) { marks_.clear(at, bytes); });
  return true;
}

/// A source has met payload; false if that ends the launch.
bool PayloadWatch::read(Warp& warp, uint32_t function, uint32_t index) {
  brought_[function][index] = true;
  const program::Function& lowered = *kernel_.functions[function]->lowered;
  const PayloadFlow::Source& source = kernel_.functions[function]->payload->sources[index];
  if (source.steers == PayloadFlow::kNone) return true;
  Fault fault = warp.fault_here(FaultKind::NeedsData, steering_sentence(lowered, source), 0, 0);
  fault.lane = static_cast<uint32_t>(std::countr_zero(warp.active));
  fault.instruction = source.steers;
  fault.origin = kernel_.functions[function]->first_origin + source.steers;
  warp.worker().fail(std::move(fault));
  return false;
}

std::string steering_sentence(const program::Function& function, const PayloadFlow::Source& source) {
  const auto name = [&](uint32_t instruction) { return ptx::spelling(function.code[instruction].op); };
  return fmt::format(
      "`{}` depends on payload, which a run without data does not compute: `{}` at {} yields it",
      name(source.steers), name(source.instruction), place_of(function, source.instruction));
}

}  // namespace sluice::machine
