// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// How many CTAs a cluster has in x, y and z. Constructors of the pipelines take any type that can say so: our
// own ClusterShape, a dim3, an integer (a row of CTAs), or a tuple that `get<I>` reads, such as a CuTe Shape
// with static or dynamic entries. No such type is named here.
#pragma once

#include <type_traits>
#include <utility>

#include "sluice/arch/config.hpp"

namespace sluice {

/// A cluster whose extent is known at compile time.
template <uint32_t X, uint32_t Y = 1, uint32_t Z = 1>
struct ClusterShape {
  static_assert(X >= 1 && Y >= 1 && Z >= 1 && X * Y * Z <= kMaxClusterSize, "a cluster has 1 to 16 CTAs");
};

namespace detail {

/// A cluster's extent as plain numbers. `is_static` says that the type alone decided them.
struct ClusterExtent {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
  bool is_static = true;

  SLUICE_HOST_DEVICE constexpr uint32_t size() const { return x * y * z; }
};

// Makes `get<I>(shape)` parse as a call in C++17; argument-dependent lookup then finds the tuple's own
// function.
struct NoTuple {};
template <int I>
void get(NoTuple);

template <class Entry, class = void>
struct IsStaticEntry : std::false_type {};
template <class Entry>
struct IsStaticEntry<Entry, std::void_t<decltype(Entry::value)>> : std::true_type {};

template <int I, class Tuple>
SLUICE_HOST_DEVICE constexpr uint32_t tuple_entry(Tuple const& shape) {
  if constexpr (I < static_cast<int>(std::tuple_size<Tuple>::value)) {
    return static_cast<uint32_t>(get<I>(shape));
  } else {
    return 1;
  }
}

template <int I, class Tuple>
SLUICE_HOST_DEVICE constexpr bool is_static_entry() {
  if constexpr (I < static_cast<int>(std::tuple_size<Tuple>::value)) {
    return IsStaticEntry<std::decay_t<decltype(get<I>(std::declval<Tuple const&>()))>>::value;
  } else {
    return true;
  }
}

/// Reads a shape of any accepted type. The type decides `is_static`, so that it is a constant after inlining.
template <class Shape>
SLUICE_HOST_DEVICE constexpr ClusterExtent cluster_extent(Shape const& shape) {
#if defined(__CUDACC__)
  if constexpr (std::is_same_v<Shape, dim3>) {
    return {shape.x, shape.y, shape.z, false};
  } else
#endif
      if constexpr (std::is_convertible_v<Shape, int>) {
    return {static_cast<uint32_t>(static_cast<int>(shape)), 1, 1, IsStaticEntry<Shape>::value};
  } else {
    constexpr bool is_static =
        is_static_entry<0, Shape>() && is_static_entry<1, Shape>() && is_static_entry<2, Shape>();
    return {tuple_entry<0>(shape), tuple_entry<1>(shape), tuple_entry<2>(shape), is_static};
  }
}

template <uint32_t X, uint32_t Y, uint32_t Z>
SLUICE_HOST_DEVICE constexpr ClusterExtent cluster_extent(ClusterShape<X, Y, Z> const&) {
  return {X, Y, Z, true};
}

}  // namespace detail
}  // namespace sluice
