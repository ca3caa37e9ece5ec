// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The numbers that are added, each a function of its place alone, so that the host can compute them again.
// Normal distribution, because data of low entropy draws less power and is read sooner.
#pragma once

#include <cstdint>

namespace stream {

// Sebastiano Vigna's SplitMix64: the finaliser of a counter, so that each number depends on its place alone.
__host__ __device__ inline std::uint64_t random_bits(std::uint64_t place) {
  std::uint64_t bits = (place + 1) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

// A number of normal distribution: the sum of eight uniform ones of 16 bits, less its mean, and six more
// random bits below. Whole-number arithmetic gives the same data on every machine.
__host__ __device__ inline int normal_number(std::uint64_t place) {
  const std::uint64_t low = random_bits(2 * place);
  const std::uint64_t high = random_bits(2 * place + 1);
  constexpr int kMean = 8 * 0xffff / 2;
  int sum = -kMean;
  for (int shift = 0; shift < 64; shift += 16) {
    sum += static_cast<int>((low >> shift) & 0xffff) + static_cast<int>((high >> shift) & 0xffff);
  }
  return sum * 64 + static_cast<int>((low ^ (high >> 7)) & 63);
}

}  // namespace stream
