#!/bin/sh
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# On a processor that the build is not for, the tool says so in one line and ends with status 102.
#   older_processor.sh QEMU TOOL
said=$("$1" -cpu Nehalem "$2" --version 2>&1)
status=$?
echo "$said"
[ "$status" -eq 102 ] || { echo "exit status $status, expected 102" && exit 1; }
[ "$(echo "$said" | wc -l)" -eq 1 ] || { echo "more than one line" && exit 1; }
echo "$said" | grep -q 'needs a processor of level'
