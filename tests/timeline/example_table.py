#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""What `sluice timeline` recognises in an example program, for several shapes of its ring.

usage: example_table.py SLUICE PROGRAM

The programs print the PipelineStates that their device code had; the timeline must come to the same from the barriers
alone. Phases and cursors are compared with a ring played by hand, waits with which side was slowed down.
"""
import json
import pathlib
import subprocess
import sys
import tempfile


def run(sluice, program, arguments):
    """The model of the first CTA, as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model.json"
        command = [sluice, "timeline", "--model", model, "--", program, "--quiet", *arguments]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if result.returncode != 0 or not model.read_text():
            sys.exit(f"{' '.join(map(str, command))}: status {result.returncode}\n{result.stdout}{result.stderr}")
        return json.loads(model.read_text())


class PlayedRing:
    """A ring that is walked round stage by stage: what each tile must show."""

    def __init__(self, stages, tiles):
        self.rows = []
        for tile in range(tiles):
            stage, use = tile % stages, tile // stages
            self.rows.append({"stage": stage, "ordinal": use, "producer": 1 - use % 2, "consumer": use % 2})


def check(name, model, stages, tiles, ctas=1, has_cursor=True):
    faults = []

    def expect(what, seen, wanted):
        if seen != wanted:
            faults.append(f"{name}: {what}: {seen}, expected {wanted}")

    expect("rings", len(model["rings"]), 1)
    if faults:
        return faults
    ring = model["rings"][0]
    barriers, waits = model["barriers"], model["waits"]
    expect("stages", len(ring["stages"]), stages)
    expect("tiles", len(ring["uses"]), tiles)
    own = [agent for agent in model["agents"] if agent["cta"] == 0]
    expect("roles", [a["role"] for a in own], ["producer"] + ["consumer"] * 3)
    for tile, (use, row) in enumerate(zip(ring["uses"], PlayedRing(stages, tiles).rows)):
        place = f"tile {tile}"
        expect(f"{place}, stage", use["stage"], row["stage"])
        expect(f"{place}, use", use["ordinal"], row["ordinal"])
        if has_cursor:
            expect(f"{place}, producer's phase", use.get("producer_parity"), row["producer"])
        expect(f"{place}, consumer's phase", use.get("consumer_parity"), row["consumer"])
        stage = ring["stages"][use["stage"]]
        full, empty = barriers[stage["full"]], barriers[stage["empty"]]
        expect(f"{place}, full flips", full["flips"][use["ordinal"]], use["full"])
        expect(f"{place}, empty flips", empty["flips"][use["ordinal"]], use["released"])
        expect(f"{place}, consumers", len(use["reads"]), 3)
        for i in use["acquires"]:
            if tile < stages:
                expect(f"{place}, a fresh stage is waited for", waits[i]["waited"], False)
            else:
                before = ring["uses"][tile - stages]
                expect(f"{place}, acquired at", waits[i]["end"], max(waits[i]["asked"], before["released"]))
        for i in use["reads"]:
            expect(f"{place}, read at", waits[i]["end"], max(waits[i]["asked"], use["full"]))
    # The state of each barrier at the end is that of the last flip.
    last = {}
    for change in model["states"]:
        last[change["barrier"]] = change
    for stage in ring["stages"]:
        for barrier in stage.values():
            if isinstance(barrier, int):
                expect(f"{barriers[barrier]['name']} at the end, bytes due", last[barrier]["due"], 0)
                expect(f"{barriers[barrier]['name']} at the end, phase", last[barrier]["phase"],
                       len(barriers[barrier]["flips"]))
    return faults


def waiting(model, producers):
    """The largest share of its life that a warp of the role waits."""
    rows = [r for r in model["rings"][0]["waits"] if r["is_producer"] == producers]
    return max(r["time"] / max(r["life"], 1) for r in rows)


def check_slow(sluice, program):
    faults = []
    slow_consumer = run(sluice, program, ["--slow", "consumer", "--tiles", "24"])
    slow_producer = run(sluice, program, ["--slow", "producer", "--tiles", "24"])
    for name, model, limit, producers in (("slow consumer", slow_consumer, "consumers", True),
                                          ("slow producer", slow_producer, "producer", False)):
        ring = model["rings"][0]
        if ring["limit"] != limit:
            faults.append(f"{name}: the verdict is '{ring['verdict']}'")
        if waiting(model, producers) < 0.5 or waiting(model, not producers) > 0.1:
            faults.append(f"{name}: waits {waiting(model, True):.2f} on empty, {waiting(model, False):.2f} on full")
        times = [w["time"] for w in ring["what_if"]]
        # The replay with the stages that it has gives the recording, and more stages do not help here.
        if len(times) != 3 or abs(times[0] - (ring["end"] - ring["begin"])) > 0.02 * times[0] or times[2] < 0.95 * times[0]:
            faults.append(f"{name}: replays {times}, recorded {ring['end'] - ring['begin']}")
    return faults


def main():
    sluice, program = sys.argv[1:]
    name = pathlib.Path(program).name
    faults, runs = [], 0
    shapes = [(3, 8, 1, []), (1, 5, 1, []), (2, 3, 1, []), (6, 20, 1, []), (3, 200, 1, [])]
    if name == "async_pipeline":
        shapes += [(3, 8, 2, ["--cluster", "2"]), (2, 7, 4, ["--cluster", "4"]), (3, 8, 1, ["--typed"]),
                   (4, 9, 4, ["--typed", "--cluster", "4"])]
    for stages, tiles, ctas, extra in shapes:
        arguments = ["--stages", str(stages), "--tiles", str(tiles), *extra]
        faults += check(f"{name} {' '.join(arguments)}", run(sluice, program, arguments), stages, tiles, ctas)
        runs += 1
    if name == "async_pipeline":
        faults += check_slow(sluice, program)
        runs += 2
    for fault in faults[:40]:
        print(fault)
    print(f"{runs} runs, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
