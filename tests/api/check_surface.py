#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Compares what a library of the engine exports with the symbol list of NVIDIA's: check_surface.py LIST LIBRARY.

Both directions: nothing is missing, nothing is there that the original lacks. The version node must be the one that
programs ask for, the file's name without which the loader refuses them.
"""
import pathlib
import subprocess
import sys


def main():
    symbol_list, library = sys.argv[1:]
    wanted = {line.split()[0] for line in open(symbol_list) if line.strip() and not line.startswith("#")}
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    functions = [line.split()[2] for line in lines.splitlines() if line.split()[1] in "Tti"]
    exported = {name.split("@")[0] for name in functions}
    node = pathlib.Path(library).name
    errors = [f"missing: {name}" for name in sorted(wanted - exported)]
    errors += [f"not in the original: {name}" for name in sorted(exported - wanted)]
    if node.startswith("libcudart"):
        errors += [f"not in version node {node}: {name}" for name in functions if name.split("@")[-1] != node]
    print("\n".join(errors) or f"{len(wanted)} symbols agree")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
