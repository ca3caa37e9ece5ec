// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Graphs: building, cloning, launching, updating.
#include <algorithm>
#include <map>
#include <set>

#include "cuda/process.hpp"

namespace sluice::cuda {
namespace {

constexpr uint64_t kFirstNode = 0x5C00'0000'0000'0000 + (static_cast<uint64_t>(HandleKind::GraphNode) << 40);
constexpr uint64_t kFirstChild =
    0x5C00'0000'0000'0000 + (static_cast<uint64_t>(HandleKind::ChildGraph) << 40);

bool depends_directly(const Node& node, CUgraphNode from) {
  return std::any_of(node.dependencies.begin(), node.dependencies.end(),
                     [&](const Edge& edge) { return edge.from == from; });
}

}  // namespace

Node* Graph::find(CUgraphNode wanted) const {
  for (const auto& node : nodes) {
    if (node->handle == wanted) return node.get();
  }
  return nullptr;
}

Node* Graph::find_clone(CUgraphNode wanted) const {
  for (const auto& node : nodes) {
    if (node->original == wanted) return node.get();
    if (const auto* child = std::get_if<ChildGraph>(&node->operation)) {
      if (Node* found = child->graph->find_clone(wanted)) return found;
    }
  }
  return nullptr;
}

std::vector<Node*> Graph::ordered() const {
  std::map<CUgraphNode, size_t> place;
  for (size_t i = 0; i < nodes.size(); ++i) place[nodes[i]->handle] = i;
  std::vector<size_t> waiting_for(nodes.size());
  std::vector<std::vector<size_t>> dependents(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const Edge& edge : nodes[i]->dependencies) dependents[place[edge.from]].push_back(i);
    waiting_for[i] = nodes[i]->dependencies.size();
  }
  std::set<size_t> ready;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (waiting_for[i] == 0) ready.insert(i);
  }
  std::vector<Node*> order;
  while (!ready.empty()) {
    const size_t i = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(nodes[i].get());
    for (const size_t dependent : dependents[i]) {
      if (--waiting_for[dependent] == 0) ready.insert(dependent);
    }
  }
  if (order.size() != nodes.size()) order.clear();
  return order;
}

CUgraph Graphs::create() {
  auto graph = std::make_unique<Graph>();
  Graph* raw = graph.get();
  return raw->handle = graphs_.add<CUgraph>(std::move(graph));
}

void Graphs::forget_nodes(const Graph& graph) {
  for (const auto& node : graph.nodes) {
    nodes_.erase(node->handle);
    if (const auto* child = std::get_if<ChildGraph>(&node->operation)) forget_nodes(*child->graph);
  }
  children_.erase(graph.handle);
}

Graph* Graphs::find(CUgraph handle) {
  if (Graph* graph = graphs_.find(handle)) return graph;
  const auto it = children_.find(handle);
  return it == children_.end() ? nullptr : it->second;
}

// Gives a node a copy of its own of the child graph.
void Graphs::adopt_child(ChildGraph& child, bool with_handles) {
  child.graph = copy(*child.graph, with_handles);
  if (!with_handles) return;
  child.graph->handle = reinterpret_cast<CUgraph>(kFirstChild + 16 * ++child_serial_);
  children_[child.graph->handle] = child.graph.get();
}

Status Graphs::destroy(CUgraph handle) {
  const auto graph = graphs_.take(handle);
  if (graph == nullptr) return cudaErrorInvalidValue;
  forget_nodes(*graph);
  return kOk;
}

std::unique_ptr<Graph> Graphs::copy(const Graph& graph, bool with_handles) {
  auto clone = std::make_unique<Graph>();
  clone->original = graph.handle;
  std::map<CUgraphNode, CUgraphNode> translated;
  for (const auto& node : graph.nodes) {
    auto own = std::make_unique<Node>(*node);
    own->handle = reinterpret_cast<CUgraphNode>(kFirstNode + 16 * ++node_serial_);
    own->original = node->handle;
    own->graph = clone.get();
    own->parameter_pointers.clear();
    if (auto* child = std::get_if<ChildGraph>(&own->operation)) adopt_child(*child, with_handles);
    translated[node->handle] = own->handle;
    if (with_handles) nodes_[own->handle] = own.get();
    clone->nodes.push_back(std::move(own));
  }
  for (const auto& node : clone->nodes) {
    for (Edge& edge : node->dependencies) edge.from = translated[edge.from];
  }
  return clone;
}

CUgraph Graphs::clone(const Graph& graph) {
  auto clone = copy(graph, /*with_handles=*/true);
  Graph* raw = clone.get();
  return raw->handle = graphs_.add<CUgraph>(std::move(clone));
}

Node* Graphs::find_node(CUgraphNode handle) {
  const auto it = nodes_.find(handle);
  return it == nodes_.end() ? nullptr : it->second;
}

Status Graphs::add_node(Graph& graph, const CUgraphNode* dependencies, const CUgraphEdgeData* edges,
                        size_t count, Operation operation, CUgraphNode* out) {
  if (out == nullptr || (count != 0 && dependencies == nullptr)) return cudaErrorInvalidValue;
  auto node = std::make_unique<Node>();
  for (size_t i = 0; i < count; ++i) {
    if (graph.find(dependencies[i]) == nullptr || depends_directly(*node, dependencies[i]))
      return cudaErrorInvalidValue;
    node->dependencies.push_back({dependencies[i], edges == nullptr ? CUgraphEdgeData{} : edges[i]});
  }
  if (auto* child = std::get_if<ChildGraph>(&operation)) adopt_child(*child, /*with_handles=*/true);
  node->handle = reinterpret_cast<CUgraphNode>(kFirstNode + 16 * ++node_serial_);
  node->graph = &graph;
  node->operation = std::move(operation);
  *out = node->handle;
  nodes_[node->handle] = node.get();
  graph.nodes.push_back(std::move(node));
  return kOk;
}

Status Graphs::remove_node(CUgraphNode handle) {
  Node* node = find_node(handle);
  if (node == nullptr) return cudaErrorInvalidValue;
  Graph& graph = *node->graph;
  for (const auto& other : graph.nodes) {
    auto& own = other->dependencies;
    own.erase(std::remove_if(own.begin(), own.end(), [&](const Edge& e) { return e.from == handle; }),
              own.end());
  }
  if (const auto* child = std::get_if<ChildGraph>(&node->operation)) forget_nodes(*child->graph);
  nodes_.erase(handle);
  graph.nodes.erase(
      std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const auto& n) { return n.get() == node; }));
  return kOk;
}

Status Graphs::add_edges(Graph& graph, const CUgraphNode* from, const CUgraphNode* to,
                         const CUgraphEdgeData* edges, size_t count) {
  if (count != 0 && (from == nullptr || to == nullptr)) return cudaErrorInvalidValue;
  for (size_t i = 0; i < count; ++i) {
    const Node* source = graph.find(from[i]);
    const Node* target = graph.find(to[i]);
    if (source == nullptr || target == nullptr || source == target) return cudaErrorInvalidValue;
    if (depends_directly(*target, from[i])) return cudaErrorInvalidValue;
  }
  for (size_t i = 0; i < count; ++i) {
    graph.find(to[i])->dependencies.push_back({from[i], edges == nullptr ? CUgraphEdgeData{} : edges[i]});
  }
  return kOk;
}

Status Graphs::remove_edges(Graph& graph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  if (count != 0 && (from == nullptr || to == nullptr)) return cudaErrorInvalidValue;
  for (size_t i = 0; i < count; ++i) {
    const Node* target = graph.find(to[i]);
    if (target == nullptr || !depends_directly(*target, from[i])) return cudaErrorInvalidValue;
  }
  for (size_t i = 0; i < count; ++i) {
    auto& own = graph.find(to[i])->dependencies;
    own.erase(std::find_if(own.begin(), own.end(), [&](const Edge& e) { return e.from == from[i]; }));
  }
  return kOk;
}

Status Graphs::instantiate(CUgraph handle, uint64_t flags, CUgraphExec* out) {
  const Graph* graph = find(handle);
  if (graph == nullptr) return cudaErrorInvalidValue;
  constexpr uint64_t kKnown = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                              CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                              CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0) return cudaErrorNotSupported;
  if ((flags & ~kKnown) != 0 || graph->has_cycle()) return cudaErrorInvalidValue;
  auto exec = std::make_unique<GraphExec>();
  exec->graph = copy(*graph, /*with_handles=*/false);
  exec->flags = flags;
  *out = execs_.add<CUgraphExec>(std::move(exec));
  return kOk;
}

Status Graphs::destroy_exec(CUgraphExec handle) {
  return execs_.take(handle) == nullptr ? cudaErrorInvalidValue : kOk;
}

Status Graphs::launch(GraphExec& exec, Stream& stream) {
  if (stream.capture != nullptr) {
    return process_.streams.submit(stream, ChildGraph{exec.graph});
  }
  // A host function in the graph may destroy the executable graph.
  const std::shared_ptr<Graph> kept = exec.graph;
  return run(*kept, stream);
}

Status Graphs::run(Graph& graph, Stream& stream) {
  for (const Node* node : graph.ordered()) {
    if (!node->enabled) continue;
    // An event wait inside a graph refers to work outside it, all of which is done.
    if (const Status s = process_.streams.submit(stream, node->operation); s != kOk) return s;
  }
  return kOk;
}

Status Graphs::update(GraphExec& exec, const Graph& graph, UpdateOutcome* outcome) {
  *outcome = {};
  const auto differ = [&](CUgraphExecUpdateResult result, CUgraphNode node) {
    *outcome = {result, node};
    return cudaErrorGraphExecUpdateFailure;
  };
  const Graph& own = *exec.graph;
  if (graph.nodes.size() != own.nodes.size())
    return differ(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr);
  // Nodes pair up in the order they were added; both sides must have the same kinds and edges.
  std::map<CUgraphNode, size_t> place, own_place;
  for (size_t i = 0; i < own.nodes.size(); ++i) {
    place[graph.nodes[i]->handle] = i;
    own_place[own.nodes[i]->handle] = i;
  }
  for (size_t i = 0; i < own.nodes.size(); ++i) {
    const Node& theirs = *graph.nodes[i];
    const Node& ours = *own.nodes[i];
    if (theirs.operation.index() != ours.operation.index()) {
      return differ(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, theirs.handle);
    }
    std::vector<size_t> their_edges, our_edges;
    for (const Edge& edge : theirs.dependencies) their_edges.push_back(place[edge.from]);
    for (const Edge& edge : ours.dependencies) our_edges.push_back(own_place[edge.from]);
    std::sort(their_edges.begin(), their_edges.end());
    std::sort(our_edges.begin(), our_edges.end());
    if (their_edges != our_edges) return differ(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, theirs.handle);
  }
  for (size_t i = 0; i < own.nodes.size(); ++i) {
    Operation operation = graph.nodes[i]->operation;
    if (auto* child = std::get_if<ChildGraph>(&operation)) adopt_child(*child, /*with_handles=*/false);
    own.nodes[i]->operation = std::move(operation);
  }
  return kOk;
}

}  // namespace sluice::cuda
