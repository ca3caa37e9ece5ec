#!/bin/sh
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
# stop_tool.sh TOOL PROGRAM SIGNAL...: runs PROGRAM under the tool in a folder of its own, sends the signals, and
# prints the tool's status and what it left behind.
tool=$1 program=$2
shift 2
mkdir reports
TMPDIR=$PWD/reports
export TMPDIR
# An interactive shell gives its children the default interrupt; this one must be told.
python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
  "$tool" run "$program" &
child=$!
while [ ! -e started ]; do sleep 0.02; done
for signal in "$@"; do
  kill -"$signal" "$child"
  sleep 0.1
done
# Not what this shell says about it.
{ wait "$child"; } 2>/dev/null
echo "status $?"
ls reports
