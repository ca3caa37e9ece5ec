// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Graph calls in the form that both APIs share. Arrays follow CUDA's habit: with a null array only the count
// is given, else the count is the array's capacity on entry and what was written on return.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <optional>

#include "cuda/errors.hpp"
#include "cuda/graph.hpp"
#include "cuda/launch.hpp"

namespace sluice::cuda {

Status graph_nodes(Process& process, CUgraph graph, CUgraphNode* nodes, size_t* count, bool roots_only);
Status graph_edges(Process& process, CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                   size_t* count);
Status node_dependencies(Process& process, CUgraphNode node, CUgraphNode* out, CUgraphEdgeData* data,
                         size_t* count);
Status node_dependents(Process& process, CUgraphNode node, CUgraphNode* out, CUgraphEdgeData* data,
                       size_t* count);

/// Adds a node to a graph by handle.
Status add_node(Process& process, CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                const CUgraphEdgeData* edges, size_t count, Operation operation);

/// The operation of a node, if it is a `T`; null for another kind or a dead handle.
template <class T>
T* operation_of(Process& process, CUgraphNode node);
/// The operation of an executable graph's node, named by the node it was instantiated from.
template <class T>
T* operation_of(Process& process, CUgraphExec exec, CUgraphNode node);
/// The node itself in an executable graph.
Node* exec_node(Process& process, CUgraphExec exec, CUgraphNode node);

/// A kernel node's launch. The kernel is looked up for the current device.
Status kernel_operation(Process& process, const void* symbol, const LaunchShape& shape, void** arguments,
                        void** extra, KernelCall* out);
/// Pointers to the node's own copies of the parameters, valid as long as the node.
void** parameter_pointers(Process& process, Node& node);

Status kernel_node_attribute(const KernelCall& call, CUlaunchAttributeID attribute,
                             CUlaunchAttributeValue* out);
Status set_kernel_node_attribute(Process& process, KernelCall* call, CUlaunchAttributeID attribute,
                                 const CUlaunchAttributeValue* value);

Status write_dot(Process& process, CUgraph graph, const char* path);

}  // namespace sluice::cuda

#include "cuda/process.hpp"

namespace sluice::cuda {

template <class T>
T* operation_of(Process& process, CUgraphNode handle) {
  Node* node = process.graphs.find_node(handle);
  return node == nullptr ? nullptr : std::get_if<T>(&node->operation);
}

template <class T>
T* operation_of(Process& process, CUgraphExec exec, CUgraphNode handle) {
  Node* node = exec_node(process, exec, handle);
  return node == nullptr ? nullptr : std::get_if<T>(&node->operation);
}

}  // namespace sluice::cuda
