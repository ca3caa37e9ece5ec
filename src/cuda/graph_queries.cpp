// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Graph calls shared by both APIs.
#include "cuda/graph_queries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "cuda/function_queries.hpp"
#include "event/places.hpp"

namespace sluice::cuda {
namespace {

struct NodeEdge {
  CUgraphNode from, to;
  CUgraphEdgeData data;
};

// Hands out edges; `pick` says which ends the caller wants.
Status hand_out(const std::vector<NodeEdge>& edges, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (from == nullptr && to == nullptr) {
    *count = edges.size();
    return kOk;
  }
  const size_t written = std::min(*count, edges.size());
  for (size_t i = 0; i < written; ++i) {
    if (from != nullptr) from[i] = edges[i].from;
    if (to != nullptr) to[i] = edges[i].to;
    if (data != nullptr) data[i] = edges[i].data;
  }
  // The rest of the caller's array is cleared.
  for (size_t i = written; i < *count; ++i) {
    if (from != nullptr) from[i] = nullptr;
    if (to != nullptr) to[i] = nullptr;
  }
  *count = written;
  return kOk;
}

const char* kind_name(const Operation& operation) {
  constexpr const char* kNames[] = {"empty",        "kernel",     "memcpy", "memset",    "host",
                                    "event record", "event wait", "graph",  "mem alloc", "mem free"};
  static_assert(std::size(kNames) == std::variant_size_v<Operation>);
  return kNames[operation.index()];
}

}  // namespace

Status graph_nodes(Process& process, CUgraph handle, CUgraphNode* nodes, size_t* count, bool roots_only) {
  const Graph* graph = process.graphs.find(handle);
  if (graph == nullptr || count == nullptr) return cudaErrorInvalidValue;
  std::vector<NodeEdge> picked;
  for (const auto& node : graph->nodes) {
    if (!roots_only || node->dependencies.empty()) picked.push_back({node->handle, nullptr, {}});
  }
  return hand_out(picked, nodes, nullptr, nullptr, count);
}

Status graph_edges(Process& process, CUgraph handle, CUgraphNode* from, CUgraphNode* to,
                   CUgraphEdgeData* data, size_t* count) {
  const Graph* graph = process.graphs.find(handle);
  if (graph == nullptr || (from == nullptr) != (to == nullptr)) return cudaErrorInvalidValue;
  std::vector<NodeEdge> edges;
  for (const auto& node : graph->nodes) {
    for (const Edge& edge : node->dependencies) edges.push_back({edge.from, node->handle, edge.data});
  }
  return hand_out(edges, from, to, data, count);
}

Status node_dependencies(Process& process, CUgraphNode handle, CUgraphNode* out, CUgraphEdgeData* data,
                         size_t* count) {
  const Node* node = process.graphs.find_node(handle);
  if (node == nullptr) return cudaErrorInvalidValue;
  std::vector<NodeEdge> edges;
  for (const Edge& edge : node->dependencies) edges.push_back({edge.from, handle, edge.data});
  return hand_out(edges, out, nullptr, data, count);
}

Status node_dependents(Process& process, CUgraphNode handle, CUgraphNode* out, CUgraphEdgeData* data,
                       size_t* count) {
  const Node* node = process.graphs.find_node(handle);
  if (node == nullptr) return cudaErrorInvalidValue;
  std::vector<NodeEdge> edges;
  for (const auto& other : node->graph->nodes) {
    for (const Edge& edge : other->dependencies) {
      if (edge.from == handle) edges.push_back({handle, other->handle, edge.data});
    }
  }
  return hand_out(edges, nullptr, out, data, count);
}

Status add_node(Process& process, CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies,
                const CUgraphEdgeData* edges, size_t count, Operation operation) {
  Graph* graph = process.graphs.find(handle);
  if (graph == nullptr) return cudaErrorInvalidValue;
  if (const auto* copy = std::get_if<Copy>(&operation)) {
    if (const Status s = process.memory.check(*copy); s != kOk) return s;
  } else if (const auto* fill = std::get_if<Fill>(&operation)) {
    if (const Status s = process.memory.check(*fill); s != kOk) return s;
  }
  return process.graphs.add_node(*graph, dependencies, edges, count, std::move(operation), out);
}

Node* exec_node(Process& process, CUgraphExec exec, CUgraphNode node) {
  const GraphExec* executable = process.graphs.find_exec(exec);
  return executable == nullptr ? nullptr : executable->graph->find_clone(node);
}

Status kernel_operation(Process& process, const void* symbol, const LaunchShape& shape, void** arguments,
                        void** extra, KernelCall* out) {
  if (symbol == nullptr) return cudaErrorInvalidDeviceFunction;
  Function* function = nullptr;
  if (const Status s = process.code.function(symbol, process.current_device(), &function); s != kOk) return s;
  if (const Status s = process.code.prepare(*function); s != kOk) return s;
  KernelCall call;
  call.symbol = symbol;
  if (const Status s = prepare_launch(process, *function, shape, arguments, extra, &call); s != kOk) return s;
  *out = std::move(call);
  return kOk;
}

void** parameter_pointers(Process& process, Node& node) {
  auto* call = std::get_if<KernelCall>(&node.operation);
  const Function* function = call == nullptr ? nullptr : process.code.find(call->function);
  if (function == nullptr || function->kernel == nullptr) return nullptr;
  node.parameter_pointers.clear();
  for (const machine::KernelParameter& parameter : function->kernel->parameters) {
    node.parameter_pointers.push_back(call->parameters.data() + parameter.offset);
  }
  return node.parameter_pointers.data();
}

Status kernel_node_attribute(const KernelCall& call, CUlaunchAttributeID attribute,
                             CUlaunchAttributeValue* out) {
  if (out == nullptr) return cudaErrorInvalidValue;
  *out = {};
  for (const CUlaunchAttribute& given : call.attributes) {
    if (given.id == attribute) *out = given.value;
  }
  if (attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) out->cooperative = call.cooperative;
  if (attribute == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
    out->clusterDim = {call.cluster[0], call.cluster[1], call.cluster[2]};
  }
  return kOk;
}

Status set_kernel_node_attribute(Process& process, KernelCall* call, CUlaunchAttributeID attribute,
                                 const CUlaunchAttributeValue* value) {
  if (value == nullptr) return cudaErrorInvalidValue;
  Function* function = process.code.find(call->function);
  if (function == nullptr) return cudaErrorInvalidResourceHandle;
  std::vector<CUlaunchAttribute> attributes;
  for (const CUlaunchAttribute& given : call->attributes) {
    if (given.id != attribute) attributes.push_back(given);
  }
  CUlaunchAttribute added{};
  added.id = attribute;
  added.value = *value;
  attributes.push_back(added);
  LaunchShape shape;
  std::copy(std::begin(call->grid), std::end(call->grid), shape.grid);
  std::copy(std::begin(call->block), std::end(call->block), shape.block);
  shape.dynamic_shared = call->dynamic_shared;
  shape.cooperative = call->cooperative;
  shape.attributes = attributes.data();
  shape.attribute_count = attributes.size();
  // The parameters stay as they are: they are handed in as one buffer.
  size_t bytes = call->parameters.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, call->parameters.data(), CU_LAUNCH_PARAM_BUFFER_SIZE,
                   &bytes, CU_LAUNCH_PARAM_END};
  KernelCall changed;
  changed.symbol = call->symbol;
  if (const Status s = prepare_launch(process, *function, shape, nullptr, extra, &changed); s != kOk)
    return s;
  *call = std::move(changed);
  return kOk;
}

Status write_dot(Process& process, CUgraph handle, const char* path) {
  const Graph* graph = process.graphs.find(handle);
  if (graph == nullptr || path == nullptr) return cudaErrorInvalidValue;
  std::ofstream out(path);
  if (!out) return cudaErrorOperatingSystem;
  std::map<CUgraphNode, size_t> place;
  for (size_t i = 0; i < graph->nodes.size(); ++i) place[graph->nodes[i]->handle] = i;
  out << "digraph graph_1 {\n";
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    const Node& node = *graph->nodes[i];
    std::string label = kind_name(node.operation);
    if (const auto* call = std::get_if<KernelCall>(&node.operation)) {
      if (const Function* function = process.code.find(call->function))
        label += "\\n" + event::readable(function->name);
    }
    out << fmt::format("  n{} [label=\"{}\"];\n", i, label);
    for (const Edge& edge : node.dependencies) out << fmt::format("  n{} -> n{};\n", place[edge.from], i);
  }
  out << "}\n";
  return kOk;
}

}  // namespace sluice::cuda
