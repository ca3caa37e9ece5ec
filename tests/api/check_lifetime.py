#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""No object of the engine's library is destroyed by the C++ runtime, and it owns all of its C++ library.

usage: check_lifetime.py ENGINE ARCHIVE...

Programs call the engine from destructors that run after its own would have run: none of its object files registers
one. ENGINE, the shared library made from the archives, needs no other library of C++ code: what such a library
allocates comes from the program's operator new, which the engine does not use.
"""
import re
import subprocess
import sys

DESTRUCTORS = {"__cxa_atexit", "__cxa_thread_atexit", "__cxa_thread_atexit_impl"}


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(engine, *archives):
    errors, files = [], 0
    for archive in archives:
        for line in output_of("nm", "-A", "--undefined-only", archive).splitlines():
            place, _, symbol = line.rpartition(" ")
            files += 1
            if symbol in DESTRUCTORS:
                errors.append(f"{place.split(':')[1]} of {archive} has an object with a destructor ({symbol})")
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", engine))
    errors += [f"{engine} needs {name}" for name in needed if re.match(r"lib(fmt|stdc\+\+|gcc_s)", name)]
    if files == 0 or not needed:
        errors.append("nothing was read")
    print("\n".join(errors) or f"{len(archives)} archives, {len(needed)} libraries needed")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
