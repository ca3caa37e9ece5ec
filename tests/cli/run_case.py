#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a command line case: run_case.py CASE --tool SLUICE --programs FOLDER [--bless]

A case file has a sentence as a comment, then `key: value` lines, then the expected outputs:

  # What this shows.
  run: sluice run {programs}/cli_ok        one command line; {tool}, {programs}, {here} and {tmp} are paths
  needs: cli_ok                            optional: skipped where this program was not built
  status: 0                                exit status, or `signal 11`
  --- stdout
  --- stderr

Outputs are compared as text after these replacements: the folders by their names in braces, device addresses by
ADDRESS, measured seconds by SECONDS. --bless writes what was seen into the case file.
"""
import argparse
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile


def read_case(path):
    head, *parts = re.split(r"^--- (stdout|stderr)\n", path.read_text(), flags=re.M)
    keys = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line and not line.startswith("#"))
    return head, keys, dict(zip(parts[0::2], parts[1::2]))


def normalised(text, folders):
    for name, folder in folders.items():
        text = text.replace(folder, "{" + name + "}")
    text = re.sub(r"0x2000[0-9a-f]{8}", "ADDRESS", text)
    return re.sub(r"in \d+\.\d+ s\b", "in SECONDS s", text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", type=pathlib.Path)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--bless", action="store_true")
    options = parser.parse_args()
    head, keys, expected = read_case(options.case)
    if "needs" in keys and not (pathlib.Path(options.programs) / keys["needs"]).exists():
        print(f"skipped: {keys['needs']} was not built (no nvcc here)")
        return 77

    with tempfile.TemporaryDirectory() as tmp:
        folders = {"tool": options.tool, "programs": options.programs, "here": str(options.case.resolve().parent.parent), "tmp": tmp}
        words = [word.format(**folders) for word in shlex.split(keys["run"])]
        if words[0] == "sluice":
            words[0] = options.tool
        ran = subprocess.run(words, cwd=tmp, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        status = f"signal {-ran.returncode}" if ran.returncode < 0 else str(ran.returncode)
        seen = {"stdout": normalised(ran.stdout, folders), "stderr": normalised(ran.stderr, folders)}

    if options.bless:
        head = re.sub(r"^status: .*\n", "", head, flags=re.M).rstrip("\n") + f"\nstatus: {status}\n"
        options.case.write_text(head + "".join(f"--- {name}\n{text}" for name, text in seen.items()))
        return 0
    failed = status != keys["status"]
    if failed:
        print(f"exit status {status}, expected {keys['status']}")
    for name in ("stdout", "stderr"):
        if seen[name] != expected.get(name, ""):
            failed = True
            print(f"--- {name}, expected:\n{expected.get(name, '')}--- {name}, seen:\n{seen[name]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
