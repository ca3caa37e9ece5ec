#!/usr/bin/env bash
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs an API program and compares what it prints with expected/NAME.txt.
#   check_output.sh NAME PROGRAM RUNNER [ARGS...]    RUNNER: "build/bin/sluice run -q", or "" on a GPU
#   BLESS=1 writes the expected file instead.
# The programs provoke errors on purpose, so the runner's status for findings (101) is no failure here: what the program
# saw and printed is what counts.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=$1 program=$2 runner=$3
shift 3
expected=$here/expected/$name.txt
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# The runner's own words and assert messages are on stderr.
$runner "$program" "$@" >"$output" 2>"$output.err"
status=$?
cat "$output.err" >&2
rm -f "$output.err"
if [ "$status" -eq 77 ]; then
  cat "$output"
  exit 77
fi
if [ "${BLESS:-}" = 1 ]; then
  mkdir -p "$here/expected"
  cp "$output" "$expected"
  exit 0
fi
case "$status" in 0 | 101) ;; *) echo "exit status $status" && exit 1 ;; esac
diff -u "$expected" "$output"
