#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Scores the checker on programs with a known mistake and on their correct twins, and prints a table.

usage: score.py --tool SLUICE [--build DIR] [--only TEXT] [--options WORDS] [--include DIR] cases FOLDER
       score.py --tool SLUICE [--only TEXT] [--options WORDS] mistakes PROGRAM LIST

cases     every FOLDER/*.cu is built with -DBUG=0 and -DBUG=1 (into --build, kept there as long as it is newer than its
          source). Comments at its top say what is expected: `finding:` names, separated by slashes; `at:` lines of the
          file where one of the places must be; `optional: yes` if silence about BUG=1 is accepted too.
mistakes  PROGRAM --mistake NAME, for each line `NAME finding[/finding...] text` of LIST: one place of the finding must
          show a source line that contains the text. `PROGRAM` alone must be silent.

BUG=0 must be silent and pass; BUG=1 must give one finding of an expected name at an expected place, and nothing else.
Exit status 0 if all of it holds.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from check_report import is_silent, lines_in, run_check, source_text, told

kKey = re.compile(r"^// (\w+):\s*(.*)$")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--build", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--options", default="")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--include", default="")
    parser.add_argument("mode", choices=["cases", "mistakes"])
    parser.add_argument("what", nargs="+")
    options = parser.parse_args()
    score = Score(options)
    if options.mode == "cases":
        score.cases(Path(options.what[0]))
    else:
        score.mistakes(options.what[0], Path(options.what[1]))
    return score.finish()


class Score:
    line_tables = ["-g", "-lineinfo"]  # of the host and of the device

    def __init__(self, options):
        self.options = options
        self.silent, self.found = [], []

    def cases(self, folder):
        build = Path(self.options.build or tempfile.mkdtemp(prefix="sluice-score-"))
        build.mkdir(parents=True, exist_ok=True)
        for source in sorted(folder.glob("*.cu")):
            if self.options.only in source.stem:
                self.case(source, build)

    def case(self, source, build):
        keys = keys_of(source)
        names = [name.strip() for name in keys["finding"].split("/")]
        places = places_of(source, keys["at"])
        optional = keys.get("optional", "") == "yes"
        right = self.run([self.built(source, build, 0)])
        wrong = self.run([self.built(source, build, 1)])
        self.judge(source.stem, right, wrong, names, self.place_test(source, places), optional)

    def place_test(self, source, places):
        return lambda place: any(line in places for line in lines_in(place, source.name))

    def mistakes(self, program, table):
        right = self.run([program])
        for line in table.read_text().splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            name, names, text = line.split(maxsplit=2)
            if self.options.only in name:
                wrong = self.run([program, "--mistake", name])
                self.judge(name, right, wrong, names.split("/"), lambda place: text in source_text(place), False)

    def judge(self, name, right, wrong, names, is_expected_place, optional):
        silent = is_silent(right)
        verdict = "silent" if silent else "ALARM: " + told(right)
        diagnostics = wrong["diagnostics"]
        if not diagnostics and optional:
            found, why = True, "silent (accepted)"
        elif len(diagnostics) != 1:
            found, why = False, "NOTHING" if not diagnostics else "MORE: " + told(wrong)
        elif diagnostics[0]["name"] not in names:
            found, why = False, f"OTHER: {told(wrong)} (expected {'/'.join(names)})"
        elif is_expected_place and not any(is_expected_place(place) for place in diagnostics[0]["places"]):
            found, why = False, f"ELSEWHERE: {told(wrong)}"
        else:
            found, why = True, told(wrong)
        self.silent.append(silent)
        self.found.append(found)
        print(f"{name:34} {verdict:28} {'ok ' if found else 'BAD'} {why}", flush=True)

    def built(self, source, build, bug):
        program = build / f"{source.stem}.{'bug' if bug else 'ok'}"
        if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
            self.compile(source, bug, program)
        return str(program)

    def compile(self, source, bug, program):
        include = [f"-I{self.options.include}"] if getattr(self.options, "include", "") else []
        subprocess.run(
            [self.options.nvcc, *include, "-std=c++17", "-O2", *self.line_tables, "-cudart", "shared", "-gencode",
             "arch=compute_90a,code=compute_90a", f"-DBUG={bug}", str(source), "-o", str(program), "-lcuda"],
            check=True)

    def run(self, command):
        return run_check(self.options.tool, self.options.options, command)

    def finish(self):
        print(f"silent {sum(self.silent)} of {len(self.silent)}, found {sum(self.found)} of {len(self.found)}")
        return 0 if self.found and all(self.silent) and all(self.found) else 1


def places_of(source, listed):
    if listed != "marked":
        return {int(line) for line in listed.split()}
    return {number for number, line in enumerate(source.read_text().splitlines(), 1) if line.endswith("// at")}


def keys_of(source):
    keys = {}
    for line in source.read_text().splitlines():
        if not line.startswith("//"):
            break
        match = kKey.match(line)
        if match:
            keys[match.group(1)] = match.group(2).split("(")[0].strip()
    return keys


if __name__ == "__main__":
    sys.exit(main())
