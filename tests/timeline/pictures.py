#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of the page in docs/guide/pictures anew: a search for the producer's waits on empty[0], the second one
found. Needs Chromium.

    pictures.py SLUICE ASYNC_PIPELINE FOLDER"""
import pathlib
import subprocess
import sys
import tempfile

from browser import Page, find_browser


def main():
    sluice, program, folder = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        file = pathlib.Path(name) / "page.html"
        subprocess.run([sluice, "timeline", "-q", "--html", file, program, "--quiet"], check=True, capture_output=True)
        for theme in ("light", "dark"):
            with Page(find_browser(), file, 1280, 600, dark=theme == "dark") as page:
                page.frame()
                page.key("/", "/")
                page.type("waits on empty[0]")
                page.key("Enter")
                page.frame()
                page.screenshot(pathlib.Path(folder) / f"timeline-{theme}.png")


main()
