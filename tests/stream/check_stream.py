#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Runs `stream --check` and compares its output with one that is computed here, numbers and sums alike.

usage: check_stream.py PROGRAM STAGES TILE_KIB WAY...

The program runs on a GPU, or under the command in the environment variable SLUICE_RUNNER; exit code 77 where there is
neither. The output must be the same on every machine, so it is compared as a whole.
"""
import difflib
import os
import shlex
import subprocess
import sys

kTiles = 50
kCtas = 4
kMask = (1 << 64) - 1


def random_bits(place):
    bits = (place + 1) * 0x9E3779B97F4A7C15 & kMask
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & kMask
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & kMask
    return bits ^ bits >> 31


def number(place):
    """One number of the data: eight random 16-bit numbers less their mean, times 64, and six random bits."""
    low, high = random_bits(2 * place), random_bits(2 * place + 1)
    total = sum(bits >> shift & 0xFFFF for bits in (low, high) for shift in range(0, 64, 16))
    return (total - 8 * 0xFFFF // 2) * 64 + ((low ^ high >> 7) & 63)


def expected_output(stages, tile_kib, ways):
    tile_numbers = tile_kib * 256
    sums = [0] * kCtas
    for tile in range(kTiles):
        sums[tile % kCtas] += sum(number(tile * tile_numbers + i) for i in range(tile_numbers))
    lines = [f"stream --check: {kTiles} tiles of {tile_kib} KiB, {stages} stages, {kCtas} CTAs"]
    lines += [f"cta {cta}   sum {value}" for cta, value in enumerate(sums)]
    lines += [f"total   sum {sum(sums)}", f"{'data':<9} sum equal"]
    lines += [f"{way:<9} sums equal" for way in ways]
    return lines + ["PASS (0 errors)"]


def main(program, stages, tile_kib, *ways):
    command = [*shlex.split(os.environ.get("SLUICE_RUNNER", "")), program, "--check"]
    command += ["--stages", stages, "--tile-kib", tile_kib]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode == 2 and "no CUDA device" in run.stderr and not os.environ.get("SLUICE_RUNNER"):
        print("no Hopper GPU here, and SLUICE_RUNNER is empty")
        return 77
    expected = expected_output(int(stages), int(tile_kib), ways)
    seen = run.stdout.splitlines()
    for line in difflib.unified_diff(expected, seen, "expected", "seen", lineterm=""):
        print(line)
    print(run.stderr, end="")
    print(f"exit status {run.returncode}")
    return 0 if seen == expected and run.returncode == 0 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
