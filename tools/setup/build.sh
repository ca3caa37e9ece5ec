# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Configuring and building, the same for ./demo.sh and ./test.sh; sourced after setup.sh. Callers set ROOT (the
# repository), BUILD (the build tree), PRESET and JOBS; WITH_CUTLASS=no leaves out what needs CUTLASS's headers, and
# LIBRARY_ONLY=yes runs kernels on a GPU alone, since the engine is not built then.

# prepare: everything up to a configured build tree.
prepare() {
  mkdir -p "$BUILD" && [ -w "$BUILD" ] ||
    fail "$BUILD cannot be written" "work on a copy of the repository that is yours: git clone $ROOT COPY"
  setup_packages
  setup_cmake "$BUILD/cmake-from-pypi"
  setup_toolkit "$BUILD/toolkit"
  [ "${WITH_CUTLASS:-yes}" = no ] || setup_cutlass "$BUILD/cutlass"
  say "configuring $BUILD with $SETUP_CUDA_COMPILER (CUDA $(setup_nvcc_version "$SETUP_CUDA_COMPILER"))"
  drop_other_compilers_cache
  local cutlass=()
  [ "${WITH_CUTLASS:-yes}" = no ] || cutlass=(-DSLUICE_CUTLASS_DIR="$SETUP_CUTLASS_DIR")
  cmake -S "$ROOT" --preset "$PRESET" -B "$BUILD" -DCMAKE_CUDA_COMPILER="$SETUP_CUDA_COMPILER" "${cutlass[@]}" \
    -DSLUICE_LIBRARY_TESTS="${LIBRARY_ONLY:-no}" >"$BUILD/configure.log" 2>&1 || {
    tail -n 25 "$BUILD/configure.log" >&2
    fail "CMake could not configure $BUILD" "the end of $BUILD/configure.log is above; a fresh start is: rm -rf $BUILD"
  }
}

# CMake cannot change the compiler of a build tree that it has configured before.
drop_other_compilers_cache() {
  local cache=$BUILD/CMakeCache.txt
  [ -f "$cache" ] || return 0
  local last
  last=$(sed -n 's/^CMAKE_CUDA_COMPILER:[A-Z]*=//p' "$cache")
  [ -n "$last" ] && [ "$last" != "$SETUP_CUDA_COMPILER" ] || return 0
  say "the CUDA compiler is another one than last time: configuring $BUILD afresh"
  rm -rf "$cache" "$BUILD/CMakeFiles"
}

# build [TARGET...]: all of it, or these targets.
build() {
  local arguments=()
  [ $# = 0 ] || arguments=(--target "$@")
  cmake --build "$BUILD" --parallel "$JOBS" "${arguments[@]}" ||
    fail "the build in $BUILD failed" "the first error above says where"
}

# has_target NAME: whether the configured tree knows this target.
has_target() { ninja -C "$BUILD" -t query "$1" >/dev/null 2>&1; }

default_jobs() { nproc 2>/dev/null || echo 2; }
