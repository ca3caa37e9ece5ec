// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// FlashAttention-3, backward, bf16, width 64: full, and causal with fewer heads of keys. Output and sums of
// the forward direction come from the host.
#include "flash_bwd_launch_template.h"

#include "flash_attention.hpp"

namespace {

using namespace conformance;
using T = __nv_bfloat16;

template <bool Causal, bool GroupedHeads>
bool run(AttentionShape shape) {
  shape.causal = Causal;
  const auto q = uniform<T>(shape.query_count(), 1), k = uniform<T>(shape.key_count(), 2),
             v = uniform<T>(shape.key_count(), 3), gradient = uniform<T>(shape.query_count(), 4);
  AttentionInputs in = inputs(shape, q, k, v);
  in.gradient = floats(gradient);
  const Attention want = attention(in);
  const DeviceArray<T> device_q(q), device_k(k), device_v(v), device_gradient(gradient),
      output(std::vector<T>(want.output.begin(), want.output.end())), dq(q.size()), dk(k.size()),
      dv(v.size());
  const DeviceArray<float> log_sum(want.log_sum);

  Flash_bwd_params p{};
  set_shape(&p, shape);
  const std::size_t query_rows = std::size_t(shape.batches) * shape.query_heads * p.seqlen_q_rounded;
  const std::size_t key_rows = std::size_t(shape.batches) * shape.key_heads * p.seqlen_k_rounded;
  const DeviceArray<float> delta(query_rows), log2_sum(query_rows), dq_sum(query_rows * shape.width),
      dk_sum(key_rows * shape.width), dv_sum(key_rows * shape.width);
  const DeviceArray<int> dq_order(query_rows), dk_order(key_rows), dv_order(key_rows);
  p.is_bf16 = true;
  set_tensors(&p, device_q.get(), device_k.get(), device_v.get(), output.get(), log_sum.get());
  p.do_ptr = device_gradient.get();
  p.dq_ptr = dq.get();
  p.dk_ptr = dk.get();
  p.dv_ptr = dv.get();
  p.do_row_stride = p.dq_row_stride = p.q_row_stride;
  p.dk_row_stride = p.dv_row_stride = p.k_row_stride;
  p.do_head_stride = p.dq_head_stride = p.dk_head_stride = p.dv_head_stride = shape.width;
  p.do_batch_stride = p.dq_batch_stride = p.q_batch_stride;
  p.dk_batch_stride = p.dv_batch_stride = p.k_batch_stride;
  p.dsoftmax_sum = delta.get();
  p.softmax_lse_log2_ptr = log2_sum.get();
  p.dq_accum_ptr = dq_sum.get();
  p.dk_accum_ptr = dk_sum.get();
  p.dv_accum_ptr = dv_sum.get();
  p.dq_semaphore = dq_order.get();
  p.dk_semaphore = dk_order.get();
  p.dv_semaphore = dv_order.get();
  constexpr bool kLocal = false, kSoftcap = false, kVarlen = false, kDeterministic = false;
  run_flash_bwd<90, 64, 128, 128, cutlass::bfloat16_t, Causal, kLocal, kSoftcap, kVarlen, kDeterministic,
                GroupedHeads, 2, 2, true, false, false, 2, 1, 2, 2, false>(p, nullptr);
  finish("backward");

  std::printf("%s\n", describe("backward", shape).c_str());
  bool good = close("  dQ", dq.read(), want.query_gradient, {0.05, 0.03});
  good = close("  dK", dk.read(), want.key_gradient, {0.05, 0.03}) && good;
  return close("  dV", dv.read(), want.value_gradient, {0.05, 0.03}) && good;
}

}  // namespace

int main() {
  bool good = run<false, false>({1, 2, 2, 192, 320, 64});
  good = run<true, true>({1, 2, 1, 300, 300, 64}) && good;
  return good ? 0 : 1;
}
