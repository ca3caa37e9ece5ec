#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Checks the code blocks of a document. What stands there must be true:
#
#   * a block after `<!-- excerpt: FILE -->` is part of that file of the repository, line for line (indentation may be
#     taken off as a whole);
#   * a block after `<!-- prints: COMMAND -->` is part of what the command prints, line for line, but for folders of
#     sources and line numbers in headers; the command names programs below `build/`, and is run where --build says
#     what that is;
#   * a block of C++ after `<!-- continues -->` belongs to the C++ blocks before it in the document, back to the last one
#     that stands alone;
#   * every other block of C++ is a file of its own and compiles for sm_90a without a warning.
#
#   usage: check_code.py DOCUMENT... --nvcc NVCC --include DIR [--std 20] [--build DIR]
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Block:
    """One fenced block: language, line number of its first line, text, and the directive before it."""

    def __init__(self, language, line, directive):
        self.language, self.line, self.directive, self.lines = language, line, directive, []

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"


def read_blocks(document):
    blocks, block, directive = [], None, ""
    for number, line in enumerate(document.read_text().splitlines(), 1):
        if block is not None:
            if line.strip() == "```":
                blocks.append(block)
                block = None
            else:
                block.lines.append(line)
        elif line.startswith("```"):
            block = Block(line[3:].strip(), number + 1, directive)
            directive = ""
        elif line.startswith("<!--"):
            directive = line.removeprefix("<!--").removesuffix("-->").strip()
        elif line.strip():
            directive = ""
    if block is not None:
        sys.exit(f"{document}:{block.line}: this block does not end")
    return blocks


def is_excerpt(text, source):
    """Is `text` a run of whole lines of `source`, indentation aside?"""
    wanted = textwrap.dedent(text).splitlines()
    lines = source.splitlines()
    for start in range(len(lines) - len(wanted) + 1):
        part = lines[start : start + len(wanted)]
        if textwrap.dedent("\n".join(part)).splitlines() == wanted:
            return True
    return False


def check_excerpt(document, block):
    source = ROOT / block.directive.split(":", 1)[1].strip()
    if not source.is_file():
        return f"{document}:{block.line}: there is no {source.relative_to(ROOT)} to quote from"
    if not is_excerpt(block.text, source.read_text()):
        return f"{document}:{block.line}: this is not in {source.relative_to(ROOT)}"
    return ""


def without_header_lines(text):
    """Line numbers in the library's headers change with every edit there."""
    return re.sub(r"(\.hpp):\d+", r"\1", text)


def check_output(document, block, build):
    command = block.directive.split(":", 1)[1].strip()
    words = [re.sub(r"^build/", f"{build}/", word) for word in command.split()]
    result = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    printed = re.sub(r"[^\s(]*/([\w.-]+\.(?:cuh?|hpp|cpp):\d)", r"\1", result.stdout)
    if not is_excerpt(without_header_lines(block.text), without_header_lines(printed)):
        return f"{document}:{block.line}: `{command}` does not print this. It prints:\n{printed}"
    return ""


def compile_text(text, options, name):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "block.cu"
        source.write_text(text)
        command = [options.nvcc, f"-std=c++{options.std}", "-arch=sm_90a", "-Werror=all-warnings", "-Xcompiler=-Wall",
                   f"-I{options.include}", "-c", str(source), "-o", str(pathlib.Path(folder) / "block.o")]
        result = subprocess.run(command, capture_output=True, text=True)
    return "" if result.returncode == 0 else f"{name}: this does not compile\n{result.stderr}{result.stdout}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("documents", nargs="+")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--include", default=str(ROOT / "include"))
    parser.add_argument("--std", default="20")
    parser.add_argument("--build")
    options = parser.parse_args()

    faults, compiled, quoted, run = [], 0, 0, 0
    for document in map(pathlib.Path, options.documents):
        programs = []  # [line, text]
        for block in read_blocks(document):
            if block.directive.startswith("excerpt:"):
                faults.append(check_excerpt(document, block))
                quoted += 1
            elif block.directive.startswith("prints:"):
                if options.build:
                    faults.append(check_output(document, block, options.build))
                    run += 1
            elif block.language in ("cpp", "cuda", "c++"):
                if block.directive == "continues" and programs:
                    programs[-1][1] += block.text
                else:
                    programs.append([block.line, block.text])
        for line, text in programs:
            faults.append(compile_text(f'#line {line} "{document}"\n' + text, options, f"{document}:{line}"))
            compiled += 1
    faults = [fault for fault in faults if fault]
    for fault in faults:
        print(fault)
    print(f"{compiled} programs compiled, {quoted} excerpts and {run} outputs compared, {len(faults)} faults")
    sys.exit(1 if faults else 0)


main()
