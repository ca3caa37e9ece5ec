// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Does a CUTLASS GEMM on sluice's pipelines give the same bits in the same time as on CUTLASS's own? Both
// kernels are in this process and use the same buffers of normally distributed numbers. Outputs are compared
// bit for bit, and a sample of them with a plain dot product. Then both run in turns, and the medians of
// their times are compared.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gemm.hpp"

namespace {

constexpr char kUsage[] =
    "usage: cutlass_gemm [--m M] [--n N] [--k K] [--rounds R] [--launches L] [--tolerance PERCENT]\n"
    "  --m, --n, --k    size of the problem, multiples of 8                        (8192 8192 8192)\n"
    "  --rounds         pairs of timed samples, 0 compares the output only         (60)\n"
    "  --launches       launches in a sample                                       (4)\n"
    "  --tolerance      how far the ratio of the medians may be from 1, in percent (1)\n";

/// Exit codes: the comparison holds, it does not hold, it could not be made.
enum Exit { kHolds = 0, kFails = 1, kNotRun = 2 };

struct Options {
  int m = 8192;
  int n = 8192;
  int k = 8192;
  int rounds = 60;
  int launches = 4;
  double tolerance = 1.0;
};

[[noreturn]] void stop(std::string const& line) {
  std::fprintf(stderr, "cutlass_gemm: %s\n", line.c_str());
  std::exit(kNotRun);
}

void check(cudaError_t error, char const* what) {
  if (error != cudaSuccess) stop(std::string(what) + ": " + cudaGetErrorString(error));
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string const name = argv[i];
    if (name == "--help") {
      std::fputs(kUsage, stdout);
      std::exit(kHolds);
    }
    if (i + 1 == argc) stop("option " + name + " is unknown or has no value; see --help");
    char* end = nullptr;
    double const value = std::strtod(argv[++i], &end);
    if (*end != 0 || end == argv[i]) stop("option " + name + " takes a number, not '" + argv[i] + "'");
    int* const target = name == "--m"          ? &options.m
                        : name == "--n"        ? &options.n
                        : name == "--k"        ? &options.k
                        : name == "--rounds"   ? &options.rounds
                        : name == "--launches" ? &options.launches
                                               : nullptr;
    if (name == "--tolerance") {
      options.tolerance = value;
    } else if (target == nullptr) {
      stop("option " + name + " is unknown; see --help");
    } else {
      *target = static_cast<int>(value);
    }
  }
  for (int size : {options.m, options.n, options.k}) {
    if (size < 8 || size % 8 != 0 || size > 65536) stop("sizes are multiples of 8 up to 65536");
  }
  if (options.rounds < 0 || options.launches < 1) stop("rounds are 0 or more, launches 1 or more");
  return options;
}

__device__ std::uint32_t hash(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

/// Normally distributed numbers from a counter (Box and Muller).
__global__ void fill(__nv_bfloat16* out, std::size_t count, std::uint32_t seed) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    std::uint32_t const bits = hash(static_cast<std::uint32_t>(i) * 2 + seed);
    float const u = (static_cast<float>(bits >> 8) + 1.0f) / 16777217.0f;
    float const v = static_cast<float>(hash(bits + 0x9e3779b9u) >> 8) / 16777216.0f;
    out[i] = __float2bfloat16(sqrtf(-2.0f * logf(u)) * cosf(6.2831853f * v));
  }
}

/// Dot products of `samples` places spread over D, for comparison.
__global__ void sample_products(float* out, __nv_bfloat16 const* a, __nv_bfloat16 const* b, int samples,
                                int m, int n, int k) {
  int const s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= samples) return;
  std::size_t const row = hash(2 * s) % m;
  std::size_t const column = hash(2 * s + 1) % n;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __bfloat162float(a[row * k + i]) * __bfloat162float(b[column * k + i]);
  out[s] = sum;
}

/// The same places of D.
__global__ void sample_output(float* out, __nv_bfloat16 const* d, int samples, int m, int n) {
  int const s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= samples) return;
  std::size_t const row = hash(2 * s) % m;
  out[s] = __bfloat162float(d[row * n + hash(2 * s + 1) % n]);
}

__global__ void count_differences(unsigned long long* different, std::uint16_t const* left,
                                  std::uint16_t const* right, std::size_t count) {
  unsigned long long mine = 0;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    mine += left[i] != right[i];
  }
  if (mine != 0) atomicAdd(different, mine);
}

template <class T>
T* allocate(std::size_t count) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)), "allocating device memory");
  return static_cast<T*>(memory);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::size_t const middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Milliseconds of one launch, averaged over a sample.
double time_sample(cutlass_gemm::Gemm& gemm, int launches, cudaEvent_t start, cudaEvent_t stop_event) {
  check(cudaEventRecord(start), "recording an event");
  for (int i = 0; i < launches; ++i) {
    if (!gemm.launch(nullptr)) stop("a launch failed");
  }
  check(cudaEventRecord(stop_event), "recording an event");
  check(cudaEventSynchronize(stop_event), "running the kernel");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start, stop_event), "reading the time");
  return milliseconds / launches;
}

/// Fills D with a pattern, so that an output that was never written shows, and runs the kernel once.
void run_once(cutlass_gemm::Gemm& gemm, __nv_bfloat16* d, std::size_t count, char const* name) {
  check(cudaMemset(d, 0xff, count * sizeof(*d)), "clearing the output");
  if (!gemm.launch(nullptr)) stop(std::string("the kernel on ") + name + " could not be launched");
  check(cudaDeviceSynchronize(), name);
}

bool outputs_agree(Options const& options, __nv_bfloat16 const* a, __nv_bfloat16 const* b,
                   __nv_bfloat16 const* d, __nv_bfloat16 const* reference_d) {
  std::size_t const count = std::size_t(options.m) * options.n;
  auto* different = allocate<unsigned long long>(1);
  check(cudaMemset(different, 0, sizeof(*different)), "clearing a counter");
  count_differences<<<256, 256>>>(different, reinterpret_cast<std::uint16_t const*>(d),
                                  reinterpret_cast<std::uint16_t const*>(reference_d), count);
  constexpr int kSamples = 256;
  auto* samples = allocate<float>(2 * kSamples);
  sample_products<<<1, kSamples>>>(samples, a, b, kSamples, options.m, options.n, options.k);
  sample_output<<<1, kSamples>>>(samples + kSamples, d, kSamples, options.m, options.n);
  unsigned long long differences = 0;
  std::vector<float> values(2 * kSamples);
  check(cudaMemcpy(&differences, different, sizeof(differences), cudaMemcpyDefault), "comparing the outputs");
  check(cudaMemcpy(values.data(), samples, values.size() * sizeof(float), cudaMemcpyDefault),
        "reading samples");
  cudaFree(different);
  cudaFree(samples);

  // A sum of k products of unit normals has a deviation of sqrt(k); bf16 keeps 8 bits of it.
  int wrong = 0;
  for (int i = 0; i < kSamples; ++i) {
    float const expected = values[i];
    float const got = values[kSamples + i];
    float const bound = std::fabs(expected) / 128 + std::sqrt(static_cast<float>(options.k)) * 1e-3f;
    if (!(std::fabs(got - expected) <= bound)) ++wrong;
  }
  std::printf("output: %llu of %zu elements differ in their bits; %d of %d samples are wrong\n", differences,
              count, wrong, kSamples);
  return differences == 0 && wrong == 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options const options = parse(argc, argv);
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    stop("needs a Hopper GPU, none is visible here");
  int major = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "asking for the device");
  if (major != 9) stop("needs a Hopper GPU (compute capability 9.0)");

  std::size_t const count_d = std::size_t(options.m) * options.n;
  auto* a = allocate<__nv_bfloat16>(std::size_t(options.m) * options.k);
  auto* b = allocate<__nv_bfloat16>(std::size_t(options.n) * options.k);
  auto* d_published = allocate<__nv_bfloat16>(count_d);
  auto* d = allocate<__nv_bfloat16>(count_d);
  fill<<<256, 256>>>(a, std::size_t(options.m) * options.k, 1);
  fill<<<256, 256>>>(b, std::size_t(options.n) * options.k, 0x5bd1e995u);
  check(cudaDeviceSynchronize(), "making random numbers");

  // The first output is kept; from then on both kernels write the same buffer.
  cutlass_gemm::Problem const problem{options.m, options.n, options.k, a, b, d};
  std::unique_ptr<cutlass_gemm::Gemm> published = cutlass_gemm::make_published_gemm(problem);
  std::unique_ptr<cutlass_gemm::Gemm> sluice = cutlass_gemm::make_sluice_gemm(problem);
  if (!published || !sluice) stop("CUTLASS cannot run this problem");
  std::printf("bf16 TN GEMM %d x %d x %d, tiles 128x256x64, cooperative, clusters 2x1\n", options.m,
              options.n, options.k);
  run_once(*published, d, count_d, "CUTLASS's pipelines");
  check(cudaMemcpy(d_published, d, count_d * sizeof(*d), cudaMemcpyDefault), "keeping the output");
  run_once(*sluice, d, count_d, "sluice's pipelines");
  bool holds = outputs_agree(options, a, b, d, d_published);

  if (options.rounds > 0) {
    cudaEvent_t start{};
    cudaEvent_t end{};
    check(cudaEventCreate(&start), "making an event");
    check(cudaEventCreate(&end), "making an event");
    for (int i = 0; i < 10; ++i) {
      time_sample(*published, options.launches, start, end);
      time_sample(*sluice, options.launches, start, end);
    }
    std::vector<double> times_published;
    std::vector<double> times;
    for (int i = 0; i < options.rounds; ++i) {
      times_published.push_back(time_sample(*published, options.launches, start, end));
      times.push_back(time_sample(*sluice, options.launches, start, end));
    }
    double const operations = 2.0 * options.m * options.n * options.k;
    double const ratio = median(times) / median(times_published);
    for (bool ours : {false, true}) {
      double const ms = median(ours ? times : times_published);
      std::printf("%-9s %8.4f ms  %7.1f TFLOP/s  (median of %d samples of %d)\n",
                  ours ? "sluice" : "published", ms, operations / ms * 1e-9, options.rounds,
                  options.launches);
    }
    std::printf("ratio     %.4f (sluice / published, at most %.2f %% from 1)\n", ratio, options.tolerance);
    holds = holds && std::fabs(ratio - 1) * 100 <= options.tolerance;
  }
  std::puts(holds ? "PASS" : "FAIL");
  return holds ? kHolds : kFails;
}
