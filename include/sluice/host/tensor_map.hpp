// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Builds a tensor map: what a tensor copy must know about a tensor in global memory. A description is checked
// rule by rule (tensor_map_rules.hpp) before the driver is asked, so that a mistake comes back with a name
// and a sentence. The driver's functions are looked up through the runtime: a program needs no `-lcuda`.
//
//   auto map = sluice::tensor_map(pointer).shape({columns, rows}).box({64,
//   128}).swizzle(sluice::Swizzle::B128).encode(); if (!map) return fail(map.message()); kernel<<<grid,
//   threads, bytes>>>(*map, ...);   // the kernel's parameter: const __grid_constant__ CUtensorMap
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "sluice/host/tensor_map_rules.hpp"
#include "sluice/pipeline/tile_swizzle.hpp"

struct __half;
struct __nv_bfloat16;
struct __nv_fp8_e4m3;
struct __nv_fp8_e5m2;

namespace sluice {

/// The driver's type of the C++ type `T`. Specialise `value` for types of your own; integers without a type
/// of their own (signed 8 and 16 bits) and 8-bit floats are moved as unsigned integers of their size.
template <class T>
struct TensorMapElement {
  static constexpr bool kKnown = false;
};

namespace host::detail {
template <CUtensorMapDataType Type>
struct KnownElement {
  static constexpr bool kKnown = true;
  static constexpr CUtensorMapDataType value = Type;
};
}  // namespace host::detail

// clang-format off
template <> struct TensorMapElement<unsigned char> : host::detail::KnownElement<CU_TENSOR_MAP_DATA_TYPE_UINT8> {};
template <> struct TensorMapElement<signed char> : host::detail::KnownElement<CU_TENSOR_MAP_DATA_TYPE_UINT8> {};
template <> struct TensorMapElement<char> : host::detail::KnownElement<CU_TENSOR_MAP_DATA_TYPE_UINT8> {};
template <> struct TensorMapElement<unsigned short> : host::detail::KnownElement<CU_TENSOR_MAP_DATA_TYPE_UINT16> {};
template <> struct TensorMapElement<short> : host::detail::KnownElement<CU_TENSOR_MAP_DATA_TYPE_UINT16> {};
template <> struct TensorMapElement<unsigned> : host::detail::KnownElement<CU_TENSOR_MAP_DATA_TYPE_UINT32> {};
template <> struct TensorMapElement<int> : host::detail::KnownElement<CU_TENSOR_MAP_DATA_TYPE_INT32> {};
template <> struct TensorMapElement<unsigned long> : host::detail::KnownElement<CU_TENSOR_MAP_DATA_TYPE_UINT64> {};
template <> struct TensorMapElement<unsigned long long> : host::detail::KnownElement<CU_TENSOR_MAP_DATA_TYPE_UINT64> {};
template <> struct TensorMapElement<long> : host::detail::KnownElement<CU_TENSOR_MAP_DATA_TYPE_INT64> {};
template <> struct TensorMapElement<long long> : host::detail::KnownElement<CU_TENSOR_MAP_DATA_TYPE_INT64> {};
template <> struct TensorMapElement<__half> : host::detail::KnownElement<CU_TENSOR_MAP_DATA_TYPE_FLOAT16> {};
template <> struct TensorMapElement<__nv_bfloat16> : host::detail::KnownElement<CU_TENSOR_MAP_DATA_TYPE_BFLOAT16> {};
template <> struct TensorMapElement<__nv_fp8_e4m3> : host::detail::KnownElement<CU_TENSOR_MAP_DATA_TYPE_UINT8> {};
template <> struct TensorMapElement<__nv_fp8_e5m2> : host::detail::KnownElement<CU_TENSOR_MAP_DATA_TYPE_UINT8> {};
template <> struct TensorMapElement<float> : host::detail::KnownElement<CU_TENSOR_MAP_DATA_TYPE_FLOAT32> {};
template <> struct TensorMapElement<double> : host::detail::KnownElement<CU_TENSOR_MAP_DATA_TYPE_FLOAT64> {};
// clang-format on

namespace host::detail {

/// Looks a driver function up by name. Returns null and sets the error if there is no driver or it is too
/// old.
inline void* driver_function(const char* name, TensorMapError& error) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
#else
  const cudaError_t status = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
  if (status != cudaSuccess || found != cudaDriverEntryPointSuccess || function == nullptr) {
    error.set(TensorMapRule::DriverCall,
              "the CUDA driver has no %s here (%s): tensor maps need a driver of CUDA 12 or newer", name,
              status != cudaSuccess ? cudaGetErrorString(status) : "the symbol was not found");
    return nullptr;
  }
  return function;
}

/// Calls the driver's encode function. The specification has passed `check`.
inline TensorMapError encode(const TensorMapSpec& spec, CUtensorMap& map) {
  TensorMapError error;
  const auto rank = static_cast<cuuint32_t>(spec.rank);
  cuuint64_t shape[kMaxTensorRank];
  cuuint64_t strides[kMaxTensorRank];
  for (int i = 0; i < kMaxTensorRank; ++i) shape[i] = spec.shape[i];
  for (int i = 0; i + 1 < kMaxTensorRank; ++i) strides[i] = spec.strides[i];
  const char* name = spec.im2col ? "cuTensorMapEncodeIm2col" : "cuTensorMapEncodeTiled";
  void* function = driver_function(name, error);
  if (function == nullptr) return error;

  CUresult status;
  if (spec.im2col) {
    status = reinterpret_cast<decltype(&cuTensorMapEncodeIm2col)>(function)(
        &map, spec.element, rank, spec.address, shape, strides, spec.lower_corner, spec.upper_corner,
        spec.channels_per_pixel, spec.pixels_per_column, spec.element_strides, spec.interleave, spec.swizzle,
        spec.l2_promotion, spec.oob_fill);
  } else {
    status = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
        &map, spec.element, rank, spec.address, shape, strides, spec.box, spec.element_strides,
        spec.interleave, spec.swizzle, spec.l2_promotion, spec.oob_fill);
  }
  if (status != CUDA_SUCCESS) {
    error.set(TensorMapRule::DriverCall,
              "%s answers with driver error %d although every rule known here is kept", name,
              static_cast<int>(status));
  }
  return error;
}

}  // namespace host::detail

using host::TensorMapError;
using host::TensorMapRule;
using host::TensorMapSpec;

/// A map ready for a kernel's `const __grid_constant__ CUtensorMap` parameter, or the sentence that says why
/// not.
using TensorMapResult = host::Result<CUtensorMap, TensorMapRule>;

/// Collects the description of a tensor and encodes it. Host only. Lists run from the innermost (contiguous)
/// dimension outwards, as in the driver's call. Nothing is checked before `check()` or `encode()`.
class TensorMapBuilder {
 public:
  TensorMapBuilder(void* address, CUtensorMapDataType element) {
    spec_.address = address;
    spec_.element = element;
  }

  /// The element type, where the pointer's type does not say it (sub-byte types, TF32, flush to zero).
  TensorMapBuilder& element(CUtensorMapDataType element) {
    spec_.element = element;
    return *this;
  }

  /// Extents in elements; their number is the rank.
  TensorMapBuilder& shape(std::initializer_list<std::uint64_t> extents) {
    spec_.rank = static_cast<int>(extents.size());
    int length;
    take(extents, spec_.shape, host::kMaxTensorRank, length);
    return *this;
  }

  /// Distances in bytes from one index to the next of dimension 1, 2, ...; without this call the tensor is
  /// dense.
  TensorMapBuilder& strides(std::initializer_list<std::uint64_t> bytes) {
    take(bytes, spec_.strides, host::kMaxTensorRank - 1, strides_length_);
    return *this;
  }

  /// What one copy moves, in elements along each dimension (tiled mode).
  TensorMapBuilder& box(std::initializer_list<std::uint32_t> extents) {
    take(extents, spec_.box, host::kMaxTensorRank, box_length_);
    return *this;
  }

  /// Takes only each n-th element along a dimension; 1 everywhere without this call.
  TensorMapBuilder& element_strides(std::initializer_list<std::uint32_t> steps) {
    take(steps, spec_.element_strides, host::kMaxTensorRank, element_strides_length_);
    return *this;
  }

  /// Im2col mode: the corners' offsets from the tensor's (innermost spatial dimension first), how many
  /// channels a copy takes of each pixel, and how many pixels.
  TensorMapBuilder& im2col(std::initializer_list<int> lower, std::initializer_list<int> upper,
                           std::uint32_t channels_per_pixel, std::uint32_t pixels_per_column) {
    spec_.im2col = true;
    take(lower, spec_.lower_corner, host::kMaxTensorRank - 2, lower_length_);
    take(upper, spec_.upper_corner, host::kMaxTensorRank - 2, upper_length_);
    spec_.channels_per_pixel = channels_per_pixel;
    spec_.pixels_per_column = pixels_per_column;
    return *this;
  }

  TensorMapBuilder& swizzle(Swizzle swizzle) {
    return this->swizzle(static_cast<CUtensorMapSwizzle>(swizzle));
  }
  TensorMapBuilder& swizzle(CUtensorMapSwizzle swizzle) {
    spec_.swizzle = swizzle;
    return *this;
  }
  TensorMapBuilder& interleave(CUtensorMapInterleave interleave) {
    spec_.interleave = interleave;
    return *this;
  }
  TensorMapBuilder& l2_promotion(CUtensorMapL2promotion promotion) {
    spec_.l2_promotion = promotion;
    return *this;
  }

  /// Elements outside the tensor are read as NaN instead of zero; floating-point types only.
  TensorMapBuilder& fill_outside_with_nan() {
    spec_.oob_fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    return *this;
  }

  /// Slices may overlap in memory: a stride may be shorter than what lies inside it.
  TensorMapBuilder& allow_overlap() {
    spec_.allow_overlap = true;
    return *this;
  }

  /// The description as it goes to the rules, strides filled in.
  TensorMapSpec spec() const {
    TensorMapSpec spec = spec_;
    if (strides_length_ < 0 && spec.rank >= 1 && spec.rank <= host::kMaxTensorRank) {
      std::uint64_t bytes = spec.shape[0] * static_cast<std::uint64_t>(host::element_bits(spec.element)) / 8;
      for (int i = 0; i + 1 < spec.rank; bytes *= spec.shape[++i]) spec.strides[i] = bytes;
    }
    return spec;
  }

  /// Returns the first broken rule, or an error that is false. Calls neither runtime nor driver.
  TensorMapError check() const {
    TensorMapError error;
    check_length("strides", "one fewer than the rank", strides_length_, spec_.rank,
                 is_one_less(strides_length_), error) &&
        check_length("box", "as many as the rank", box_length_, spec_.rank, is_rank(box_length_), error) &&
        check_length("element_strides", "as many as the rank", element_strides_length_, spec_.rank,
                     is_rank(element_strides_length_), error) &&
        check_length("lower corner", "two fewer than the rank", lower_length_, spec_.rank,
                     is_two_less(lower_length_), error) &&
        check_length("upper corner", "two fewer than the rank", upper_length_, spec_.rank,
                     is_two_less(upper_length_), error);
    return error ? error : host::check(spec());
  }

  /// Checks every rule, then asks the driver. Needs a driver, but no device memory access.
  TensorMapResult encode() const {
    if (const TensorMapError error = check()) return error;
    CUtensorMap map{};
    if (const TensorMapError error = host::detail::encode(spec(), map)) return error;
    return map;
  }

 private:
  template <class T>
  static void take(std::initializer_list<T> from, T* to, int capacity, int& length) {
    length = static_cast<int>(from.size());
    int i = 0;
    for (const T& entry : from) {
      if (i < capacity) to[i++] = entry;
    }
  }

  static bool check_length(const char* list, const char* wanted, int length, int rank, bool right,
                           TensorMapError& error) {
    if (length >= 0 && !right) {
      error.set(TensorMapRule::ListLength,
                "the list %s has %d entries and the tensor %d dimensions: the list needs %s", list, length,
                rank, wanted);
      return false;
    }
    return true;
  }

  // A list that was not given (-1) is judged by the rules on what it stands for. A wrong rank is its own
  // rule.
  bool is_rank(int length) const { return length == spec_.rank || spec_.rank > host::kMaxTensorRank; }
  bool is_one_less(int length) const { return length == spec_.rank - 1 || spec_.rank > host::kMaxTensorRank; }
  bool is_two_less(int length) const {
    return length == spec_.rank - 2 || spec_.rank > host::kMaxTensorRank || spec_.rank < 3;
  }

  TensorMapSpec spec_;
  int strides_length_ = -1;
  int box_length_ = -1;
  int element_strides_length_ = -1;
  int lower_length_ = -1;
  int upper_length_ = -1;
};

/// Starts the description of the tensor at `address` (device memory). `T` is the element type.
template <class T>
TensorMapBuilder tensor_map(T* address) {
  using Element = TensorMapElement<std::remove_cv_t<T>>;
  static_assert(
      Element::kKnown,
      "sluice: this element type has no tensor-map type; specialise sluice::TensorMapElement for it");
  return TensorMapBuilder(const_cast<std::remove_cv_t<T>*>(address), Element::value);
}

}  // namespace sluice
