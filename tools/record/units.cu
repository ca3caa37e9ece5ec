// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the experiments of tests/machine_units on a GPU and prints what came out, one line per case: name,
// status, and the output buffers in hex. The tests replay the same cases on the engine.
//
//   nvcc -std=c++17 -arch=sm_90a -o units units.cu && ./units > all.txt
//   ./units PREFIX ...            only the cases whose names start with one of them
//   ./units --condense FILE ...   what the tests keep of such recordings (no GPU needed)
//   ./units --dump FOLDER        writes each case's PTX there instead (no GPU needed)
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "../../tests/machine_units/all_cases.hpp"
#include "../../tests/machine_units/recording.hpp"

namespace {

using namespace sluice::hardware;

template <class F>
F driver(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  if (cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found) != cudaSuccess ||
      found != cudaDriverEntryPointSuccess) {
    std::fprintf(stderr, "no driver function %s\n", name);
    std::exit(77);
  }
  return reinterpret_cast<F>(function);
}

#define DRIVER(name) driver<decltype(&name)>(#name)

CUresult encode(const MapSpec& map, uint64_t address, CUtensorMap& out) {
  static const auto tiled = DRIVER(cuTensorMapEncodeTiled);
  static const auto im2col = DRIVER(cuTensorMapEncodeIm2col);
  void* const at = reinterpret_cast<void*>(address);
  const auto type = static_cast<CUtensorMapDataType>(map.type);
  const auto interleave = static_cast<CUtensorMapInterleave>(map.interleave);
  const auto swizzle = static_cast<CUtensorMapSwizzle>(map.swizzle);
  const auto oob = static_cast<CUtensorMapFloatOOBfill>(map.oob);
  const auto* dims = reinterpret_cast<const cuuint64_t*>(map.dims);
  const auto* strides = reinterpret_cast<const cuuint64_t*>(map.strides);
  const auto l2 = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  if (map.im2col) {
    return im2col(&out, type, map.rank, at, dims, strides, map.lower, map.upper, map.channels, map.pixels,
                  map.steps, interleave, swizzle, l2, oob);
  }
  return tiled(&out, type, map.rank, at, dims, strides, map.box, map.steps, interleave, swizzle, l2, oob);
}

CUfunction load(const std::string& ptx) {
  static const auto load_data = DRIVER(cuModuleLoadData);
  static const auto get = DRIVER(cuModuleGetFunction);
  static std::map<std::string, CUfunction> loaded;
  if (const auto found = loaded.find(ptx); found != loaded.end()) return found->second;
  CUmodule module{};
  CUfunction function{};
  if (load_data(&module, ptx.c_str()) != CUDA_SUCCESS || get(&function, module, "k") != CUDA_SUCCESS)
    function = nullptr;
  loaded[ptx] = function;
  return function;
}

/// Returns false when the context is lost.
bool run(const Case& c) {
  static const auto launch = DRIVER(cuLaunchKernelEx);
  const CUfunction function = load(c.ptx);
  if (function == nullptr) {
    std::printf("%s refused\n", c.name.c_str());
    return true;
  }
  std::vector<void*> memory;
  for (const Bytes& bytes : c.buffers) {
    void* at = nullptr;
    cudaMalloc(&at, bytes.size());
    cudaMemcpy(at, bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
    memory.push_back(at);
  }
  std::vector<CUtensorMap> maps(c.maps.size());
  std::vector<uint64_t> values;
  std::vector<void*> parameters;
  values.reserve(c.arguments.size());
  bool encoded = true;
  for (const Argument& a : c.arguments) {
    if (a.kind == Argument::Map) {
      const MapSpec& map = c.maps[a.value];
      encoded &= encode(map, reinterpret_cast<uint64_t>(memory[map.buffer]) + map.offset, maps[a.value]) ==
                 CUDA_SUCCESS;
      parameters.push_back(&maps[a.value]);
      continue;
    }
    values.push_back(a.kind == Argument::Buffer ? reinterpret_cast<uint64_t>(memory[a.value]) + a.offset
                                                : a.value);
    parameters.push_back(&values.back());
  }
  if (!encoded) {
    std::printf("%s map_refused\n", c.name.c_str());
  } else {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = c.cluster;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    CUlaunchConfig config{};
    config.gridDimX = c.cluster;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = c.threads;
    config.blockDimY = config.blockDimZ = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    const CUresult launched = launch(&config, function, parameters.data(), nullptr);
    const cudaError_t ended = cudaDeviceSynchronize();
    std::printf("%s status=%d,%d", c.name.c_str(), static_cast<int>(launched), static_cast<int>(ended));
    if (ended != cudaSuccess) {
      std::printf("\n");
      std::fprintf(stderr, "%s lost the context: %s\n", c.name.c_str(), cudaGetErrorString(ended));
      return false;
    }
    for (uint32_t index : c.outputs) {
      Bytes bytes(c.buffers[index].size());
      cudaMemcpy(bytes.data(), memory[index], bytes.size(), cudaMemcpyDeviceToHost);
      std::printf(" ");
      for (uint8_t byte : bytes) std::printf("%02x", byte);
    }
    std::printf("\n");
  }
  for (void* at : memory) cudaFree(at);
  return true;
}

/// Waits for the child until it ends or makes no progress for `kPatience`; then it is killed. False when it
/// was killed.
bool wait_for(pid_t child, const volatile size_t* next, int& status) {
  constexpr int kPatience = 3000;  // times 10 ms
  size_t seen = *next;
  for (int idle = 0; idle < kPatience; ++idle) {
    if (waitpid(child, &status, WNOHANG) == child) return true;
    if (*next != seen) idle = 0;
    seen = *next;
    usleep(10'000);
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return false;
}

/// Runs the cases from `*next` on, until one loses the context.
[[noreturn]] void run_cases(const std::vector<Case>& cases, volatile size_t* next) {
  if (const cudaError_t status = cudaFree(nullptr); status != cudaSuccess) {
    std::fprintf(stderr, "no GPU: %s\n", cudaGetErrorString(status));
    _exit(77);
  }
  while (*next < cases.size()) {
    const bool goes_on = run(cases[*next]);
    std::fflush(stdout);
    *next = *next + 1;
    if (!goes_on) break;
  }
  _exit(0);
}

std::vector<Case> chosen_cases(int count, char** prefixes) {
  std::vector<Case> chosen;
  for (Case& c : all_cases()) {
    bool wanted = count == 0;
    for (int i = 0; i < count; ++i) wanted |= c.name.rfind(prefixes[i], 0) == 0;
    if (wanted) chosen.push_back(std::move(c));
  }
  return chosen;
}

void dump(const std::string& folder) {
  for (const Case& c : all_cases()) {
    std::string name = c.name;
    for (char& letter : name) letter = letter == '/' ? '-' : letter;
    std::ofstream(folder + "/" + name + ".ptx") << c.ptx;
  }
}

/// Prints the recordings in the order of the cases, as data/units.txt of the tests has them. Of a case that
/// several files hold the last one counts.
void condense(int count, char** files) {
  std::map<std::string, std::string> lines;
  for (int i = 0; i < count; ++i) {
    std::ifstream file(files[i]);
    for (std::string line; std::getline(file, line);) lines[line.substr(0, line.find(' '))] = line;
  }
  for (const Case& c : all_cases()) {
    const auto found = lines.find(c.name);
    if (found == lines.end()) continue;
    std::istringstream words(found->second);
    std::string name, status;
    words >> name >> status;
    std::printf("%s %s", name.c_str(), status.c_str());
    size_t index = 0;
    for (std::string word; words >> word; ++index)
      std::printf(" %s", condensed(c, index, bytes_of_hex(word)).c_str());
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "--condense") {
    condense(argc - 2, argv + 2);
    return 0;
  }
  if (argc == 3 && std::string(argv[1]) == "--dump") {
    dump(argv[2]);
    return 0;
  }
  const std::vector<Case> cases = chosen_cases(argc - 1, argv + 1);
  // Cases run in a child process until one loses the context, hangs or ends the process; a fresh child goes
  // on behind it. The parent never touches the GPU.
  void* const shared =
      mmap(nullptr, sizeof(size_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  auto* const next = static_cast<volatile size_t*>(shared);
  while (*next < cases.size()) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) run_cases(cases, next);
    int status = 0;
    const bool ended = wait_for(child, next, status);
    if (ended && WIFEXITED(status) && WEXITSTATUS(status) == 77) return 77;
    if (!ended || WIFSIGNALED(status)) {
      std::printf("%s %s\n", cases[*next].name.c_str(), ended ? "ended_the_process" : "hung");
      *next = *next + 1;
    }
  }
  std::fprintf(stderr, "%zu cases\n", cases.size());
  return 0;
}
