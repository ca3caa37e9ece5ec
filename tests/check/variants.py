#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Scores the checker on a folder of cases (see score.py) that are changed in a way that must not change what is found.

usage: variants.py --tool SLUICE --build DIR [--only TEXT] [--variant NAME] [--clang CLANG] [--nvcc NVCC] FOLDER

renamed    functions, variables and members get other names (rename.py)
no-lines   compiled without -lineinfo: the name of the finding counts, places are lines of the PTX
permuted   the roles move to other warps: `threadIdx.x` becomes `(threadIdx.x + S) % blockDim.x`. S is 32. It is 128 where
           the program uses wgmma or setmaxnreg, whose warpgroups are four warps from a multiple of four on. Left out are
           programs in which that is no permutation of warps, or of warpgroups: blocks that are not a multiple of S or not
           larger than it, that have several dimensions, or that take the thread's number from elsewhere.
clang      compiled by clang (19 or newer), the PTX that it makes included: the name of the finding counts, since that PTX
           gives an inlined instruction the line of the innermost function, and not those of the calls

Exit status 0 if every case is told as the header of its file says.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

from rename import renamed
from score import Score

kElsewhere = re.compile(r"%tid|%warpid|cooperative_groups|threadIdx\.[yz]|threadIdx\b(?!\.)")
kBlock = re.compile(r"block \((\d+),(\d+),(\d+)\)")


class Variant(Score):
    """One way to change a case."""

    name = ""

    def __init__(self, options):
        super().__init__(options)
        self.left_out = []

    def case(self, source, build):
        text = self.changed(source, build)
        if text is None:
            self.left_out.append(source.stem)
            return
        folder = build / self.name
        folder.mkdir(parents=True, exist_ok=True)
        copy = folder / source.name
        if not copy.exists() or copy.read_text() != text:
            copy.write_text(text)
        try:
            super().case(copy, folder)
        except subprocess.CalledProcessError:
            self.left_out.append(source.stem)

    def changed(self, source, _build):
        return source.read_text()

    def finish(self):
        print(f"{self.name}: ", end="")
        status = super().finish()
        if self.left_out:
            print(f"  left out {len(self.left_out)}: {' '.join(name[:3] for name in self.left_out)}")
        return status


class Renamed(Variant):
    name = "renamed"

    def changed(self, source, _build):
        text, count = renamed(source.read_text())
        if count < 10:
            sys.exit(f"{source}: only {count} names were found, so this is no test")
        return text


class NoLines(Variant):
    name = "no-lines"
    line_tables = []

    def place_test(self, source, places):
        return None


class Permuted(Variant):
    name = "permuted"

    def changed(self, source, build):
        text = source.read_text()
        shift = 128 if re.search(r"wgmma|setmaxnreg", text) else 32
        if kElsewhere.search(text):
            return None
        plain = build / "plain"
        plain.mkdir(parents=True, exist_ok=True)
        log = subprocess.run([self.options.tool, "run", "-v", self.built(source, plain, 0)], capture_output=True,
                             text=True, check=False).stderr
        for x, y, z in {tuple(map(int, match)) for match in kBlock.findall(log)}:
            if y * z != 1 or x % shift != 0 or x <= shift:
                return None
        return text.replace("threadIdx.x", f"((threadIdx.x + {shift}u) % blockDim.x)")


class Clang(Variant):
    name = "clang"

    def place_test(self, source, places):
        return None

    def compile(self, source, bug, program):
        cuda = Path(subprocess.check_output(["which", self.options.nvcc], text=True).strip()).resolve().parent.parent
        part = program.with_suffix(program.suffix + ".o")
        subprocess.run(
            [self.options.clang, "-std=c++17", "-O2", "-gline-tables-only", "-w", "-x", "cuda", "--no-offload-new-driver",
             "--cuda-gpu-arch=sm_90a", f"--cuda-path={cuda}", "--cuda-include-ptx=all", f"-I{cuda}/include/cccl", f"-DBUG={bug}", "-c", str(source),
             "-o", str(part)],
            check=True, stderr=subprocess.DEVNULL)
        subprocess.run(["g++", str(part), "-o", str(program), f"-L{cuda}/lib64", f"-L{cuda}/lib64/stubs",
                        f"-Wl,-rpath,{cuda}/lib64", "-lcudart", "-lcuda"], check=True)


def main():
    variants = {kind.name: kind for kind in (Renamed, NoLines, Permuted, Clang)}
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("--tool", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--options", default="")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--clang", default="")
    parser.add_argument("--variant", choices=variants)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    status = 0
    for name, kind in variants.items():
        if options.variant not in (None, name) or (name == "clang" and not options.clang):
            continue
        score = kind(options)
        score.cases(options.folder)
        status |= score.finish()
    return status


if __name__ == "__main__":
    sys.exit(main())
