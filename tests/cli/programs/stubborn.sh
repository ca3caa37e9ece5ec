#!/bin/sh
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
# Does not end when it is told to.
trap '' TERM INT
: > started
while :; do sleep 0.05; done
