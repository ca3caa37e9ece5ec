#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Compile time of async_pipeline on sluice against the same sources on CUTLASS: the folder on_cutlass/ stands in front of
# include/ and gives the same names CUTLASS's meaning. Same flags, one run, A B A B. What counts is processor time (user
# and system of the compiler and all it starts), and of it the least of all rounds, because other work on the machine
# disturbs that less than a clock. The program is what layer 1 is to it: its kernels and main.cpp, without the kernels
# with mistakes and those on layer 2.
#
#   usage: compile_time.py --cutlass INCLUDE_DIR [--nvcc NVCC] [--rounds N] [--limit RATIO]
#
# Exit status: 0 within the limit (a third), 1 above it, 77 where CUTLASS's headers are not found.
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "async_pipeline"
FLAGS = ["-O2", "-DNDEBUG", "-lineinfo", "-gencode", "arch=compute_90a,code=[compute_90a,sm_90a]",
         "--expt-relaxed-constexpr", "-w"]


def compile_once(nvcc, source, includes, folder):
    """Processor and clock seconds of one compilation."""
    standard = "-std=c++20" if source.suffix == ".cpp" else "-std=c++17"
    command = [nvcc, standard, *FLAGS, *includes, "-c", str(source), "-o", str(pathlib.Path(folder) / "object.o")]
    began = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"this does not compile: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cutlass", default=os.environ.get("SLUICE_CUTLASS_DIR", ""))
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=1 / 3)
    options = parser.parse_args()
    if not (pathlib.Path(options.cutlass) / "cutlass" / "cutlass.h").exists():
        print("skipped: CUTLASS's headers are not there; name their folder with --cutlass")
        sys.exit(77)

    own = [f"-I{ROOT / 'include'}", f"-I{ROOT / 'examples' / 'support'}"]
    sides = {
        "sluice": own,
        "CUTLASS": [f"-I{ROOT / 'bench' / 'compile_time' / 'on_cutlass'}", *own, "-isystem", options.cutlass],
    }
    programs = {
        "one kernel (3 stages, 1 CTA)": ROOT / "bench" / "compile_time" / "one_kernel.cu",
        "layer1.cu (6 kernels)": EXAMPLE / "layer1.cu",
        "layer1_cluster2.cu (6 kernels)": EXAMPLE / "layer1_cluster2.cu",
        "layer1_cluster4.cu (6 kernels)": EXAMPLE / "layer1_cluster4.cu",
        "main.cpp (the same on both)": EXAMPLE / "main.cpp",
    }
    with tempfile.TemporaryDirectory() as folder:
        for side in sides.values():  # once for the file cache
            compile_once(options.nvcc, programs["layer1.cu (6 kernels)"], side, folder)
        print(f"{'processor seconds, least of ' + str(options.rounds):34} {'sluice':>8} {'CUTLASS':>8} {'ratio':>7}")
        total = {name: 0.0 for name in sides}
        for label, source in programs.items():
            seconds = {name: [] for name in sides}
            for _ in range(options.rounds):
                for name, includes in sides.items():
                    seconds[name].append(compile_once(options.nvcc, source, includes, folder)[0])
            least = {name: min(values) for name, values in seconds.items()}
            print(f"{label:34} {least['sluice']:8.2f} {least['CUTLASS']:8.2f} "
                  f"{least['sluice'] / least['CUTLASS']:7.3f}", flush=True)
            if source.parent == EXAMPLE:
                for name in sides:
                    total[name] += least[name]
    ratio = total["sluice"] / total["CUTLASS"]
    print(f"{'async_pipeline on layer 1':34} {total['sluice']:8.2f} {total['CUTLASS']:8.2f} {ratio:7.3f}")
    print(f"limit {options.limit:.3f}: {'kept' if ratio <= options.limit else 'broken'}")
    sys.exit(0 if ratio <= options.limit else 1)


main()
