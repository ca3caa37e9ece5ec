#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# What `sluice check` costs beside `sluice run`: the same program under both, in turns. What counts is processor time
# (user and system of the tool and the program), and of it the least of all rounds, because other work on the machine
# disturbs that less than a clock; and the largest resident set. A program must pass under both and show no finding.
#
#   usage: check_cost.py --tool SLUICE [--build DIR] [--rounds N] [--limit RATIO] [COMMAND...]
#
# Without commands: the pipelines on CUTLASS's headers, a GEMM on them, stream and async_pipeline, as far as DIR has them.
# A command is one argument: a program and its options.
#
# Exit status: 0 within the limit, 1 above it, 2 if a program fails or a finding is shown, 77 if there is nothing to run.
import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = [
    "tests/cutlass_pipelines_published",
    "tests/cutlass_pipelines_sluice",
    "bench/bench_cutlass_gemm --m 512 --n 512 --k 512 --rounds 0",
    "examples/stream --check",
    "examples/async_pipeline",
]
# Below this the start of the processes is what is measured.
LEAST_SECONDS = 0.05


def measure(tool, mode, command):
    """Processor seconds and peak megabytes of one run."""
    line = [tool, mode, "-q", "--", *command]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    words = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        print(words, file=sys.stderr)
        print(f"check_cost: `{shlex.join(line)}` fails or shows a finding", file=sys.stderr)
        sys.exit(2)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=5)
    parser.add_argument("commands", nargs="*")
    options = parser.parse_args()
    commands = [shlex.split(command) for command in options.commands]
    if not commands:
        commands = [[str(options.build / program), *rest] for program, *rest in map(shlex.split, COMMANDS)]
        commands = [command for command in commands if Path(command[0]).exists()]
    if not commands:
        print("skipped: none of the programs is there; build them, or name others")
        sys.exit(77)

    print(f"{'program':48} {'run s':>8} {'check s':>8} {'ratio':>6} {'run MB':>8} {'check MB':>9}")
    total, above = {"run": 0.0, "check": 0.0}, []
    for command in commands:
        seconds = {"run": [], "check": []}
        peak = {"run": 0.0, "check": 0.0}
        for _ in range(options.rounds):
            for mode in seconds:
                spent, megabytes = measure(options.tool, mode, command)
                seconds[mode].append(spent)
                peak[mode] = max(peak[mode], megabytes)
        run, check = min(seconds["run"]), min(seconds["check"])
        name = shlex.join([Path(command[0]).name, *command[1:]])
        print(f"{name:48} {run:8.2f} {check:8.2f} {check / run:6.1f} {peak['run']:8.0f} {peak['check']:9.0f}", flush=True)
        total["run"] += run
        total["check"] += check
        if run >= LEAST_SECONDS and check > options.limit * run:
            above.append(name)
    print(f"{'all of them':48} {total['run']:8.2f} {total['check']:8.2f} {total['check'] / total['run']:6.1f}")
    for name in above:
        print(f"above {options.limit:g} times the plain run: {name}")
    sys.exit(1 if above else 0)


if __name__ == "__main__":
    main()
