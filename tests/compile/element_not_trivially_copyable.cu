// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: so their type must be trivially copyable
//
// Copies move bytes, not objects.
#include "sluice/ring.hpp"

struct Element {
#if BAD
  __device__ Element(const Element& other) : value(other.value) {}
#endif
  float value;
};
static_assert(sluice::Tile<Element, 4, 4>::kBytes == 64);
