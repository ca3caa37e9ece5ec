// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// FlashAttention-3, forward, for one element type and width (-DELEMENT=cutlass::bfloat16_t -DWIDTH=64): full
// with fewer heads of keys, causal with a ragged end, and in clusters of two where the width has them.
#include "flash_fwd_launch_template.h"

#include "flash_attention.hpp"

namespace {

using namespace conformance;
using Element = ELEMENT;
constexpr bool kIsByte = sizeof(Element) == 1;
using Output = std::conditional_t<kIsByte, cutlass::bfloat16_t, Element>;

template <bool Causal, int ClusterSize>
bool run(AttentionShape shape) {
  using T = typename HostType<Element>::type;
  shape.causal = Causal;
  const auto q = uniform<T>(shape.query_count(), 1), k = uniform<T>(shape.key_count(), 2),
             v = uniform<T>(shape.key_count(), 3);
  const DeviceArray<T> device_q(q), device_k(k), device_v(v);
  const DeviceArray<typename HostType<Output>::type> output(shape.query_count());
  const DeviceArray<float> log_sum(shape.rows());
  const DeviceArray<int> tile_counter(1);

  Flash_fwd_params p{};
  set_shape(&p, shape);
  p.is_bf16 = std::is_same_v<Output, cutlass::bfloat16_t>;
  p.is_e4m3 = kIsByte;
  set_tensors(&p, device_q.get(), device_k.get(), device_v.get(), output.get(), log_sum.get());
  p.tile_count_semaphore = tile_counter.get();
  constexpr bool kLocal = false, kSoftcap = false, kVarlen = false, kPaged = false, kAppend = false,
                 kHasQv = false, kPackGqa = false, kSplit = false, kColumnMajorV = false;
  run_flash_fwd<90, WIDTH, WIDTH, ClusterSize, Element, Output, Causal, kLocal, kSoftcap, kVarlen, kPaged,
                kAppend, kHasQv, kPackGqa, kSplit, kColumnMajorV>(p, nullptr);
  finish("forward");

  const Attention want = attention(inputs(shape, q, k, v));
  const std::string name = describe("forward", shape) + ", clusters of " + std::to_string(ClusterSize);
  // With e4m3 the kernel rounds the weights, too, to three bits behind the leading one.
  const Tolerance allowed = kIsByte ? Tolerance{0.2, 0.05} : Tolerance{0.03, 0.02};
  const bool good = close(name, output.read(), want.output, allowed);
  return close("  its sums", log_sum.read(), want.log_sum, {0.001, 0.001}) && good;
}

}  // namespace

int main() {
  bool good = run<false, 1>({2, 2, 1, 192, 320, WIDTH});
  good = run<true, 1>({1, 2, 2, 300, 300, WIDTH}) && good;
  if constexpr (WIDTH == 128) good = run<false, 2>({1, 2, 2, 512, 256, WIDTH}) && good;
  return good ? 0 : 1;
}
