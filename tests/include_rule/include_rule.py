#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the include rule of src/ and include/ against the one table below.

usage: include_rule.py REPOSITORY          checks it
       include_rule.py --self-test         checks this script against made-up trees

Arrows only point down: a room may include itself and the rooms that its row names. The engine knows PTX and not our
library, so nothing in src/ includes include/sluice, and nothing in the library includes src/. Rooms that the table
does not name fail, so that a new room starts with a decision.
"""
import re
import sys
import tempfile
from pathlib import Path

# The rooms below each room of src/.
kBelow = {
    "base": [],
    "report": ["base"],
    "event": ["base"],
    "ptx": ["base", "report", "event"],
    "program": ["base", "report", "event", "ptx"],
    "machine": ["base", "report", "event", "ptx", "program"],
    "check": ["base", "report", "event"],
    "cuda": ["base", "report", "event", "ptx", "program", "machine", "check", "timeline"],
    "explore": ["base", "report", "event"],
    "timeline": ["base", "report", "event"],
    "cli": ["base", "report", "event", "ptx", "program", "machine", "cuda", "check", "explore", "timeline"],
}

kSuffixes = {".hpp", ".h", ".cpp", ".cu", ".cuh", ".inc", ".def"}
kInclude = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    root = Path(arguments[0])
    violations, files = check(root)
    for violation in violations:
        print(violation)
    print(f"{files} files, {len(violations)} violations")
    return 1 if violations or files == 0 else 0


def check(root):
    """Returns the violations under `root`, one sentence each, and how many files were read."""
    violations, files = [], 0
    for path in sources(root / "src"):
        files += 1
        room = path.relative_to(root / "src").parts[0]
        if room not in kBelow:
            if path.parent != root / "src":
                violations.append(f"{path.relative_to(root)}: room '{room}' is not in the table")
            continue
        for line, name in includes(path):
            why = judge_engine_include(root, path, room, name)
            if why:
                violations.append(f"{path.relative_to(root)}:{line}: {why}")
    for folder in ("include", "compat"):
        for path in sources(root / folder):
            files += 1
            for line, name in includes(path):
                if included_room(root, path, name):
                    violations.append(f"{path.relative_to(root)}:{line}: the library includes '{name}' of src/")
    return violations, files


def judge_engine_include(root, path, room, name):
    """Says what is wrong with a file of `room` including `name`, or nothing."""
    if name.startswith("sluice/") and (root / "include" / name).exists() or "include/sluice/" in name:
        return f"the engine includes '{name}' of the library"
    target = included_room(root, path, name)
    if target and target != room and target not in kBelow[room]:
        below = ", ".join(kBelow[room]) or "nothing"
        return f"'{room}' includes '{name}' of '{target}'; below it are: {below}"
    return ""


def included_room(root, path, name):
    """The room of src/ that an include of `name` in `path` reaches, or nothing if it reaches none."""
    source = root / "src"
    beside = (path.parent / name).resolve()
    if beside.exists():
        return room_of(source, beside)
    for candidate in (source / name, root / name):
        if candidate.exists():
            return room_of(source, candidate.resolve())
    # A file that the build generates: its first folder tells. (CUDA's own <cuda/ptx> has no suffix.)
    first = name.split("/")[0]
    return first if first in kBelow and Path(name).suffix in kSuffixes else ""


def room_of(source, path):
    try:
        return path.relative_to(source.resolve()).parts[0]
    except ValueError:
        return ""


def sources(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in kSuffixes) if folder.is_dir() else []


def includes(path):
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        match = kInclude.match(line)
        if match:
            yield number, match.group(2)


def self_test():
    """Each made-up tree breaks the rule in one way, and exactly that must be found."""
    good = {
        "src/base/ids.hpp": "",
        "src/event/event.hpp": '#include "base/ids.hpp"\n',
        "src/machine/machine.hpp": '#include "event/event.hpp"\n#include <vector>\n',
        "src/machine/step.cpp": '#include "machine.hpp"\n',
        "src/check/race.hpp": '#include "event/event.hpp"\n',
        "include/sluice/ring.hpp": "#include <sluice/arch/fence.hpp>\n",
        "include/sluice/arch/fence.hpp": "#include <cuda/ptx>\n",
    }
    cases = [
        ("nothing", {}, None),
        ("base above itself", {"src/base/a.hpp": '#include "event/event.hpp"\n'}, "src/base/a.hpp:1: 'base' includes"),
        ("checker knows the machine", {"src/check/a.cpp": '\n#include "machine/machine.hpp"\n'}, "src/check/a.cpp:2:"),
        ("by a relative path", {"src/check/b.cpp": '#include "../machine/machine.hpp"\n'}, "src/check/b.cpp:1:"),
        ("a generated file", {"src/base/g.cpp": '#include "ptx/rows.inc"\n'}, "src/base/g.cpp:1:"),
        ("with angle brackets", {"src/event/a.hpp": "# include <machine/machine.hpp>\n"}, "src/event/a.hpp:1:"),
        ("engine knows the library", {"src/cuda/a.cpp": "#include <sluice/ring.hpp>\n"}, "src/cuda/a.cpp:1: the engine"),
        ("library knows the engine", {"include/sluice/a.hpp": '#include "base/ids.hpp"\n'}, "include/sluice/a.hpp:1:"),
        ("a room without a row", {"src/new_room/a.hpp": ""}, "room 'new_room' is not in the table"),
    ]
    failures = 0
    for name, extra, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            for file, text in {**good, **extra}.items():
                path = Path(folder) / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            violations, _ = check(Path(folder))
        right = (violations == []) if expected is None else (len(violations) == 1 and expected in violations[0])
        print(f"{'ok' if right else 'WRONG'}: {name}: {violations}")
        failures += not right
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
