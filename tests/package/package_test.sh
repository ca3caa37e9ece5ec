#!/usr/bin/env bash
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Uses the library the ways that the README promises, as another project would: installed and found with find_package,
# as a sub-folder with add_subdirectory, and as one folder on the include path.
#
# usage: package_test.sh WAY REPOSITORY SCRATCH NVCC     WAY is find_package, add_subdirectory or include_path
set -euo pipefail
WAY=$1 REPOSITORY=$2 SCRATCH=$3 NVCC=$4
CONSUMER=$REPOSITORY/tests/package/consumer
rm -rf "$SCRATCH"
mkdir -p "$SCRATCH"

configure() { cmake -G Ninja -S "$CONSUMER" -B "$SCRATCH/build" -DCMAKE_CUDA_COMPILER="$NVCC" "$@"; }

# The installed tree must hold headers and CMake files and nothing else, and work after the move of its prefix.
install_library() {
  cmake -G Ninja -S "$REPOSITORY" -B "$SCRATCH/library" -DSLUICE_DEVELOPER_MODE=OFF
  cmake --install "$SCRATCH/library" --prefix "$SCRATCH/first"
  mv "$SCRATCH/first" "$SCRATCH/prefix"
  local foreign
  foreign=$(find "$SCRATCH/prefix" -type f ! -path '*/include/sluice/*' ! -path '*/lib*/cmake/sluice/*.cmake' \
    ! -path '*/share/sluice/cutlass/*')
  [ -z "$foreign" ] || { echo "installed, but no part of the library: $foreign" && exit 1; }
  if grep -rlF "$REPOSITORY" "$SCRATCH/prefix"; then
    echo "these installed files name the source tree" && exit 1
  fi
}

case "$WAY" in
  find_package)
    install_library
    configure -DCONSUMER_FINDS=package -DCMAKE_PREFIX_PATH="$SCRATCH/prefix"
    ;;
  add_subdirectory) configure -DCONSUMER_FINDS=subdirectory -DSLUICE_SOURCE_DIR="$REPOSITORY" ;;
  include_path)
    "$NVCC" -std=c++17 -arch=sm_90a -I "$REPOSITORY/include" -c "$CONSUMER/layer1.cu" -o "$SCRATCH/layer1.o"
    "$NVCC" -std=c++20 -arch=sm_90a -I "$REPOSITORY/include" -c "$CONSUMER/layer2.cu" -o "$SCRATCH/layer2.o"
    "$NVCC" -std=c++17 -arch=sm_90a -I "$REPOSITORY/include" -c "$CONSUMER/traced.cu" -o "$SCRATCH/traced.o"
    exit 0
    ;;
  *) echo "unknown way '$WAY'" && exit 1 ;;
esac
cmake --build "$SCRATCH/build"
# The consumer must not have got our engine, tests or examples with the library.
[ ! -e "$SCRATCH/build/bin/sluice" ]
"$SCRATCH/build/consumer"
