# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""A compiled kernel with its launch description, run on the engine: what triton_kernels.py and cute_gemm.py share."""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

TYPES = {"float16": "f16", "float32": "f32", "int32": "s32", "uint8": "u8"}
SCHEDULES = [["early"], ["late"], ["shuffled", "--seed", "1"]]


@dataclass
class KernelFile:
    """PTX and all that its launch needs. `want` holds the buffers that are compared, and how far off they may be."""

    name: str
    ptx: str
    grid: list
    threads: int
    shared: int
    buffers: dict
    arguments: list
    want: dict
    cluster: list = field(default_factory=lambda: [1, 1, 1])
    tensor_maps: dict = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        """Writes NAME.ptx, NAME.json and the files that it names; returns the description's path."""
        (folder / f"{self.name}.ptx").write_text(self.ptx)
        buffers = {}
        for name, values in self.buffers.items():
            file = f"{self.name}.{name}.in"
            values.tofile(folder / file)
            buffers[name] = {"type": TYPES[values.dtype.name], "shape": list(values.shape), "fill": {"file": file}}
        for name, (values, tolerance) in self.want.items():
            file = f"{self.name}.{name}.want"
            values.astype(self.buffers[name].dtype).tofile(folder / file)
            buffers[name]["output"] = {"compare": file, "tolerance": tolerance}
        description = folder / f"{self.name}.json"
        description.write_text(json.dumps({
            "grid": self.grid, "block": self.threads, "cluster": self.cluster, "shared": self.shared,
            "buffers": buffers, "tensor_maps": self.tensor_maps, "arguments": self.arguments}, indent=1))
        return description


def run(sluice: str, folder: Path, kernels: list) -> int:
    """Runs each kernel under every schedule; prints a line for each run; returns the exit status."""
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for kernel in kernels:
        description = kernel.write(folder)
        for schedule in SCHEDULES:
            ran = subprocess.run([sluice, "run", "--copies", *schedule, folder / f"{kernel.name}.ptx",
                                  "--launch", description], capture_output=True, text=True, timeout=600)
            good = ran.returncode == 0
            failed += not good
            print("PASS" if good else "FAIL", kernel.name, *schedule)
            if not good:
                print(ran.stdout + ran.stderr, file=sys.stderr)
    print(f"{len(kernels) * len(SCHEDULES) - failed} passed, {failed} failed")
    return 1 if failed else 0


def random(shape: tuple, seed: int, dtype=np.float16) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype)
