// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Graphs of the runtime API: creation, structure, instantiation and launch. Node parameters are in
// graph_node_calls.cpp.
#include "cuda/calls.hpp"
#include "cuda/graph_queries.hpp"

using namespace sluice::cuda;

namespace {

const CUgraphEdgeData* driver_edges(const cudaGraphEdgeData* edges) {
  static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData));
  return reinterpret_cast<const CUgraphEdgeData*>(edges);
}
CUgraphEdgeData* driver_edges(cudaGraphEdgeData* edges) {
  return reinterpret_cast<CUgraphEdgeData*>(edges);
}

}  // namespace

SLUICE_RUNTIME(cudaGraphCreate, cudaGraph_t* out, unsigned flags) {
  return runtime_call("cudaGraphCreate", [&](Process& p) -> Status {
    if (out == nullptr || flags != 0) return cudaErrorInvalidValue;
    *out = p.graphs.create();
    return kOk;
  });
}
SLUICE_RUNTIME(cudaGraphDestroy, cudaGraph_t graph) {
  return runtime_call("cudaGraphDestroy", [&](Process& p) { return p.graphs.destroy(graph); });
}
SLUICE_RUNTIME(cudaGraphClone, cudaGraph_t* out, cudaGraph_t graph) {
  return runtime_call("cudaGraphClone", [&](Process& p) -> Status {
    const Graph* source = p.graphs.find(graph);
    if (out == nullptr || source == nullptr) return cudaErrorInvalidValue;
    *out = p.graphs.clone(*source);
    return kOk;
  });
}
SLUICE_RUNTIME(cudaGraphNodeFindInClone, cudaGraphNode_t* out, cudaGraphNode_t original, cudaGraph_t clone) {
  return runtime_call("cudaGraphNodeFindInClone", [&](Process& p) -> Status {
    const Graph* graph = p.graphs.find(clone);
    const Node* node = graph == nullptr ? nullptr : graph->find_clone(original);
    if (out == nullptr || node == nullptr) return cudaErrorInvalidValue;
    *out = node->handle;
    return kOk;
  });
}
SLUICE_RUNTIME(cudaGraphNodeGetType, cudaGraphNode_t node, cudaGraphNodeType* type) {
  return runtime_call("cudaGraphNodeGetType", [&](Process& p) -> Status {
    const Node* known = p.graphs.find_node(node);
    if (type == nullptr || known == nullptr) return cudaErrorInvalidValue;
    *type = static_cast<cudaGraphNodeType>(node_type(known->operation));
    return kOk;
  });
}
SLUICE_RUNTIME(cudaGraphGetNodes, cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return runtime_call("cudaGraphGetNodes",
                      [&](Process& p) { return graph_nodes(p, graph, nodes, count, false); });
}
SLUICE_RUNTIME(cudaGraphGetRootNodes, cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return runtime_call("cudaGraphGetRootNodes",
                      [&](Process& p) { return graph_nodes(p, graph, nodes, count, true); });
}
SLUICE_RUNTIME(cudaGraphGetEdges, cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
               cudaGraphEdgeData* edges, size_t* count) {
  return runtime_call("cudaGraphGetEdges", [&](Process& p) {
    return graph_edges(p, graph, from, to, driver_edges(edges), count);
  });
}
SLUICE_RUNTIME(cudaGraphNodeGetDependencies, cudaGraphNode_t node, cudaGraphNode_t* out,
               cudaGraphEdgeData* edges, size_t* count) {
  return runtime_call("cudaGraphNodeGetDependencies", [&](Process& p) {
    return node_dependencies(p, node, out, driver_edges(edges), count);
  });
}
SLUICE_RUNTIME(cudaGraphNodeGetDependentNodes, cudaGraphNode_t node, cudaGraphNode_t* out,
               cudaGraphEdgeData* edges, size_t* count) {
  return runtime_call("cudaGraphNodeGetDependentNodes",
                      [&](Process& p) { return node_dependents(p, node, out, driver_edges(edges), count); });
}
SLUICE_RUNTIME(cudaGraphAddDependencies, cudaGraph_t graph, const cudaGraphNode_t* from,
               const cudaGraphNode_t* to, const cudaGraphEdgeData* edges, size_t count) {
  return runtime_call("cudaGraphAddDependencies", [&](Process& p) -> Status {
    Graph* known = p.graphs.find(graph);
    return known == nullptr ? Status{cudaErrorInvalidValue}
                            : p.graphs.add_edges(*known, from, to, driver_edges(edges), count);
  });
}
SLUICE_RUNTIME(cudaGraphRemoveDependencies, cudaGraph_t graph, const cudaGraphNode_t* from,
               const cudaGraphNode_t* to, const cudaGraphEdgeData*, size_t count) {
  return runtime_call("cudaGraphRemoveDependencies", [&](Process& p) -> Status {
    Graph* known = p.graphs.find(graph);
    return known == nullptr ? Status{cudaErrorInvalidValue} : p.graphs.remove_edges(*known, from, to, count);
  });
}
SLUICE_RUNTIME(cudaGraphDestroyNode, cudaGraphNode_t node) {
  return runtime_call("cudaGraphDestroyNode", [&](Process& p) { return p.graphs.remove_node(node); });
}

// The forms of CUDA 12: without edge data, or with it under the name `_v2`.

SLUICE_RUNTIME_12(cudaGraphGetEdges, cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                  size_t* count) {
  return sluice_rt_cudaGraphGetEdges(graph, from, to, nullptr, count);
}
SLUICE_RUNTIME_12(cudaGraphGetEdges_v2, cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                  cudaGraphEdgeData* edges, size_t* count) {
  return sluice_rt_cudaGraphGetEdges(graph, from, to, edges, count);
}
SLUICE_RUNTIME_12(cudaGraphNodeGetDependencies, cudaGraphNode_t node, cudaGraphNode_t* out, size_t* count) {
  return sluice_rt_cudaGraphNodeGetDependencies(node, out, nullptr, count);
}
SLUICE_RUNTIME_12(cudaGraphNodeGetDependencies_v2, cudaGraphNode_t node, cudaGraphNode_t* out,
                  cudaGraphEdgeData* edges, size_t* count) {
  return sluice_rt_cudaGraphNodeGetDependencies(node, out, edges, count);
}
SLUICE_RUNTIME_12(cudaGraphNodeGetDependentNodes, cudaGraphNode_t node, cudaGraphNode_t* out, size_t* count) {
  return sluice_rt_cudaGraphNodeGetDependentNodes(node, out, nullptr, count);
}
SLUICE_RUNTIME_12(cudaGraphNodeGetDependentNodes_v2, cudaGraphNode_t node, cudaGraphNode_t* out,
                  cudaGraphEdgeData* edges, size_t* count) {
  return sluice_rt_cudaGraphNodeGetDependentNodes(node, out, edges, count);
}
SLUICE_RUNTIME_12(cudaGraphAddDependencies, cudaGraph_t graph, const cudaGraphNode_t* from,
                  const cudaGraphNode_t* to, size_t count) {
  return sluice_rt_cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
SLUICE_RUNTIME_12(cudaGraphAddDependencies_v2, cudaGraph_t graph, const cudaGraphNode_t* from,
                  const cudaGraphNode_t* to, const cudaGraphEdgeData* edges, size_t count) {
  return sluice_rt_cudaGraphAddDependencies(graph, from, to, edges, count);
}
SLUICE_RUNTIME_12(cudaGraphRemoveDependencies, cudaGraph_t graph, const cudaGraphNode_t* from,
                  const cudaGraphNode_t* to, size_t count) {
  return sluice_rt_cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}
SLUICE_RUNTIME_12(cudaGraphRemoveDependencies_v2, cudaGraph_t graph, const cudaGraphNode_t* from,
                  const cudaGraphNode_t* to, const cudaGraphEdgeData* edges, size_t count) {
  return sluice_rt_cudaGraphRemoveDependencies(graph, from, to, edges, count);
}

// --- executable graphs
// ----------------------------------------------------------------------------------------------

namespace {

cudaError_t instantiate(const char* name, cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags) {
  return runtime_call(name, [&](Process& p) -> Status {
    return out == nullptr ? Status{cudaErrorInvalidValue} : p.graphs.instantiate(graph, flags, out);
  });
}

}  // namespace

SLUICE_RUNTIME(cudaGraphInstantiate, cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags) {
  return instantiate("cudaGraphInstantiate", out, graph, flags);
}
SLUICE_RUNTIME(cudaGraphInstantiateWithFlags, cudaGraphExec_t* out, cudaGraph_t graph,
               unsigned long long flags) {
  return instantiate("cudaGraphInstantiateWithFlags", out, graph, flags);
}
SLUICE_RUNTIME(cudaGraphInstantiateWithParams, cudaGraphExec_t* out, cudaGraph_t graph,
               cudaGraphInstantiateParams* parameters) {
  if (parameters == nullptr) return instantiate("cudaGraphInstantiateWithParams", nullptr, graph, 0);
  const cudaError_t status = instantiate("cudaGraphInstantiateWithParams", out, graph, parameters->flags);
  parameters->errNode_out = nullptr;
  parameters->result_out = status == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
  return status;
}
SLUICE_RUNTIME(cudaGraphExecGetFlags, cudaGraphExec_t exec, unsigned long long* flags) {
  return runtime_call("cudaGraphExecGetFlags", [&](Process& p) -> Status {
    const GraphExec* known = p.graphs.find_exec(exec);
    if (flags == nullptr || known == nullptr) return cudaErrorInvalidValue;
    *flags = known->flags;
    return kOk;
  });
}
SLUICE_RUNTIME(cudaGraphExecDestroy, cudaGraphExec_t exec) {
  return runtime_call("cudaGraphExecDestroy", [&](Process& p) { return p.graphs.destroy_exec(exec); });
}
SLUICE_RUNTIME(cudaGraphUpload, cudaGraphExec_t exec, cudaStream_t stream) {
  return runtime_call("cudaGraphUpload", [&](Process& p) -> Status {
    if (p.streams.find(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    return p.graphs.find_exec(exec) == nullptr ? cudaErrorInvalidValue : cudaSuccess;
  });
}
SLUICE_RUNTIME(cudaGraphLaunch, cudaGraphExec_t exec, cudaStream_t handle) {
  return runtime_call("cudaGraphLaunch", [&](Process& p) -> Status {
    Stream* stream = p.streams.find(handle);
    GraphExec* known = p.graphs.find_exec(exec);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    return known == nullptr ? Status{cudaErrorInvalidValue} : p.graphs.launch(*known, *stream);
  });
}
SLUICE_RUNTIME(cudaGraphExecUpdate, cudaGraphExec_t exec, cudaGraph_t graph,
               cudaGraphExecUpdateResultInfo* info) {
  return runtime_call("cudaGraphExecUpdate", [&](Process& p) -> Status {
    GraphExec* known = p.graphs.find_exec(exec);
    const Graph* source = p.graphs.find(graph);
    if (known == nullptr || source == nullptr) return cudaErrorInvalidValue;
    UpdateOutcome outcome;
    const Status status = p.graphs.update(*known, *source, &outcome);
    if (info != nullptr)
      *info = {static_cast<cudaGraphExecUpdateResult>(outcome.result), outcome.node, nullptr};
    return status;
  });
}
SLUICE_RUNTIME(cudaGraphNodeSetEnabled, cudaGraphExec_t exec, cudaGraphNode_t handle, unsigned enabled) {
  return runtime_call("cudaGraphNodeSetEnabled", [&](Process& p) -> Status {
    Node* node = exec_node(p, exec, handle);
    if (node == nullptr) return cudaErrorInvalidValue;
    const CUgraphNodeType type = node_type(node->operation);
    const bool can = type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
                     type == CU_GRAPH_NODE_TYPE_MEMSET;
    if (!can) return cudaErrorInvalidValue;
    node->enabled = enabled != 0;
    return kOk;
  });
}
SLUICE_RUNTIME(cudaGraphNodeGetEnabled, cudaGraphExec_t exec, cudaGraphNode_t handle, unsigned* enabled) {
  return runtime_call("cudaGraphNodeGetEnabled", [&](Process& p) -> Status {
    const Node* node = exec_node(p, exec, handle);
    if (node == nullptr || enabled == nullptr) return cudaErrorInvalidValue;
    *enabled = node->enabled;
    return kOk;
  });
}
SLUICE_RUNTIME(cudaGraphDebugDotPrint, cudaGraph_t graph, const char* path, unsigned) {
  return runtime_call("cudaGraphDebugDotPrint", [&](Process& p) { return write_dot(p, graph, path); });
}
