#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Is the checker good on code that nobody wrote for it? Makes one-line mistakes in programs that are right, runs each under
`sluice check`, and prints a table.

usage: mutants.py --tool SLUICE --build DIR [--cutlass INCLUDE] [--nvcc NVCC] [--only TEXT] [--subset] TABLE...

The tables (see table.py) say which mistakes, and by which finding, at which line each must be told. A mutant is

  found      a finding of an expected name, with an expected line among its places, and nothing of another name (a
             header's mistake shows in every launch that uses it)
  other      something else is reported
  missed     nothing is reported
  harmless   declared so in the table by the rule that proves it, and confirmed: silent and right in the fair schedule
             and in perturbed ones
  alarm      declared harmless, and yet reported

The program without a mistake must be silent. With --subset only the mutants marked so are made. Programs that need
CUTLASS's headers are left out without --cutlass. An edit that no longer fits its file, of whichever mutant, is an error.

Exit status 0 if every mutant is found or harmless, at most one in ten harmless, and every right program silent.
"""
import argparse
import collections
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from build import Builder  # noqa: E402
from check_report import is_silent, run_check, source_text, told  # noqa: E402
from table import read_table  # noqa: E402

kRoot = Path(__file__).resolve().parents[3]
kProofSeeds = 5
kLaunchSeconds = 60
kGood = ("found", "harmless", "silent")
kColumns = ("found", "other", "missed", "harmless", "alarm", "unbuilt")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--cutlass", default="")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--only", default="")
    parser.add_argument("--subset", action="store_true")
    parser.add_argument("tables", nargs="+", type=Path)
    options = parser.parse_args()
    builder = Builder(kRoot, options.cutlass, options.nvcc, options.build)
    score = Score(options, builder)
    programs = [program for table in options.tables for program in read_table(table) if builder.can_build(program)]
    stale = [wrong for program in programs for wrong in builder.stale_edits(program)]
    if stale:
        sys.exit("\n".join(stale))
    for program in programs:
        score.program(program)
    return score.finish()


class Score:
    def __init__(self, options, builder):
        self.options, self.builder = options, builder
        self.verdicts = collections.defaultdict(collections.Counter)

    def program(self, program):
        mutants = [m for m in program.mutants if self.options.only in f"{program.name}/{m.name}"
                   and (m.subset or not self.options.subset)]
        if not mutants:
            return
        verdict, why = self.judge_right(program)
        self.tell(program, "right", "-", verdict, why)
        for mutant in mutants:
            self.tell(program, mutant.name, mutant.kind, *self.judge(program, mutant))

    def judge_right(self, program):
        built = self.builder.built(program, None)
        if built is None:
            return "unbuilt", ""
        report = self.check(built, program.run)
        return ("silent", "") if is_silent(report) else ("alarm", told(report) or "the program fails")

    def judge(self, program, mutant):
        built = self.builder.built(program, mutant)
        if built is None:
            return "unbuilt", ""
        arguments = program.run if mutant.run is None else mutant.run
        report = self.check(built, arguments)
        if mutant.harmless:
            perturbed = self.check(built, arguments, f"--seeds {kProofSeeds}")
            if is_silent(report) and is_silent(perturbed):
                return "harmless", mutant.harmless
            return "alarm", told(report) or told(perturbed) or "the program fails"
        diagnostics = report["diagnostics"]
        if not diagnostics:
            return "missed", f"the program ends with {report['program_status']}"
        first = diagnostics[0]
        places = "\n".join(source_text(place) for place in first["places"])
        if any(diagnostic["name"] not in mutant.expect for diagnostic in diagnostics):
            return "other", f"{told(report)} (expected {' '.join(mutant.expect)})"
        if not any(text in places for text in mutant.at):
            return "other", "ELSEWHERE: " + told(report)
        return "found", told(report)

    def check(self, built, arguments, options=""):
        return run_check(self.options.tool, f"--timeout {kLaunchSeconds} {options}", [str(built), *arguments])

    def tell(self, program, name, kind, verdict, why):
        self.verdicts[kind][verdict] += 1
        print(f"{program.name + '/' + name:44} {kind:8} {verdict:8} {why}", flush=True)

    def finish(self):
        right = self.verdicts.pop("-", collections.Counter())
        total = sum(self.verdicts.values(), collections.Counter())
        print(f"\n{'class':10}" + "".join(f"{column:>10}" for column in kColumns) + f"{'of':>10}")
        for kind, counts in [*sorted(self.verdicts.items()), ("all", total)]:
            print(f"{kind:10}" + "".join(f"{counts[c]:10}" for c in kColumns) + f"{sum(counts.values()):10}")
        print(f"right programs silent: {right['silent']} of {sum(right.values())}")
        made = sum(total.values())
        good = made > 0 and all(verdict in kGood for verdict in [*total, *right])
        if total["harmless"] * 10 > made and not self.options.subset and not self.options.only:
            print("more than one mutant in ten is harmless")
            good = False
        return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
