// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// ThunderKittens' attention for H100 (kernels/attention/mha_h100), forward and backward, launched as its
// PyTorch binding does it.
#include <chrono>

#define main published_main
#include "attention/mha_h100/mha_h100.cu"
#undef main

#include "attention.hpp"

namespace {

using namespace conformance;

template <auto Kernel, class Globals>
void launch(const Globals& globals, dim3 grid, int threads, int shared, const char* what) {
  check(cudaFuncSetAttribute(Kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), what);
  Kernel<<<grid, threads, shared>>>(globals);
  finish(what);
}

template <int Width, bool Causal>
bool run(unsigned query_heads, unsigned key_heads, unsigned positions) {
  const unsigned n = positions, width = Width, one = 1;
  const AttentionShape shape{1, int(query_heads), int(key_heads), int(n), int(n), Width, Causal};
  const auto q = uniform<bf16>(shape.query_count(), 1), k = uniform<bf16>(shape.key_count(), 2),
             v = uniform<bf16>(shape.key_count(), 3), gradient = uniform<bf16>(shape.query_count(), 4);
  const AttentionInputs in{shape,
                           HeadLayout::heads_outside(query_heads, n, Width),
                           HeadLayout::heads_outside(key_heads, n, Width),
                           floats(q),
                           floats(k),
                           floats(v),
                           floats(gradient)};
  const Attention want = attention(in);
  const DeviceArray<bf16> device_q(q), device_k(k), device_v(v), device_gradient(gradient), output(q.size());
  const DeviceArray<float> log_sum(shape.rows()), delta(shape.rows()), dq(q.size()), dk(k.size()),
      dv(v.size());
  std::printf("%s\n", describe("attention", shape).c_str());

  const int group = static_cast<int>(query_heads / key_heads);
  const fwd_globals<Width> forward{{device_q.get(), one, query_heads, n, width},
                                   {device_k.get(), one, key_heads, n, width},
                                   {device_v.get(), one, key_heads, n, width},
                                   {log_sum.get(), one, query_heads, one, n},
                                   {output.get(), one, query_heads, n, width},
                                   static_cast<int>(n),
                                   group};
  launch<fwd_attend_ker<Width, Causal>>(forward, dim3(n / 192, query_heads), 32 * NUM_WORKERS,
                                        kittens::MAX_SHARED_MEMORY - 1024, "forward");
  bool good = close("  output", output.read(), want.output, {0.03, 0.02});
  // The kernel stores the sums multiplied by -sqrt(width).
  std::vector<float> sums = want.log_sum;
  for (float& sum : sums) sum *= -std::sqrt(static_cast<float>(Width));
  good = close("  its sums", log_sum.read(), sums, {0.001, 0.001}) && good;

  const bwd_prep_globals<Width> preparation{{device_gradient.get(), one, query_heads, n, width},
                                            {output.get(), one, query_heads, n, width},
                                            {delta.get(), one, query_heads, one, n}};
  launch<bwd_attend_prep_ker<Width>>(preparation, dim3(n / 256, query_heads), 128,
                                     kittens::MAX_SHARED_MEMORY - 1024, "preparation");
  good = close("  delta", delta.read(), want.delta, {0.05, 0.03}) && good;

  const bwd_globals<Width> backward{{device_q.get(), one, query_heads, n, width},
                                    {device_k.get(), one, key_heads, n, width},
                                    {device_v.get(), one, key_heads, n, width},
                                    {device_gradient.get(), one, query_heads, n, width},
                                    {dq.get(), one, query_heads, n, width},
                                    {dk.get(), one, key_heads, n, width},
                                    {dv.get(), one, key_heads, n, width},
                                    {log_sum.get(), one, query_heads, one, n},
                                    {delta.get(), one, query_heads, one, n},
                                    static_cast<int>(n),
                                    group};
  launch<bwd_attend_ker<Width, Causal>>(backward, dim3(n / 128, query_heads), 32 * BWD_NUM_WORKERS,
                                        Width == 64 ? 117760 : 183296, "backward");
  good = close("  dQ", dq.read(), want.query_gradient, {0.05, 0.03}) && good;
  good = close("  dK", dk.read(), want.key_gradient, {0.05, 0.03}) && good;
  return close("  dV", dv.read(), want.value_gradient, {0.05, 0.03}) && good;
}

}  // namespace

int main() {
  bool good = run<64, false>(2, 1, 768);
  good = run<64, true>(2, 2, 768) && good;
  good = run<128, false>(1, 1, 768) && good;
  good = run<128, true>(1, 1, 768) && good;
  return good ? 0 : 1;
}
