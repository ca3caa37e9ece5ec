#!/bin/sh
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# A script under the tool: two programs, the second of which fails on the device, then a status of its own.
"$1/cli_ok" && "$1/cli_fault"
exit 5
