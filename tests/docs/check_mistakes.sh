#!/usr/bin/env bash
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# Every mistake of async_pipeline is explained in the guide's page on parameters and in the one on typed rings.
#
#   usage: check_mistakes.sh REPOSITORY
set -u
root=${1:?repository} failed=0 count=0
for edit in "$root"/examples/async_pipeline/mistakes/*.edit; do
  name=$(basename "$edit" .edit)
  count=$((count + 1))
  for page in parameters typed-rings; do
    grep -qF "\`$name\`" "$root/docs/guide/$page.md" || { echo "docs/guide/$page.md does not name $name"; failed=1; }
  done
done
echo "$count mistakes looked for"
[ "$failed" -eq 0 ] && [ "$count" -gt 0 ]
