#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Records what NVIDIA's runtime and driver libraries export, as the symbol lists of this folder.

  record_symbols.py runtime LIBCUDART > libcudart-N.symbols
  record_symbols.py driver LIBCUDA INCLUDE_DIR > libcuda.symbols

A line is a symbol; for the driver also the CUDA version (as the API counts it, 12040 is 12.4) from which on this form
of the entry point is the one that cuGetProcAddress hands out, read from cudaTypedefs.h. The stub libcuda.so of the
toolkit is enough for the driver's list.
"""
import collections
import pathlib
import re
import subprocess
import sys

HEADER = "# SPDX-FileCopyrightText: The sluice authors\n# SPDX-License-Identifier: Apache-2.0\n"


def exported(library):
    """The functions that a library defines, without version nodes."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    fields = (line.split() for line in lines.splitlines())
    return sorted({name.split("@")[0] for _, kind, name in fields if kind in "Tti"})


def first_versions(include_dir):
    """Entry point -> the versions that brought its forms, oldest first."""
    text = "".join(p.read_text() for p in sorted(pathlib.Path(include_dir).glob("cuda*Typedefs.h")))
    versions = collections.defaultdict(set)
    for name, version, per_thread in re.findall(r"\*PFN_(cu\w+?)_v(\d+)(_pt[sd][sz])?\)", text):
        if not per_thread:
            versions[name].add(int(version))
    return {name: sorted(values) for name, values in versions.items()}


def driver_lines(library, include_dir):
    versions = first_versions(include_dir)
    forms = collections.defaultdict(list)
    symbols = exported(library)
    for symbol in symbols:
        name, number, per_thread = re.fullmatch(r"(cu\w+?)(?:_v(\d+))?(_pt[sd][sz])?", symbol).groups()
        if not per_thread:
            forms[name].append((int(number or 1), symbol))
    since = {}
    for name, entries in forms.items():
        if len(entries) != len(versions.get(name, [])):
            sys.exit(f"error: {name}: forms {entries}, versions {versions.get(name)}")
        since.update({symbol: version for (_, symbol), version in zip(sorted(entries), versions[name])})
    return [f"{symbol} {since[symbol]}" if symbol in since else symbol for symbol in symbols]


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "runtime":
        lines = exported(sys.argv[2])
    elif len(sys.argv) == 4 and sys.argv[1] == "driver":
        lines = driver_lines(sys.argv[2], sys.argv[3])
    else:
        sys.exit(__doc__)
    print(HEADER + "\n".join(lines))


if __name__ == "__main__":
    main()
