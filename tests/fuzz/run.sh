#!/bin/sh
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Fuzzes the PTX parser and the readers of binary files with libFuzzer under AddressSanitizer and
# UndefinedBehaviorSanitizer.
#   tests/fuzz/run.sh [seconds per harness, default 1800] [build folder, default build-fuzz]
# New inputs go to the build folder; the committed seeds are only read. Exit code 0: no crash.
set -e
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
seconds=${1:-1800}
build=${2:-$root/build-fuzz}
command -v clang++ >/dev/null || { echo "clang++ with libFuzzer is needed (Debian: clang libclang-rt-14-dev)"; exit 77; }
mkdir -p "$build"
flags="-std=c++20 -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -I$root/src"
objects=
for source in "$root"/src/base/*.cpp "$root"/src/ptx/*.cpp; do
  object="$build/$(basename "$source" .cpp).o"
  # Only what changed is compiled again.
  if [ ! -e "$object" ] || [ -n "$(find "$root/src/base" "$root/src/ptx" -newer "$object" -print -quit)" ]; then
    clang++ $flags -c "$source" -o "$object"
  fi
  objects="$objects $object"
done
for harness in ptx fatbin; do
  clang++ $flags -fsanitize=fuzzer "$here/fuzz_$harness.cpp" $objects -o "$build/fuzz_$harness" -lfmt -lzstd -llz4
  mkdir -p "$build/corpus_$harness"
  options="-max_total_time=$seconds -rss_limit_mb=2048 -timeout=60 -print_final_stats=1"
  [ "$harness" = ptx ] && options="$options -dict=$here/ptx.dict -max_len=8192"
  "$build/fuzz_$harness" $options -artifact_prefix="$build/crash_${harness}_" "$build/corpus_$harness" "$here/seeds/$harness"
done
