// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Nodes of graphs in the runtime API: adding them, asking for and changing their parameters.
#include "cuda/calls.hpp"
#include "cuda/graph_queries.hpp"
#include "cuda/pointer_queries.hpp"
#include "cuda/runtime/copies.hpp"

using namespace sluice::cuda;

namespace {

// --- parameters to operations
// -----------------------------------------------------------------------------------------

// Kernel parameters of both generations have the same members.
template <class Parameters>
Status to_operation(Process& p, const Parameters* given, KernelCall* out) {
  if (given == nullptr) return cudaErrorInvalidValue;
  LaunchShape shape;
  shape.grid[0] = given->gridDim.x, shape.grid[1] = given->gridDim.y, shape.grid[2] = given->gridDim.z;
  shape.block[0] = given->blockDim.x, shape.block[1] = given->blockDim.y, shape.block[2] = given->blockDim.z;
  shape.dynamic_shared = given->sharedMemBytes;
  return kernel_operation(p, given->func, shape, given->kernelParams, given->extra, out);
}
Status to_operation(Process& p, const cudaMemcpy3DParms* given, Copy* out) {
  return copy_from(p, given, out);
}
template <class Parameters>
Status fill_from(const Parameters* given, Fill* out) {
  if (given == nullptr) return cudaErrorInvalidValue;
  const unsigned element = given->elementSize;
  if (element != 1 && element != 2 && element != 4) return cudaErrorInvalidValue;
  *out = {given->dst, given->value, element, given->width, given->height, 1, given->pitch, 0};
  return kOk;
}
Status to_operation(Process&, const cudaMemsetParams* given, Fill* out) {
  return fill_from(given, out);
}
template <class Parameters>
Status host_from(const Parameters* given, HostCall* out) {
  if (given == nullptr || given->fn == nullptr) return cudaErrorInvalidValue;
  *out = {given->fn, given->userData};
  return kOk;
}
Status to_operation(Process&, const cudaHostNodeParams* given, HostCall* out) {
  return host_from(given, out);
}

Status symbol_copy(Process& p, const void* symbol, const void* other, size_t bytes, size_t offset,
                   cudaMemcpyKind kind, bool to_symbol, Copy* out) {
  const auto direction = direction_of(kind);
  if (!direction) return cudaErrorInvalidMemcpyDirection;
  const Variable* variable = nullptr;
  if (const Status s = p.code.variable(symbol, p.current_device(), &variable); s != kOk) return s;
  if (offset > variable->bytes || bytes > variable->bytes - offset) return cudaErrorInvalidValue;
  void* place = reinterpret_cast<void*>(variable->address + offset);
  *out = to_symbol ? Copy::linear(place, other, bytes, *direction)
                   : Copy::linear(const_cast<void*>(other), place, bytes, *direction);
  return kOk;
}

Status linear_copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, Copy* out) {
  const auto direction = direction_of(kind);
  if (!direction) return cudaErrorInvalidMemcpyDirection;
  *out = Copy::linear(to, from, bytes, *direction);
  return kOk;
}

/// Where a node is added.
struct NewNode {
  cudaGraphNode_t* out;
  cudaGraph_t graph;
  const cudaGraphNode_t* dependencies;
  size_t count;
};

// Adds the node that `make(Process&, T*)` describes.
template <class T, class Make>
cudaError_t add(const char* name, const NewNode& where, Make make) {
  return runtime_call(name, [&](Process& p) -> Status {
    T operation;
    if (const Status s = make(p, &operation); s != kOk) return s;
    return add_node(p, where.out, where.graph, where.dependencies, nullptr, where.count,
                    std::move(operation));
  });
}

// Replaces the operation of the node that `find(Process&) -> T*` finds.
template <class T, class Find, class Make>
cudaError_t change(const char* name, Find find, Make make) {
  return runtime_call(name, [&](Process& p) -> Status {
    T* known = find(p);
    if (known == nullptr) return cudaErrorInvalidValue;
    T operation;
    if (const Status s = make(p, &operation); s != kOk) return s;
    *known = std::move(operation);
    return kOk;
  });
}

template <class T>
auto of_node(cudaGraphNode_t node) {
  return [node](Process& p) { return operation_of<T>(p, node); };
}
template <class T>
auto of_exec(cudaGraphExec_t exec, cudaGraphNode_t node) {
  return [exec, node](Process& p) { return operation_of<T>(p, exec, node); };
}

}  // namespace

// --- kernels
// --------------------------------------------------------------------------------------------------------

SLUICE_RUNTIME(cudaGraphAddKernelNode, cudaGraphNode_t* out, cudaGraph_t graph,
               const cudaGraphNode_t* dependencies, size_t count, const cudaKernelNodeParams* given) {
  return add<KernelCall>("cudaGraphAddKernelNode", {out, graph, dependencies, count},
                         [&](Process& p, KernelCall* o) { return to_operation(p, given, o); });
}
SLUICE_RUNTIME(cudaGraphKernelNodeGetParams, cudaGraphNode_t node, cudaKernelNodeParams* out) {
  return runtime_call("cudaGraphKernelNodeGetParams", [&](Process& p) -> Status {
    const auto* call = operation_of<KernelCall>(p, node);
    if (out == nullptr || call == nullptr) return cudaErrorInvalidValue;
    *out = {};
    out->func = const_cast<void*>(call->symbol);
    out->gridDim = {call->grid[0], call->grid[1], call->grid[2]};
    out->blockDim = {call->block[0], call->block[1], call->block[2]};
    out->sharedMemBytes = call->dynamic_shared;
    out->kernelParams = parameter_pointers(p, *p.graphs.find_node(node));
    return kOk;
  });
}
SLUICE_RUNTIME(cudaGraphKernelNodeSetParams, cudaGraphNode_t node, const cudaKernelNodeParams* given) {
  return change<KernelCall>("cudaGraphKernelNodeSetParams", of_node<KernelCall>(node),
                            [&](Process& p, KernelCall* o) { return to_operation(p, given, o); });
}
SLUICE_RUNTIME(cudaGraphExecKernelNodeSetParams, cudaGraphExec_t exec, cudaGraphNode_t node,
               const cudaKernelNodeParams* given) {
  return change<KernelCall>("cudaGraphExecKernelNodeSetParams", of_exec<KernelCall>(exec, node),
                            [&](Process& p, KernelCall* o) { return to_operation(p, given, o); });
}
SLUICE_RUNTIME(cudaGraphKernelNodeGetAttribute, cudaGraphNode_t node, cudaLaunchAttributeID attribute,
               cudaLaunchAttributeValue* out) {
  return runtime_call("cudaGraphKernelNodeGetAttribute", [&](Process& p) -> Status {
    const auto* call = operation_of<KernelCall>(p, node);
    if (call == nullptr) return cudaErrorInvalidValue;
    return kernel_node_attribute(*call, static_cast<CUlaunchAttributeID>(attribute),
                                 reinterpret_cast<CUlaunchAttributeValue*>(out));
  });
}
SLUICE_RUNTIME(cudaGraphKernelNodeSetAttribute, cudaGraphNode_t node, cudaLaunchAttributeID attribute,
               const cudaLaunchAttributeValue* value) {
  return runtime_call("cudaGraphKernelNodeSetAttribute", [&](Process& p) -> Status {
    auto* call = operation_of<KernelCall>(p, node);
    if (call == nullptr) return cudaErrorInvalidValue;
    return set_kernel_node_attribute(p, call, static_cast<CUlaunchAttributeID>(attribute),
                                     reinterpret_cast<const CUlaunchAttributeValue*>(value));
  });
}

namespace {

cudaError_t copy_kernel_attributes(cudaGraphNode_t from, cudaGraphNode_t to) {
  return runtime_call("cudaGraphKernelNodeCopyAttributes", [&](Process& p) -> Status {
    const auto* source = operation_of<KernelCall>(p, from);
    auto* target = operation_of<KernelCall>(p, to);
    if (source == nullptr || target == nullptr) return cudaErrorInvalidValue;
    for (const CUlaunchAttribute& attribute : source->attributes) {
      if (const Status s = set_kernel_node_attribute(p, target, attribute.id, &attribute.value); s != kOk)
        return s;
    }
    return kOk;
  });
}

}  // namespace

// CUDA 13 names the target first, CUDA 12 the source.
SLUICE_RUNTIME(cudaGraphKernelNodeCopyAttributes, cudaGraphNode_t to, cudaGraphNode_t from) {
  return copy_kernel_attributes(from, to);
}
SLUICE_RUNTIME_12(cudaGraphKernelNodeCopyAttributes, cudaGraphNode_t from, cudaGraphNode_t to) {
  return copy_kernel_attributes(from, to);
}

// --- copies
// ---------------------------------------------------------------------------------------------------------

SLUICE_RUNTIME(cudaGraphAddMemcpyNode, cudaGraphNode_t* out, cudaGraph_t graph,
               const cudaGraphNode_t* dependencies, size_t count, const cudaMemcpy3DParms* given) {
  return add<Copy>("cudaGraphAddMemcpyNode", {out, graph, dependencies, count},
                   [&](Process& p, Copy* o) { return to_operation(p, given, o); });
}
SLUICE_RUNTIME(cudaGraphAddMemcpyNode1D, cudaGraphNode_t* out, cudaGraph_t graph,
               const cudaGraphNode_t* dependencies, size_t count, void* to, const void* from, size_t bytes,
               cudaMemcpyKind kind) {
  return add<Copy>("cudaGraphAddMemcpyNode1D", {out, graph, dependencies, count},
                   [&](Process&, Copy* o) { return linear_copy(to, from, bytes, kind, o); });
}
SLUICE_RUNTIME(cudaGraphAddMemcpyNodeToSymbol, cudaGraphNode_t* out, cudaGraph_t graph,
               const cudaGraphNode_t* dependencies, size_t count, const void* symbol, const void* from,
               size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return add<Copy>(
      "cudaGraphAddMemcpyNodeToSymbol", {out, graph, dependencies, count},
      [&](Process& p, Copy* o) { return symbol_copy(p, symbol, from, bytes, offset, kind, true, o); });
}
SLUICE_RUNTIME(cudaGraphAddMemcpyNodeFromSymbol, cudaGraphNode_t* out, cudaGraph_t graph,
               const cudaGraphNode_t* dependencies, size_t count, void* to, const void* symbol, size_t bytes,
               size_t offset, cudaMemcpyKind kind) {
  return add<Copy>(
      "cudaGraphAddMemcpyNodeFromSymbol", {out, graph, dependencies, count},
      [&](Process& p, Copy* o) { return symbol_copy(p, symbol, to, bytes, offset, kind, false, o); });
}
SLUICE_RUNTIME(cudaGraphMemcpyNodeGetParams, cudaGraphNode_t node, cudaMemcpy3DParms* out) {
  return runtime_call("cudaGraphMemcpyNodeGetParams", [&](Process& p) -> Status {
    const auto* copy = operation_of<Copy>(p, node);
    if (out == nullptr || copy == nullptr) return cudaErrorInvalidValue;
    *out = parameters_of(*copy);
    return kOk;
  });
}
SLUICE_RUNTIME(cudaGraphMemcpyNodeSetParams, cudaGraphNode_t node, const cudaMemcpy3DParms* given) {
  return change<Copy>("cudaGraphMemcpyNodeSetParams", of_node<Copy>(node),
                      [&](Process& p, Copy* o) { return to_operation(p, given, o); });
}
SLUICE_RUNTIME(cudaGraphMemcpyNodeSetParams1D, cudaGraphNode_t node, void* to, const void* from, size_t bytes,
               cudaMemcpyKind kind) {
  return change<Copy>("cudaGraphMemcpyNodeSetParams1D", of_node<Copy>(node),
                      [&](Process&, Copy* o) { return linear_copy(to, from, bytes, kind, o); });
}
SLUICE_RUNTIME(cudaGraphMemcpyNodeSetParamsToSymbol, cudaGraphNode_t node, const void* symbol,
               const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return change<Copy>("cudaGraphMemcpyNodeSetParamsToSymbol", of_node<Copy>(node), [&](Process& p, Copy* o) {
    return symbol_copy(p, symbol, from, bytes, offset, kind, true, o);
  });
}
SLUICE_RUNTIME(cudaGraphMemcpyNodeSetParamsFromSymbol, cudaGraphNode_t node, void* to, const void* symbol,
               size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return change<Copy>(
      "cudaGraphMemcpyNodeSetParamsFromSymbol", of_node<Copy>(node),
      [&](Process& p, Copy* o) { return symbol_copy(p, symbol, to, bytes, offset, kind, false, o); });
}
SLUICE_RUNTIME(cudaGraphExecMemcpyNodeSetParams, cudaGraphExec_t exec, cudaGraphNode_t node,
               const cudaMemcpy3DParms* given) {
  return change<Copy>("cudaGraphExecMemcpyNodeSetParams", of_exec<Copy>(exec, node),
                      [&](Process& p, Copy* o) { return to_operation(p, given, o); });
}
SLUICE_RUNTIME(cudaGraphExecMemcpyNodeSetParams1D, cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
               const void* from, size_t bytes, cudaMemcpyKind kind) {
  return change<Copy>("cudaGraphExecMemcpyNodeSetParams1D", of_exec<Copy>(exec, node),
                      [&](Process&, Copy* o) { return linear_copy(to, from, bytes, kind, o); });
}
SLUICE_RUNTIME(cudaGraphExecMemcpyNodeSetParamsToSymbol, cudaGraphExec_t exec, cudaGraphNode_t node,
               const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return change<Copy>(
      "cudaGraphExecMemcpyNodeSetParamsToSymbol", of_exec<Copy>(exec, node),
      [&](Process& p, Copy* o) { return symbol_copy(p, symbol, from, bytes, offset, kind, true, o); });
}
SLUICE_RUNTIME(cudaGraphExecMemcpyNodeSetParamsFromSymbol, cudaGraphExec_t exec, cudaGraphNode_t node,
               void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return change<Copy>(
      "cudaGraphExecMemcpyNodeSetParamsFromSymbol", of_exec<Copy>(exec, node),
      [&](Process& p, Copy* o) { return symbol_copy(p, symbol, to, bytes, offset, kind, false, o); });
}

// --- fills, host functions, child graphs, events
// ----------------------------------------------------------------------

SLUICE_RUNTIME(cudaGraphAddMemsetNode, cudaGraphNode_t* out, cudaGraph_t graph,
               const cudaGraphNode_t* dependencies, size_t count, const cudaMemsetParams* given) {
  return add<Fill>("cudaGraphAddMemsetNode", {out, graph, dependencies, count},
                   [&](Process& p, Fill* o) { return to_operation(p, given, o); });
}
SLUICE_RUNTIME(cudaGraphMemsetNodeGetParams, cudaGraphNode_t node, cudaMemsetParams* out) {
  return runtime_call("cudaGraphMemsetNodeGetParams", [&](Process& p) -> Status {
    const auto* fill = operation_of<Fill>(p, node);
    if (out == nullptr || fill == nullptr) return cudaErrorInvalidValue;
    *out = {fill->to, fill->pitch, fill->value, fill->element, fill->width, fill->height};
    return kOk;
  });
}
SLUICE_RUNTIME(cudaGraphMemsetNodeSetParams, cudaGraphNode_t node, const cudaMemsetParams* given) {
  return change<Fill>("cudaGraphMemsetNodeSetParams", of_node<Fill>(node),
                      [&](Process& p, Fill* o) { return to_operation(p, given, o); });
}
SLUICE_RUNTIME(cudaGraphExecMemsetNodeSetParams, cudaGraphExec_t exec, cudaGraphNode_t node,
               const cudaMemsetParams* given) {
  return change<Fill>("cudaGraphExecMemsetNodeSetParams", of_exec<Fill>(exec, node),
                      [&](Process& p, Fill* o) { return to_operation(p, given, o); });
}
SLUICE_RUNTIME(cudaGraphAddHostNode, cudaGraphNode_t* out, cudaGraph_t graph,
               const cudaGraphNode_t* dependencies, size_t count, const cudaHostNodeParams* given) {
  return add<HostCall>("cudaGraphAddHostNode", {out, graph, dependencies, count},
                       [&](Process& p, HostCall* o) { return to_operation(p, given, o); });
}
SLUICE_RUNTIME(cudaGraphHostNodeGetParams, cudaGraphNode_t node, cudaHostNodeParams* out) {
  return runtime_call("cudaGraphHostNodeGetParams", [&](Process& p) -> Status {
    const auto* call = operation_of<HostCall>(p, node);
    if (out == nullptr || call == nullptr) return cudaErrorInvalidValue;
    *out = {call->function, call->data};
    return kOk;
  });
}
SLUICE_RUNTIME(cudaGraphHostNodeSetParams, cudaGraphNode_t node, const cudaHostNodeParams* given) {
  return change<HostCall>("cudaGraphHostNodeSetParams", of_node<HostCall>(node),
                          [&](Process& p, HostCall* o) { return to_operation(p, given, o); });
}
SLUICE_RUNTIME(cudaGraphExecHostNodeSetParams, cudaGraphExec_t exec, cudaGraphNode_t node,
               const cudaHostNodeParams* given) {
  return change<HostCall>("cudaGraphExecHostNodeSetParams", of_exec<HostCall>(exec, node),
                          [&](Process& p, HostCall* o) { return to_operation(p, given, o); });
}

namespace {

// A view of a live graph; the node makes its own copy.
Status child_of(Process& p, cudaGraph_t handle, ChildGraph* out) {
  Graph* graph = p.graphs.find(handle);
  if (graph == nullptr) return cudaErrorInvalidValue;
  out->graph = std::shared_ptr<Graph>(graph, [](Graph*) {});
  return kOk;
}

template <class T>
Status event_of(Process& p, cudaEvent_t event, T* out) {
  if (p.streams.find_event(event) == nullptr) return cudaErrorInvalidResourceHandle;
  out->event = event;
  return kOk;
}

template <class T>
cudaError_t node_event(const char* name, cudaGraphNode_t node, cudaEvent_t* out) {
  return runtime_call(name, [&](Process& p) -> Status {
    const auto* known = operation_of<T>(p, node);
    if (out == nullptr || known == nullptr) return cudaErrorInvalidValue;
    *out = known->event;
    return kOk;
  });
}

}  // namespace

SLUICE_RUNTIME(cudaGraphAddChildGraphNode, cudaGraphNode_t* out, cudaGraph_t graph,
               const cudaGraphNode_t* dependencies, size_t count, cudaGraph_t child) {
  return add<ChildGraph>("cudaGraphAddChildGraphNode", {out, graph, dependencies, count},
                         [&](Process& p, ChildGraph* o) { return child_of(p, child, o); });
}
SLUICE_RUNTIME(cudaGraphChildGraphNodeGetGraph, cudaGraphNode_t node, cudaGraph_t* out) {
  return runtime_call("cudaGraphChildGraphNodeGetGraph", [&](Process& p) -> Status {
    const auto* child = operation_of<ChildGraph>(p, node);
    if (out == nullptr || child == nullptr) return cudaErrorInvalidValue;
    *out = child->graph->handle;
    return kOk;
  });
}
SLUICE_RUNTIME(cudaGraphAddEmptyNode, cudaGraphNode_t* out, cudaGraph_t graph,
               const cudaGraphNode_t* dependencies, size_t count) {
  return add<NoWork>("cudaGraphAddEmptyNode", {out, graph, dependencies, count},
                     [](Process&, NoWork*) { return kOk; });
}
SLUICE_RUNTIME(cudaGraphAddEventRecordNode, cudaGraphNode_t* out, cudaGraph_t graph,
               const cudaGraphNode_t* dependencies, size_t count, cudaEvent_t event) {
  return add<EventRecord>("cudaGraphAddEventRecordNode", {out, graph, dependencies, count},
                          [&](Process& p, EventRecord* o) { return event_of(p, event, o); });
}
SLUICE_RUNTIME(cudaGraphAddEventWaitNode, cudaGraphNode_t* out, cudaGraph_t graph,
               const cudaGraphNode_t* dependencies, size_t count, cudaEvent_t event) {
  return add<EventWait>("cudaGraphAddEventWaitNode", {out, graph, dependencies, count},
                        [&](Process& p, EventWait* o) { return event_of(p, event, o); });
}
SLUICE_RUNTIME(cudaGraphEventRecordNodeGetEvent, cudaGraphNode_t node, cudaEvent_t* out) {
  return node_event<EventRecord>("cudaGraphEventRecordNodeGetEvent", node, out);
}
SLUICE_RUNTIME(cudaGraphEventWaitNodeGetEvent, cudaGraphNode_t node, cudaEvent_t* out) {
  return node_event<EventWait>("cudaGraphEventWaitNodeGetEvent", node, out);
}
SLUICE_RUNTIME(cudaGraphEventRecordNodeSetEvent, cudaGraphNode_t node, cudaEvent_t event) {
  return change<EventRecord>("cudaGraphEventRecordNodeSetEvent", of_node<EventRecord>(node),
                             [&](Process& p, EventRecord* o) { return event_of(p, event, o); });
}
SLUICE_RUNTIME(cudaGraphEventWaitNodeSetEvent, cudaGraphNode_t node, cudaEvent_t event) {
  return change<EventWait>("cudaGraphEventWaitNodeSetEvent", of_node<EventWait>(node),
                           [&](Process& p, EventWait* o) { return event_of(p, event, o); });
}
SLUICE_RUNTIME(cudaGraphExecEventRecordNodeSetEvent, cudaGraphExec_t exec, cudaGraphNode_t node,
               cudaEvent_t event) {
  return change<EventRecord>("cudaGraphExecEventRecordNodeSetEvent", of_exec<EventRecord>(exec, node),
                             [&](Process& p, EventRecord* o) { return event_of(p, event, o); });
}
SLUICE_RUNTIME(cudaGraphExecEventWaitNodeSetEvent, cudaGraphExec_t exec, cudaGraphNode_t node,
               cudaEvent_t event) {
  return change<EventWait>("cudaGraphExecEventWaitNodeSetEvent", of_exec<EventWait>(exec, node),
                           [&](Process& p, EventWait* o) { return event_of(p, event, o); });
}

// --- nodes of any kind
// ------------------------------------------------------------------------------------------------

namespace {

Status operation_from(Process& p, const cudaGraphNodeParams* given, Operation* out) {
  if (given == nullptr) return cudaErrorInvalidValue;
  const auto make = [&](auto operation, auto fill) -> Status {
    const Status status = fill(&operation);
    if (status == kOk) *out = std::move(operation);
    return status;
  };
  switch (given->type) {
    case cudaGraphNodeTypeEmpty:
      *out = NoWork{};
      return kOk;
    case cudaGraphNodeTypeKernel:
      return make(KernelCall{}, [&](KernelCall* o) { return to_operation(p, &given->kernel, o); });
    case cudaGraphNodeTypeMemcpy:
      return make(Copy{}, [&](Copy* o) { return to_operation(p, &given->memcpy.copyParams, o); });
    case cudaGraphNodeTypeMemset:
      return make(Fill{}, [&](Fill* o) { return fill_from(&given->memset, o); });
    case cudaGraphNodeTypeHost:
      return make(HostCall{}, [&](HostCall* o) { return host_from(&given->host, o); });
    case cudaGraphNodeTypeGraph:
      return make(ChildGraph{}, [&](ChildGraph* o) { return child_of(p, given->graph.graph, o); });
    case cudaGraphNodeTypeWaitEvent:
      return make(EventWait{}, [&](EventWait* o) { return event_of(p, given->eventWait.event, o); });
    case cudaGraphNodeTypeEventRecord:
      return make(EventRecord{}, [&](EventRecord* o) { return event_of(p, given->eventRecord.event, o); });
    default:
      p.say_unimplemented("cudaGraphAddNode", "conditional, semaphore and memory nodes");
      return cudaErrorNotSupported;
  }
}

}  // namespace

SLUICE_RUNTIME(cudaGraphAddNode, cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
               const cudaGraphEdgeData* edges, size_t count, cudaGraphNodeParams* given) {
  return runtime_call("cudaGraphAddNode", [&](Process& p) -> Status {
    Operation operation;
    if (const Status s = operation_from(p, given, &operation); s != kOk) return s;
    return add_node(p, out, graph, dependencies, reinterpret_cast<const CUgraphEdgeData*>(edges), count,
                    std::move(operation));
  });
}
SLUICE_RUNTIME_12(cudaGraphAddNode, cudaGraphNode_t* out, cudaGraph_t graph,
                  const cudaGraphNode_t* dependencies, size_t count, cudaGraphNodeParams* given) {
  return sluice_rt_cudaGraphAddNode(out, graph, dependencies, nullptr, count, given);
}
SLUICE_RUNTIME_12(cudaGraphAddNode_v2, cudaGraphNode_t* out, cudaGraph_t graph,
                  const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* edges, size_t count,
                  cudaGraphNodeParams* given) {
  return sluice_rt_cudaGraphAddNode(out, graph, dependencies, edges, count, given);
}

namespace {

cudaError_t set_any(const char* name, cudaGraphExec_t exec, cudaGraphNode_t handle,
                    const cudaGraphNodeParams* given) {
  return runtime_call(name, [&](Process& p) -> Status {
    Node* node = exec == nullptr ? p.graphs.find_node(handle) : exec_node(p, exec, handle);
    if (node == nullptr) return cudaErrorInvalidValue;
    Operation operation;
    if (const Status s = operation_from(p, given, &operation); s != kOk) return s;
    if (operation.index() != node->operation.index()) return cudaErrorInvalidValue;
    node->operation = std::move(operation);
    return kOk;
  });
}

}  // namespace

SLUICE_RUNTIME(cudaGraphNodeSetParams, cudaGraphNode_t node, cudaGraphNodeParams* given) {
  return set_any("cudaGraphNodeSetParams", nullptr, node, given);
}
SLUICE_RUNTIME(cudaGraphExecNodeSetParams, cudaGraphExec_t exec, cudaGraphNode_t node,
               cudaGraphNodeParams* given) {
  if (exec == nullptr) return cudaErrorInvalidValue;
  return set_any("cudaGraphExecNodeSetParams", exec, node, given);
}
SLUICE_RUNTIME(cudaGraphExecChildGraphNodeSetParams, cudaGraphExec_t exec, cudaGraphNode_t node,
               cudaGraph_t child) {
  return runtime_call("cudaGraphExecChildGraphNodeSetParams", [&](Process& p) -> Status {
    auto* known = operation_of<ChildGraph>(p, exec, node);
    const Graph* source = p.graphs.find(child);
    if (known == nullptr || source == nullptr) return cudaErrorInvalidValue;
    GraphExec inner;
    inner.graph = known->graph;
    UpdateOutcome outcome;
    return p.graphs.update(inner, *source, &outcome);
  });
}

// --- memory nodes
// -----------------------------------------------------------------------------------------------------

SLUICE_RUNTIME(cudaGraphAddMemAllocNode, cudaGraphNode_t* out, cudaGraph_t graph,
               const cudaGraphNode_t* dependencies, size_t count, cudaMemAllocNodeParams* given) {
  return runtime_call("cudaGraphAddMemAllocNode", [&](Process& p) -> Status {
    if (given == nullptr || given->bytesize == 0) return cudaErrorInvalidValue;
    if (given->poolProps.location.type != cudaMemLocationTypeDevice) return cudaErrorNotSupported;
    const int device = given->poolProps.location.id;
    if (!p.has_device(device)) return cudaErrorInvalidDevice;
    GraphAllocation allocation{given->bytesize, device, nullptr};
    if (const Status s = p.memory.allocate(given->bytesize, Origin::Pool, device, 0, &allocation.address,
                                           p.default_pool(device));
        s != kOk) {
      return s;
    }
    p.memory.keep_for_graph(allocation.address);
    given->dptr = allocation.address;
    return add_node(p, out, graph, dependencies, nullptr, count, allocation);
  });
}
SLUICE_RUNTIME(cudaGraphMemAllocNodeGetParams, cudaGraphNode_t node, cudaMemAllocNodeParams* out) {
  return runtime_call("cudaGraphMemAllocNodeGetParams", [&](Process& p) -> Status {
    const auto* allocation = operation_of<GraphAllocation>(p, node);
    if (out == nullptr || allocation == nullptr) return cudaErrorInvalidValue;
    *out = {};
    out->poolProps.allocType = cudaMemAllocationTypePinned;
    out->poolProps.location = {cudaMemLocationTypeDevice, allocation->device};
    out->bytesize = allocation->bytes;
    out->dptr = allocation->address;
    return kOk;
  });
}
SLUICE_RUNTIME(cudaGraphAddMemFreeNode, cudaGraphNode_t* out, cudaGraph_t graph,
               const cudaGraphNode_t* dependencies, size_t count, void* pointer) {
  return add<GraphFree>("cudaGraphAddMemFreeNode", {out, graph, dependencies, count},
                        [&](Process& p, GraphFree* o) -> Status {
                          const Buffer* buffer = p.memory.find(pointer);
                          if (buffer == nullptr || buffer->origin != Origin::Pool)
                            return cudaErrorInvalidValue;
                          o->address = pointer;
                          return kOk;
                        });
}
SLUICE_RUNTIME(cudaGraphMemFreeNodeGetParams, cudaGraphNode_t node, void* out) {
  return runtime_call("cudaGraphMemFreeNodeGetParams", [&](Process& p) -> Status {
    const auto* free = operation_of<GraphFree>(p, node);
    if (out == nullptr || free == nullptr) return cudaErrorInvalidValue;
    *static_cast<void**>(out) = free->address;
    return kOk;
  });
}
SLUICE_RUNTIME(cudaDeviceGraphMemTrim, int device) {
  return runtime_call("cudaDeviceGraphMemTrim", [&](Process& p) -> Status {
    return p.has_device(device) ? cudaSuccess : cudaErrorInvalidDevice;
  });
}
