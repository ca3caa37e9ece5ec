// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the pack of parity kernels (tools/record/parity_build.py) on a GPU and writes what each of them put
// out: for every line of the manifest one status byte and, where it is 0, the output records. A case that
// ends the context (1) or hangs (2) is skipped by a fresh process.
//
//   nvcc -std=c++17 -arch=sm_90a -o parity parity.cu
//   ./parity PACK RECORDED
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr unsigned kThreads = 64;
constexpr size_t kScratchBytes = 64 * 1024;
constexpr unsigned kSecondsPerCase = 20;

struct Case {
  std::string module, entry;
  size_t in_stride = 0, out_stride = 0, offset = 0;
};

std::vector<Case> read_manifest(const std::string& pack) {
  std::ifstream in(pack + "/manifest.txt");
  std::vector<Case> cases;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    Case c;
    fields >> c.module >> c.entry >> c.in_stride >> c.out_stride >> c.offset;
    cases.push_back(c);
  }
  return cases;
}

std::vector<char> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

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

/// Where the child stands, for the parent.
void note_progress(const std::string& recorded, size_t next) {
  std::ofstream(recorded + ".next") << next;
}
size_t read_progress(const std::string& recorded) {
  size_t next = 0;
  std::ifstream(recorded + ".next") >> next;
  return next;
}

/// Runs cases from `first` on; returns 0 at the end, 3 when another process must go on.
int run_from(const std::string& pack, const std::string& recorded, size_t first) {
  const std::vector<Case> cases = read_manifest(pack);
  const std::vector<char> inputs = read_file(pack + "/inputs.bin"), blob = read_file(pack + "/blob.bin");
  if (cudaFree(nullptr) != cudaSuccess) return 77;
  const auto load = DRIVER(cuModuleLoadData);
  const auto find = DRIVER(cuModuleGetFunction);
  const auto launch = DRIVER(cuLaunchKernel);
  char *in = nullptr, *out = nullptr, *scratch = nullptr;
  cudaMalloc(&in, inputs.size());
  cudaMalloc(&out, 1 << 20);
  cudaMalloc(&scratch, kScratchBytes);
  cudaMemcpy(in, inputs.data(), inputs.size(), cudaMemcpyHostToDevice);
  std::FILE* const file = std::fopen(recorded.c_str(), "ab");
  std::string loaded;
  CUmodule module{};
  for (size_t i = first; i < cases.size(); ++i) {
    const Case& c = cases[i];
    note_progress(recorded, i);
    alarm(kSecondsPerCase);
    if (loaded != c.module) {
      const std::vector<char> image = read_file(pack + "/module_" + c.module + ".cubin");
      if (load(&module, image.data()) != CUDA_SUCCESS) {
        std::fprintf(stderr, "module %s does not load\n", c.module.c_str());
        return 1;
      }
      loaded = c.module;
    }
    CUfunction function{};
    char status = find(&function, module, c.entry.c_str()) == CUDA_SUCCESS ? 0 : 4;
    const size_t bytes = c.out_stride * kThreads;
    std::vector<char> result(bytes);
    if (status == 0) {
      char* record = in + c.offset;
      std::vector<char> copy = blob;
      void* arguments[] = {&record, &out, &scratch, copy.data()};
      cudaMemset(scratch, 0, kScratchBytes);
      cudaMemset(out, 0, bytes);
      const CUresult launched = launch(function, 1, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr);
      const cudaError_t ended = cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost);
      if (launched != CUDA_SUCCESS || ended != cudaSuccess) {
        std::fprintf(stderr, "%s: launch %d, %s\n", c.entry.c_str(), static_cast<int>(launched),
                     cudaGetErrorString(ended));
        status = 1;
      }
    }
    std::fwrite(&status, 1, 1, file);
    if (status == 0) std::fwrite(result.data(), 1, bytes, file);
    std::fflush(file);
    note_progress(recorded, i + 1);
    if (status == 1) return 3;
  }
  std::fclose(file);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5 && std::strcmp(argv[3], "--from") == 0)
    return run_from(argv[1], argv[2], std::strtoull(argv[4], nullptr, 10));
  if (argc != 3) {
    std::fprintf(stderr, "usage: parity PACK RECORDED\n");
    return 2;
  }
  const std::string recorded = argv[2];
  std::remove(recorded.c_str());
  const size_t count = read_manifest(argv[1]).size();
  size_t next = 0;
  while (next < count) {
    const pid_t child = fork();
    if (child == 0) {
      execl("/proc/self/exe", argv[0], argv[1], argv[2], "--from", std::to_string(next).c_str(), nullptr);
      std::_Exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    next = read_progress(recorded);
    if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3)) continue;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    std::fprintf(stderr, "case %zu was ended by signal %d\n", next, WTERMSIG(status));
    std::ofstream(recorded, std::ios::app | std::ios::binary).put(2);
    ++next;
  }
  std::remove((recorded + ".next").c_str());
  std::printf("%zu cases\n", count);
  return 0;
}
