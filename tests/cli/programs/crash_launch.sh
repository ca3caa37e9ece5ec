#!/bin/sh
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# crash_launch.sh TOOL FOLDER kernel|files: the process that launches a PTX file dies of a fatal signal while the kernel
# runs, or before it, while a data file is read. Prints what the tool says and its status.
tool=$1 folder=$2
printf '{"buffers": {"out": {"type": "u32", "shape": 1%s}}, "arguments": [{"buffer": "out"}]}' \
  "$([ "$3" = files ] && echo ', "fill": {"file": "pipe"}')" > spec.json
mkfifo pipe
"$tool" run "$folder/endless.ptx" --launch spec.json > said 2>&1 &
tool_process=$!
until child=$(cat "/proc/$tool_process/task/$tool_process/children" 2>/dev/null) && [ -n "$child" ]; do sleep 0.02; done
child=${child% }
# field N: of the process's state in the kernel's words.
field() { awk "{print \$$1}" "/proc/$child/stat"; }
# It has worked for some ticks of its clock, or sleeps at the pipe whose other end nobody opens.
case $3 in
  kernel) until [ "$(field 14)" -ge 20 ]; do sleep 0.05; done ;;
  files) until [ "$(field 3)" = S ]; do sleep 0.02; done ;;
esac
kill -SEGV "$child"
{ wait "$tool_process"; } 2>/dev/null
status=$?
cat said
echo "status $status"
