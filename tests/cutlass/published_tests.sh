#!/usr/bin/env bash
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds CUTLASS's own pipeline tests (test/unit/pipeline of a CUTLASS checkout, the five files for SM90), with sluice
# underneath or as published. They need a Hopper GPU or sluice's engine to run.
#
#   published_tests.sh sluice|published CUTLASS_CHECKOUT CUTLASS_INCLUDE OUTPUT_FOLDER [extra nvcc flags...]
#
# CUTLASS_INCLUDE is the include directory to test, of the same checkout or of another version.
set -euo pipefail

if [ $# -lt 4 ]; then
  sed -n '5,11p' "$0" >&2
  exit 2
fi
variant=$1 checkout=$2 include=$3 output=$4
shift 4
root=$(cd "$(dirname "$0")/../.." && pwd)
tests=$checkout/test/unit
compat=()
case $variant in
  sluice) compat=(-I "$root/compat/cutlass" -I "$root/include") ;;
  published) ;;
  *) echo "published_tests.sh: the variant is sluice or published, not '$variant'" >&2; exit 2 ;;
esac

mkdir -p "$output"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(-std=c++17 -O3 -DNDEBUG -gencode 'arch=compute_90a,code=[compute_90a,sm_90a]' -cudart shared
       --expt-relaxed-constexpr -DCUTLASS_ENABLE_TENSOR_CORE_MMA=1 -DCUTLASS_TEST_LEVEL=0 -w
       "${compat[@]}" -I "$include" -I "$checkout/tools/util/include" -I "$tests/pipeline" "$@")

compile() { echo "compiling $1"; nice -n 10 nvcc "${flags[@]}" -c "$1" -o "$2"; }

compile "$tests/test_unit.cpp" "$work/main.o"
nice -n 10 nvcc "${flags[@]}" -x cu -c "$tests/common/filter_architecture.cpp" -o "$work/filter.o"
for name in pipeline_tma_async pipeline_tma_async_warp_specialized pipeline_tma_async_warp_specialized_persistent \
            pipeline_async sequence_barrier; do
  # The test is included in a file that holds sluice's marker to it: CUTLASS's own class has none.
  {
    echo "#include \"$tests/pipeline/$name.cu\""
    if [ "$variant" = sluice ]; then
      echo 'static_assert(cutlass::PipelineTmaAsync<2>::kIsSluice && cutlass::PipelineAsync<2>::kIsSluice);'
      echo 'static_assert(cutlass::OrderedSequenceBarrier<2, 2>::kIsSluice);'
    fi
  } > "$work/$name.cu"
  compile "$work/$name.cu" "$work/$name.o"
  nice -n 10 nvcc "${flags[@]}" "$work/$name.o" "$work/main.o" "$work/filter.o" -o "$output/$name" -lgtest -lpthread
  strip "$output/$name"
done
ls -l "$output"
