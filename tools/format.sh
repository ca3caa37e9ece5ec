#!/usr/bin/env bash
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Formats the C++ and CUDA sources in place; with --check it changes nothing and fails, naming the files, where one
# is not formatted. The version is fixed, since each clang-format decides a little differently; exit code 77 where it
# is not installed. FILE... restricts it to these files and folders.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly kVersion=14

usage() { echo "usage: tools/format.sh [--check] [FILE...]"; }

find_formatter() {
  local name
  for name in "clang-format-$kVersion" clang-format; do
    case "$("$name" --version 2>/dev/null)" in *"version $kVersion."*) echo "$name" && return ;; esac
  done
}

CHECK=no
case "${1:-}" in
  --help | -h) usage && exit 0 ;;
  --check) CHECK=yes && shift ;;
  -*) usage >&2 && exit 2 ;;
esac

FORMATTER=$(find_formatter)
if [ -z "$FORMATTER" ]; then
  echo "clang-format $kVersion is not installed"
  exit 77
fi

# Only C++ and CUDA among what is given: a folder stands for all of its own.
[ $# -gt 0 ] || set -- include compat src tests examples bench tools
mapfile -t FILES < <(find "$@" -type f \
  \( -name '*.hpp' -o -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) 2>/dev/null | sort)
[ ${#FILES[@]} -gt 0 ] || exit 0

if [ "$CHECK" = no ]; then
  "$FORMATTER" -i "${FILES[@]}"
  exit
fi
BAD=$("$FORMATTER" --dry-run -Werror "${FILES[@]}" 2>&1 | sed -n 's/^\(.*\):[0-9]*:[0-9]*: error: .*/\1/p' | sort -u || true)
[ -n "$BAD" ] || exit 0
while read -r file; do echo "not formatted: $file"; done <<<"$BAD"
echo "help: run tools/format.sh"
exit 1
