// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels of CUTLASS that gemm.cu can be built as: element type, tile, cluster, schedule and tile scheduler.
#pragma once

#include <cutlass/numeric_types.h>
#include <cute/tensor.hpp>
#include <cutlass/epilogue/dispatch_policy.hpp>
#include <cutlass/gemm/dispatch_policy.hpp>
#include <cutlass/gemm/kernel/tile_scheduler.hpp>

namespace conformance {

template <int M, int N, int K>
using Extent = cute::Shape<cute::Int<M>, cute::Int<N>, cute::Int<K>>;

using Cooperative = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
using CooperativeEpilogue = cutlass::epilogue::TmaWarpSpecializedCooperative;
using Pingpong = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
using PingpongEpilogue = cutlass::epilogue::TmaWarpSpecialized;

template <class Element_, class Tile_, class Cluster_, class Schedule_, class Epilogue_,
          class Scheduler_ = void>
struct Variant {
  using Element = Element_;
  using Tile = Tile_;
  using Cluster = Cluster_;
  using Schedule = Schedule_;
  using Epilogue = Epilogue_;
  using Scheduler = Scheduler_;
};

using bf16 = cutlass::bfloat16_t;
using e4m3 = cutlass::float_e4m3_t;

struct bf16_cooperative
    : Variant<bf16, Extent<128, 128, 64>, Extent<1, 1, 1>, Cooperative, CooperativeEpilogue> {};
struct bf16_cooperative_2x1
    : Variant<bf16, Extent<128, 128, 64>, Extent<2, 1, 1>, Cooperative, CooperativeEpilogue> {};
struct bf16_cooperative_1x2
    : Variant<bf16, Extent<128, 128, 64>, Extent<1, 2, 1>, Cooperative, CooperativeEpilogue> {};
struct bf16_pingpong_2x1 : Variant<bf16, Extent<64, 128, 64>, Extent<2, 1, 1>, Pingpong, PingpongEpilogue> {};
struct bf16_pingpong_1x2 : Variant<bf16, Extent<64, 128, 64>, Extent<1, 2, 1>, Pingpong, PingpongEpilogue> {};
struct bf16_stream_k : Variant<bf16, Extent<128, 128, 64>, Extent<1, 1, 1>, Cooperative, CooperativeEpilogue,
                               cutlass::gemm::StreamKScheduler> {};
struct e4m3_cooperative
    : Variant<e4m3, Extent<128, 128, 128>, Extent<1, 2, 1>, Cooperative, CooperativeEpilogue> {};
struct e4m3_fast_pingpong
    : Variant<e4m3, Extent<64, 128, 128>, Extent<2, 1, 1>,
              cutlass::gemm::KernelTmaWarpSpecializedPingpongFP8FastAccum, PingpongEpilogue> {};

}  // namespace conformance
