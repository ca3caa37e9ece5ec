#!/usr/bin/env bash
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Sets up what is missing, builds everything and runs every test. See --help.
set -euo pipefail
ROOT=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
. "$ROOT/tools/setup/setup.sh"
. "$ROOT/tools/setup/build.sh"

usage() {
  cat <<'HELP'
usage: ./test.sh [options]

Sets up what is missing on this machine, builds everything and runs the tests. The last line is
`N passed, N failed`, with `, N skipped` where a test could not run here; each skipped test says why.
Exits with 0 if nothing failed, 1 if a test or a step failed, 2 for a wrong option.

  -R REGEX        only tests whose name matches
  --jobs N        how many compilers and tests at a time (default: one per core)
  --preset NAME   another preset of CMakePresets.json, such as sanitize; its tree is build-NAME
  --library       only the device library: its headers, packaging, examples and their tests,
                  without what needs CUTLASS's headers
  --help          this text

  SLUICE_TOOLKIT=pypi ./test.sh   uses NVIDIA's CUDA 13.0 wheels from PyPI, in build-pypi, even if nvcc is here
HELP
}

bad_usage() {
  printf 'error: %s\nhelp:  ./test.sh --help lists the options\n' "$1" >&2
  exit 2
}

PRESET=default
JOBS=$(default_jobs)
FILTER=""
LIBRARY_ONLY=no
while [ $# -gt 0 ]; do
  case "$1" in
    --help | -h) usage && exit 0 ;;
    --library) LIBRARY_ONLY=yes WITH_CUTLASS=no ;;
    -R | --jobs | --preset)
      [ $# -gt 1 ] || bad_usage "$1 needs a value"
      case "$1" in -R) FILTER=$2 ;; --jobs) JOBS=$2 ;; --preset) PRESET=$2 ;; esac
      shift
      ;;
    *) bad_usage "unknown option '$1'" ;;
  esac
  shift
done
case "$JOBS" in '' | 0 | *[!0-9]*) bad_usage "--jobs takes a number of 1 or more, not '$JOBS'" ;; esac

presets() { sed -n '/"configurePresets"/,/"buildPresets"/s/.*"name": "\([^"]*\)".*/\1/p' "$ROOT/CMakePresets.json"; }
presets | grep -qxF -- "$PRESET" || bad_usage "there is no preset '$PRESET': $(presets | paste -sd ' ')"

BUILD=$ROOT/build
[ "$PRESET" = default ] || BUILD=$ROOT/build-$PRESET
[ "${SLUICE_TOOLKIT:-}" != pypi ] || BUILD=$BUILD-pypi

prepare
setup_format "$BUILD/format"
setup_schemas "$BUILD/schemas"
[ "$LIBRARY_ONLY" = yes ] || setup_browser

# The rooms of tests/ that know the device library alone.
library_rooms() {
  local room
  for room in headers package compile unit_layer1 unit_layer2 unit_host examples stream; do
    [ ! -f "$ROOT/tests/$room/CMakeLists.txt" ] || printf 'tests.dir/%s\n' "$room"
  done
}

ROOMS=(.)
if [ "$LIBRARY_ONLY" = yes ]; then
  mapfile -t ROOMS < <(library_rooms)
  say "building the library's examples and tests"
  build examples/all "${ROOMS[@]/%//all}"
else
  say "building everything in $BUILD"
  build
fi

say "running the tests"
RESULTS=()
rm -f "$BUILD"/test-results-*.xml
for room in "${ROOMS[@]}"; do
  results=$BUILD/test-results-${#RESULTS[@]}.xml
  # The summary below decides what failed; ctest itself fails also where a filter leaves a room without tests.
  ctest --test-dir "$BUILD/$room" -j "$JOBS" --output-on-failure --no-label-summary \
    --output-junit "$results" ${FILTER:+-R "$FILTER"} || true
  RESULTS+=("$results")
done
python3 "$ROOT/tools/test_summary.py" "${RESULTS[@]}"
