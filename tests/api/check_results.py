#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Every function of the surface that returns something else than an error code is implemented.

usage: check_results.py TOOLKIT_INCLUDE SYMBOLS ENGINE

A function that the engine does not have returns an error code, whatever its caller expects: that is right only where
the toolkit's headers declare one. SYMBOLS is a list of src/cuda/surface, ENGINE the library that the surface jumps to.
"""
import re
import subprocess
import sys
from pathlib import Path

HEADERS = ["cuda_runtime_api.h", "cuda.h", "cuda_profiler_api.h", "cudaProfiler.h", "crt/host_runtime.h"]
DECLARATION = re.compile(r"^(?:extern\s+)?([\w\s*\"]*?)\b(?:CUDARTAPI|CUDAAPI)\s+(\w+)\s*\(", re.MULTILINE)
CODES = {"cudaError_t", "CUresult"}
QUALIFIERS = {"extern", "__host__", "__cudart_builtin__", "__CUDA_DEPRECATED", "__CUDA_API_VERSION_INTERNAL", '"C"'}


def other_results(folder):
    """name -> result of the functions that return no error code, and how many functions there are."""
    found, count = {}, 0
    for header in HEADERS:
        path = Path(folder) / header
        if not path.exists():
            continue
        for result, name in DECLARATION.findall(path.read_text(errors="replace")):
            words = [word for word in result.split() if word not in QUALIFIERS]
            count += 1
            if not words or words[-1] not in CODES:
                found[name] = " ".join(words)
    return found, count


def main(folder, symbols, engine):
    listed = {line.split()[0] for line in open(symbols) if line.strip() and not line.startswith("#")}
    lines = subprocess.run(["nm", "-D", "--defined-only", engine], check=True, capture_output=True, text=True).stdout
    exports = {line.split()[2].split("@")[0] for line in lines.splitlines()}
    found, count = other_results(folder)
    if count < 500 or "cudaGetErrorName" not in found or "cudaCreateChannelDesc" not in found:
        print(f"the headers in {folder} are not read: {count} functions, {sorted(found)}")
        return 1
    missing = [name for name in sorted(found) if name in listed and f"sluice_rt_{name}" not in exports]
    for name in missing:
        print(f"{name} returns `{found[name]}`; the engine answers with an error code")
    print(f"{count} functions, {len(found)} without an error code, {len(missing)} missing")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
