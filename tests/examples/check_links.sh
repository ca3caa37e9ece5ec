#!/usr/bin/env bash
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# A program is linked to the shared CUDA runtime and not to libcuda, which machines without a driver do not have.
#
#   usage: check_links.sh PROGRAM
set -u
needed=$(readelf -d "${1:?program}" | grep NEEDED) || { echo "readelf finds no needed libraries in $1"; exit 1; }
grep -q 'libcudart\.so' <<<"$needed" || { echo "not linked to libcudart.so:"; echo "$needed"; exit 1; }
if grep -q 'libcuda\.so' <<<"$needed"; then
  echo "linked to libcuda.so"
  exit 1
fi
