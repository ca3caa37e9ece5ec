#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""`sluice check` says nothing about our own right programs, warnings included: the examples and the kernels of the tests.

    silence.py SLUICE BUILD [--without-cutlass]"""
import subprocess
import sys

PROGRAMS = ["examples/first_ring", "examples/cp_async_pipeline", "examples/async_pipeline", "examples/async_pipeline --typed",
            "examples/async_pipeline --cluster 2", "examples/async_pipeline --cluster 4", "examples/stream --check",
            "tests/ring_kernels", "tests/ring_kernels_checked", "tests/trace_kernels"]
WITH_CUTLASS = ["examples/cute_async_pipeline", "tests/cutlass_pipelines_published", "tests/cutlass_pipelines_sluice"]


def main():
    tool, build = sys.argv[1:3]
    programs = PROGRAMS + ([] if "--without-cutlass" in sys.argv[3:] else WITH_CUTLASS)
    failed = 0
    for program in programs:
        command = [tool, "check", "--quiet", "--error-on", "warning", *f"{build}/{program}".split()]
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        verdict = result.stderr.strip().splitlines()[-1:]
        print(program, *verdict, sep=": ")
        if result.returncode != 0 or not verdict or not verdict[0].startswith("verdict: no finding in 1 of 1 schedules"):
            print(result.stdout[-2000:], result.stderr[-4000:], sep="\n")
            failed += 1
    print(f"{len(programs) - failed} of {len(programs)} silent")
    return failed != 0


sys.exit(main())
