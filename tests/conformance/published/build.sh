#!/usr/bin/env bash
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds the programs of this folder around other people's kernels, from a checkout of them, with the compiler flags that
# they ask for. They hold PTX alone, which is all that the engine reads; ARCH=90a builds them for a GPU.
#
#   build.sh thunderkittens CHECKOUT OUTPUT_FOLDER [NAME...]
#   build.sh flash-attention CHECKOUT CUTLASS_INCLUDE OUTPUT_FOLDER [NAME...]     minutes for each
#   build.sh deepgemm CHECKOUT CUTLASS_INCLUDE OUTPUT_FOLDER [NAME...]
#
# NAME is a program of OUTPUT_FOLDER, such as flash_attention_e4m3_128; without one all are built.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
usage() { sed -n '5,13p' "$0" >&2; exit 2; }
[ $# -ge 3 ] || usage
project=$1 checkout=$2
shift 2
code=${ARCH:+sm_$ARCH}
flags=(-O3 -w -cudart shared -gencode "arch=compute_90a,code=${code:-compute_90a}" -lineinfo -DNDEBUG
       --expt-relaxed-constexpr --expt-extended-lambda -Xcompiler=-Wno-psabi,-fno-strict-aliasing)

case $project in
  thunderkittens)
    flags+=(-std=c++20 --use_fast_math -DKITTENS_HOPPER -I "$checkout/include" -I "$checkout/prototype"
            -I "$checkout/kernels") ;;
  flash-attention)
    flags+=(-std=c++17 --use_fast_math -DCUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED -DCUTLASS_ENABLE_GDC_FOR_SM90
            -I "$checkout/hopper" -I "$1")
    shift ;;
  deepgemm)
    flags+=(-std=c++20 -I "$checkout/deep_gemm/include" -I "$1")
    shift ;;
  *) usage ;;
esac
[ $# -ge 1 ] || usage
output=$1
shift
wanted=" $* "
mkdir -p "$output"

# program NAME SOURCE [FLAG...]
program() {
  local name=$1 source=$2
  shift 2
  case $wanted in "  " | *" $name "*) ;; *) return ;; esac
  echo "compiling $name"
  nvcc "${flags[@]}" "$@" "$here/$source.cu" -o "$output/$name" -lcuda
}

case $project in
  thunderkittens)
    for kernel in gemm fp8_gemm attention attention_lcf layernorm rotary; do
      program thunderkittens_$kernel thunderkittens_$kernel
    done
    for level in 02 03 04 05 06 07 08; do
      program thunderkittens_level_$level thunderkittens_levels "-DLEVEL=\"gemm/educational_h100/level_$level.cu\""
    done ;;
  flash-attention)
    for width in 64 96 128 192 256; do
      program flash_attention_bf16_$width flash_attention_forward -DELEMENT=cutlass::bfloat16_t -DWIDTH=$width
      program flash_attention_f16_$width flash_attention_forward -DELEMENT=cutlass::half_t -DWIDTH=$width
    done
    program flash_attention_e4m3_128 flash_attention_forward -DELEMENT=cutlass::float_e4m3_t -DWIDTH=128
    program flash_attention_backward_64 flash_attention_backward ;;
  deepgemm)
    program deepgemm_bf16 deepgemm_bf16
    program deepgemm_fp8 deepgemm_fp8 ;;
esac
