// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Units of device work. A stream executes them as they are submitted, a capture records them as nodes of a
// graph, and a graph launch executes them again.
//
// MODEL: work runs to its end inside the call that submits it. Submission order satisfies every dependency
// that streams and events express, so this is one of the schedules of a GPU. What needs host code to go on
// meanwhile, such as a kernel that waits for a host write, cannot be decided this way.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "cuda/memory.hpp"

namespace sluice::cuda {

struct Function;
struct Graph;

/// A kernel with everything it is launched with.
struct KernelCall {
  CUfunction function = nullptr;  ///< handle, looked up again at every execution
  const void* symbol = nullptr;   ///< what the program named it by: a host function or a handle
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t cluster[3] = {0, 0, 0};  ///< 0: none asked for by the launch
  uint32_t dynamic_shared = 0;
  bool cooperative = false;
  int priority = 0;
  std::vector<CUlaunchAttribute> attributes;  ///< as given, for queries
  std::vector<uint8_t> parameters;            ///< laid out as the kernel says

  /// Whether a GPU may begin it before the kernel before it in its stream has ended.
  bool may_overlap() const {
    return std::ranges::any_of(attributes, [](const CUlaunchAttribute& a) {
      return a.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
             a.value.programmaticStreamSerializationAllowed != 0;
    });
  }
};

struct HostCall {
  void (*function)(void*) = nullptr;
  void* data = nullptr;
};

struct EventRecord {
  CUevent event = nullptr;
};
struct EventWait {
  CUevent event = nullptr;
};

/// Memory that a graph allocates when it runs.
struct GraphAllocation {
  uint64_t bytes = 0;
  int device = 0;
  void* address = nullptr;  ///< chosen when the node is made, as the node's parameters say it then
};
struct GraphFree {
  void* address = nullptr;
};

struct ChildGraph {
  std::shared_ptr<Graph> graph;
};

struct NoWork {};

using Operation = std::variant<NoWork, KernelCall, Copy, Fill, HostCall, EventRecord, EventWait, ChildGraph,
                               GraphAllocation, GraphFree>;

/// The node type that an operation becomes in a graph.
CUgraphNodeType node_type(const Operation& operation);

}  // namespace sluice::cuda
