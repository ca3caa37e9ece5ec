#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Runs CUTLASS's pipeline tests (test/unit/pipeline) on the engine and checks that the pipelines did their work.

The tests move no data and report success even when nothing ran. Each prints how many iterations a case makes; from that
follows how often every mbarrier of every CTA must complete a phase. `sluice run --phases` says how often they did.

    pipeline_phases.py [--sluice PROGRAM] [--option OPTION]... FOLDER...

A folder holds the programs that tests/cutlass/published_tests.sh builds. Exit status 0: all cases pass and all counts are
as computed; 1: something is not; 2: wrong use.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

PROGRAMS = ("pipeline_tma_async", "pipeline_tma_async_warp_specialized", "pipeline_tma_async_warp_specialized_persistent",
            "pipeline_async", "sequence_barrier")


def turns(count, stages, stage):
    """How often `stage` of a ring comes up in `count` steps that start at stage 0."""
    return (count - stage + stages - 1) // stages if count > stage else 0


def ring(stages, filled, freed):
    """Phases of a ring's full barriers, then of its empty ones."""
    return [turns(filled, stages, s) for s in range(stages)] + [turns(freed, stages, s) for s in range(stages)]


def expected_phases(program, case, stages, iterations, tiles):
    """Phases of the barriers of one CTA, in the order in which they lie in shared memory."""
    if program == "pipeline_tma_async":
        return ring(stages, iterations, iterations - 1)  # the last stage is not given back
    if program == "pipeline_tma_async_warp_specialized_persistent":
        # Behind the ring lies the order of the two math groups, [depth][group]; a group is let in by the other one,
        # once a tile, and the first group has the odd tile.
        order = [tiles // 2, (tiles + 1) // 2]
        return ring(stages, iterations * tiles, iterations * tiles) + order * 2
    if program == "sequence_barrier":
        groups = int(re.search(r"Length_(\d+)", case).group(1))
        return [iterations] * (stages * groups)
    return ring(stages, iterations, iterations)


def cluster_size(case):
    found = re.search(r"Cluster(\d+)x(\d+)", case)
    return int(found.group(1)) * int(found.group(2)) if found else 1


def announced(output):
    """The launches that the program said it would make: (case, stages, iterations, tiles), and the state of each case."""
    launches, states, case = [], {}, None
    for line in output.splitlines():
        if found := re.match(r"\[ RUN      \] (\S+)", line):
            case = found.group(1)
            states[case] = "not finished"
        elif found := re.match(r"\[       OK \] (\S+)", line):
            states[found.group(1)] = "ok"
        elif found := re.match(r"\[  FAILED  \] (\S+) \(\d+ ms\)", line):
            states[found.group(1)] = "failed"
        elif found := re.match(r"Stages = (\d+) kNumIters = (\d+)", line):
            launches.append([case, int(found.group(1)), int(found.group(2)), 1])
        elif found := re.match(r"Persistent version: Tiles per Cluster = (\d+)", line):
            launches[-1][3] = int(found.group(1))
    return launches, states


def check_launch(program, launch, record):
    """What is wrong with the phases of one launch, or None."""
    case, stages, iterations, tiles = launch
    ctas = {}
    for cta, offset, phases in record["mbarriers"]:
        ctas.setdefault(cta, []).append(phases)
    if record["fault"]:
        return "the launch failed"
    if len(ctas) != cluster_size(case):
        return f"{len(ctas)} CTAs have mbarriers, not {cluster_size(case)}"
    wanted = expected_phases(program, case, stages, iterations, tiles)
    for cta, phases in sorted(ctas.items()):
        if phases != wanted:
            return f"CTA {cta}: phases {phases}, not {wanted}"
    return None


def check_program(sluice, options, path):
    """Runs one program. Returns (cases, cases in order, phases checked, complaints, seconds, CPU seconds, peak MB)."""
    program = os.path.basename(path)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "phases.jsonl")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.monotonic()
        ran = subprocess.run([sluice, "run", *options, "--phases", file, path], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        seconds = time.monotonic() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(file) as lines:
            records = [json.loads(line) for line in lines]
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    launches, states = announced(ran.stdout)
    if program == "pipeline_async":
        launches = [launch for launch in launches for _ in range(2)]  # it launches each case twice
    complaints = [f"{case}: {state}" for case, state in states.items() if state != "ok"]
    if ran.returncode != 0:
        complaints.append(f"exit status {ran.returncode}: {ran.stderr.strip().splitlines()[-1:]}")
    if len(records) != len(launches):
        complaints.append(f"{len(records)} launches ran, not {len(launches)}")
    wrong_cases, phases = {case for case, state in states.items() if state != "ok"}, 0
    for launch, record in zip(launches, records):
        problem = check_launch(program, launch, record)
        phases += sum(entry[2] for entry in record["mbarriers"])
        if problem:
            complaints.append(f"{launch[0]}: stages {launch[1]}, iterations {launch[2]}: {problem}")
            wrong_cases.add(launch[0])
    good = len(states) - len(wrong_cases)
    return len(states), good, phases, complaints, seconds, cpu, after.ru_maxrss // 1024


def main():
    parser = argparse.ArgumentParser(description="CUTLASS's pipeline tests on the engine, with the phases counted")
    parser.add_argument("--sluice", default="build/bin/sluice")
    parser.add_argument("--option", action="append", default=[], help="passed to sluice run (repeatable)")
    parser.add_argument("--program", action="append", choices=PROGRAMS, help="only this one (repeatable)")
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()

    failed = False
    for folder in arguments.folders:
        print(folder)
        total = [0, 0, 0, 0.0, 0.0]
        for program in arguments.program or PROGRAMS:
            path = os.path.join(folder, program)
            if not os.path.exists(path):
                print(f"pipeline_phases.py: there is no {path}", file=sys.stderr)
                return 2
            cases, good, phases, complaints, seconds, cpu, peak = check_program(arguments.sluice, arguments.option, path)
            print(f"  {program:48} {good:3} of {cases:3} cases, {phases:8} phases, {seconds:6.2f} s, CPU {cpu:6.2f} s")
            for complaint in complaints[:8]:
                print(f"    {complaint}")
            if len(complaints) > 8:
                print(f"    and {len(complaints) - 8} more")
            failed |= bool(complaints)
            total = [a + b for a, b in zip(total, (cases, good, phases, seconds, cpu))]
        print(f"  {'together':48} {total[1]:3} of {total[0]:3} cases, {total[2]:8} phases, {total[3]:6.2f} s, "
              f"CPU {total[4]:6.2f} s; peak of any child so far {peak} MB")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
