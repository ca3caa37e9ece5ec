#!/usr/bin/env bash
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs a folder of small Hopper programs (NNN-NAME.cu: BUG=0 correct, BUG=1 with a mistake; each prints PASS, FAIL or CUDA
# error) on the engine. Every correct program must print PASS when copies land early, late, and shuffled with five seeds.
# That would hold too if the timings were all the same, or the data never looked at. So three programs with their mistakes
# (BUG=1) run as well: 008, whose consumers read what an earlier copy left behind, must fail however copies land; 018 must
# end otherwise when copies land late than when they land early; 101 must pass early and fail in a shuffled order.
#
#   cases.sh SLUICE CASES_FOLDER BUILD_FOLDER
#
# SLUICE is the tool's file. Programs are built into BUILD_FOLDER (NVCC names the compiler) unless they are there already.
# Exit status: 0, 1 when something is not as it must be, 77 when there is nothing to run.
set -uo pipefail

if [ $# -ne 3 ]; then
  sed -n '5,15p' "$0" >&2
  exit 2
fi
sluice=$1 cases=$2 built=$3
nvcc=${NVCC:-nvcc}
shopt -s nullglob
sources=("$cases"/[0-9]*.cu)
if [ ${#sources[@]} -eq 0 ]; then
  echo "skipped: there are no cases in $cases"
  exit 77
fi
mkdir -p "$built"

build() {  # SOURCE BUG OUTPUT
  [ "$3" -nt "$1" ] && return
  "$nvcc" -std=c++17 -O2 -lineinfo -cudart shared -gencode arch=compute_90a,code=compute_90a -DBUG="$2" "$1" -o "$3" \
    -L"$(dirname "$(dirname "$(command -v "$nvcc")")")/lib64/stubs" -lcuda || echo "does not build: $1 (BUG=$2)"
}

failed=0 runs=0
for source in "${sources[@]}"; do
  name=$(basename "$source" .cu)
  build "$source" 0 "$built/$name.ok"
  for schedule in early late "shuffled --seed 1" "shuffled --seed 2" "shuffled --seed 3" "shuffled --seed 4" \
                  "shuffled --seed 5"; do
    runs=$((runs + 1))
    # shellcheck disable=SC2086  # the schedule is an option and its seed
    output=$("$sluice" run --timeout 60 --copies $schedule "$built/$name.ok" 2>"$built/$name.stderr")
    status=$?
    if [ $status -ne 0 ] || [ "$(head -1 <<<"$output")" != PASS ]; then
      failed=$((failed + 1))
      echo "$name, copies $schedule: exit status $status: ${output:-nothing printed}; $(tail -1 "$built/$name.stderr")"
    fi
  done
done
echo "$((runs - failed)) of $runs runs of ${#sources[@]} correct programs print PASS"

# outcome NAME SCHEDULE: the first line that the wrong program of a case prints.
outcome() { "$sluice" run -q --timeout 60 --copies $2 "$built/$1.bug" 2>/dev/null | head -1; }

# must TEXT CONDITION...: complains with the text unless the condition (of test) holds.
must() {
  local text=$1
  shift
  test "$@" && return
  echo "not as it must be: $text"
  failed=$((failed + 1))
}

for source in "$cases"/{008,018,101}-*.cu; do
  name=$(basename "$source" .cu)
  build "$source" 1 "$built/$name.bug"
  early=$(outcome "$name" early) late=$(outcome "$name" late)
  shuffled=$(for seed in 1 2 3 4 5; do outcome "$name" "shuffled --seed $seed"; done | sort -u | paste -sd ';')
  echo "$name with its mistake: early: $early; late: $late; shuffled: $shuffled"
  case $name in
    008-*) must "the values are stale, however copies land" "${early%% *}/${late%% *}/${shuffled%% *}" = FAIL/FAIL/FAIL ;;
    018-*) must "a copy that lands early is counted in the wrong phase, one that lands late is not" "$early" != "$late" ;;
    101-*) must "a store that reads its source late ships another tile" "$early/${shuffled%% *}" = PASS/FAIL ;;
  esac
done
[ $failed -eq 0 ]
