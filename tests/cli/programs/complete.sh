#!/bin/bash
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
# complete.sh TOOL: what completion offers for some unfinished lines, in an empty folder but for one file.
: > a_file
eval "$("$1" completion bash)"
offer() {
  COMP_WORDS=(sluice "$@")
  COMP_CWORD=$#
  _sluice
  echo "$*: ${COMPREPLY[*]}"
}
offer ""
offer completion ""
offer isa ""
offer isa --m
offer run --copies ""
offer run --device h1
offer run --seed ""
offer run --json ""
offer run ""
