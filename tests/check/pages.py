#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that every finding which the sources can report has a page for `sluice explain`.

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
print(f"{len(used)} names in the sources, {len(pages)} pages, without a page: {missing or 'none'}")
sys.exit(1 if missing or len(used) < 20 else 0)
