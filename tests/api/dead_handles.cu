// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls with handles that are null, were destroyed, or are of another kind. CUDA calls most of them
// undefined: the driver of an H200 (580.159.04) answers cudaErrorContextIsDestroyed to many of them and
// crashes at some; the engine answers with the error that the documentation has for a wrong handle. Each call
// is made in a process of its own, so that one that dies is told as well.

#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.hpp"

namespace {

__global__ void nothing() {}

constexpr char kPtx[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry nothing() { ret; }\n";

/// Of each kind one that lives and one that is destroyed.
struct Handles {
  cudaStream_t stream = nullptr, dead_stream = nullptr;
  cudaEvent_t event = nullptr, dead_event = nullptr;
  cudaGraph_t graph = nullptr, dead_graph = nullptr;
  cudaGraphNode_t node = nullptr, dead_node = nullptr, node_of_dead_graph = nullptr;
  cudaGraphExec_t exec = nullptr, dead_exec = nullptr;
  cudaMemPool_t pool = nullptr, dead_pool = nullptr;
  CUmodule dead_module = nullptr;
  CUfunction dead_function = nullptr;
  CUlibrary dead_library = nullptr;
  CUkernel dead_kernel = nullptr;
  CUcontext dead_context = nullptr;
  CUlinkState dead_link = nullptr;
  int* memory = nullptr;
};

cudaMemPool_t make_pool() {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool = nullptr;
  cudaMemPoolCreate(&pool, &properties);
  return pool;
}

void make_driver_handles(Handles& h) {
  cuModuleLoadData(&h.dead_module, kPtx);
  cuModuleGetFunction(&h.dead_function, h.dead_module, "nothing");
  cuModuleUnload(h.dead_module);
  cuLibraryLoadData(&h.dead_library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0);
  cuLibraryGetKernel(&h.dead_kernel, h.dead_library, "nothing");
  cuLibraryUnload(h.dead_library);
  cuLinkCreate(0, nullptr, nullptr, &h.dead_link);
  cuLinkDestroy(h.dead_link);
  CUcontext current = nullptr;
  cuCtxGetCurrent(&current);
#if CUDA_VERSION >= 13000
  cuCtxCreate(&h.dead_context, nullptr, 0, 0);
#else
  cuCtxCreate(&h.dead_context, 0, 0);
#endif
  cuCtxDestroy(h.dead_context);
  cuCtxSetCurrent(current);
}

Handles make() {
  Handles h;
  cudaMalloc(&h.memory, 1024);
  for (cudaStream_t* stream : {&h.stream, &h.dead_stream}) cudaStreamCreate(stream);
  for (cudaEvent_t* event : {&h.event, &h.dead_event}) cudaEventCreate(event);
  for (cudaGraph_t* graph : {&h.graph, &h.dead_graph}) cudaGraphCreate(graph, 0);
  for (cudaGraphNode_t* node : {&h.node, &h.dead_node}) cudaGraphAddEmptyNode(node, h.graph, nullptr, 0);
  cudaGraphAddEmptyNode(&h.node_of_dead_graph, h.dead_graph, nullptr, 0);
  for (cudaGraphExec_t* exec : {&h.exec, &h.dead_exec}) cudaGraphInstantiate(exec, h.graph, 0);
  h.pool = make_pool();
  h.dead_pool = make_pool();
  make_driver_handles(h);
  cudaEventRecord(h.event, h.stream);
  cudaStreamSynchronize(h.stream);

  cudaStreamDestroy(h.dead_stream);
  cudaEventDestroy(h.dead_event);
  cudaGraphDestroyNode(h.dead_node);
  cudaGraphDestroy(h.dead_graph);
  cudaGraphExecDestroy(h.dead_exec);
  cudaMemPoolDestroy(h.dead_pool);
  cudaGetLastError();
  return h;
}

struct Call {
  const char* text;
  const char* (*run)(Handles&);
};

/// A call of the runtime, and of the driver, as a line of the table.
#define RUNTIME(call)                                                            \
  Call {                                                                         \
#call, [](Handles& h) -> const char* { (void)h; return cudaGetErrorName(call); } \
  }
#define DRIVER(call)                        \
  Call {                                    \
#call, [](Handles& h) -> const char* {    \
      (void)h;                                \
      const char* name = "?";                 \
      cuGetErrorName(call, &name);            \
      return name;                            \
    } \
  }

cudaStream_t wild() {
  return reinterpret_cast<cudaStream_t>(0x1230);
}

template <class Handle>
Handle as(void* other) {
  return static_cast<Handle>(other);
}

cudaError_t launch(cudaStream_t stream) {
  nothing<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}

void host_function(void*) {}

void callback(cudaStream_t, cudaError_t, void*) {}

CUresult attribute_of(CUfunction function) {
  int value = 0;
  return cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function);
}

/// What some calls write to.
float g_milliseconds;
int g_number;
unsigned g_flags;
size_t g_count;
void* g_pointer;
cudaStreamCaptureStatus g_status;
cudaGraph_t g_graph;
cudaGraphNode_t g_node;
cudaGraphNodeType g_type;
cudaGraphExec_t g_exec;
CUfunction g_function;

const Call kCalls[] = {
    // Streams.
    RUNTIME(cudaStreamDestroy(h.dead_stream)),
    RUNTIME(cudaStreamDestroy(wild())),
    RUNTIME(cudaStreamDestroy(as<cudaStream_t>(h.event))),
    RUNTIME(cudaStreamSynchronize(h.dead_stream)),
    RUNTIME(cudaStreamSynchronize(wild())),
    RUNTIME(cudaStreamQuery(h.dead_stream)),
    RUNTIME(cudaStreamGetFlags(h.dead_stream, &g_flags)),
    RUNTIME(cudaStreamGetPriority(h.dead_stream, &g_number)),
    RUNTIME(cudaStreamWaitEvent(h.dead_stream, h.event, 0)),
    RUNTIME(cudaStreamBeginCapture(h.dead_stream, cudaStreamCaptureModeGlobal)),
    RUNTIME(cudaStreamEndCapture(h.dead_stream, &g_graph)),
    RUNTIME(cudaStreamEndCapture(h.stream, &g_graph)),
    RUNTIME(cudaStreamIsCapturing(h.dead_stream, &g_status)),
    RUNTIME(cudaMemcpyAsync(h.memory, h.memory + 64, 64, cudaMemcpyDeviceToDevice, h.dead_stream)),
    RUNTIME(cudaMemsetAsync(h.memory, 0, 64, h.dead_stream)),
    RUNTIME(cudaMallocAsync(&g_pointer, 64, h.dead_stream)),
    RUNTIME(cudaFreeAsync(h.memory, h.dead_stream)),
    RUNTIME(cudaLaunchHostFunc(h.dead_stream, host_function, nullptr)),
    RUNTIME(cudaStreamAddCallback(h.dead_stream, callback, nullptr, 0)),
    RUNTIME(launch(h.dead_stream)),
    RUNTIME(launch(wild())),
    RUNTIME(launch(as<cudaStream_t>(h.event))),
    // Events.
    RUNTIME(cudaEventDestroy(h.dead_event)),
    RUNTIME(cudaEventDestroy(as<cudaEvent_t>(h.stream))),
    RUNTIME(cudaEventRecord(h.dead_event, h.stream)),
    RUNTIME(cudaEventRecord(h.event, h.dead_stream)),
    RUNTIME(cudaEventSynchronize(h.dead_event)),
    RUNTIME(cudaEventQuery(h.dead_event)),
    RUNTIME(cudaEventQuery(nullptr)),
    RUNTIME(cudaEventElapsedTime(&g_milliseconds, h.dead_event, h.event)),
    RUNTIME(cudaEventElapsedTime(&g_milliseconds, h.event, h.dead_event)),
    RUNTIME(cudaStreamWaitEvent(h.stream, h.dead_event, 0)),
    RUNTIME(cudaStreamWaitEvent(h.stream, nullptr, 0)),
    // Graphs, their nodes, and what was instantiated.
    RUNTIME(cudaGraphDestroy(h.dead_graph)),
    RUNTIME(cudaGraphDestroy(nullptr)),
    RUNTIME(cudaGraphDestroy(as<cudaGraph_t>(h.exec))),
    RUNTIME(cudaGraphInstantiate(&g_exec, h.dead_graph, 0)),
    RUNTIME(cudaGraphInstantiate(&g_exec, nullptr, 0)),
    RUNTIME(cudaGraphGetNodes(h.dead_graph, nullptr, &g_count)),
    RUNTIME(cudaGraphClone(&g_graph, h.dead_graph)),
    RUNTIME(cudaGraphAddEmptyNode(&g_node, h.dead_graph, nullptr, 0)),
    RUNTIME(cudaGraphAddEmptyNode(&g_node, h.graph, &h.dead_node, 1)),
    RUNTIME(cudaGraphAddEmptyNode(&g_node, h.graph, &h.node_of_dead_graph, 1)),
    RUNTIME(cudaGraphAddChildGraphNode(&g_node, h.graph, nullptr, 0, h.dead_graph)),
    RUNTIME(cudaGraphDestroyNode(h.dead_node)),
    RUNTIME(cudaGraphDestroyNode(h.node_of_dead_graph)),
    RUNTIME(cudaGraphDestroyNode(nullptr)),
    RUNTIME(cudaGraphNodeGetType(h.dead_node, &g_type)),
    RUNTIME(cudaGraphNodeGetType(nullptr, &g_type)),
    RUNTIME(cudaGraphExecDestroy(h.dead_exec)),
    RUNTIME(cudaGraphExecDestroy(nullptr)),
    RUNTIME(cudaGraphExecDestroy(as<cudaGraphExec_t>(h.graph))),
    RUNTIME(cudaGraphLaunch(h.dead_exec, h.stream)),
    RUNTIME(cudaGraphLaunch(nullptr, h.stream)),
    RUNTIME(cudaGraphLaunch(h.exec, h.dead_stream)),
    RUNTIME(cudaGraphUpload(h.dead_exec, h.stream)),
    // Pools.
    RUNTIME(cudaMemPoolDestroy(h.dead_pool)),
    RUNTIME(cudaMemPoolDestroy(nullptr)),
    RUNTIME(cudaMallocFromPoolAsync(&g_pointer, 64, h.dead_pool, h.stream)),
    RUNTIME(cudaMallocFromPoolAsync(&g_pointer, 64, h.pool, h.dead_stream)),
    RUNTIME(cudaMemPoolTrimTo(h.dead_pool, 0)),
    RUNTIME(cudaDeviceSetMemPool(0, h.dead_pool)),
    // The driver's.
    DRIVER(cuModuleUnload(h.dead_module)),
    DRIVER(cuModuleUnload(nullptr)),
    DRIVER(cuModuleGetFunction(&g_function, h.dead_module, "nothing")),
    DRIVER(cuModuleGetFunction(&g_function, nullptr, "nothing")),
    DRIVER(attribute_of(h.dead_function)),
    DRIVER(attribute_of(nullptr)),
    DRIVER(cuLaunchKernel(h.dead_function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr)),
    DRIVER(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr)),
    DRIVER(cuLibraryUnload(h.dead_library)),
    DRIVER(cuLibraryUnload(nullptr)),
    DRIVER(cuKernelGetFunction(&g_function, h.dead_kernel)),
    DRIVER(cuLinkDestroy(h.dead_link)),
    DRIVER(cuCtxDestroy(h.dead_context)),
    DRIVER(cuCtxDestroy(nullptr)),
    DRIVER(cuCtxSetCurrent(h.dead_context)),
    DRIVER(cuStreamDestroy(h.dead_stream)),
    DRIVER(cuStreamDestroy(nullptr)),
    DRIVER(cuEventDestroy(h.dead_event)),
    DRIVER(cuEventDestroy(nullptr)),
    DRIVER(cuGraphDestroy(h.dead_graph)),
    DRIVER(cuGraphExecDestroy(h.dead_exec)),
    DRIVER(cuMemPoolDestroy(h.dead_pool)),
};

constexpr unsigned kLimit = 30;  ///< seconds for a call that may never return

/// Makes the call in a child and prints what came of it: an error's name, or the signal that ended the child.
/// What lives has to work still.
void make_call(const Call& call) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kLimit);
    Handles handles = make();
    std::printf("%s = ", call.text);
    std::fflush(stdout);
    std::printf("%s", call.run(handles));
    (void)cudaGetLastError();
    const bool works = launch(handles.stream) == cudaSuccess &&
                       cudaGraphLaunch(handles.exec, handles.stream) == cudaSuccess &&
                       cudaDeviceSynchronize() == cudaSuccess;
    std::printf("%s\n", works ? "" : ", and nothing works any more");
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) std::printf("signal %d\n", WTERMSIG(status));
}

/// In a child, since a process that has called CUDA gives its children nothing.
bool has_no_device() {
  const pid_t child = fork();
  if (child == 0) _exit(no_device() ? 1 : 0);
  int status = 0;
  waitpid(child, &status, 0);
  return status != 0;
}

}  // namespace

int main() {
  if (has_no_device()) return kSkipped;
  for (const Call& call : kCalls) make_call(call);
  return 0;
}
