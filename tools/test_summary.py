#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Sums up CTest runs from their JUnit files: skipped tests with their reasons, failed tests, and the closing line.

usage: test_summary.py RESULTS.xml...

Exits with 1 if a test failed, or if no test ran at all. CTest writes a test that asked to be skipped (exit code 77, or
GoogleTest's GTEST_SKIP) and a test whose program is missing in the same way, as "not run"; the second is a failure.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict


def main(paths):
    passed, failed, skipped = [], [], defaultdict(list)
    for path in paths:
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            verdict, why = judge(case)
            name = case.get("name")
            if verdict == "passed":
                passed.append(name)
            elif verdict == "skipped":
                skipped[why].append(name)
            else:
                failed.append((name, why))
    print()
    for why, names in sorted(skipped.items()):
        print(f"skipped: {why}")
        print_names(names)
    for name, why in failed:
        print(f"failed: {name} ({why})")
    num_skipped = sum(len(names) for names in skipped.values())
    if not passed and not failed and not skipped:
        print("error: no test ran", file=sys.stderr)
    print(f"{len(passed)} passed, {len(failed)} failed" + (f", {num_skipped} skipped" if num_skipped else ""))
    return 0 if (passed or skipped) and not failed else 1


def judge(case):
    """Returns ("passed" | "skipped" | "failed", reason) of one <testcase>."""
    marks = {child.tag: child.get("message", "") for child in case}
    if "skipped" in marks and marks["skipped"].startswith("SKIP_"):
        return "skipped", skip_reason(case.findtext("system-out") or "")
    if "skipped" in marks:
        return "failed", marks["skipped"] or "not run"
    if "failure" in marks or case.get("status") != "run":
        return "failed", marks.get("failure") or "its output is above"
    return "passed", ""


def skip_reason(output):
    """The sentence with which a test says why it cannot run: GoogleTest's message, else its last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for place, line in enumerate(lines[:-1]):
        if re.search(r": Skipped$", line):
            return lines[place + 1]
    # "skipped" stands before the sentence already.
    return re.sub(r"^(\S+: )?skipped[:,] *", "", lines[-1]) if lines else "it did not say why"


def print_names(names):
    for name in names[:20]:
        print(f"  {name}")
    if len(names) > 20:
        print(f"  and {len(names) - 20} more")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
