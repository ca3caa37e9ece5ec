#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""A run that somebody ends is not decided, and says so on stderr, in --json and in --sarif.

usage: interrupted.py --tool SLUICE --programs FOLDER

Ends runs by each termination signal, while a kernel runs and between kernels, and holds what the tool says against what was
done. The tool ends by the same signal, so that a shell's loop ends too.
"""
import argparse
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

kSkipped = 77
kLimit = 60  # seconds


class Run:
    """The tool over a program, in a folder and a process group of its own, as a terminal starts it."""

    def __init__(self, tool, folder, command, options, before=()):
        self.folder, self.command = pathlib.Path(folder), command
        reports = ["--json", "report.json"] + (["--sarif", "report.sarif"] if command == "check" else [])
        self.process = subprocess.Popen([*before, tool, command, *reports, *options], cwd=folder, start_new_session=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def wait_until(self, holds):
        limit = time.monotonic() + kLimit
        while not holds():
            if time.monotonic() > limit or self.process.poll() is not None:
                self.end(signal.SIGKILL)
                raise AssertionError(f"it did not start: {self.process.stderr.read()}")
            time.sleep(0.01)

    def started(self):
        return (self.folder / "started").exists()

    def kernel_runs(self):
        """For a launch description, whose kernel cannot tell: the child of the tool has computed for a while."""
        own = self.process.pid
        with contextlib.suppress(OSError, IndexError):
            child = int(pathlib.Path(f"/proc/{own}/task/{own}/children").read_text().split()[0])
            fields = pathlib.Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            return int(fields[11]) >= 0.7 * os.sysconf("SC_CLK_TCK")
        return False

    def end(self, number, group=False):
        (os.killpg if group else os.kill)(self.process.pid, number)

    def clean_up(self):
        with contextlib.suppress(ProcessLookupError):
            self.end(signal.SIGKILL, group=True)

    def result(self):
        """Status, last line, JSON and SARIF."""
        try:
            said = self.process.communicate(timeout=kLimit)[1].splitlines()
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it did not end within {kLimit} s") from None
        sarif = json.loads((self.folder / "report.sarif").read_text()) if self.command == "check" else None
        return self.process.returncode, said[-1], json.loads((self.folder / "report.json").read_text()), sarif


def expect(what, seen, wanted):
    if seen != wanted:
        raise AssertionError(f"{what} is {seen!r}, not {wanted!r}")


def expect_interrupted(result, number, schedules, kernels, kernel):
    """`kernel`: the name of what ran, or nothing."""
    status, last, report, sarif = result
    name = number.name
    expect("status", status, -number)
    expect("last line", last, f"verdict: not decided in {schedules} schedules, {kernels}, interrupted by {name}")
    expect("exit status in JSON", report["exit_status"], 128 + number)
    expect("interrupted_by", report["tally"]["interrupted_by"], number)
    undecided = [d for d in report["diagnostics"] if d["blame"] == "undecided"]
    expect("headlines", [d["headline"] for d in undecided], [f"not decided: {name} interrupted the run"])
    expect("kernel", kernel in undecided[0]["where"] if kernel else undecided[0]["where"] == "", True)
    if sarif is not None:
        expect("invocation", sarif["runs"][0]["invocations"],
               [{"executionSuccessful": False, "exitSignalName": name, "exitSignalNumber": int(number)}])


def case(function):
    kCases.append(function)
    return function


kCases = []


@case
def by_each_signal(make, programs):
    # An interrupt goes to the whole group, as a terminal sends it; the others to the tool.
    for number, group in ((signal.SIGTERM, False), (signal.SIGHUP, False), (signal.SIGHUP, True), (signal.SIGINT, True)):
        for command in ("run", "check"):
            for mode, kernel in (("kernel", "count(int volatile*, int volatile*)"), ("host", "")):
                run = make(command, [programs / "cli_interrupted", mode, "started"])
                run.wait_until(run.started)
                run.end(number, group)
                expect_interrupted(run.result(), number, "0 of 1", "1 kernel", kernel)


@case
def launch_description(make, programs):
    here = pathlib.Path(__file__).parent / "programs"
    for number, group in ((signal.SIGTERM, False), (signal.SIGHUP, True), (signal.SIGINT, True)):
        for command in ("run", "check"):
            run = make(command, [here / "endless.ptx", "--launch", here / "endless.json"])
            run.wait_until(run.kernel_runs)
            run.end(number, group)
            expect_interrupted(run.result(), number, "0 of 1", "0 kernels", "endless")


@case
def planned_schedules_count(make, programs):
    run = make("check", ["--seeds", "3", programs / "cli_interrupted", "host", "started"])
    run.wait_until(run.started)
    run.end(signal.SIGTERM)
    expect_interrupted(run.result(), signal.SIGTERM, "0 of 4", "1 kernel", "")


@case
def second_schedule(make, programs):
    script = 'if [ -e first ]; then exec "$0" host started; fi; : > first'
    run = make("check", ["--seeds", "2", "sh", "-c", script, programs / "cli_interrupted"])
    run.wait_until(run.started)
    run.end(signal.SIGTERM)
    expect_interrupted(run.result(), signal.SIGTERM, "1 of 3", "0 kernels", "")


@case
def program_that_takes_the_signal(make, programs):
    run = make("check", [programs / "cli_interrupted", "catch", "started"])
    run.wait_until(run.started)
    run.end(signal.SIGTERM)
    result = run.result()
    expect("program's status", result[2]["program_status"], 5)
    expect_interrupted(result, signal.SIGTERM, "0 of 1", "1 kernel", "")


@case
def processes_below_a_script_end_too(make, programs):
    run = make("check", ["sh", "-c", '"$0" kernel started; exit 0', programs / "cli_interrupted"])
    run.wait_until(run.started)
    run.end(signal.SIGTERM)
    expect_interrupted(run.result(), signal.SIGTERM, "0 of 1", "1 kernel", "count")
    with_engine = [entry for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit() and leads(entry, run)]
    expect("processes left", with_engine, [])


def leads(process, run):
    with contextlib.suppress(OSError, IndexError):
        fields = (process / "stat").read_text().rpartition(")")[2].split()
        return int(fields[3]) == run.process.pid and fields[0] != "Z"
    return False


@case
def ignored_hangup_stays_ignored(make, programs):
    run = make("run", [programs / "cli_interrupted", "host", "started"], before=["nohup"])
    run.wait_until(run.started)
    run.end(signal.SIGHUP, group=True)
    time.sleep(0.3)
    expect("still running", run.process.poll(), None)
    run.end(signal.SIGTERM)
    expect_interrupted(run.result(), signal.SIGTERM, "0 of 1", "1 kernel", "")


@case
def process_that_leaves_its_kernel(make, programs):
    for command in ("run", "check"):
        run = make(command, [programs / "cli_interrupted", "leave", "started"])
        status, last, report, _ = run.result()
        expect("status", status, 103)
        expect("last line", last, "verdict: not decided in 1 of 1 schedules, 1 kernel")
        expect("headlines", [d["headline"] for d in report["diagnostics"]], ["not decided: a kernel did not run to its end"])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    options = parser.parse_args()
    if not (options.programs / "cli_interrupted").exists():
        print("skipped: cli_interrupted was not built (no nvcc here)")
        return kSkipped
    failed = 0
    for function in kCases:
        with contextlib.ExitStack() as folders:
            def make(command, words, before=()):
                folder = folders.enter_context(tempfile.TemporaryDirectory())
                run = Run(options.tool, folder, command, [str(word) for word in words], before)
                folders.callback(run.clean_up)
                return run
            try:
                function(make, options.programs)
                print(f"{function.__name__}: ok")
            except AssertionError as wrong:
                print(f"{function.__name__}: {wrong}")
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
