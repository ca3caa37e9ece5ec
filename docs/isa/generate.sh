#!/bin/sh
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Writes docs/isa/instructions.md from the instruction table.
#   docs/isa/generate.sh [build folder, default build]
set -e
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build}
ninja -C "$build" unit_ptx
SLUICE_BLESS=1 "$build/tests/unit_ptx" --gtest_filter='IsaPage.*'
