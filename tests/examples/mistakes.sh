#!/usr/bin/env bash
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs async_pipeline with each of its mistakes, as it is and with time-limited waits, and prints how each run ended and
# the first line that a stuck wait printed. On a GPU, or under $SLUICE_RUNNER.
#
#   usage: mistakes.sh PROGRAM_DIR [SECONDS]     (a run that takes longer, default 10, is killed: stuck)
#
# Exit status: 0 if each mistake that gets stuck ends by itself with limited waits and names barrier, stage and phase; 1 if not;
# 77 no GPU and no runner.
set -u
dir=${1:?usage: mistakes.sh PROGRAM_DIR [SECONDS]} seconds=${2:-10}
runner=${SLUICE_RUNNER:-}
message='^sluice: (producer|consumer) waits for (full|empty)\[[0-9]+\] phase [01] '

first=$($runner "$dir/async_pipeline" --quiet 2>&1)
if [ $? -eq 2 ] && [ -z "$runner" ] && [[ $first == *"no CUDA device"* ]]; then
  echo "skipped: no Hopper GPU here, and SLUICE_RUNNER is empty"
  exit 77
fi

run() {  # PROGRAM MISTAKE: sets `ended` and `output`
  output=$(timeout -s KILL "$seconds" $runner "$dir/$1" --quiet --mistake "$2" 2>&1)
  local status=$?
  case $status in
    0) ended=PASS ;;
    1) ended=FAIL ;;
    2) ended="CUDA error" ;;
    101 | 137) ended=stuck ;;  # 101: the CPU engine saw that nothing can wake the threads
    *) ended="status $status" ;;
  esac
}

failed=0 hangs=0
printf '%-20s %-11s %-11s %s\n' mistake plain limited "first line of a stuck wait"
for mistake in $("$dir/async_pipeline" --list-mistakes | awk '{print $1}'); do
  run async_pipeline "$mistake"
  plain=$ended
  run async_pipeline_limited "$mistake"
  line=$(grep -Em1 "$message" <<<"$output")
  printf '%-20s %-11s %-11s %s\n' "$mistake" "$plain" "$ended" "${line:-$(tail -n 1 <<<"$output")}"
  [ "$plain" = stuck ] || continue
  hangs=$((hangs + 1))
  if [ "$ended" = stuck ] || [ -z "$line" ]; then
    failed=$((failed + 1))
  fi
done
echo "$hangs mistakes get stuck; with limited waits $((hangs - failed)) of them end by themselves and say where"
[ "$failed" -eq 0 ] && [ "$hangs" -gt 0 ]
