#!/usr/bin/env bash
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# The program under test ends with the tool, however the tool ends.
#
#   killed_tool.sh SLUICE
set -euo pipefail

sluice=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

for signal in TERM KILL; do
  rm -f "$folder/pid"
  "$sluice" run -q -- sh -c "echo \$\$ > '$folder/new'; mv '$folder/new' '$folder/pid'; exec sleep 60" &
  tool=$!
  for _ in $(seq 200); do [ -e "$folder/pid" ] && break; sleep 0.05; done
  program=$(cat "$folder/pid")
  kill -"$signal" "$tool"
  wait "$tool" 2> /dev/null || true
  for _ in $(seq 100); do kill -0 "$program" 2> /dev/null || break; sleep 0.05; done
  if kill -0 "$program" 2> /dev/null; then
    echo "after SIG$signal to the tool the program still runs"
    kill -KILL "$program"
    failed=1
  fi
done
exit $failed
