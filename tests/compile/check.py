#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles must-not-compile programs twice each and compares with what they say about themselves.

The first comment lines of a source hold its expectation:

    // expect: a sentence, or the part of it that matters
    // std: c++20            (optional; c++20 without it)

With -DBAD=0 the source must compile. With -DBAD=1 it must not, and the compiler's first error must hold the sentence.
The device front end alone is run (to PTX), which is quick and sees every static_assert.

    check.py [--nvcc PATH] [--include DIR] SOURCE...
"""
import argparse
import pathlib
import re
import subprocess
import sys


def directives(source):
    found = {}
    for line in source.read_text().splitlines():
        match = re.match(r"// (expect|std): (.*)", line)
        if match:
            found[match.group(1)] = match.group(2).strip()
    return found


def compile_source(options, source, std, bad):
    command = [options.nvcc, f"-std={std}", "-arch=sm_90a", "-ptx", "-o", "/dev/null", f"-DBAD={bad}"]
    command += [f"-I{folder}" for folder in options.include] + [str(source)]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def first_error(output):
    """The first error with its continuation lines, white space folded, or None."""
    match = re.search(r"\berror(?:\s*#[\d-]+-?\w*)?:", output)
    if not match:
        return None
    return " ".join(output[match.start():].split("\n\n")[0].split())


def check(options, source):
    expected = directives(source)
    if "expect" not in expected:
        return "has no '// expect:' line"
    std = expected.get("std", "c++20")
    good = compile_source(options, source, std, bad=0)
    if good.returncode != 0:
        return f"the good twin does not compile:\n{good.stdout[:3000]}"
    bad = compile_source(options, source, std, bad=1)
    if bad.returncode == 0:
        return "the bad program compiles"
    error = first_error(bad.stdout)
    if error is None or expected["expect"] not in error:
        return f"expected as first error: {expected['expect']}\nfirst error was: {error}\n{bad.stdout[:3000]}"
    return None


def main():
    parser = argparse.ArgumentParser(description="Checks programs that must not compile.")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("sources", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    failures = 0
    for source in options.sources:
        problem = check(options, source)
        print(f"{'FAIL' if problem else 'PASS'} {source.name}" + (f": {problem}" if problem else ""))
        failures += problem is not None
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
