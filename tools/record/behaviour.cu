// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What a GPU does where programs go wrong or look at the machine: CUDA errors of faults, special registers of
// shared memory, addresses in clusters, words of mbarriers, device properties. Prints name=value lines. Each
// case runs in a process of its own, since a fault ends the context.
//
//   nvcc -std=c++17 -arch=sm_90a -rdc=false -o behaviour behaviour.cu
//   ./behaviour            all cases
//   ./behaviour --case N   one of them
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

/// The result of a kernel that is expected to fail, under the name of the case.
void print_error(const char* name, cudaError_t launched) {
  const cudaError_t ended = cudaDeviceSynchronize();
  std::printf("%s.launch=%d %s\n", name, launched, cudaGetErrorName(launched));
  std::printf("%s.sync=%d %s\n", name, ended, cudaGetErrorName(ended));
  void* more = nullptr;
  const cudaError_t after = cudaMalloc(&more, 16);
  std::printf("%s.after=%d %s\n", name, after, cudaGetErrorName(after));
}

__global__ void do_trap() {
  asm volatile("trap;");
}
__global__ void do_brkpt() {
  asm volatile("brkpt;");
}
__global__ void do_assert(int x) {
  assert(x == 1);
}
__global__ void do_store(int* p, long long at) {
  p[at] = 1;
}
__global__ void do_load(const int* p, long long at, int* out) {
  *out = p[at];
}
__global__ void do_store_address(unsigned long long address) {
  *reinterpret_cast<int*>(address) = 1;
}
__global__ void do_load_address(unsigned long long address, int* out) {
  *out = *reinterpret_cast<int*>(address);
}
__global__ void do_shared_store(unsigned at, int* out) {
  extern __shared__ char memory[];
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(memory)) + at),
               "r"(7)
               : "memory");
  *out = memory[0];
}
__global__ void do_shared_load(unsigned at, int* out) {
  extern __shared__ char memory[];
  memory[threadIdx.x] = 1;
  unsigned value;
  asm volatile("ld.shared.u32 %0, [%1];"
               : "=r"(value)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(memory)) + at)
               : "memory");
  *out = static_cast<int>(value);
}
__global__ void do_divide(int a, int b, unsigned c, unsigned d, long long e, long long f, long long* out) {
  out[0] = a / b;
  out[1] = a % b;
  out[2] = c / d;
  out[3] = c % d;
  out[4] = e / f;
  out[5] = e % f;
  out[6] = static_cast<long long>(static_cast<unsigned long long>(e) / static_cast<unsigned long long>(f));
  out[7] = static_cast<long long>(static_cast<unsigned long long>(e) % static_cast<unsigned long long>(f));
}
__device__ __noinline__ int recurse(int n, volatile int* sink) {
  volatile int room[64];
  for (int i = 0; i < 64; ++i) room[i] = n + i;
  if (n == 0) return room[5];
  return recurse(n - 1, sink) + room[n & 63];
}
__global__ void do_recurse(int depth, int* out) {
  *out = recurse(depth, out);
}
__global__ void do_bad_barrier_count(unsigned count) {
  asm volatile("bar.sync 1, %0;" ::"r"(count) : "memory");
}
__global__ void do_mbarrier_init(unsigned at, unsigned count, unsigned long long* out) {
  __shared__ alignas(16) unsigned long long words[4];
  words[0] = words[1] = 0;
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(words)) + at;
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(count) : "memory");
  out[0] = words[0];
  out[1] = words[1];
}

// --- looking at the machine
// ---------------------------------------------------------------------------------------------

__global__ void read_machine(unsigned long long* out) {
  extern __shared__ char dynamic[];
  __shared__ int fixed[4];
  fixed[threadIdx.x & 3] = 1;
  unsigned v;
  unsigned long long w;
  int n = 0;
#define READ32(reg)                               \
  asm volatile("mov.u32 %0, " reg ";" : "=r"(v)); \
  out[n++] = v;
  READ32("%%reserved_smem_offset_begin")
  READ32("%%reserved_smem_offset_end")
  READ32("%%reserved_smem_offset_cap")
  READ32("%%total_smem_size")
  READ32("%%dynamic_smem_size")
  READ32("%%aggr_smem_size")
  READ32("%%nsmid")
  READ32("%%nwarpid")
  READ32("%%smid")
  READ32("%%warpid")
  READ32("%%laneid")
  READ32("%%cluster_ctarank")
  READ32("%%cluster_nctarank")
  READ32("%%nclusterid.x")
  out[n++] = __cvta_generic_to_shared(dynamic);
  out[n++] = __cvta_generic_to_shared(fixed);
  out[n++] = reinterpret_cast<unsigned long long>(dynamic);
  out[n++] = reinterpret_cast<unsigned long long>(fixed);
  int local = threadIdx.x;
  out[n++] = reinterpret_cast<unsigned long long>(&local);
  out[n++] = __cvta_generic_to_local(&local);
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(w));
  out[n++] = w;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(w));
  out[n++] = w;
  asm volatile("mov.b32 %0, %%envreg0;" : "=r"(v));
  out[n++] = v;
}
const char* const kMachine[] = {"reserved_smem_offset_begin",
                                "reserved_smem_offset_end",
                                "reserved_smem_offset_cap",
                                "total_smem_size",
                                "dynamic_smem_size",
                                "aggr_smem_size",
                                "nsmid",
                                "nwarpid",
                                "smid",
                                "warpid",
                                "laneid",
                                "cluster_ctarank",
                                "cluster_nctarank",
                                "nclusterid",
                                "shared_address_dynamic",
                                "shared_address_static",
                                "generic_dynamic",
                                "generic_static",
                                "generic_local",
                                "local_address",
                                "gridid",
                                "globaltimer",
                                "envreg0"};

__global__ void read_cluster(unsigned long long* out) {
  __shared__ alignas(16) int variable[4];
  variable[0] = static_cast<int>(blockIdx.x) + 100;
  unsigned rank, symbol, cvta, own, other, of_symbol, of_other;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("{ .shared .align 16 .b8 inner[16]; mov.u32 %0, inner; }" : "=r"(symbol));
  cvta = static_cast<unsigned>(__cvta_generic_to_shared(variable));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(own) : "r"(cvta), "r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(cvta), "r"(rank ^ 1));
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(of_symbol) : "r"(symbol));
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(of_other) : "r"(other));
  unsigned long long generic = reinterpret_cast<unsigned long long>(variable), mapped, generic_of_other;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(generic), "r"(rank ^ 1));
  asm volatile("cvta.shared::cluster.u64 %0, %1;"
               : "=l"(generic_of_other)
               : "l"(static_cast<unsigned long long>(other)));
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  unsigned remote;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(remote) : "r"(other) : "memory");
  unsigned plain_remote = 0;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(plain_remote) : "r"(own) : "memory");
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  unsigned long long* const mine = out + 16 * blockIdx.x;
  mine[0] = rank;
  mine[1] = symbol;
  mine[2] = cvta;
  mine[3] = own;
  mine[4] = other;
  mine[5] = of_symbol;
  mine[6] = of_other;
  mine[7] = generic;
  mine[8] = mapped;
  mine[9] = generic_of_other;
  mine[10] = remote;
  mine[11] = plain_remote;
}
const char* const kCluster[] = {"rank",
                                "symbol",
                                "cvta",
                                "mapa_own",
                                "mapa_other",
                                "rank_of_symbol",
                                "rank_of_other",
                                "generic",
                                "generic_mapa_other",
                                "cvta_cluster_of_other",
                                "load_other",
                                "plain_load_through_mapa_own"};

/// The 64-bit word of a barrier after each step.
__global__ void read_mbarrier(unsigned count, unsigned long long* out) {
  __shared__ alignas(8) unsigned long long bar;
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
  volatile unsigned long long* const word = &bar;
  unsigned long long state;
  int n = 0;
  bar = 0x1122334455667788ull;
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(count) : "memory");
  out[n++] = *word;  // init
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared.b64 [%0], 4096;" ::"r"(address) : "memory");
  out[n++] = *word;  // expect_tx 4096
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared.b64 [%0], 1024;" ::"r"(address) : "memory");
  out[n++] = *word;  // complete_tx 1024
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(address) : "memory");
  out[n++] = state;
  out[n++] = *word;  // arrive
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared.b64 [%0], 3072;" ::"r"(address) : "memory");
  out[n++] = *word;  // complete_tx 3072
  if (count > 1) {
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1], %2;"
                 : "=l"(state)
                 : "r"(address), "r"(count - 1)
                 : "memory");
    out[n++] = state;
    out[n++] = *word;  // flip
  } else {
    out[n++] = 0;
    out[n++] = *word;
  }
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared.b64 [%0], 16;" ::"r"(address) : "memory");
  out[n++] = *word;  // tx below zero
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], 16;" : "=l"(state) : "r"(address) : "memory");
  out[n++] = state;
  out[n++] = *word;  // arrive.expect_tx 16
  if (count > 2) {
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(state) : "r"(address) : "memory");
    out[n++] = state;
    out[n++] = *word;  // arrive_drop
    unsigned pending;
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
    out[n++] = pending;
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 1;"
                 : "=l"(state)
                 : "r"(address)
                 : "memory");
    out[n++] = state;
    out[n++] = *word;
  }
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(address) : "memory");
  out[n++] = *word;  // inval
}

__global__ void read_clock(unsigned long long* out) {
  unsigned long long t0, t1;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
  const long long c0 = clock64();
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t1));
  } while (t1 - t0 < 5'000'000);
  const long long c1 = clock64();
  out[0] = static_cast<unsigned long long>(c1 - c0);
  out[1] = t1 - t0;
  // Smallest step of the timer.
  unsigned long long smallest = ~0ull, last = t1;
  for (int i = 0; i < 2000; ++i) {
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    if (t != last && t - last < smallest) smallest = t - last;
    last = t;
  }
  out[2] = smallest;
}

/// How long a try_wait on a phase that never completes holds the thread.
__global__ void read_try_wait(unsigned long long* out) {
  __shared__ alignas(8) unsigned long long bar;
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address) : "memory");
  for (int i = 0; i < 6; ++i) {
    unsigned long long t0, t1;
    unsigned done;
    const unsigned hint = i < 3 ? 0 : i == 3 ? 1000u : i == 4 ? 100000u : 10000000u;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
    if (i < 3) {
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(address)
                   : "memory");
    } else {
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0, %2; selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(address), "r"(hint)
          : "memory");
    }
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t1));
    out[2 * i] = t1 - t0;
    out[2 * i + 1] = done;
  }
}

/// Which 16-bit patterns make fma.oob answer zero: how many, the least, the largest, for f16 and bf16.
__global__ void read_oob(unsigned long long* out) {
  for (int format = 0; format < 2; ++format) {
    unsigned count = 0, least = 0, largest = 0;
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
      const unsigned short a = static_cast<unsigned short>(bits), one = format == 0 ? 0x3c00 : 0x3f80;
      unsigned short d;
      if (format == 0) {
        asm volatile("fma.rn.oob.f16 %0, %1, %2, %3;" : "=h"(d) : "h"(a), "h"(one), "h"(one));
      } else {
        asm volatile("fma.rn.oob.bf16 %0, %1, %2, %3;" : "=h"(d) : "h"(a), "h"(one), "h"(one));
      }
      const bool nan = (bits & 0x7fff) > (format == 0 ? 0x7c00u : 0x7f80u);
      if (!nan || (d & 0x7fff) > (format == 0 ? 0x7c00u : 0x7f80u)) continue;
      if (count++ == 0) least = bits;
      largest = bits;
      out[3] = d;
    }
    out[4 * format] = count;
    out[4 * format + 1] = least;
    out[4 * format + 2] = largest;
  }
}

unsigned long long* device_words() {
  unsigned long long* out = nullptr;
  cudaMalloc(&out, 4096);
  cudaMemset(out, 0, 4096);
  return out;
}
std::vector<unsigned long long> fetch(const unsigned long long* words) {
  std::vector<unsigned long long> host(512);
  cudaMemcpy(host.data(), words, 4096, cudaMemcpyDeviceToHost);
  return host;
}

template <class Launch>
void faulting(const char* name, Launch launch) {
  launch();
  print_error(name, cudaGetLastError());
}

struct Item {
  const char* name;
  void (*run)(const char* name);
};

int* small_buffer() {
  int* p = nullptr;
  cudaMalloc(&p, 1024);
  return p;
}

#define FAULT(label, ...)                   \
  {                                         \
    label, [](const char* name) {           \
      int* p = small_buffer();              \
      (void)p;                              \
      faulting(name, [&] { __VA_ARGS__; }); \
    }                                       \
  }

const Item kItems[] = {
    FAULT("trap", (do_trap<<<1, 32>>>())),
    FAULT("brkpt", (do_brkpt<<<1, 32>>>())),
    FAULT("assert", (do_assert<<<1, 32>>>(2))),
    FAULT("global_store_far", (do_store<<<1, 1>>>(p, 1ll << 40))),
    FAULT("global_load_far", (do_load<<<1, 1>>>(p, 1ll << 40, p))),
    FAULT("global_store_just_behind", (do_store<<<1, 1>>>(p, 256))),
    FAULT("global_store_64k_behind", (do_store<<<1, 1>>>(p, 65536 / 4 * 64))),
    FAULT("null_store", (do_store_address<<<1, 1>>>(0))),
    FAULT("null_load", (do_load_address<<<1, 1>>>(0, p))),
    FAULT("misaligned_global_store", (do_store_address<<<1, 1>>>(reinterpret_cast<unsigned long long>(p) + 2))),
    FAULT("misaligned_global_load", (do_load_address<<<1, 1>>>(reinterpret_cast<unsigned long long>(p) + 1, p))),
    FAULT("noncanonical_store", (do_store_address<<<1, 1>>>(0x1234567812345678ull))),
    FAULT("misaligned_shared_store", (do_shared_store<<<1, 1, 1024>>>(2, p))),
    FAULT("misaligned_shared_load", (do_shared_load<<<1, 1, 1024>>>(1, p))),
    FAULT("shared_store_just_behind", (do_shared_store<<<1, 1, 1024>>>(1024, p))),
    FAULT("shared_store_4k_behind", (do_shared_store<<<1, 1, 1024>>>(1024 + 4096, p))),
    FAULT("shared_store_far", (do_shared_store<<<1, 1, 1024>>>(300 * 1024, p))),
    FAULT("shared_load_far", (do_shared_load<<<1, 1, 1024>>>(300 * 1024, p))),
    FAULT("shared_load_next_rank", (do_shared_load<<<1, 1, 1024>>>(1u << 24, p))),
    FAULT("recursion_deep", (do_recurse<<<1, 32>>>(100000, p))),
    FAULT("recursion_shallow", (do_recurse<<<1, 32>>>(2, p))),
    FAULT("mbarrier_init_misaligned", (do_mbarrier_init<<<1, 1>>>(4, 1, reinterpret_cast<unsigned long long*>(p)))),
    FAULT("mbarrier_init_zero", (do_mbarrier_init<<<1, 1>>>(0, 0, reinterpret_cast<unsigned long long*>(p)))),
    FAULT("mbarrier_init_huge", (do_mbarrier_init<<<1, 1>>>(0, 1u << 20, reinterpret_cast<unsigned long long*>(p)))),
    FAULT("barrier_count_not_of_32", (do_bad_barrier_count<<<1, 32>>>(33))),
    FAULT("barrier_count_zero", (do_bad_barrier_count<<<1, 32>>>(0))),
    FAULT("too_many_threads", (do_trap<<<1, 2048>>>())),
    FAULT("empty_grid", (do_trap<<<0, 32>>>())),
    FAULT("too_much_dynamic_shared", (do_shared_load<<<1, 1, 300 * 1024>>>(0, p))),
    FAULT("dynamic_shared_without_opt_in", (do_shared_load<<<1, 1, 100 * 1024>>>(0, p))),
    {"divide_by_zero", [](const char* name) {
       unsigned long long* out = device_words();
       do_divide<<<1, 1>>>(-7, 0, 7, 0, -9, 0, reinterpret_cast<long long*>(out));
       const auto w = fetch(out);
       const char* const what[] = {"s32_div", "s32_rem", "u32_div", "u32_rem", "s64_div", "s64_rem", "u64_div", "u64_rem"};
       for (int i = 0; i < 8; ++i) std::printf("%s.%s=0x%llx\n", name, what[i], w[i]);
     }},
    {"malloc_too_much", [](const char* name) {
       size_t free_bytes = 0, total = 0;
       cudaMemGetInfo(&free_bytes, &total);
       std::printf("%s.total=%zu\n%s.free_at_start=%zu\n", name, total, name, free_bytes);
       void* p = nullptr;
       for (const size_t bytes : {total * 2, total, size_t{1} << 62, ~size_t{0}, size_t{0}}) {
         const cudaError_t e = cudaMalloc(&p, bytes);
         std::printf("%s.%zu=%d %s pointer=%d\n", name, bytes, e, cudaGetErrorName(e), p != nullptr);
         cudaGetLastError();
         p = nullptr;
       }
     }},
    {"machine", [](const char* name) {
       unsigned long long* out = device_words();
       read_machine<<<dim3(3, 2), 64, 2048>>>(out);
       const auto w = fetch(out);
       for (size_t i = 0; i < sizeof kMachine / sizeof *kMachine; ++i) std::printf("%s.%s=0x%llx\n", name, kMachine[i], w[i]);
     }},
    {"machine_no_dynamic", [](const char* name) {
       unsigned long long* out = device_words();
       read_machine<<<1, 32>>>(out);
       const auto w = fetch(out);
       for (size_t i = 0; i < sizeof kMachine / sizeof *kMachine; ++i) std::printf("%s.%s=0x%llx\n", name, kMachine[i], w[i]);
     }},
    {"cluster", [](const char* name) {
       unsigned long long* out = device_words();
       cudaLaunchConfig_t config{};
       config.gridDim = dim3(4);
       config.blockDim = dim3(32);
       cudaLaunchAttribute attribute{};
       attribute.id = cudaLaunchAttributeClusterDimension;
       attribute.val.clusterDim.x = 2;
       attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
       config.attrs = &attribute;
       config.numAttrs = 1;
       cudaLaunchKernelEx(&config, read_cluster, out);
       const auto w = fetch(out);
       for (int cta = 0; cta < 2; ++cta) {
         for (size_t i = 0; i < sizeof kCluster / sizeof *kCluster; ++i) {
           std::printf("%s.cta%d.%s=0x%llx\n", name, cta, kCluster[i], w[16 * cta + i]);
         }
       }
     }},
    {"mbarrier", [](const char* name) {
       for (const unsigned count : {1u, 2u, 3u, 128u, 0xfffffu}) {
         unsigned long long* out = device_words();
         read_mbarrier<<<1, 1>>>(count, out);
         const auto w = fetch(out);
         std::printf("%s.count%u=", name, count);
         for (int i = 0; i < 18; ++i) std::printf("%s%016llx", i == 0 ? "" : " ", w[i]);
         std::printf("\n");
       }
     }},
    {"fma_oob", [](const char* name) {
       unsigned long long* out = device_words();
       read_oob<<<1, 1>>>(out);
       const auto w = fetch(out);
       std::printf("%s.f16_count=%llu first=%llx last=%llx\n", name, w[0], w[1], w[2]);
       std::printf("%s.bf16_count=%llu first=%llx last=%llx\n", name, w[4], w[5], w[6]);
     }},
    {"clock", [](const char* name) {
       unsigned long long* out = device_words();
       read_clock<<<1, 1>>>(out);
       const auto w = fetch(out);
       std::printf("%s.cycles=%llu\n%s.ns=%llu\n%s.globaltimer_step_ns=%llu\n", name, w[0], name, w[1], name, w[2]);
     }},
    {"try_wait", [](const char* name) {
       unsigned long long* out = device_words();
       read_try_wait<<<1, 1>>>(out);
       const auto w = fetch(out);
       const char* const what[] = {"plain1", "plain2", "plain3", "hint_1us", "hint_100us", "hint_10ms"};
       for (int i = 0; i < 6; ++i) std::printf("%s.%s_ns=%llu done=%llu\n", name, what[i], w[2 * i], w[2 * i + 1]);
     }},
    {"attributes", [](const char* name) {
       for (int i = 1; i < 160; ++i) {
         int value = 0;
         if (cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(i), 0) == cudaSuccess) {
           std::printf("%s.%d=%d\n", name, i, value);
         } else {
           cudaGetLastError();
         }
       }
     }},
    {"properties", [](const char* name) {
       cudaDeviceProp p{};
       cudaGetDeviceProperties(&p, 0);
#define PROPERTY(field) std::printf("%s." #field "=%lld\n", name, static_cast<long long>(p.field));
       std::printf("%s.name=%s\n%s.sizeof=%zu\n", name, p.name, name, sizeof p);
       PROPERTY(totalGlobalMem) PROPERTY(sharedMemPerBlock) PROPERTY(regsPerBlock) PROPERTY(warpSize) PROPERTY(memPitch)
       PROPERTY(maxThreadsPerBlock) PROPERTY(maxThreadsDim[0]) PROPERTY(maxThreadsDim[1]) PROPERTY(maxThreadsDim[2])
       PROPERTY(maxGridSize[0]) PROPERTY(maxGridSize[1]) PROPERTY(maxGridSize[2]) PROPERTY(totalConstMem) PROPERTY(major)
       PROPERTY(minor) PROPERTY(textureAlignment) PROPERTY(texturePitchAlignment) PROPERTY(multiProcessorCount)
       PROPERTY(integrated) PROPERTY(canMapHostMemory) PROPERTY(maxTexture1D) PROPERTY(maxTexture1DMipmap)
       PROPERTY(maxTexture2D[0]) PROPERTY(maxTexture2D[1]) PROPERTY(maxTexture3D[0]) PROPERTY(maxTextureCubemap)
       PROPERTY(surfaceAlignment) PROPERTY(concurrentKernels) PROPERTY(ECCEnabled) PROPERTY(pciBusID) PROPERTY(pciDeviceID)
       PROPERTY(pciDomainID) PROPERTY(tccDriver) PROPERTY(asyncEngineCount) PROPERTY(unifiedAddressing)
       PROPERTY(memoryBusWidth) PROPERTY(l2CacheSize) PROPERTY(persistingL2CacheMaxSize) PROPERTY(maxThreadsPerMultiProcessor)
       PROPERTY(streamPrioritiesSupported) PROPERTY(globalL1CacheSupported) PROPERTY(localL1CacheSupported)
       PROPERTY(sharedMemPerMultiprocessor) PROPERTY(regsPerMultiprocessor) PROPERTY(managedMemory) PROPERTY(isMultiGpuBoard)
       PROPERTY(multiGpuBoardGroupID) PROPERTY(hostNativeAtomicSupported) PROPERTY(pageableMemoryAccess)
       PROPERTY(concurrentManagedAccess) PROPERTY(computePreemptionSupported) PROPERTY(canUseHostPointerForRegisteredMem)
       PROPERTY(cooperativeLaunch) PROPERTY(sharedMemPerBlockOptin) PROPERTY(pageableMemoryAccessUsesHostPageTables)
       PROPERTY(directManagedMemAccessFromHost) PROPERTY(maxBlocksPerMultiProcessor) PROPERTY(accessPolicyMaxWindowSize)
       PROPERTY(reservedSharedMemPerBlock) PROPERTY(hostRegisterSupported) PROPERTY(sparseCudaArraySupported)
       PROPERTY(hostRegisterReadOnlySupported) PROPERTY(timelineSemaphoreInteropSupported) PROPERTY(memoryPoolsSupported)
       PROPERTY(gpuDirectRDMASupported) PROPERTY(gpuDirectRDMAFlushWritesOptions) PROPERTY(gpuDirectRDMAWritesOrdering)
       PROPERTY(memoryPoolSupportedHandleTypes) PROPERTY(deferredMappingCudaArraySupported) PROPERTY(ipcEventSupported)
       PROPERTY(clusterLaunch) PROPERTY(unifiedFunctionPointers)
       size_t limit = 0;
       cudaDeviceGetLimit(&limit, cudaLimitStackSize);
       std::printf("%s.limit_stack=%zu\n", name, limit);
       cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize);
       std::printf("%s.limit_heap=%zu\n", name, limit);
       cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize);
       std::printf("%s.limit_printf=%zu\n", name, limit);
       int driver_version = 0, runtime_version = 0, low = 0, high = 0;
       cudaDriverGetVersion(&driver_version);
       cudaRuntimeGetVersion(&runtime_version);
       cudaDeviceGetStreamPriorityRange(&low, &high);
       std::printf("%s.driver=%d\n%s.runtime=%d\n%s.priorities=%d %d\n", name, driver_version, name, runtime_version, name, low, high);
     }},
};

}  // namespace

int main(int argc, char** argv) {
  constexpr int kCount = static_cast<int>(sizeof kItems / sizeof *kItems);
  if (argc == 3 && std::strcmp(argv[1], "--case") == 0) {
    const int i = std::atoi(argv[2]);
    if (i < 0 || i >= kCount) return 2;
    alarm(60);
    kItems[i].run(kItems[i].name);
    std::fflush(stdout);
    std::_Exit(0);
  }
  for (int i = 0; i < kCount; ++i) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      execl("/proc/self/exe", argv[0], "--case", std::to_string(i).c_str(), nullptr);
      std::_Exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) std::printf("%s.signal=%d\n", kItems[i].name, WTERMSIG(status));
  }
  return 0;
}
