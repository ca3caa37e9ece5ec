#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""The picture of `sluice timeline --svg`: well-formed, with the intervals of the model, and the committed one is current.

usage: svg_test.py SLUICE PROGRAM
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"
COMMITTED = pathlib.Path(__file__).parents[2] / "docs/guide/pictures/timeline.svg"
sluice, program = sys.argv[1:3]
faults = []


def expect(what, seen, wanted):
    if seen != wanted:
        faults.append(f"{what}: {seen}, expected {wanted}")


def run(folder, options, arguments, status=0):
    """The picture and the model of a run, and what it says on stderr."""
    svg, model = folder / "picture.svg", folder / "model.json"
    done = subprocess.run([sluice, "timeline", "--svg", svg, "--model", model, *options, "--", program, "--quiet", *arguments],
                          capture_output=True, text=True, check=False)
    expect(f"status with {options}", done.returncode, status)
    return svg.read_text(), json.loads(model.read_text()), done.stderr


def bars(svg):
    """By class: the intervals that are drawn."""
    found = collections.defaultdict(list)
    for rect in ElementTree.fromstring(svg).iter(SVG + "rect"):
        title = rect.find(SVG + "title")
        if title is not None:
            if rect.get("class") == "mark":
                continue
            found[rect.get("class")].append(tuple(int(t) for t in title.text.split(" to ")))
    return {name: sorted(spans) for name, spans in found.items()}


def marks(svg):
    return [rect.find(SVG + "title").text for rect in ElementTree.fromstring(svg).iter(SVG + "rect") if rect.get("class") == "mark" and rect.find(SVG + "title") is not None]


def check_whole(folder):
    svg, model, _ = run(folder, [], [])
    drawn, ring = bars(svg), model["rings"][0]
    parts = [barrier["part"] for barrier in model["barriers"]]
    for part, name in (("full", "starved"), ("empty", "blocked")):
        expect(name, drawn.get(name, []), sorted((w["asked"], w["end"]) for w in model["waits"] if w["waited"] and parts[w["barrier"]] == part))
    expect("copies", drawn["copy"], sorted((c["issued"], c["landed"]) for c in model["copies"]))
    expect("filling", drawn["filling"], sorted((u["filling"], u["full"]) for u in ring["uses"]))
    expect("in use", drawn["used"], sorted((u["seen"], u["released"]) for u in ring["uses"]))
    if not {"script", "foreignObject", "image"}.isdisjoint(re.findall(r"<(\w+)", svg)):
        faults.append("the picture is not still and self-contained")
    if svg != COMMITTED.read_text():
        faults.append(f"{COMMITTED} is not what the program gives now")


def check_part(folder):
    svg, model, _ = run(folder, [], ["--tiles", "100"])
    expect("a caption", "tiles 0 to 23 of 100" in svg, True)
    svg, model, _ = run(folder, ["--tiles", "30-33"], ["--tiles", "100"])
    uses = model["rings"][0]["uses"]
    begin, end = uses[30]["acquired"], uses[33]["released"]
    shown = sorted((u["filling"], u["full"]) for u in uses if u["full"] > begin and u["filling"] < end)
    expect("filling in a part", bars(svg)["filling"], shown)
    _, _, told = run(folder, ["--tiles", "30-100"], ["--tiles", "100"], 2)
    expect("what is wrong", "there is no tile 100: the ring has 100" in told, True)


def check_findings(folder):
    """A finding of the checker stands in the lane and at the line of the warp that shows it."""
    for mistake, name in (("early-release", "stage-overwritten-while-read"), ("skip-release", "deadlock"), ("half-bytes", "tx-bytes-exceed")):
        svg, model, told = run(folder, [], ["--mistake", mistake], 101)
        expect(f"marks of {mistake}", [mark["name"] for mark in model["marks"]], [name])
        expect(f"told of {mistake}", f"error[{name}]" in told, True)
        expect(f"drawn of {mistake}", [mark.split(":")[0] for mark in marks(svg)], [name])
        expect(f"page of {mistake}", name in run_page(folder, mistake), True)
    svg, model, told = run(folder, ["--no-check"], ["--mistake", "early-release"], 1)
    expect("without a check", [model["marks"], marks(svg), "error[" in told], [[], [], False])
    expect("of a right program", marks(run(folder, [], [])[0]), [])


def run_page(folder, mistake):
    page = folder / "page.html"
    subprocess.run([sluice, "timeline", "--html", page, "--", program, "--quiet", "--mistake", mistake], capture_output=True, check=False)
    return page.read_text()


with tempfile.TemporaryDirectory() as name:
    check_whole(pathlib.Path(name))
    check_findings(pathlib.Path(name))
    check_part(pathlib.Path(name))
print("\n".join(faults) or "the pictures hold what the model holds")
sys.exit(1 if faults else 0)
