#!/usr/bin/env bash
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs async_pipeline for every number of stages, tiles 0 to 20, clusters of 1, 2 and 4, on layer 1 and on layer 2, and
# prints per row how many of the runs ended with PASS and exit status 0. On a GPU, or under $SLUICE_RUNNER.
#
#   usage: matrix.sh PROGRAM_DIR [JOBS]      (JOBS programs at a time, default 4)
#
# Exit status: 0 all passed, 1 some did not, 77 no GPU and no runner.
set -u
dir=${1:?usage: matrix.sh PROGRAM_DIR [JOBS]} jobs=${2:-4}
export PROGRAM=$dir/async_pipeline SLUICE_RUNNER=${SLUICE_RUNNER:-}
stages=$(seq 1 6) tiles=$(seq 0 20)

# Look for a GPU first.
first=$($SLUICE_RUNNER "$PROGRAM" --quiet 2>&1)
if [ $? -eq 2 ] && [ -z "$SLUICE_RUNNER" ] && [[ $first == *"no CUDA device"* ]]; then
  echo "skipped: no Hopper GPU here, and SLUICE_RUNNER is empty"
  exit 77
fi

run_one() {  # LAYER CLUSTER STAGES SOURCE TILES: prints these and "pass" or what came instead
  local arguments=(--quiet --cluster "$2" --stages "$3" --tiles "$5") output status
  [ "$1" = typed ] && arguments+=(--typed)
  [ "$4" = same ] && arguments+=(--same-tile)
  # What the runner says of the run goes to standard error.
  output=$(timeout -s KILL 60 $SLUICE_RUNNER "$PROGRAM" "${arguments[@]}" 2>/dev/null)
  status=$?
  if [ "$status" -eq 0 ] && [ "$output" = "PASS (0 errors)" ]; then
    echo "$1 $2 $3 $4 $5 pass"
  else
    echo "$1 $2 $3 $4 $5 status $status: $(tail -n 1 <<<"$output")"
  fi
}
export -f run_one

results=$(mktemp) || exit 1
trap 'rm -f "$results"' EXIT
for layer in layer1 typed; do
  for cluster in 1 2 4; do
    for stage in $stages; do
      for tile in $tiles; do printf '%s\0' "$layer $cluster $stage different $tile"; done
      printf '%s\0' "$layer $cluster $stage same 8"
    done
  done
done | xargs -0 -P "$jobs" -I{} bash -c 'run_one {}' >"$results"

# One row per layer and cluster, one column per number of stages.
echo "runs that passed: tiles 0 to 20 from different places, and 8 times the same tile (22 per cell)"
printf '%-10s %-8s' layer cluster
for stage in $stages; do printf ' %9s' "stages $stage"; done
echo
for layer in layer1 typed; do
  for cluster in 1 2 4; do
    printf '%-10s %-8s' "$layer" "$cluster"
    for stage in $stages; do
      printf ' %6s/22' "$(grep -c "^$layer $cluster $stage [a-z]* [0-9]* pass$" "$results")"
    done
    echo
  done
done
total=$(wc -l <"$results") passed=$(grep -c ' pass$' "$results")
grep -v ' pass$' "$results" | head -20
echo "$passed of $total runs passed"
[ "$total" -eq 792 ] && [ "$passed" -eq "$total" ]
