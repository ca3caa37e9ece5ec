// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Element types of launch descriptions, converted by the toolkit's own host functions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "cli/launch_spec.hpp"

namespace sluice::cli {
namespace {

template <class T>
void put(T value, void* out) {
  std::memcpy(out, &value, sizeof value);
}

template <class T>
T get(const void* in) {
  T value{};
  std::memcpy(&value, in, sizeof value);
  return value;
}

// An integer type's nearest value, held to its range.
template <class T>
void put_integer(double value, void* out) {
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double kHigh = static_cast<double>(std::numeric_limits<T>::max());
  if (!(value > kLow)) return put(std::numeric_limits<T>::min(), out);
  if (value >= kHigh) return put(std::numeric_limits<T>::max(), out);
  put(static_cast<T>(std::round(value)), out);
}

}  // namespace

uint32_t size_of(Element element) {
  constexpr uint32_t kSizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 1, 1, 2, 2, 4, 8};
  return kSizes[static_cast<size_t>(element)];
}

std::string_view name_of(Element element) {
  constexpr std::string_view kNames[] = {"u8",  "s8",   "u16",  "s16", "u32",  "s32", "u64",
                                         "s64", "e4m3", "e5m2", "f16", "bf16", "f32", "f64"};
  return kNames[static_cast<size_t>(element)];
}

void store(Element element, double value, void* out) {
  switch (element) {
    case Element::U8:
      return put_integer<uint8_t>(value, out);
    case Element::S8:
      return put_integer<int8_t>(value, out);
    case Element::U16:
      return put_integer<uint16_t>(value, out);
    case Element::S16:
      return put_integer<int16_t>(value, out);
    case Element::U32:
      return put_integer<uint32_t>(value, out);
    case Element::S32:
      return put_integer<int32_t>(value, out);
    case Element::U64:
      return put_integer<uint64_t>(value, out);
    case Element::S64:
      return put_integer<int64_t>(value, out);
    case Element::E4M3:
      return put(__nv_cvt_double_to_fp8(value, __NV_SATFINITE, __NV_E4M3), out);
    case Element::E5M2:
      return put(__nv_cvt_double_to_fp8(value, __NV_SATFINITE, __NV_E5M2), out);
    case Element::F16:
      return put(__double2half(value), out);
    case Element::BF16:
      return put(__double2bfloat16(value), out);
    case Element::F32:
      return put(static_cast<float>(value), out);
    case Element::F64:
      return put(value, out);
  }
}

double load(Element element, const void* in) {
  switch (element) {
    case Element::U8:
      return get<uint8_t>(in);
    case Element::S8:
      return get<int8_t>(in);
    case Element::U16:
      return get<uint16_t>(in);
    case Element::S16:
      return get<int16_t>(in);
    case Element::U32:
      return get<uint32_t>(in);
    case Element::S32:
      return get<int32_t>(in);
    case Element::U64:
      return static_cast<double>(get<uint64_t>(in));
    case Element::S64:
      return static_cast<double>(get<int64_t>(in));
    case Element::E4M3:
      return __half2float(__half(__nv_cvt_fp8_to_halfraw(get<uint8_t>(in), __NV_E4M3)));
    case Element::E5M2:
      return __half2float(__half(__nv_cvt_fp8_to_halfraw(get<uint8_t>(in), __NV_E5M2)));
    case Element::F16:
      return __half2float(get<__half>(in));
    case Element::BF16:
      return __bfloat162float(get<__nv_bfloat16>(in));
    case Element::F32:
      return get<float>(in);
    default:
      return get<double>(in);
  }
}

}  // namespace sluice::cli
