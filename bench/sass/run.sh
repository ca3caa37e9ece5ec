#!/usr/bin/env bash
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Compiles the bodies with the typed rings, with layer 1 and with CUTLASS (NDEBUG, -O3, sm_90a), prints how many machine
# instructions each has, whole and in its steady-state loops, and fails where layer 2 is longer than layer 1 or layer 1
# longer than CUTLASS. Nothing runs, so no GPU is needed.
#
# usage: bench/sass/run.sh [--cutlass DIR]... [--nvcc FILE] [--keep DIR] [--list KERNEL]
#
#   --cutlass DIR    an include directory of CUTLASS; several are compared one by one (default: the set-up's, from PyPI)
#   --nvcc FILE      the compiler (default: the one on the PATH)
#   --keep DIR       leaves the compiled kernels there
#   --list KERNEL    prints the machine code of one kernel instead
#
# Needs cuobjdump and nvdisasm; where they are not on the PATH it takes them from PyPI. Exits with 77 where it cannot
# have them.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
. "$ROOT/tools/setup/setup.sh"

CUTLASS=()
NVCC=$(command -v nvcc || true)
KEEP=""
LIST=()
while [ $# -gt 0 ]; do
  case "$1" in
    --cutlass) CUTLASS+=("$2") && shift ;;
    --nvcc) NVCC=$2 && shift ;;
    --keep) KEEP=$2 && shift ;;
    --list) LIST=(--list "$2") && shift ;;
    --help | -h) sed -n '5,20s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 0 ;;
    *) echo "error: unknown option '$1' (try --help)" >&2 && exit 2 ;;
  esac
  shift
done
[ -n "$NVCC" ] || { echo "there is no nvcc" && exit 77; }
if ! command -v cuobjdump >/dev/null || ! command -v nvdisasm >/dev/null; then
  (setup_disassembler "$ROOT/build/disassembler") || { echo "cuobjdump and nvdisasm are not to be had" && exit 77; }
  PATH=$ROOT/build/disassembler/nvidia/cu13/bin:$PATH
fi
if [ ${#CUTLASS[@]} = 0 ]; then
  setup_cutlass "$ROOT/build/cutlass"
  [ -z "$SETUP_CUTLASS_DIR" ] || CUTLASS=("$SETUP_CUTLASS_DIR")
fi

OUT=${KEEP:-$(mktemp -d)}
[ -n "$KEEP" ] || trap 'rm -rf "$OUT"' EXIT
mkdir -p "$OUT"
compile() { "$NVCC" -cubin -arch=sm_90a -O3 -DNDEBUG -I "$ROOT/include" "$@"; }

compile -std=c++20 "$HERE/layer2.cu" -o "$OUT/layer2.cubin"
compile -std=c++17 "$HERE/layer1.cu" -o "$OUT/layer1.cubin"
OURS=(layer2="$OUT/layer2.cubin" layer1="$OUT/layer1.cubin")
[ ${#CUTLASS[@]} -gt 0 ] || { echo "no CUTLASS headers: layer 2 is compared with layer 1 alone" && CUTLASS=(""); }
STATUS=0
for directory in "${CUTLASS[@]}"; do
  VARIANTS=("${OURS[@]}")
  if [ -n "$directory" ]; then
    version=$(sed -n 's/^#define CUTLASS_\(MAJOR\|MINOR\) *\([0-9]*\).*/\2/p' "$directory/cutlass/version.h" | paste -sd.)
    compile -std=c++17 --expt-relaxed-constexpr -isystem "$directory" "$HERE/cutlass.cu" -o "$OUT/cutlass$version.cubin"
    VARIANTS+=("cutlass$version=$OUT/cutlass$version.cubin")
  fi
  python3 "$HERE/sass_count.py" "${LIST[@]}" "$(command -v cuobjdump)" "${VARIANTS[@]}" || STATUS=$?
done
exit $STATUS
