// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: this element type has no tensor-map type
//
// The driver has no type for a struct.
#include "sluice/host/tensor_map.hpp"

struct Pixel {
  float red, green;
};

#if BAD
using Element = Pixel;
#else
using Element = float;
#endif

bool describe(Element* pixels) {
  return !sluice::tensor_map(pixels).shape({64}).box({64}).check();
}
