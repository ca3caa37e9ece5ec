#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles each C++ block of a Markdown file as a program of its own.

usage: readme_test.py FILE.md INCLUDE_DIRECTORY SCRATCH NVCC
"""
import re
import subprocess
import sys
from pathlib import Path


def main(arguments):
    document, include, scratch, nvcc = arguments
    blocks = re.findall(r"^```cpp\n(.*?)^```", Path(document).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    Path(scratch).mkdir(parents=True, exist_ok=True)
    failed = 0
    for number, block in enumerate(blocks, 1):
        source = Path(scratch) / f"block{number}.cu"
        source.write_text(block)
        # Layer 1 must do with C++17.
        standard = "c++20" if "sluice/ring.hpp" in block else "c++17"
        command = [nvcc, f"-std={standard}", "-arch=sm_90a", "-I", include, "-ptx", str(source), "-o", f"{source}.ptx"]
        result = subprocess.run(command, capture_output=True, text=True)
        print(f"block {number} as {standard}: {'compiles' if result.returncode == 0 else 'DOES NOT COMPILE'}")
        if result.returncode != 0:
            print(result.stdout + result.stderr)
            failed += 1
    return 1 if failed or not blocks else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
