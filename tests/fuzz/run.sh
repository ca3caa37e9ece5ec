#!/bin/sh
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Fuzzes the PTX parser, the readers of binary files and launch descriptions with libFuzzer under AddressSanitizer and
# UndefinedBehaviorSanitizer.
#   tests/fuzz/run.sh [seconds per harness, default 1800] [build folder, default build-fuzz]
# New inputs go to the build folder; the committed seeds are only read. Exit code 0: no crash.
set -e
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
seconds=${1:-1800}
build=${2:-$root/build-fuzz}
command -v clang++ >/dev/null || { echo "clang++ with libFuzzer is needed (Debian: clang libclang-rt-14-dev)"; exit 77; }
toolkit=${CUDA_HOME:-$(dirname "$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")}
mkdir -p "$build"
flags="-std=c++20 -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined"
flags="$flags -I$root/src -isystem $toolkit/include"

# Compiles what changed; the objects' names go to $objects.
compile() {
  objects=
  for source in "$@"; do
    object="$build/$(echo "${source#"$root"/src/}" | tr / _ | sed 's/cpp$/o/')"
    if [ ! -e "$object" ] || [ -n "$(find "$root/src" -name '*.[hcd][pe][pf]' -newer "$object" -print -quit)" ]; then
      clang++ $flags -c "$source" -o "$object"
    fi
    objects="$objects $object"
  done
}

# fuzz HARNESS OPTIONS...
fuzz() {
  harness=$1
  shift
  clang++ $flags -fsanitize=fuzzer "$here/fuzz_$harness.cpp" $objects -o "$build/fuzz_$harness" -lfmt -lzstd -llz4
  mkdir -p "$build/corpus_$harness"
  "$build/fuzz_$harness" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=60 -print_final_stats=1 "$@" \
    -artifact_prefix="$build/crash_${harness}_" "$build/corpus_$harness" "$here/seeds/$harness"
}

compile "$root"/src/base/*.cpp "$root"/src/ptx/*.cpp
fuzz ptx -dict="$here/ptx.dict" -max_len=8192
fuzz fatbin
compile "$root"/src/base/*.cpp "$root"/src/ptx/*.cpp "$root"/src/program/*.cpp "$root"/src/machine/tensor_map*.cpp \
  "$root"/src/cli/launch_spec.cpp "$root"/src/cli/launch_elements.cpp
fuzz launch -dict="$here/launch.dict" -max_len=8192
