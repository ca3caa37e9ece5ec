#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""CUTLASS's Hopper matrix multiplications in the CuTe DSL (examples/python/CuTeDSL of a checkout), compiled without a GPU,
run on the engine and compared with numpy: one CTA for each tile, clusters of two with multicast, and persistent.

    cute_gemm.py --sluice build/bin/sluice --cutlass CHECKOUT --folder FOLDER

The DSL's host code is not run: tensor maps and launch are described here. Exit status 77 without nvidia-cutlass-dsl."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

try:
    import numpy as np
except ImportError as absent:
    print(f"skipped: {absent}")
    sys.exit(77)

from kernel_file import KernelFile, random, run

M, N, K = 256, 256, 192
EXAMPLES = "examples/python/CuTeDSL/cute/hopper/kernel/dense_gemm"
CLASSES = {"dense": ("dense_gemm", "HopperWgmmaGemmKernel"), "cluster": ("dense_gemm", "HopperWgmmaGemmKernel"),
           "persistent": ("dense_gemm_persistent", "HopperWgmmaGemmPersistentKernel")}


def compile_here(variant: str) -> None:
    """In a process of its own, since the DSL reads where to put the PTX when it is imported."""
    import cuda.bindings.driver as driver
    import cutlass
    from cutlass import cute
    from cutlass.cute.runtime import make_fake_compact_tensor

    module, name = CLASSES[variant]
    kernel_class = getattr(__import__(module), name)
    tensors = [make_fake_compact_tensor(cutlass.Float16, (rows, columns, 1), stride_order=(1, 0, 2), assumed_align=16)
               for rows, columns in ((M, K), (N, K), (M, N))]
    cluster = (1, 1) if variant == "dense" else (2, 1)
    persistent = variant == "persistent"
    kernel = kernel_class(cutlass.Float32, (128, 128), cluster, *((1, True) if persistent else ()))
    cute.compile(kernel, *tensors, *((cutlass.Int32(4),) if persistent else ()), driver.CUstream(0))


def compiled(variant: str, cutlass: Path, folder: Path) -> str:
    dump = folder / f"{variant}.dump"
    dump.mkdir(parents=True, exist_ok=True)
    for old in dump.glob("*.ptx"):
        old.unlink()
    environment = {**os.environ, "CUTE_DSL_ARCH": "sm_90a", "CUTE_DSL_KEEP": "ptx", "CUTE_DSL_DUMP_DIR": str(dump),
                   "CUTE_DSL_DISABLE_FILE_CACHING": "1", "PYTHONPATH": str(cutlass / EXAMPLES)}
    subprocess.run([sys.executable, __file__, "--compile", variant], env=environment, check=True)
    (ptx,) = dump.glob("*.ptx")
    return ptx.read_text()


def divisor(d: int) -> list:
    """What the kernel needs to divide by d with a multiplication."""
    bits = (d - 1).bit_length()
    return [{"u32": d}, {"u32": (2**32 * (2**bits - d)) // d + 1}, {"u8": min(bits, 1)}, {"u8": max(bits - 1, 0)}]


def tensor_map(buffer: str, dims: list, box: list, swizzle: str) -> dict:
    return {"buffer": buffer, "type": "f16", "dims": dims, "box": box, "swizzle": swizzle}


def gemm(variant: str, name: str, ptx: str, grid: list) -> KernelFile:
    a, b = random((M, K), 1), random((N, K), 2)
    cluster = [1, 1, 1] if variant == "dense" else [2, 1, 1]
    # With multicast each CTA of the pair fetches one half of B's tile.
    maps = {"a": tensor_map("a", [K, M], [64, 128], "128B"),
            "b": tensor_map("b", [K, N], [64, 128 // cluster[0]], "128B"),
            "c": tensor_map("c", [N, M], [32, 64], "64B")}
    arguments = [{"tensor_map": "a"}, {"tensor_map": "b"}, {"tensor_map": "c"}, {"u8": 0}]
    if variant == "persistent":
        arguments += [divisor(1), divisor(2), divisor(1), divisor(2)]
    want = a.astype(np.float32) @ b.astype(np.float32).T
    return KernelFile(name, ptx, grid, 256 if variant == "persistent" else 128, 232448,
                      {"a": a, "b": b, "c": np.zeros((M, N), np.float16)}, arguments, {"c": (want, 0.02)}, cluster, maps)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sluice", help="the tool")
    parser.add_argument("--cutlass", type=Path, help="a checkout of CUTLASS")
    parser.add_argument("--folder", type=Path, help="where PTX and launch descriptions go")
    parser.add_argument("--compile", metavar="VARIANT", choices=CLASSES, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.compile:
        compile_here(given.compile)
        return 0
    if subprocess.run([sys.executable, "-c", "import cutlass.cute"], capture_output=True).returncode != 0:
        print("skipped: nvidia-cutlass-dsl is not installed")
        return 77
    if not (given.sluice and given.cutlass and given.folder):
        parser.error("--sluice, --cutlass and --folder are needed")
    ptx = {variant: compiled(variant, given.cutlass, given.folder) for variant in CLASSES}
    return run(given.sluice, given.folder, [
        gemm("dense", "dense", ptx["dense"], [2, 2]),
        gemm("cluster", "cluster", ptx["cluster"], [2, 2]),
        gemm("persistent", "persistent", ptx["persistent"], [2, 1, 2]),
        gemm("persistent", "persistent_two_tiles", ptx["persistent"], [2, 1, 1])])


if __name__ == "__main__":
    sys.exit(main())
