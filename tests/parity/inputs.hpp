// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Input values: edges of each type mixed with random ones, from a generator of our own so that every machine
// makes the same.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ptx/types.hpp"

namespace sluice::parity {

/// splitmix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t n) { return next() % n; }

 private:
  uint64_t state_;
};

/// FNV-1a.
uint64_t hash_of(std::string_view text, uint64_t seed = 0xcbf29ce484222325ull);

/// Which values an operand gets.
enum class Flavour : uint8_t {
  Any,       ///< edges and random ones of the type
  Amount,    ///< shift amounts, bit positions: small numbers mostly
  Lane,      ///< lane numbers and clamps of shfl
  Moderate,  ///< numbers near one, for sums whose order is open
  Special,   ///< few values, so that rare pairs meet: NaN with NaN, products just below the least normal
             ///< number
};

/// One value, in the low bits. Packed types get a value per part.
uint64_t make_value(Random& random, ptx::ScalarType type, Flavour flavour);

}  // namespace sluice::parity
