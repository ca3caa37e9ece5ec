# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the tables of mutants: programs, and the one-line mistakes that are made in them.

A table is a text file. '#' begins a comment. A line is a key and what belongs to it, or a line of an edit:

  program NAME             a program that is right
    sources FILE...        what is compiled, relative to the repository
    tree FOLDER...         folders that are copied as they are, because their files include each other
    include FOLDER...      include path, in this order; `cutlass` is CUTLASS's include folder
    std 17|20              C++ standard
    flags WORD...          more words for nvcc
    run WORD...            arguments of the program
    cut FILE               an edit that every mutant of the program has too, to compile less (template arguments that
                           are not run)
  mutant NAME CLASS        one mistake in it: count, phase, bytes, release, wait, fence, tail, mask, order, cluster, ...
    file FILE              where; a path that begins with cutlass/ or cute/ lies in CUTLASS's include folder
    expect NAME...         names of findings that tell it
    at TEXT                a source line among the places of the finding contains this (any of several `at`)
    run WORD...            other arguments than the program's
    subset                 one of those that every test run makes
    harmless WHY           no mistake after all: the rule that says so. It must be silent and give the right values,
                           also under perturbed schedules.

An edit follows its `file` or `cut`: '-' removes a line, '+' adds one, '=' keeps one. The lines that are kept and removed
occur exactly once in the file.
"""
import dataclasses
import sys


class StaleEdit(Exception):
    """The file has changed since the edit was written."""


@dataclasses.dataclass
class Edit:
    file: str
    before: str = ""
    after: str = ""

    def add(self, line):
        if line[0] in "-=":
            self.before += line[1:] + "\n"
        if line[0] in "+=":
            self.after += line[1:] + "\n"

    def applied(self, text, where):
        if text.count(self.before) != 1:
            raise StaleEdit(f"{where}: the lines of the edit occur {text.count(self.before)} times in {self.file}, not once")
        return text.replace(self.before, self.after)


@dataclasses.dataclass
class Program:
    name: str
    sources: list = dataclasses.field(default_factory=list)
    tree: list = dataclasses.field(default_factory=list)
    include: list = dataclasses.field(default_factory=list)
    std: str = "17"
    flags: list = dataclasses.field(default_factory=list)
    run: list = dataclasses.field(default_factory=list)
    cuts: list = dataclasses.field(default_factory=list)
    mutants: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Mutant:
    name: str
    kind: str
    edit: Edit = None
    expect: list = dataclasses.field(default_factory=list)
    at: list = dataclasses.field(default_factory=list)
    run: list = None
    subset: bool = False
    harmless: str = ""


def read_table(path):
    """The programs of one file."""
    programs, item, edit = [], None, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line[:1] in ("-", "+", "="):
            edit.add(line)
            continue
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key, _, rest = line.strip().partition(" ")
        words = rest.split()
        if key == "program":
            item = Program(rest.strip())
            programs.append(item)
        elif key == "mutant":
            item = Mutant(*words)
            programs[-1].mutants.append(item)
        elif key == "cut":
            edit = Edit(rest.strip())
            programs[-1].cuts.append(edit)
        elif key == "file":
            edit = item.edit = Edit(rest.strip())
        elif key in ("sources", "tree", "include", "flags", "run", "expect"):
            setattr(item, key, words)
        elif key == "at":
            item.at.append(rest.strip())
        elif key == "subset":
            item.subset = True
        elif key in ("std", "harmless"):
            setattr(item, key, rest.strip())
        else:
            sys.exit(f"{path}:{number}: unknown key '{key}'")
    return programs
