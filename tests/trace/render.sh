#!/usr/bin/env bash
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Lets a program record itself on the engine and draws the timeline of the file: three stages, eight tiles.
#
#   usage: render.sh SLUICE TRACE PROGRAM [ARGS]
set -euo pipefail
SLUICE=$1 TRACE=$2
shift 2
rm -f "$TRACE"
"$SLUICE" run -q -- "$@" --quiet --trace "$TRACE"
TABLE=$("$SLUICE" timeline "$TRACE")
echo "$TABLE"
CURSORS=$(echo "$TABLE" | awk '/^ring/ { ++rings } rings == 1 && /^ *[0-9]+ +\([0-2],[01]\)/ { printf "%s ", $2 }')
[ "$CURSORS" = "(0,1) (1,1) (2,1) (0,0) (1,0) (2,0) (0,1) (1,1) " ] || { echo "producer's cursors: $CURSORS" && exit 1; }
