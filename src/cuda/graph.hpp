// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Graphs: nodes with dependencies, and their executable copies.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cuda/errors.hpp"
#include "cuda/handles.hpp"
#include "cuda/work.hpp"

namespace sluice::cuda {

struct Stream;

struct Edge {
  CUgraphNode from = nullptr;
  CUgraphEdgeData data{};
};

struct Node {
  CUgraphNode handle = nullptr;
  CUgraphNode original = nullptr;  ///< in a clone: the node that this one was cloned from
  Graph* graph = nullptr;
  Operation operation;
  std::vector<Edge> dependencies;         ///< in the order they were added
  bool enabled = true;                    ///< of executable graphs
  std::vector<void*> parameter_pointers;  ///< what a parameter query of a kernel node handed out
};

struct Graph {
  CUgraph handle = nullptr;
  CUgraph original = nullptr;                ///< in a clone: where it came from
  std::vector<std::unique_ptr<Node>> nodes;  ///< in the order they were added

  Node* find(CUgraphNode handle) const;
  /// The clone's node of an original one, child graphs included; null if there is none.
  Node* find_clone(CUgraphNode original) const;
  /// Nodes in an order that satisfies the dependencies, else in the order they were added; empty if there is
  /// a cycle.
  std::vector<Node*> ordered() const;
  bool has_cycle() const { return !nodes.empty() && ordered().empty(); }
};

struct GraphExec {
  std::shared_ptr<Graph> graph;  ///< a clone of its own
  uint64_t flags = 0;
  std::vector<void*> allocations;  ///< of its allocation nodes that are still live
};

/// An executable graph's update from a graph of the same shape.
struct UpdateOutcome {
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  CUgraphNode node = nullptr;
};

class Process;

/// Every function expects the process's lock to be held.
class Graphs {
 public:
  explicit Graphs(Process& process) : process_(process) {}

  CUgraph create();
  Status destroy(CUgraph handle);
  /// Child graphs of nodes are found too.
  Graph* find(CUgraph handle);
  /// A clone; its nodes have handles of their own.
  CUgraph clone(const Graph& graph);

  /// Adds a node; kOk or the code of what is wrong with the dependencies.
  Status add_node(Graph& graph, const CUgraphNode* dependencies, const CUgraphEdgeData* edges, size_t count,
                  Operation operation, CUgraphNode* out);
  Status remove_node(CUgraphNode handle);
  Node* find_node(CUgraphNode handle);
  Status add_edges(Graph& graph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* edges,
                   size_t count);
  Status remove_edges(Graph& graph, const CUgraphNode* from, const CUgraphNode* to, size_t count);

  Status instantiate(CUgraph graph, uint64_t flags, CUgraphExec* out);
  Status destroy_exec(CUgraphExec handle);
  GraphExec* find_exec(CUgraphExec handle) { return execs_.find(handle); }
  Status launch(GraphExec& exec, Stream& stream);
  Status update(GraphExec& exec, const Graph& graph, UpdateOutcome* outcome);
  /// Runs the nodes once, in order.
  Status run(Graph& graph, Stream& stream);

 private:
  std::unique_ptr<Graph> copy(const Graph& graph, bool with_handles);
  void adopt_child(ChildGraph& child, bool with_handles);
  void forget_nodes(const Graph& graph);

  Process& process_;
  uint64_t node_serial_ = 0;
  HandleTable<Graph, HandleKind::Graph> graphs_;
  HandleTable<GraphExec, HandleKind::GraphExec> execs_;
  uint64_t child_serial_ = 0;
  std::map<CUgraphNode, Node*> nodes_;
  std::map<CUgraph, Graph*> children_;
};

}  // namespace sluice::cuda
