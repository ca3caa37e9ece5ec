#!/usr/bin/env bash
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Bad input to an example program: exactly one line on stderr, nothing on stdout, exit status 2. No GPU is needed, and
# none is used where there is one.
#
#   usage: bad_input.sh PROGRAM EXPECTED_TEXT [ARGUMENT...]
set -u
program=${1:?program} expected=${2:?text}
shift 2

errors=$(mktemp) || exit 1
trap 'rm -f "$errors"' EXIT
output=$(CUDA_VISIBLE_DEVICES= "$program" "$@" 2>"$errors")
status=$?

failed=0
[ "$status" -eq 2 ] || { echo "exit status $status, not 2"; failed=1; }
[ -z "$output" ] || { echo "stdout is not empty: $output"; failed=1; }
[ "$(wc -l <"$errors")" -eq 1 ] || { echo "stderr has $(wc -l <"$errors") lines, not 1"; failed=1; }
grep -qF -- "$expected" "$errors" || { echo "stderr does not say '$expected'"; failed=1; }
[ "$failed" -eq 0 ] || { echo "--- $(basename "$program") $*"; cat "$errors"; }
exit "$failed"
