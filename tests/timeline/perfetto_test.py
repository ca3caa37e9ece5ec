#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""The file of `sluice timeline --perfetto` against Chrome's trace event format, and its intervals against the model.

usage: perfetto_test.py SLUICE PROGRAM
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

NEEDED = {"M": {"args"}, "X": {"ts", "dur"}, "i": {"ts", "s"}, "b": {"ts", "id", "cat"}, "e": {"ts", "id", "cat"},
          "s": {"ts", "id", "cat"}, "f": {"ts", "id", "cat", "bp"}}
faults = []


def expect(what, seen, wanted):
    if seen != wanted:
        faults.append(f"{what}: {seen}, expected {wanted}")


def steps(micros):
    return round(micros * 1000)


def check_format(events):
    open_copies, flows = collections.Counter(), collections.defaultdict(list)
    for event in events:
        missing = ({"ph", "name", "pid", "tid"} | NEEDED.get(event["ph"], {"a known phase"})) - event.keys()
        if missing:
            faults.append(f"{event}: lacks {missing}")
        if event.get("dur", 0) < 0 or event.get("ts", 0) < 0:
            faults.append(f"{event}: negative time")
        if event["ph"] in "be":
            open_copies[event["id"]] += 1 if event["ph"] == "b" else -1
        if event["ph"] in "sf":
            flows[event["id"]].append(event)
    expect("copies that begin and do not end", [i for i, n in open_copies.items() if n], [])
    for start, end in flows.values():
        expect("a flow", [start["ph"], end["ph"], start["ts"] <= end["ts"]], ["s", "f", True])
    names = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    expect("tracks without a name", {(e["pid"], e["tid"]) for e in events if e["ph"] == "X"} - names, set())


def spans(events, pid, prefix=""):
    return sorted((e["tid"], e["name"], steps(e["ts"]), steps(e["ts"] + e["dur"])) for e in events
                  if e["ph"] == "X" and e["pid"] == pid and e["name"].startswith(prefix))


def check_intervals(events, model):
    names = [barrier["name"] for barrier in model["barriers"]]
    expect("waits", spans(events, 1, "wait "),
           sorted((w["agent"], f"wait {names[w['barrier']]}", w["asked"], w["end"]) for w in model["waits"]))
    expect("copies", sorted((e["id"], e["ph"], steps(e["ts"])) for e in events if e["ph"] in "be"),
           sorted(moment for c in model["copies"] for moment in ((c["id"], "b", c["issued"]), (c["id"], "e", c["landed"]))))
    for index, ring in enumerate(model["rings"]):
        wanted = []
        for use in ring["uses"]:
            moments = (("filling", "filling", "full"), ("full", "full", "seen"), ("in use", "seen", "released"))
            wanted += [(use["stage"], name, use[a], use[b]) for name, a, b in moments if use[b] > use[a]]
        expect(f"states of ring {index}", spans(events, 3 + index), sorted(wanted))
    flows = sum(e["ph"] == "s" for e in events)
    expect("flows", flows, sum(w.get("ended_by") == "arrival" for w in model["waits"]))
    if flows == 0:
        faults.append("no wait is ended by an arrival")


def main():
    sluice, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        trace, model = pathlib.Path(name) / "trace.json", pathlib.Path(name) / "model.json"
        command = [sluice, "timeline", "--perfetto", trace, "--model", model, "--", program, "--quiet", "--tiles", "9"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=300)
        expect("status", result.returncode, 0)
        events = json.loads(trace.read_text())["traceEvents"]
        check_format(events)
        check_intervals(events, json.loads(model.read_text()))
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
