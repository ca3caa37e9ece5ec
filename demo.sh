#!/usr/bin/env bash
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Sets up what is missing, builds the first example and runs it: on the Hopper GPU of this machine, or else on sluice's
# CPU engine. See --help.
set -euo pipefail
ROOT=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
. "$ROOT/tools/setup/setup.sh"
. "$ROOT/tools/setup/build.sh"

usage() {
  cat <<'HELP'
usage: ./demo.sh [arguments of async_pipeline]

Builds examples/async_pipeline, a three-stage TMA pipeline between one producer warp and three consumer warps, and runs
it: on a Hopper GPU where there is one, otherwise on the CPU. `./demo.sh --mistake no-wait` shows a wrong one;
build/examples/async_pipeline --help lists what else it takes. On the CPU it also writes build/demo/timeline.html, a
picture of what the barriers did.
HELP
}

case "${1:-}" in --help | -h) usage && exit 0 ;; esac

PRESET=default
WITH_CUTLASS=no
JOBS=$(default_jobs)
BUILD=$ROOT/build
[ "${SLUICE_TOOLKIT:-}" != pypi ] || BUILD=$BUILD-pypi
PROGRAM=$BUILD/examples/async_pipeline
ENGINE=$BUILD/bin/sluice
PICTURE=$BUILD/demo/timeline.html

# hopper_gpu: whether GPU 0, the one that a program gets, is a Hopper.
hopper_gpu() {
  local capability
  capability=$(nvidia-smi --id=0 --query-gpu=compute_cap --format=csv,noheader 2>/dev/null) || return 1
  [ "$capability" = 9.0 ]
}

# run_program COMMAND...: shows the command, runs it, and ends the demo with its exit status.
run_program() {
  say "$*"
  local status=0
  "$@" || status=$?
  [ ! -s "$PICTURE" ] || say "what its barriers did: open $PICTURE in a browser"
  exit "$status"
}

prepare
rm -f "$PICTURE"
say "building examples/async_pipeline"
build async_pipeline
hopper_gpu && run_program "$PROGRAM" "$@"

say "no Hopper GPU here: running on sluice's CPU engine"
build src/all
mkdir -p "$(dirname "$PICTURE")"
run_program "$ENGINE" timeline --html "$PICTURE" -- "$PROGRAM" "$@"
