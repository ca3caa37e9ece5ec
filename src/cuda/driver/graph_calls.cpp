// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Graphs of the driver API. Forms without edge data and kernel parameters without a CUkernel are those of
// older versions.
#include "cuda/calls.hpp"
#include "cuda/driver/copies.hpp"
#include "cuda/graph_queries.hpp"

using namespace sluice::cuda;

namespace {

/// Where a node is added.
struct NewNode {
  CUgraphNode* out;
  CUgraph graph;
  const CUgraphNode* dependencies;
  size_t count;
};

// Adds the node that `make(Process&, T*)` describes.
template <class T, class Make>
CUresult add(const char* name, const NewNode& where, Make make) {
  return driver_call(name, [&](Process& p) -> Status {
    T operation;
    if (const Status s = make(p, &operation); s != kOk) return s;
    return add_node(p, where.out, where.graph, where.dependencies, nullptr, where.count,
                    std::move(operation));
  });
}

// Replaces the operation that `find(Process&) -> T*` finds.
template <class T, class Find, class Make>
CUresult change(const char* name, Find find, Make make) {
  return driver_call(name, [&](Process& p) -> Status {
    T* known = find(p);
    if (known == nullptr) return cudaErrorInvalidValue;
    T operation;
    if (const Status s = make(p, &operation); s != kOk) return s;
    *known = std::move(operation);
    return kOk;
  });
}

// Kernel parameters of both generations; the newer one may name a CUkernel instead of a function.
template <class Parameters>
Status kernel_from(Process& p, const Parameters* given, const void* symbol, KernelCall* out) {
  LaunchShape shape{{given->gridDimX, given->gridDimY, given->gridDimZ},
                    {given->blockDimX, given->blockDimY, given->blockDimZ},
                    given->sharedMemBytes,
                    false,
                    nullptr,
                    0};
  return kernel_operation(p, symbol, shape, given->kernelParams, given->extra, out);
}
Status to_operation(Process& p, const CUDA_KERNEL_NODE_PARAMS_v2* given, KernelCall* out) {
  if (given == nullptr) return cudaErrorInvalidValue;
  const void* symbol = given->func != nullptr ? static_cast<const void*>(given->func) : given->kern;
  return kernel_from(p, given, symbol, out);
}
Status to_operation(Process& p, const CUDA_KERNEL_NODE_PARAMS_v1* given, KernelCall* out) {
  return given == nullptr ? Status{cudaErrorInvalidValue} : kernel_from(p, given, given->func, out);
}
Status to_operation(Process& p, const CUDA_MEMCPY3D* given, Copy* out) {
  return copy_from(p, given, out);
}
Status to_operation(Process&, const CUDA_MEMSET_NODE_PARAMS* given, Fill* out) {
  if (given == nullptr) return cudaErrorInvalidValue;
  if (given->elementSize != 1 && given->elementSize != 2 && given->elementSize != 4)
    return cudaErrorInvalidValue;
  *out = {reinterpret_cast<void*>(given->dst),
          given->value,
          given->elementSize,
          given->width,
          given->height,
          1,
          given->pitch,
          0};
  return kOk;
}
Status to_operation(Process&, const CUDA_HOST_NODE_PARAMS* given, HostCall* out) {
  if (given == nullptr || given->fn == nullptr) return cudaErrorInvalidValue;
  *out = {given->fn, given->userData};
  return kOk;
}

template <class T>
Status event_of(Process& p, CUevent event, T* out) {
  if (p.streams.find_event(event) == nullptr) return cudaErrorInvalidResourceHandle;
  out->event = event;
  return kOk;
}

// Runs `body(Process&, Graph&)` on a live graph.
template <class Body>
CUresult with_graph(const char* name, CUgraph handle, Body body) {
  return driver_call(name, [&](Process& p) -> Status {
    Graph* graph = p.graphs.find(handle);
    return graph == nullptr ? Status{cudaErrorInvalidValue} : body(p, *graph);
  });
}

}  // namespace

// --- graphs and their structure
// ---------------------------------------------------------------------------------------

SLUICE_DRIVER(cuGraphCreate, CUgraph* out, unsigned flags) {
  return driver_call("cuGraphCreate", [&](Process& p) -> Status {
    if (out == nullptr || flags != 0) return cudaErrorInvalidValue;
    *out = p.graphs.create();
    return kOk;
  });
}
SLUICE_DRIVER(cuGraphDestroy, CUgraph graph) {
  return driver_call("cuGraphDestroy", [&](Process& p) { return p.graphs.destroy(graph); });
}
SLUICE_DRIVER(cuGraphClone, CUgraph* out, CUgraph graph) {
  return with_graph("cuGraphClone", graph, [&](Process& p, Graph& source) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = p.graphs.clone(source);
    return kOk;
  });
}
SLUICE_DRIVER(cuGraphNodeFindInClone, CUgraphNode* out, CUgraphNode original, CUgraph clone) {
  return with_graph("cuGraphNodeFindInClone", clone, [&](Process&, Graph& graph) -> Status {
    const Node* node = graph.find_clone(original);
    if (out == nullptr || node == nullptr) return cudaErrorInvalidValue;
    *out = node->handle;
    return kOk;
  });
}
SLUICE_DRIVER(cuGraphNodeGetType, CUgraphNode node, CUgraphNodeType* type) {
  return driver_call("cuGraphNodeGetType", [&](Process& p) -> Status {
    const Node* known = p.graphs.find_node(node);
    if (type == nullptr || known == nullptr) return cudaErrorInvalidValue;
    *type = node_type(known->operation);
    return kOk;
  });
}
SLUICE_DRIVER(cuGraphGetNodes, CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return driver_call("cuGraphGetNodes",
                     [&](Process& p) { return graph_nodes(p, graph, nodes, count, false); });
}
SLUICE_DRIVER(cuGraphGetRootNodes, CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return driver_call("cuGraphGetRootNodes",
                     [&](Process& p) { return graph_nodes(p, graph, nodes, count, true); });
}
SLUICE_DRIVER(cuGraphGetEdges_v2, CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edges,
              size_t* count) {
  return driver_call("cuGraphGetEdges",
                     [&](Process& p) { return graph_edges(p, graph, from, to, edges, count); });
}
SLUICE_DRIVER_OLD(cuGraphGetEdges, CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return sluice_drv_cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}
SLUICE_DRIVER(cuGraphNodeGetDependencies_v2, CUgraphNode node, CUgraphNode* out, CUgraphEdgeData* edges,
              size_t* count) {
  return driver_call("cuGraphNodeGetDependencies",
                     [&](Process& p) { return node_dependencies(p, node, out, edges, count); });
}
SLUICE_DRIVER_OLD(cuGraphNodeGetDependencies, CUgraphNode node, CUgraphNode* out, size_t* count) {
  return sluice_drv_cuGraphNodeGetDependencies_v2(node, out, nullptr, count);
}
SLUICE_DRIVER(cuGraphNodeGetDependentNodes_v2, CUgraphNode node, CUgraphNode* out, CUgraphEdgeData* edges,
              size_t* count) {
  return driver_call("cuGraphNodeGetDependentNodes",
                     [&](Process& p) { return node_dependents(p, node, out, edges, count); });
}
SLUICE_DRIVER_OLD(cuGraphNodeGetDependentNodes, CUgraphNode node, CUgraphNode* out, size_t* count) {
  return sluice_drv_cuGraphNodeGetDependentNodes_v2(node, out, nullptr, count);
}
SLUICE_DRIVER(cuGraphAddDependencies_v2, CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
              const CUgraphEdgeData* edges, size_t count) {
  return with_graph("cuGraphAddDependencies", graph, [&](Process& p, Graph& known) {
    return p.graphs.add_edges(known, from, to, edges, count);
  });
}
SLUICE_DRIVER_OLD(cuGraphAddDependencies, CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                  size_t count) {
  return sluice_drv_cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}
SLUICE_DRIVER(cuGraphRemoveDependencies_v2, CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
              const CUgraphEdgeData*, size_t count) {
  return with_graph("cuGraphRemoveDependencies", graph,
                    [&](Process& p, Graph& known) { return p.graphs.remove_edges(known, from, to, count); });
}
SLUICE_DRIVER_OLD(cuGraphRemoveDependencies, CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                  size_t count) {
  return sluice_drv_cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}
SLUICE_DRIVER(cuGraphDestroyNode, CUgraphNode node) {
  return driver_call("cuGraphDestroyNode", [&](Process& p) { return p.graphs.remove_node(node); });
}
SLUICE_DRIVER(cuGraphDebugDotPrint, CUgraph graph, const char* path, unsigned) {
  return driver_call("cuGraphDebugDotPrint", [&](Process& p) { return write_dot(p, graph, path); });
}

// --- nodes
// ------------------------------------------------------------------------------------------------------------

SLUICE_DRIVER(cuGraphAddKernelNode_v2, CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
              size_t count, const CUDA_KERNEL_NODE_PARAMS* given) {
  return add<KernelCall>("cuGraphAddKernelNode", {out, graph, dependencies, count},
                         [&](Process& p, KernelCall* o) { return to_operation(p, given, o); });
}
SLUICE_DRIVER_OLD(cuGraphAddKernelNode, CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                  size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* given) {
  return add<KernelCall>("cuGraphAddKernelNode", {out, graph, dependencies, count},
                         [&](Process& p, KernelCall* o) { return to_operation(p, given, o); });
}
SLUICE_DRIVER(cuGraphKernelNodeGetParams_v2, CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* out) {
  return driver_call("cuGraphKernelNodeGetParams", [&](Process& p) -> Status {
    const auto* call = operation_of<KernelCall>(p, node);
    if (out == nullptr || call == nullptr) return cudaErrorInvalidValue;
    *out = {};
    out->func = call->function;
    out->gridDimX = call->grid[0], out->gridDimY = call->grid[1], out->gridDimZ = call->grid[2];
    out->blockDimX = call->block[0], out->blockDimY = call->block[1], out->blockDimZ = call->block[2];
    out->sharedMemBytes = call->dynamic_shared;
    out->kernelParams = parameter_pointers(p, *p.graphs.find_node(node));
    return kOk;
  });
}
SLUICE_DRIVER(cuGraphKernelNodeSetParams_v2, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* given) {
  return change<KernelCall>(
      "cuGraphKernelNodeSetParams", [&](Process& p) { return operation_of<KernelCall>(p, node); },
      [&](Process& p, KernelCall* o) { return to_operation(p, given, o); });
}
SLUICE_DRIVER(cuGraphExecKernelNodeSetParams_v2, CUgraphExec exec, CUgraphNode node,
              const CUDA_KERNEL_NODE_PARAMS* given) {
  return change<KernelCall>(
      "cuGraphExecKernelNodeSetParams", [&](Process& p) { return operation_of<KernelCall>(p, exec, node); },
      [&](Process& p, KernelCall* o) { return to_operation(p, given, o); });
}
SLUICE_DRIVER(cuGraphAddMemcpyNode, CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
              size_t count, const CUDA_MEMCPY3D* given, CUcontext) {
  return add<Copy>("cuGraphAddMemcpyNode", {out, graph, dependencies, count},
                   [&](Process& p, Copy* o) { return to_operation(p, given, o); });
}
SLUICE_DRIVER(cuGraphMemcpyNodeGetParams, CUgraphNode node, CUDA_MEMCPY3D* out) {
  return driver_call("cuGraphMemcpyNodeGetParams", [&](Process& p) -> Status {
    const auto* copy = operation_of<Copy>(p, node);
    if (out == nullptr || copy == nullptr) return cudaErrorInvalidValue;
    *out = driver_parameters_of(*copy);
    return kOk;
  });
}
SLUICE_DRIVER(cuGraphAddMemsetNode, CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
              size_t count, const CUDA_MEMSET_NODE_PARAMS* given, CUcontext) {
  return add<Fill>("cuGraphAddMemsetNode", {out, graph, dependencies, count},
                   [&](Process& p, Fill* o) { return to_operation(p, given, o); });
}
SLUICE_DRIVER(cuGraphAddHostNode, CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
              size_t count, const CUDA_HOST_NODE_PARAMS* given) {
  return add<HostCall>("cuGraphAddHostNode", {out, graph, dependencies, count},
                       [&](Process& p, HostCall* o) { return to_operation(p, given, o); });
}
SLUICE_DRIVER(cuGraphAddEmptyNode, CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
              size_t count) {
  return add<NoWork>("cuGraphAddEmptyNode", {out, graph, dependencies, count},
                     [](Process&, NoWork*) { return kOk; });
}
SLUICE_DRIVER(cuGraphAddEventRecordNode, CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
              size_t count, CUevent event) {
  return add<EventRecord>("cuGraphAddEventRecordNode", {out, graph, dependencies, count},
                          [&](Process& p, EventRecord* o) { return event_of(p, event, o); });
}
SLUICE_DRIVER(cuGraphAddEventWaitNode, CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
              size_t count, CUevent event) {
  return add<EventWait>("cuGraphAddEventWaitNode", {out, graph, dependencies, count},
                        [&](Process& p, EventWait* o) { return event_of(p, event, o); });
}
SLUICE_DRIVER(cuGraphAddChildGraphNode, CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
              size_t count, CUgraph child) {
  return add<ChildGraph>("cuGraphAddChildGraphNode", {out, graph, dependencies, count},
                         [&](Process& p, ChildGraph* o) -> Status {
                           Graph* known = p.graphs.find(child);
                           if (known == nullptr) return cudaErrorInvalidValue;
                           // The node makes a copy of its own.
                           o->graph = std::shared_ptr<Graph>(known, [](Graph*) {});
                           return kOk;
                         });
}

// --- executable graphs
// ------------------------------------------------------------------------------------------------

SLUICE_DRIVER(cuGraphInstantiateWithFlags, CUgraphExec* out, CUgraph graph, unsigned long long flags) {
  return driver_call("cuGraphInstantiate", [&](Process& p) -> Status {
    return out == nullptr ? Status{cudaErrorInvalidValue} : p.graphs.instantiate(graph, flags, out);
  });
}
SLUICE_DRIVER(cuGraphExecGetFlags, CUgraphExec exec, cuuint64_t* flags) {
  return driver_call("cuGraphExecGetFlags", [&](Process& p) -> Status {
    const GraphExec* known = p.graphs.find_exec(exec);
    if (flags == nullptr || known == nullptr) return cudaErrorInvalidValue;
    *flags = known->flags;
    return kOk;
  });
}
SLUICE_DRIVER(cuGraphExecDestroy, CUgraphExec exec) {
  return driver_call("cuGraphExecDestroy", [&](Process& p) { return p.graphs.destroy_exec(exec); });
}
SLUICE_DRIVER(cuGraphUpload, CUgraphExec exec, CUstream stream) {
  return driver_call("cuGraphUpload", [&](Process& p) -> Status {
    if (p.streams.find(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    return p.graphs.find_exec(exec) == nullptr ? cudaErrorInvalidValue : cudaSuccess;
  });
}
SLUICE_DRIVER(cuGraphLaunch, CUgraphExec exec, CUstream handle) {
  return driver_call("cuGraphLaunch", [&](Process& p) -> Status {
    Stream* stream = p.streams.find(handle);
    GraphExec* known = p.graphs.find_exec(exec);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    return known == nullptr ? Status{cudaErrorInvalidValue} : p.graphs.launch(*known, *stream);
  });
}
SLUICE_DRIVER(cuGraphExecUpdate_v2, CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  return with_graph("cuGraphExecUpdate", graph, [&](Process& p, Graph& source) -> Status {
    GraphExec* known = p.graphs.find_exec(exec);
    if (known == nullptr) return cudaErrorInvalidValue;
    UpdateOutcome outcome;
    const Status status = p.graphs.update(*known, source, &outcome);
    if (info != nullptr) *info = {outcome.result, outcome.node, nullptr};
    return status;
  });
}
