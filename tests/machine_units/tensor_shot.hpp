// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// One experiment on a tensor copy: what lands where, how many bytes the barrier is told, what lies outside.
// Tensors hold random bytes, and whole regions are read back.
#pragma once

#include "hardware_case.hpp"
#include "small_elements.hpp"
#include "stage_kernels.hpp"

namespace sluice::hardware {

/// What tensor and tile hold: any bytes, moderate numbers of the element type, or the singles that
/// conversions treat apart.
enum class Contents { Random, Small, Special };

struct TensorShot {
  std::string name;  ///< with its group
  MapSpec map;
  std::vector<int> coordinates;  ///< the copy has as many dimensions
  std::vector<int> offsets;      ///< im2col loads: one per spatial dimension
  uint32_t shared_offset = 0;    ///< of the tile, from a 1024-byte boundary
  uint32_t cluster = 1;
  uint32_t multicast = 0;  ///< cta mask, 0 = none
  std::string reduction;   ///< stores: "add", ... or empty
  bool store = false;
  bool im2col = false;  ///< of the instruction
  size_t tensor_bytes = 4096;
  Contents contents = Contents::Random;
  uint32_t barrier_offset = 0;  ///< of the barrier that the copy names, from the one that is waited for
};

/// Bytes that a load of the map's box brings. In an interleaved layout dimension 0 counts slices of 16 or 32
/// bytes, and the dimension before the last one counts once.
inline uint64_t box_bytes(const MapSpec& map) {
  if (map.im2col) return uint64_t{map.channels} * map.pixels * element_bytes(map.type);
  uint64_t bytes = map.interleave == 0 ? element_bytes(map.type) : map.interleave == 1 ? 16 : 32;
  for (uint32_t d = 0; d < map.rank; ++d) {
    if (map.interleave != 0 && d + 2 == map.rank) continue;
    const uint32_t step = d == 0 && map.interleave == 0 ? 1 : map.steps[d];
    bytes *= (map.box[d] + step - 1) / step;
  }
  return bytes;
}

inline std::string tensor_copy_ptx(const TensorShot& shot) {
  std::vector<std::string> coordinates, offsets;
  for (size_t i = 0; i < shot.coordinates.size(); ++i) coordinates.push_back("%c" + std::to_string(i));
  for (size_t i = 0; i < shot.offsets.size(); ++i) offsets.push_back("%o" + std::to_string(i));
  const std::string dims = std::to_string(coordinates.size()) + "d";
  const std::string place = "[%map, {" + join(coordinates) + "}]";
  if (shot.store) {
    const std::string mode = shot.im2col ? ".im2col_no_offs" : ".tile";
    const std::string name =
        shot.reduction.empty() ? "cp.async.bulk.tensor." : "cp.reduce.async.bulk.tensor.";
    const std::string operation = shot.reduction.empty() ? "" : "." + shot.reduction;
    return name + dims + ".global.shared::cta" + operation + mode + ".bulk_group " + place + ", [%tile];";
  }
  std::string text = "cp.async.bulk.tensor." + dims + ".shared::cluster.global" +
                     (shot.im2col ? ".im2col" : ".tile") + ".mbarrier::complete_tx::bytes" +
                     (shot.multicast != 0 ? ".multicast::cluster" : "") + " [%tile], " + place + ", [%bar+" +
                     std::to_string(shot.barrier_offset) + "]";
  if (!offsets.empty()) text += ", {" + join(offsets) + "}";
  if (shot.multicast != 0) text += ", %mask";
  return text + ";";
}

inline StageKernel tensor_kernel(const TensorShot& shot) {
  StageKernel kernel;
  kernel.parameters = ", .param .align 64 .b8 map[128], .param .u32 shared_offset";
  kernel.prologue =
      ".reg .b16 %o<4>, %mask;\n.reg .b32 %c<6>;\n.reg .b64 %map;\nmov.b64 %map, map;\n"
      "cvta.param.u64 %map, %map;\nmov.b16 %mask, " +
      std::to_string(shot.multicast) + ";\n";
  const auto add = [&kernel](const std::string& letter, const char* type, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const std::string name = letter + std::to_string(i);
      kernel.parameters += ", .param .b32 " + name;
      kernel.prologue += std::string("ld.param.") + type + " %" + name + ", [" + name + "];\n";
    }
  };
  add("c", "b32", shot.coordinates.size());
  add("o", "b16", shot.offsets.size());
  kernel.copy = tensor_copy_ptx(shot);
  kernel.expected = box_bytes(shot.map);
  return kernel;
}

inline void add_shot(std::vector<Case>& cases, const TensorShot& shot) {
  Case c;
  c.name = shot.name;
  c.cluster = shot.cluster;
  const uint64_t seed = seed_of(shot.name);
  const auto make = [&](uint64_t salt, size_t count) {
    if (shot.contents == Contents::Special) return special_singles(seed + salt, count);
    return shot.contents == Contents::Small ? small_elements(seed + salt, shot.map.type, count)
                                            : random_bytes(seed + salt, count);
  };
  const StageKernel kernel = tensor_kernel(shot);
  if (shot.store) {
    c.ptx = stage_store_ptx(kernel);
    c.arguments.push_back({Argument::Buffer, c.add_buffer(make(0, kStageBytes))});
    c.add_buffer(make(1, shot.tensor_bytes), true);
  } else {
    c.ptx = stage_load_ptx(kernel);
    c.arguments.push_back(
        {Argument::Buffer, c.add_buffer(Bytes((kStageHeader + kStageBytes) * shot.cluster), true)});
    c.add_buffer(make(1, shot.tensor_bytes));
  }
  c.maps.push_back(shot.map);
  c.maps[0].buffer = 1;
  c.arguments.push_back({Argument::Map, 0});
  c.arguments.push_back({Argument::Word32, shot.shared_offset});
  for (int v : shot.coordinates) c.arguments.push_back({Argument::Word32, static_cast<uint32_t>(v)});
  for (int v : shot.offsets) c.arguments.push_back({Argument::Word32, static_cast<uint32_t>(v)});
  cases.push_back(std::move(c));
}

/// A dense tensor whose rows are padded to 32 bytes.
inline MapSpec dense_map(int type, const std::vector<uint64_t>& dims, const std::vector<uint32_t>& box) {
  MapSpec map;
  map.type = type;
  map.rank = static_cast<uint32_t>(dims.size());
  uint64_t bytes = element_bytes(type);
  for (uint32_t d = 0; d < map.rank; ++d) {
    map.dims[d] = dims[d];
    if (d < box.size()) map.box[d] = box[d];
    bytes *= dims[d];
    if (d == 0) bytes = (bytes + 31) / 32 * 32;
    if (d + 1 < map.rank) map.strides[d] = bytes;
  }
  return map;
}

inline size_t bytes_of(const MapSpec& map) {
  const uint64_t last = map.rank == 1 ? element_bytes(map.type) : map.strides[map.rank - 2];
  return static_cast<size_t>(last * map.dims[map.rank - 1] + 64);
}

}  // namespace sluice::hardware
