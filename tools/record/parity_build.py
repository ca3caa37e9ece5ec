#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the pack that tools/record/parity.cu runs on a GPU: writes the parity cases, assembles their modules with
ptxas, and leaves out (and lists) the forms that the assembler refuses.

    parity_build.py PARITY_PACK FOLDER [--ptxas ptxas] [--rejected FILE] [--recorded DATA]

PARITY_PACK is the program of tests/parity. With --recorded the cases of DATA are left out: a pack of what is new. FOLDER gets module_N.cubin, inputs.bin, blob.bin, manifest.txt. FILE
(default: tests/parity/data/rejected.txt) is rewritten: one case name per line. errors.txt in FOLDER says why.
"""

import argparse
import pathlib
import re
import subprocess
import sys

MARK = "// case "


def assemble(ptxas, source):
    """The assembler's complaints, empty when the module assembled."""
    target = source.with_suffix(".cubin")
    done = subprocess.run([ptxas, "-arch=sm_90a", str(source), "-o", str(target)], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr


def blamed(text, errors):
    """Names of the cases that the complaints are about, each with its complaint."""
    lines = text.splitlines()
    names = {}
    for error in errors.splitlines():
        found = re.search(r"line (\d+)", error)
        entry = re.search(r"'?(k_\w+)'?", error)
        if found:
            at = min(int(found.group(1)), len(lines)) - 1
            while at >= 0 and not lines[at].startswith(MARK):
                at -= 1
        elif entry:
            at = next((i for i, line in enumerate(lines) if f" {entry.group(1)}(" in line), 0) - 1
        else:
            continue
        if at >= 0:
            names.setdefault(lines[at][len(MARK):], error)
    return names


def without(text, names):
    """The module without these cases."""
    head, *cases = re.split(rf"(?m)^{re.escape(MARK)}", text)
    return head + "".join(MARK + case for case in cases if case.split("\n", 1)[0] not in names)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("parity_pack")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--ptxas", default="ptxas")
    root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--rejected", type=pathlib.Path, default=root / "tests/parity/data/rejected.txt")
    parser.add_argument("--recorded", type=pathlib.Path)
    options = parser.parse_args()
    write = [options.parity_pack, "write", str(options.folder)]
    if options.recorded:
        write += ["--recorded", str(options.recorded)]
    options.folder.mkdir(parents=True, exist_ok=True)
    options.rejected.parent.mkdir(parents=True, exist_ok=True)
    for old in options.folder.glob("module_*"):
        old.unlink()

    subprocess.run(write, check=True)
    rejected = {}
    for source in sorted(options.folder.glob("module_*.ptx")):
        while errors := assemble(options.ptxas, source):
            names = blamed(source.read_text(), errors)
            if not names:
                sys.exit(f"{source}: {errors}")
            rejected.update(names)
            source.write_text(without(source.read_text(), names))
    options.rejected.write_text("".join(sorted(name + "\n" for name in rejected)))
    (options.folder / "errors.txt").write_text("".join(f"{name}: {why}\n" for name, why in sorted(rejected.items())))
    print(f"{len(rejected)} refused by the assembler")
    subprocess.run(write + ["--rejected", str(options.rejected)], check=True)
    for source in options.folder.glob("module_*.ptx"):
        source.unlink()


if __name__ == "__main__":
    main()
