# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Edits of source files, kept as the lines that change.

An edit is a file NAME.edit. Lines that begin with '#' say what it is for. The others are hunks, with a line '@@' between
one and the next: ' ' keeps a line, '-' removes it, '+' adds one. The kept and removed lines of a hunk must occur exactly
once in the file that is edited, so an edit cannot silently stop being one.
"""
import pathlib
import sys


def read_edit(path):
    """The comments of an edit, without their '#', and its hunks, each a list of lines."""
    comments, hunks = [], [[]]
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("#"):
            comments.append(line[1:].strip())
        elif line == "@@":
            hunks.append([])
        else:
            hunks[-1].append(line)
    return comments, hunks


def apply_hunks(path, source_name, source, hunks):
    """`source` with all hunks applied; ends the program where one does not fit."""
    for hunk in hunks:
        before = "".join(line[1:] + "\n" for line in hunk if line[0] in " -")
        after = "".join(line[1:] + "\n" for line in hunk if line[0] in " +")
        if source.count(before) != 1:
            sys.exit(f"{path}: its lines occur {source.count(before)} times in {source_name}, not once:\n{before}")
        source = source.replace(before, after)
    return source


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: edits.py SOURCE EDIT OUTPUT")
    source, edit, output = map(pathlib.Path, sys.argv[1:])
    edited = apply_hunks(edit, source.name, source.read_text(), read_edit(edit)[1])
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(f"// Generated from {source.name} and {edit.name}.\n" + edited)


if __name__ == "__main__":
    main()
