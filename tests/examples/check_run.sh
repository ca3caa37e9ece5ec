#!/usr/bin/env bash
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Compares one run of runs.txt with its expected output.
#
#   usage: check_run.sh model NAME REPORT_MODEL    the output that report_model computes; no GPU needed
#          check_run.sh run NAME PROGRAM_DIR       the output of the program itself, on a GPU or under $SLUICE_RUNNER
#          check_run.sh text NAME PROGRAM ARGS     text that a program prints without a GPU
#          check_run.sh bless NAME REPORT_MODEL    write the expected output anew
#
# Exit status 77 where a run needs a GPU, there is none, and SLUICE_RUNNER is empty.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mode=${1:?mode} name=${2:?name} where=${3:?program}
expected=$here/expected/$name.txt

if [ "$mode" = text ]; then
  shift 3
  diff -u "$expected" <("$where" "$@") || { echo "$(basename "$where") $*: not the expected output"; exit 1; }
  exit 0
fi

read -r _ program model arguments < <(grep -E "^$name[[:space:]]" "$here/runs.txt") ||
  { echo "runs.txt has no run '$name'"; exit 1; }

if [ "$mode" != run ]; then
  IFS=: read -ra model_arguments <<<"$model"
  computed=$("$where" "$program" "${model_arguments[@]}") || exit 1
  if [ "$mode" = bless ]; then
    printf '%s\n' "$computed" >"$expected"
  else
    diff -u "$expected" <(printf '%s\n' "$computed") || { echo "the model and expected/$name.txt differ"; exit 1; }
  fi
  exit 0
fi

output=$(mktemp) || exit 1
errors=$(mktemp) || exit 1
trap 'rm -f "$output" "$errors"' EXIT
# The runner is a command with arguments, so it is split into words here.
${SLUICE_RUNNER:-} "$where/$program" $arguments >"$output" 2>"$errors"
status=$?
if [ -z "${SLUICE_RUNNER:-}" ] && [ "$status" -eq 2 ] && grep -q "no CUDA device" "$errors"; then
  echo "skipped: no Hopper GPU here, and SLUICE_RUNNER is empty"
  exit 77
fi
cat "$errors"
diff -u "$expected" "$output" || { echo "$program $arguments: not the expected output"; exit 1; }
[ "$status" -eq 0 ] || { echo "$program $arguments: exit status $status, not 0"; exit 1; }
