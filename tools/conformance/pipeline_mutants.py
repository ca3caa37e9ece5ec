#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Puts mistakes into CUTLASS's pipeline tests and shows that the engine's run of each one fails.

A test that cannot fail shows nothing. Each mutant here is one of the five programs with one change in its PTX, made in
every kernel; its run must end in a finding, or its phases must differ from those that the printed iterations demand
(pipeline_phases.py). The programs as they are, written anew by the same way, must pass.

    pipeline_mutants.py [--sluice PROGRAM] FOLDER

Exit status 0: the originals pass and every mutant fails; 1: not so.
"""

import argparse
import os
import re
import stat
import sys
import tempfile

import fat_text
import pipeline_phases

INIT = re.compile(r"mbarrier\.init\.shared::cta\.b64 (\[%r\d+\]), (%r\d+);")
EXPECT = re.compile(r"mbarrier\.arrive\.expect_tx\.shared::cta\.b64 _, (\[%r\d+\]), (%r\d+);")
REMOTE_ARRIVE = re.compile(r"mbarrier\.arrive\.shared::cluster\.b64 _, (\[\w+\]);")
LOCAL_ARRIVE = re.compile(r"mbarrier\.arrive\.shared::cta\.b64 _, (\[%r\d+\]);")
COMPLETE = re.compile(r"@p mbarrier\.complete_tx\.shared::cluster\.relaxed\.cluster\.b64 [^;]*;")
WAIT = re.compile(r"mbarrier\.try_wait\.parity\.shared::cta\.b64 P1, (\[%r\d+\]), (%r\d+), (%r\d+);")
FIRST_PARAMETER = re.compile(r"(ld\.param\.u32 (%r\d+), \[\w+_param_0\];)")
REGISTERS = re.compile(r"(\.reg \.b32 %r<\d+>;)")


def everywhere(pattern, replacement, count=0):
    """A change of every place in the text that matches."""
    return lambda text: pattern.sub(replacement, text, count=count)


def in_each_kernel(change):
    """A change made kernel by kernel: the text in front of the first one stays."""
    def apply(text):
        head, *kernels = re.split(r"(?m)^(?=\.entry|\.visible \.entry)", text)
        return head + "".join(change(kernel) for kernel in kernels)
    return apply


def nth(pattern, replacement, which):
    """A change of the place number `which` (from the end if negative) of a kernel's places that match."""
    def change(kernel):
        places = list(pattern.finditer(kernel))
        if not places:
            return kernel
        place = places[which]
        return kernel[:place.start()] + place.expand(replacement) + kernel[place.end():]
    return in_each_kernel(change)


def to_own_group(kernel):
    """Each arrive of an ordered sequence goes to the barrier that its own group waited on."""
    waits = [place.group(1) for place in WAIT.finditer(kernel)]
    return LOCAL_ARRIVE.sub(lambda place, left=iter(waits): place.group(0).replace(place.group(1), next(left)), kernel)


WS = "pipeline_tma_async_warp_specialized"
MUTANTS = (
    ("every barrier expects one arrival more", WS,
     everywhere(INIT, r"{.reg .b32 more; add.u32 more, \2, 1; mbarrier.init.shared::cta.b64 \1, more;}")),
    ("full barriers of two producers expect one arrival", "pipeline_async",
     everywhere(INIT, r"{.reg .b32 one; min.u32 one, \2, 1; mbarrier.init.shared::cta.b64 \1, one;}")),
    ("the consumer never releases a stage", WS, everywhere(REMOTE_ARRIVE, "")),
    ("the consumer releases each stage twice", WS,
     everywhere(REMOTE_ARRIVE, r"mbarrier.arrive.shared::cluster.b64 _, \1; mbarrier.arrive.shared::cluster.b64 _, \1;")),
    ("the producer arrives without announcing bytes", "pipeline_tma_async",
     everywhere(EXPECT, r"mbarrier.arrive.shared::cta.b64 _, \1;")),
    ("the producer announces four bytes too many", "pipeline_tma_async_warp_specialized_persistent",
     everywhere(EXPECT, r"{.reg .b32 more; add.u32 more, \2, 4; "
                        r"mbarrier.arrive.expect_tx.shared::cta.b64 _, \1, more;}")),
    ("the bytes never come", "pipeline_tma_async", everywhere(COMPLETE, "")),
    ("the producer does not commit", "pipeline_async", nth(LOCAL_ARRIVE, "", 0)),
    ("the first wait is for the other phase", "sequence_barrier",
     nth(WAIT, r"{.reg .b32 other; xor.b32 other, \2, 1; "
               r"mbarrier.try_wait.parity.shared::cta.b64 P1, \1, other, \3;}", 0)),
    ("a group lets itself in, not the next one", "sequence_barrier", in_each_kernel(to_own_group)),
    ("the last barrier is not initialised", "pipeline_tma_async", nth(INIT, "", -1)),
    ("the kernel makes one iteration less", "pipeline_tma_async", everywhere(FIRST_PARAMETER, r"\1 sub.u32 \2, \2, 1;")),
    ("the kernel returns at once", "pipeline_tma_async_warp_specialized_persistent", everywhere(REGISTERS, r"\1 ret;")),
)


def write_program(source, target, change):
    with open(source, "rb") as file:
        data, texts = fat_text.rewrite(file.read(), change)
        if texts == 0:
            raise ValueError(f"{source} has no PTX")
    with open(target, "wb") as file:
        file.write(data)
    os.chmod(target, os.stat(target).st_mode | stat.S_IXUSR)
    return data


def run(sluice, source, folder, change):
    """Runs a changed program; returns its complaints and how many cases were in order of how many."""
    target = os.path.join(folder, os.path.basename(source))
    write_program(source, target, change)
    cases, good, _, complaints, *_ = pipeline_phases.check_program(sluice, ["-q", "--timeout", "60"], target)
    return complaints, good, cases


def changed_counted(change, counter):
    def apply(text):
        new = change(text)
        counter.append(new != text)
        return new
    return apply


def main():
    parser = argparse.ArgumentParser(description="mutants of CUTLASS's pipeline tests, each of which must fail")
    parser.add_argument("--sluice", default="build/bin/sluice")
    parser.add_argument("folder")
    arguments = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for program in pipeline_phases.PROGRAMS:
            source = os.path.join(arguments.folder, program)
            complaints, good, cases = run(arguments.sluice, source, folder, lambda text: text + "\n// written anew\n")
            wrong += bool(complaints)
            print(f"{'passes' if not complaints else 'FAILS ':8} {program}, unchanged: {good} of {cases} cases", flush=True)
        for name, program, change in MUTANTS:
            source, applied = os.path.join(arguments.folder, program), []
            complaints, good, cases = run(arguments.sluice, source, folder, changed_counted(change, applied))
            if not any(applied):
                print(f"pipeline_mutants.py: '{name}' changes nothing in {program}", file=sys.stderr)
                return 1
            wrong += not complaints
            print(f"{'fails' if complaints else 'PASSES':8} {program}: {name}: {good} of {cases} cases in order", flush=True)
            if complaints:
                print(f"           {complaints[0][:150]}", flush=True)
    print(f"{wrong} not as they should be" if wrong else f"all {len(MUTANTS)} mutants fail")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
