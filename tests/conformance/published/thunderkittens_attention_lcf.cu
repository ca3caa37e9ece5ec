// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// ThunderKittens' attention on its load-compute-finish template (kernels/attention/mha_h100_lcf).
#include <chrono>

#define main published_main
#include "attention/mha_h100_lcf/mha_h100_lcf.cu"
#undef main

#include "attention.hpp"

namespace {

using namespace conformance;

template <int Width>
bool run(std::size_t heads, std::size_t positions) {
  using Template = attn_fwd_template<Width>;
  const AttentionShape shape{1, int(heads), int(heads), int(positions), int(positions), Width};
  const auto q = uniform<bf16>(shape.query_count(), 1), k = uniform<bf16>(shape.key_count(), 2),
             v = uniform<bf16>(shape.key_count(), 3);
  const HeadLayout layout = HeadLayout::heads_outside(shape.query_heads, shape.queries, Width);
  const Attention want = attention({shape, layout, layout, floats(q), floats(k), floats(v), {}});
  const DeviceArray<bf16> device_q(q), device_k(k), device_v(v), output(q.size());
  const std::size_t one = 1;
  using Queries = typename Template::layout::qo_global;
  using Keys = typename Template::layout::kv_global;
  const typename Template::layout::globals globals{Queries(output.get(), one, heads, positions, nullptr),
                                                   Queries(device_q.get(), one, heads, positions, nullptr),
                                                   Keys(device_k.get(), one, heads, positions, nullptr),
                                                   Keys(device_v.get(), one, heads, positions, nullptr)};
  constexpr int kShared = kittens::MAX_SHARED_MEMORY - 2000;
  check(cudaFuncSetAttribute(prototype::lcf::kernel<Template>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             kShared),
        "shared memory");
  prototype::lcf::kernel<Template><<<132, prototype::detail::NUM_THREADS_v<Template>, kShared>>>(globals);
  finish("kernel");
  return close(describe("attention", shape), output.read(), want.output, {0.03, 0.02});
}

}  // namespace

int main() {
  const bool good = run<64>(2, 384);
  return run<128>(2, 384) && good ? 0 : 1;
}
