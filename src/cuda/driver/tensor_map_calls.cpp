// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps of the driver API. The rules and the bits are the machine's (machine/tensor_map.hpp); a broken
// rule is reported in words, since the driver's answer is "invalid argument" for all of them.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cuda/calls.hpp"
#include "cuda/host_place.hpp"
#include "machine/tensor_map.hpp"

using namespace sluice::cuda;
namespace machine = sluice::machine;

namespace {

constexpr cuuint32_t kMostDimensions = 5;

// The members that all three calls share. Ranks outside the arrays are left for the rule check to name.
machine::TensorMapInfo common_info(CUtensorMapDataType type, cuuint32_t rank, void* address,
                                   const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* steps,
                                   CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                   CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  machine::TensorMapInfo info;
  const auto byte = [](unsigned value) { return static_cast<uint8_t>(std::min(value, 255u)); };
  info.type = static_cast<machine::TensorType>(byte(type));
  info.rank = byte(rank);
  info.interleave = byte(interleave);
  info.swizzle = byte(swizzle);
  info.l2_promotion = byte(promotion);
  info.fill = byte(fill);
  info.address = reinterpret_cast<uint64_t>(address);
  const cuuint32_t used = std::min(rank, kMostDimensions);
  std::copy_n(dims, used, info.dims.begin());
  std::copy_n(steps, used, info.steps.begin());
  if (used > 1) std::copy_n(strides, used - 1, info.strides.begin());
  return info;
}

Status say_broken_rule(Process& p, const char* call, const std::string& rule) {
  sluice::report::Diagnostic diagnostic;
  diagnostic.name = "tensor-map-invalid";
  diagnostic.headline = fmt::format("{}: {}", call, rule);
  diagnostic.places = host_places();
  diagnostic.why =
      "the copy engine cannot work with such a map; a kernel that gets it nevertheless reads a descriptor "
      "that was never made";
  diagnostic.help = "change the named operand, and let the program look at what the call returns";
  diagnostic.notes.push_back("the call returns CUDA_ERROR_INVALID_VALUE to the program and makes no map");
  p.channel.say(diagnostic);
  return cudaErrorInvalidValue;
}

Status encode(Process& p, const char* call, CUtensorMap* out, const machine::TensorMapInfo& info) {
  if (reinterpret_cast<uint64_t>(out) % 64 != 0)
    return say_broken_rule(p, call, "the map's own address is not a multiple of 64");
  const auto words = machine::encode_tensor_map(info);
  if (!words) return say_broken_rule(p, call, words.error().message);
  static_assert(sizeof(CUtensorMap) == sizeof(machine::TensorMapWords));
  std::memcpy(out, words->data(), sizeof *out);
  return kOk;
}

}  // namespace

SLUICE_DRIVER(cuTensorMapEncodeTiled, CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank,
              void* address, const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box,
              const cuuint32_t* steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
              CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return driver_call(
      "cuTensorMapEncodeTiled",
      [&](Process& p) -> Status {
        const bool complete = out != nullptr && dims != nullptr && box != nullptr && steps != nullptr &&
                              (rank < 2 || strides != nullptr);
        if (!complete) return cudaErrorInvalidValue;
        auto info =
            common_info(type, rank, address, dims, strides, steps, interleave, swizzle, promotion, fill);
        std::copy_n(box, std::min(rank, kMostDimensions), info.box.begin());
        return encode(p, "cuTensorMapEncodeTiled", out, info);
      },
      Gate::Open);
}

SLUICE_DRIVER(cuTensorMapEncodeIm2col, CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank,
              void* address, const cuuint64_t* dims, const cuuint64_t* strides, const int* lower,
              const int* upper, cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* steps,
              CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
              CUtensorMapFloatOOBfill fill) {
  return driver_call(
      "cuTensorMapEncodeIm2col",
      [&](Process& p) -> Status {
        const bool complete = out != nullptr && dims != nullptr && strides != nullptr && lower != nullptr &&
                              upper != nullptr && steps != nullptr;
        if (!complete) return cudaErrorInvalidValue;
        auto info =
            common_info(type, rank, address, dims, strides, steps, interleave, swizzle, promotion, fill);
        info.im2col = true;
        const cuuint32_t spatial = rank >= 3 ? std::min(rank, kMostDimensions) - 2 : 0;
        std::copy_n(lower, spatial, info.lower.begin());
        std::copy_n(upper, spatial, info.upper.begin());
        info.channels = channels;
        info.pixels = pixels;
        return encode(p, "cuTensorMapEncodeIm2col", out, info);
      },
      Gate::Open);
}

SLUICE_DRIVER(cuTensorMapEncodeIm2colWide, CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
              const cuuint64_t*, const cuuint64_t*, int, int, cuuint32_t, cuuint32_t, const cuuint32_t*,
              CUtensorMapInterleave, CUtensorMapIm2ColWideMode, CUtensorMapSwizzle, CUtensorMapL2promotion,
              CUtensorMapFloatOOBfill) {
  return driver_call(
      "cuTensorMapEncodeIm2colWide",
      [&](Process& p) -> Status {
        // The wide modes begin with compute capability 10.0; a driver refuses them for a Hopper GPU as well.
        return say_broken_rule(p, "cuTensorMapEncodeIm2colWide", "the im2col wide modes need a later device");
      },
      Gate::Open);
}

SLUICE_DRIVER(cuTensorMapReplaceAddress, CUtensorMap* map, void* address) {
  return driver_call(
      "cuTensorMapReplaceAddress",
      [&](Process& p) -> Status {
        if (map == nullptr) return cudaErrorInvalidValue;
        machine::TensorMapWords words;
        std::memcpy(words.data(), map, sizeof *map);
        if (const auto replaced =
                machine::replace_tensor_map_address(words, reinterpret_cast<uint64_t>(address));
            !replaced) {
          return say_broken_rule(p, "cuTensorMapReplaceAddress", replaced.error().message);
        }
        std::memcpy(map, words.data(), sizeof *map);
        return kOk;
      },
      Gate::Open);
}
