// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The same from a program that has device code.
#include "internal_table.cpp"

__global__ void unused() {}
