#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels that Triton compiles for sm_90, which needs no GPU, run on the engine and compared with numpy: matrix
multiplication with tensor maps that the kernel makes itself, the same with specialised warps, persistent, and with
cp.async; attention; a row softmax; atomics; a scan and a sort.

    triton_kernels.py --sluice build/bin/sluice --folder FOLDER

Exit status 77 without Triton."""

import argparse
import sys
from pathlib import Path

try:
    import numpy as np
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
except ImportError as absent:
    print(f"skipped: {absent}")
    sys.exit(77)

from kernel_file import KernelFile, random, run


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WARPS: tl.constexpr):
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    columns = tl.cdiv(N, BN)
    row = tl.program_id(0) // columns * BM
    column = tl.program_id(0) % columns * BN
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for k in tl.range(0, tl.cdiv(K, BK), warp_specialize=WARPS):
        sums = tl.dot(a.load([row, k * BK]), b.load([column, k * BK]).T, sums)
    c.store([row, column], sums.to(tl.float16))


@triton.jit
def matmul_persistent(a_ptr, b_ptr, c_ptr, M, N, K, CTAS, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    columns = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * columns, CTAS, flatten=True):
        row = tile // columns * BM
        column = tile % columns * BN
        sums = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            sums = tl.dot(a.load([row, k * BK]), b.load([column, k * BK]).T, sums)
        c.store([row, column], sums.to(tl.float16))


@triton.jit
def matmul_pointers(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    columns = tl.cdiv(N, BN)
    rm = tl.program_id(0) // columns * BM + tl.arange(0, BM)
    rn = tl.program_id(0) % columns * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :] + k, mask=(rm[:, None] < M) & (rk[None, :] + k < K), other=0.0)
        b = tl.load(b_ptr + rn[None, :] * K + rk[:, None] + k, mask=(rn[None, :] < N) & (rk[:, None] + k < K), other=0.0)
        sums = tl.dot(a, b, sums)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], sums.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, o_ptr, N, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    queries = tl.make_tensor_descriptor(q_ptr, [N, D], [D, 1], [BM, D])
    keys = tl.make_tensor_descriptor(k_ptr, [N, D], [D, 1], [BN, D])
    values = tl.make_tensor_descriptor(v_ptr, [N, D], [D, 1], [BN, D])
    output = tl.make_tensor_descriptor(o_ptr, [N, D], [D, 1], [BM, D])
    start = tl.program_id(0) * BM
    rows = start + tl.arange(0, BM)
    q = queries.load([start, 0])
    largest = tl.full([BM], -float("inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    sums = tl.zeros([BM, D], tl.float32)
    for j in range(0, start + BM, BN):
        scores = tl.dot(q, keys.load([j, 0]).T) * scale
        scores = tl.where(rows[:, None] >= j + tl.arange(0, BN)[None, :], scores, -float("inf"))
        above = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp2(scores - above[:, None])
        shrink = tl.exp2(largest - above)
        total = total * shrink + tl.sum(weights, 1)
        sums = tl.dot(weights.to(tl.float16), values.load([j, 0]), sums * shrink[:, None])
        largest = above
    output.store([start, 0], (sums / total[:, None]).to(tl.float16))


@triton.jit
def softmax(x_ptr, y_ptr, N, B: tl.constexpr):
    row = tl.program_id(0) * N
    i = tl.arange(0, B)
    x = tl.load(x_ptr + row + i, mask=i < N, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + row + i, e / tl.sum(e, 0), mask=i < N)


@triton.jit
def atomics(x_ptr, y_ptr, N, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < N, other=0.0)
    tl.atomic_add(y_ptr, tl.sum(x, 0))
    tl.atomic_max(y_ptr + 1, tl.max(x, 0))


@triton.jit
def scan_and_sort(x_ptr, y_ptr, z_ptr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i)
    tl.store(y_ptr + i, tl.cumsum(x, 0))
    tl.store(z_ptr + i, tl.sort(x))


def compiled(name, function, constants, grid, buffers, scalars, want, **options) -> KernelFile:
    """The kernel for these buffers (in order, all aligned) and scalars; Triton adds two pointers of its own."""
    of_pointer = {"float16": "*fp16", "float32": "*fp32", "int32": "*i32"}
    types = [of_pointer[b.dtype.name] for b in buffers.values()] + ["i32" if s[0] == "u32" else "fp32" for s in scalars]
    names = [n for n in function.arg_names if n not in constants]
    source = ASTSource(
        fn=function, signature={**dict(zip(names, types)), **dict.fromkeys(constants, "constexpr")},
        constexprs=constants, attrs={(i,): [["tt.divisibility", 16]] for i in range(len(buffers))})
    kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
    arguments = [{"buffer": n} for n in buffers] + [{kind: value} for kind, value in scalars]
    scratch = kernel.metadata.global_scratch_size * grid
    if scratch:
        buffers = {**buffers, "scratch": np.zeros(scratch, np.uint8)}
    arguments += [{"buffer": "scratch"} if scratch else {"u64": 0}, {"u64": 0}]
    return KernelFile(name, kernel.asm["ptx"], [grid], 32 * kernel.metadata.num_warps, kernel.metadata.shared, buffers,
                      arguments, want)


def multiplication(name, function, constants, grid, m, n, k, more=(), **options) -> KernelFile:
    a, b = random((m, k), 1), random((n, k), 2)
    want = a.astype(np.float32) @ b.astype(np.float32).T
    return compiled(name, function, constants, grid, {"a": a, "b": b, "c": np.zeros((m, n), np.float16)},
                    [("u32", m), ("u32", n), ("u32", k), *more], {"c": (want, 0.02)}, **options)


def causal_attention(n: int, width: int) -> KernelFile:
    q, k, v = (random((n, width), seed) for seed in (1, 2, 3))
    scores = q.astype(np.float32) @ k.astype(np.float32).T / np.sqrt(width)
    scores[np.triu_indices(n, 1)] = -np.inf
    weights = np.exp(scores - scores.max(1, keepdims=True))
    want = weights / weights.sum(1, keepdims=True) @ v.astype(np.float32)
    return compiled("attention", attention, {"D": width, "BM": 128, "BN": 64}, n // 128,
                    {"q": q, "k": k, "v": v, "o": np.zeros_like(q)},
                    [("u32", n), ("f32", float(np.log2(np.e) / np.sqrt(width)))], {"o": (want, 0.01)},
                    num_warps=4, num_stages=2)


def kernels():
    tile = {"BM": 128, "BN": 128, "BK": 64}
    yield multiplication("matmul", matmul, {**tile, "WARPS": False}, 12, 384, 512, 512, num_warps=8, num_stages=3)
    yield multiplication("matmul_specialised_warps", matmul, {**tile, "WARPS": True}, 12, 384, 512, 512, num_warps=4,
                         num_stages=3)
    yield multiplication("matmul_persistent", matmul_persistent, tile, 5, 384, 512, 256, [("u32", 5)], num_warps=8,
                         num_stages=3)
    yield multiplication("matmul_pointers", matmul_pointers, {"BM": 64, "BN": 64, "BK": 32}, 64, 500, 488, 520,
                         num_warps=4, num_stages=3)
    yield causal_attention(256, 64)

    x = 4 * random((16, 1000), 1, np.float32)
    e = np.exp(x - x.max(1, keepdims=True))
    yield compiled("softmax", softmax, {"B": 1024}, 16, {"x": x, "y": np.zeros_like(x)}, [("u32", 1000)],
                   {"y": (e / e.sum(1, keepdims=True), 1e-6)}, num_warps=4)
    x = np.random.default_rng(1).integers(-8, 8, 5000).astype(np.float32)
    yield compiled("atomics", atomics, {"B": 512}, 10, {"x": x, "y": np.zeros(2, np.float32)}, [("u32", 5000)],
                   {"y": (np.array([x.sum(), x.max()]), 0)}, num_warps=4)
    x = np.random.default_rng(2).integers(-100, 100, (2, 512)).astype(np.int32)
    yield compiled("scan_and_sort", scan_and_sort, {"B": 512}, 2, {"x": x, "y": np.zeros_like(x), "z": np.zeros_like(x)},
                   [], {"y": (x.cumsum(1), 0), "z": (np.sort(x, 1), 0)}, num_warps=4)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sluice", required=True, help="the tool")
    parser.add_argument("--folder", required=True, type=Path, help="where PTX and launch descriptions go")
    given = parser.parse_args()
    return run(given.sluice, given.folder, list(kernels()))


if __name__ == "__main__":
    sys.exit(main())
