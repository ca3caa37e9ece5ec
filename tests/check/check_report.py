# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Runs `sluice check` for the scripts that judge it, and reads what it reports."""
import json
import shlex
import subprocess
import tempfile
from pathlib import Path

kRunSeconds = 120


def run_check(tool, options, command):
    """The JSON report of `tool check OPTIONS -- COMMAND`; one diagnostic `no-answer` where there is none."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        line = [tool, "check", "-q", "--json", out.name, *shlex.split(options), "--", *command]
        try:
            subprocess.run(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=kRunSeconds, check=False)
            return json.load(open(out.name, encoding="utf-8"))
        except (subprocess.TimeoutExpired, json.JSONDecodeError):
            trouble = {"name": "no-answer", "places": [], "headline": "the tool gave no report"}
            return {"diagnostics": [trouble], "program_status": 1}


def is_silent(report):
    """Nothing is reported, and the program itself is content."""
    return report["diagnostics"] == [] and report["program_status"] == 0


def frames(place):
    """A place and the calls through which it was inlined, innermost first."""
    return [place] + place.get("inlined", [])


def lines_in(place, file):
    return [frame["line"] for frame in frames(place) if Path(frame["file"]).name == file]


def source_text(place):
    """The source lines of a place's frames, as far as the files are there."""
    texts = []
    for frame in frames(place):
        lines = Path(frame["file"]).read_text().splitlines() if Path(frame["file"]).is_file() else []
        texts += lines[frame["line"] - 1 : frame["line"]]
    return "\n".join(texts)


def told(report):
    """The report in a few words: names, and for each place the line and those it was inlined through."""
    words = []
    for diagnostic in report["diagnostics"]:
        lines = ["<".join(str(frame["line"]) for frame in frames(place)) for place in diagnostic["places"]]
        words.append(f"{diagnostic['name']} at {' '.join(lines)}")
    return "; ".join(words)
