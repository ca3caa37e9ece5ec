#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that every finding which the sources can report has a page for `sluice explain`, and every page a test that
makes the mistake: a pair of check_test (a mistake and a look-alike that is right) or of the folder corpus.

usage: pages.py REPOSITORY
"""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
pages = {path.stem for path in (root / "src/check/pages").glob("*.md")}
kName = re.compile(r'(?:\.name = |\? |: |FaultKind::\w+, cuda\w+, |lane, 0, |address, )"([a-z]+(?:-[a-z]+)+)"')
used = set()
sources = [root / "src/cuda/launch.cpp", *(root / "src/check").rglob("*.cpp"), *(root / "src/machine").rglob("*.cpp")]
for path in sources:
    used |= set(kName.findall(path.read_text()))
missing = sorted(name for name in used if name not in pages)
kNoMistakes = {"unsupported", "forgotten-accesses"}
tests = root / "tests/check"
tested = {name for path in tests.glob("*_test.cpp") for name in re.findall(r'"([a-z]+(?:-[a-z]+)*)"', path.read_text())}
tested |= {name.strip() for path in (tests / "corpus").glob("*.cu")
           for names in re.findall(r"^// finding:(.*)", path.read_text(), re.M) for name in names.split("/")}
untested = sorted(pages - tested - kNoMistakes)
print(f"names without a test: {untested or 'none'}")
print(f"{len(used)} names in the sources, {len(pages)} pages, without a page: {missing or 'none'}")
sys.exit(1 if missing or untested or len(used) < 20 else 0)
