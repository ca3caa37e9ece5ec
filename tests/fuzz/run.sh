#!/bin/sh
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Fuzzes the PTX parser, the readers of binary files, launch descriptions and the execution of kernels with libFuzzer under
# AddressSanitizer and UndefinedBehaviorSanitizer.
#   tests/fuzz/run.sh [seconds per harness, default 1800] [build folder, default build-fuzz] [harness ..., default all]
# New inputs go to the build folder; the committed seeds are only read. Exit code 0: no crash.
set -e
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
seconds=${1:-1800}
build=${2:-$root/build-fuzz}
if [ $# -gt 2 ]; then shift 2; else set -- ptx fatbin launch run; fi
ccache=$(command -v ccache || true)
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
      $ccache clang++ $flags -c "$source" -o "$object"
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

readers="$root/src/base/*.cpp $root/src/ptx/*.cpp"
description="$root/src/cli/launch_[!fp]*.cpp $root/src/cli/located_json.cpp $root/src/cli/json_field.cpp $root/src/cli/input_file.cpp"
for harness in "$@"; do
  case $harness in
    ptx)
      compile $readers
      fuzz ptx -dict="$here/ptx.dict" -max_len=8192 ;;
    fatbin)
      compile $readers
      fuzz fatbin ;;
    launch)
      compile $readers "$root"/src/program/*.cpp "$root"/src/machine/tensor_map*.cpp $description
      fuzz launch -dict="$here/launch.dict" -max_len=8192 ;;
    run)
      compile $readers "$root"/src/program/*.cpp "$root"/src/report/*.cpp $(find "$root/src/machine" "$root/src/check" -name '*.cpp') \
        $description
      fuzz run -dict="$here/ptx.dict" -max_len=8192 -len_control=0 ;;
    *) echo "there is no harness $harness" >&2 && exit 2 ;;
  esac
done
