// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// FlashAttention-3's parameters for packed tensors of (batch, position, head, width), as its Python module
// sets them.
#pragma once

#include "attention.hpp"
#include "flash.h"

namespace conformance {

inline void set_shape(Flash_fwd_params* p, const AttentionShape& s) {
  p->b = p->b_k = s.batches;
  p->h = s.query_heads;
  p->h_k = s.key_heads;
  p->seqlen_q = s.queries;
  p->seqlen_k = s.keys;
  p->seqlen_q_rounded = (s.queries + 127) / 128 * 128;
  p->seqlen_k_rounded = (s.keys + 127) / 128 * 128;
  p->total_q = s.batches * s.queries;
  p->total_k = s.batches * s.keys;
  p->d = p->dv = p->d_rounded = p->dv_rounded = s.width;
  p->q_row_stride = p->o_row_stride = s.query_heads * s.width;
  p->k_row_stride = p->v_row_stride = s.key_heads * s.width;
  p->q_head_stride = p->k_head_stride = p->v_head_stride = p->o_head_stride = s.width;
  p->v_dim_stride = 1;
  p->q_batch_stride = p->o_batch_stride = p->q_row_stride * s.queries;
  p->k_batch_stride = p->v_batch_stride = p->k_row_stride * s.keys;
  p->scale_softmax = s.scale();
  p->p_dropout = p->rp_dropout = 1;
  p->p_dropout_in_uint8_t = 255;
  p->is_causal = s.causal;
  p->window_size_left = s.keys - 1;
  p->window_size_right = s.causal ? 0 : s.queries - 1;
  p->num_splits = 1;
  p->arch = 90;
  check(cudaDeviceGetAttribute(&p->num_sm, cudaDevAttrMultiProcessorCount, 0), "number of SMs");
}

inline void set_tensors(Flash_fwd_params* p, void* q, void* k, void* v, void* output, float* log_sum) {
  p->q_ptr = q;
  p->k_ptr = k;
  p->v_ptr = v;
  p->o_ptr = output;
  p->softmax_lse_ptr = log_sum;
}

/// The types of the host for CUTLASS's.
template <class Element>
struct HostType;
template <>
struct HostType<cutlass::bfloat16_t> {
  using type = __nv_bfloat16;
};
template <>
struct HostType<cutlass::half_t> {
  using type = __half;
};
template <>
struct HostType<cutlass::float_e4m3_t> {
  using type = __nv_fp8_e4m3;
};

template <class T>
AttentionInputs inputs(const AttentionShape& s, const std::vector<T>& q, const std::vector<T>& k,
                       const std::vector<T>& v) {
  return {s,
          HeadLayout::heads_inside(s.query_heads, s.queries, s.width),
          HeadLayout::heads_inside(s.key_heads, s.keys, s.width),
          floats(q),
          floats(k),
          floats(v),
          {}};
}

}  // namespace conformance
