// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams, events, host functions, stream capture and graphs of the runtime API.
#include <vector>

#include "check.hpp"

__global__ void add(int* data, int value) {
  atomicAdd(data, value);
}
__global__ void multiply(int* data, int value) {
  *data *= value;
}

namespace {

int read(const int* device) {
  int value = -1;
  cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost);
  return value;
}

void streams_and_events(int* data) {
  std::puts("-- streams and events");
  cudaStream_t first = nullptr, second = nullptr;
  SHOW(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  SHOW(cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, -1));
  unsigned flags = 0;
  SHOW(cudaStreamGetFlags(first, &flags));
  SHOW_NUMBER(flags);
  int priority = 0;
  SHOW(cudaStreamGetPriority(second, &priority));
  SHOW_NUMBER(priority);
  cudaEvent_t begin = nullptr, end = nullptr, untimed = nullptr;
  SHOW(cudaEventCreate(&begin));
  SHOW(cudaEventCreate(&end));
  SHOW(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  SHOW(cudaEventQuery(begin));
  float milliseconds = -1;
  SHOW(cudaEventElapsedTime(&milliseconds, begin, end));
  (void)cudaGetLastError();
  SHOW(cudaMemset(data, 0, sizeof(int)));
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaEventRecord(begin, first));
  add<<<4, 32, 0, first>>>(data, 2);
  SHOW(cudaEventRecord(end, first));
  SHOW(cudaStreamWaitEvent(second, end, 0));
  multiply<<<1, 1, 0, second>>>(data, 3);
  SHOW(cudaStreamSynchronize(second));
  SHOW(cudaEventSynchronize(end));
  SHOW(cudaEventElapsedTime(&milliseconds, begin, end));
  SHOW_NUMBER(milliseconds > 0);
  SHOW_NUMBER(read(data));
  SHOW(cudaStreamQuery(first));
  int calls = 0;
  SHOW(cudaLaunchHostFunc(
      first, [](void* p) { *static_cast<int*>(p) += 1; }, &calls));
  SHOW(cudaStreamAddCallback(
      first, [](cudaStream_t, cudaError_t, void* p) { *static_cast<int*>(p) += 10; }, &calls, 0));
  SHOW(cudaStreamSynchronize(first));
  SHOW_NUMBER(calls);
  SHOW(cudaEventElapsedTime(&milliseconds, begin, untimed));
  (void)cudaGetLastError();
  SHOW(cudaEventDestroy(begin));
  SHOW(cudaEventDestroy(end));
  SHOW(cudaEventDestroy(untimed));
  SHOW(cudaStreamDestroy(first));
  SHOW(cudaStreamDestroy(second));
}

void capture(int* data) {
  std::puts("-- capture");
  cudaStream_t main_stream = nullptr, side = nullptr;
  cudaEvent_t fork = nullptr, join = nullptr;
  cudaStreamCreate(&main_stream);
  cudaStreamCreate(&side);
  cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
  SHOW(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureStatus status{};
  SHOW(cudaStreamIsCapturing(main_stream, &status));
  SHOW_NUMBER(status);
  SHOW(cudaMemsetAsync(data, 0, sizeof(int), main_stream));
  SHOW(cudaEventRecord(fork, main_stream));
  SHOW(cudaStreamWaitEvent(side, fork, 0));
  add<<<1, 32, 0, main_stream>>>(data, 1);
  add<<<1, 32, 0, side>>>(data, 2);
  SHOW(cudaEventRecord(join, side));
  SHOW(cudaStreamWaitEvent(main_stream, join, 0));
  multiply<<<1, 1, 0, main_stream>>>(data, 2);
  cudaGraph_t graph = nullptr;
  SHOW(cudaStreamEndCapture(main_stream, &graph));
  size_t nodes = 0, roots = 0;
  SHOW(cudaGraphGetNodes(graph, nullptr, &nodes));
  SHOW(cudaGraphGetRootNodes(graph, nullptr, &roots));
  SHOW_NUMBER(nodes * 10 + roots);
  cudaGraphExec_t exec = nullptr;
  SHOW(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) SHOW(cudaGraphLaunch(exec, main_stream));
  SHOW(cudaStreamSynchronize(main_stream));
  SHOW_NUMBER(read(data));
  SHOW(cudaGraphExecDestroy(exec));
  SHOW(cudaGraphDestroy(graph));

  std::puts("-- capture that fails");
  SHOW(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
  void* memory = nullptr;
  SHOW(cudaMalloc(&memory, 16));
  SHOW(cudaStreamEndCapture(main_stream, &graph));
  (void)cudaGetLastError();
  SHOW(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeRelaxed));
  SHOW(cudaEventRecord(fork, main_stream));
  SHOW(cudaStreamWaitEvent(side, fork, 0));
  add<<<1, 1, 0, side>>>(data, 2);
  SHOW(cudaStreamEndCapture(main_stream, &graph));
  (void)cudaGetLastError();
  SHOW(cudaStreamSynchronize(main_stream));
  SHOW(cudaStreamEndCapture(main_stream, &graph));
  (void)cudaGetLastError();
  cudaEventDestroy(fork);
  cudaEventDestroy(join);
  cudaStreamDestroy(main_stream);
  cudaStreamDestroy(side);
}

/// What a capture forked to may go before the capture ends, once it is joined back.
void capture_with_helpers(int* data) {
  std::puts("-- capture whose second stream and events go before its end");
  cudaStream_t main_stream = nullptr, side = nullptr;
  cudaEvent_t fork = nullptr, join = nullptr;
  cudaStreamCreateWithFlags(&main_stream, cudaStreamNonBlocking);
  SHOW(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
  SHOW(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
  SHOW(cudaMemsetAsync(data, 0, sizeof(int), main_stream));
  SHOW(cudaEventRecord(fork, main_stream));
  SHOW(cudaStreamWaitEvent(side, fork, 0));
  add<<<1, 32, 0, side>>>(data, 2);
  SHOW(cudaEventRecord(join, side));
  SHOW(cudaStreamWaitEvent(main_stream, join, 0));
  SHOW(cudaStreamDestroy(side));
  SHOW(cudaEventDestroy(fork));
  SHOW(cudaEventDestroy(join));
  add<<<1, 1, 0, main_stream>>>(data, 1);
  cudaGraph_t graph = nullptr;
  SHOW(cudaStreamEndCapture(main_stream, &graph));
  size_t nodes = 0;
  SHOW(cudaGraphGetNodes(graph, nullptr, &nodes));
  SHOW_NUMBER(nodes);
  cudaGraphExec_t exec = nullptr;
  SHOW(cudaGraphInstantiate(&exec, graph, 0));
  SHOW(cudaGraphLaunch(exec, main_stream));
  SHOW(cudaStreamSynchronize(main_stream));
  SHOW_NUMBER(read(data));
  SHOW(cudaGraphExecDestroy(exec));
  SHOW(cudaGraphDestroy(graph));
  SHOW(cudaStreamDestroy(main_stream));
}

/// Memory that a graph allocates and does not free: whoever has it frees it, and the graph runs again.
void graph_memory_freed_outside(int* data) {
  std::puts("-- memory of a graph that is freed outside");
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  SHOW(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  int* memory = nullptr;
  SHOW(cudaMallocAsync(&memory, sizeof(int), stream));
  SHOW(cudaMemsetAsync(memory, 0, sizeof(int), stream));
  add<<<1, 32, 0, stream>>>(memory, 3);
  SHOW(cudaMemcpyAsync(data, memory, sizeof(int), cudaMemcpyDeviceToDevice, stream));
  cudaGraph_t graph = nullptr;
  SHOW(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec = nullptr;
  SHOW(cudaGraphInstantiate(&exec, graph, 0));
  for (const bool in_order : {true, false, true}) {
    cudaMemset(data, 0, sizeof(int));
    SHOW(cudaGraphLaunch(exec, stream));
    SHOW(in_order ? cudaFreeAsync(memory, stream) : cudaStreamSynchronize(stream));
    if (!in_order) SHOW(cudaFree(memory));
    SHOW(cudaStreamSynchronize(stream));
    SHOW_NUMBER(read(data));
  }
  SHOW(cudaGraphExecDestroy(exec));
  SHOW(cudaGraphDestroy(graph));
  SHOW(cudaStreamDestroy(stream));
}

void explicit_graph(int* data) {
  std::puts("-- explicit graph");
  cudaGraph_t graph = nullptr;
  SHOW(cudaGraphCreate(&graph, 0));
  cudaMemsetParams fill{};
  fill.dst = data;
  fill.elementSize = 4;
  fill.value = 5;
  fill.width = 1;
  fill.height = 1;
  cudaGraphNode_t fill_node = nullptr, kernel_node = nullptr, host_node = nullptr, copy_node = nullptr;
  SHOW(cudaGraphAddMemsetNode(&fill_node, graph, nullptr, 0, &fill));
  int value = 7;
  void* arguments[] = {&data, &value};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(multiply);
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  SHOW(cudaGraphAddKernelNode(&kernel_node, graph, &fill_node, 1, &kernel));
  static int result = 0, called = 0;
  SHOW(cudaGraphAddMemcpyNode1D(&copy_node, graph, &kernel_node, 1, &result, data, sizeof(int),
                                cudaMemcpyDeviceToHost));
  cudaHostNodeParams host{[](void* p) { *static_cast<int*>(p) += 1; }, &called};
  SHOW(cudaGraphAddHostNode(&host_node, graph, &copy_node, 1, &host));
  cudaGraphNodeType type{};
  SHOW(cudaGraphNodeGetType(copy_node, &type));
  SHOW_NUMBER(type);
  cudaGraphExec_t exec = nullptr;
  SHOW(cudaGraphInstantiate(&exec, graph, 0));
  SHOW(cudaGraphLaunch(exec, nullptr));
  SHOW(cudaDeviceSynchronize());
  SHOW_NUMBER(result * 10 + called);
  value = 11;
  SHOW(cudaGraphExecKernelNodeSetParams(exec, kernel_node, &kernel));
  SHOW(cudaGraphLaunch(exec, nullptr));
  SHOW(cudaDeviceSynchronize());
  SHOW_NUMBER(result * 10 + called);
  value = 100;
  SHOW(cudaGraphKernelNodeSetParams(kernel_node, &kernel));
  cudaGraphExecUpdateResultInfo info{};
  SHOW(cudaGraphExecUpdate(exec, graph, &info));
  SHOW_NUMBER(info.result);
  SHOW(cudaGraphLaunch(exec, nullptr));
  SHOW(cudaDeviceSynchronize());
  SHOW_NUMBER(result * 10 + called);
  cudaGraph_t clone = nullptr;
  SHOW(cudaGraphClone(&clone, graph));
  cudaGraphNode_t twin = nullptr;
  SHOW(cudaGraphNodeFindInClone(&twin, kernel_node, clone));
  SHOW(cudaGraphDestroyNode(twin));
  SHOW(cudaGraphExecUpdate(exec, clone, &info));
  SHOW_NUMBER(info.result);
  (void)cudaGetLastError();
  SHOW(cudaGraphDestroy(clone));
  SHOW(cudaGraphExecDestroy(exec));
  SHOW(cudaGraphDestroy(graph));
}

}  // namespace

int main() {
  if (no_device()) return kSkipped;
  int* data = nullptr;
  cudaMalloc(&data, sizeof(int));
  streams_and_events(data);
  capture(data);
  capture_with_helpers(data);
  graph_memory_freed_outside(data);
  explicit_graph(data);
  SHOW(cudaFree(data));
  SHOW(cudaDeviceSynchronize());
  return 0;
}
