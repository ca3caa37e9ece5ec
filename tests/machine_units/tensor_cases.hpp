// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Experiments on tensor copies that keep the rules (tensor_limits.hpp has the others). Among them: a box
// starts on a 16-byte chunk of the innermost dimension, an im2col box inside its bounding box, and a store
// nowhere before the tensor.
#pragma once

#include <algorithm>

#include "tensor_shot.hpp"

namespace sluice::hardware {

inline void add_tile_loads(std::vector<Case>& cases) {
  const auto shoot = [&cases](const std::string& name, const MapSpec& map, std::vector<int> at,
                              uint32_t shared_offset = 0, bool small = false) {
    TensorShot shot;
    shot.name = "tensor_load/" + name;
    shot.map = map;
    shot.coordinates = std::move(at);
    shot.shared_offset = shared_offset;
    shot.tensor_bytes = bytes_of(map);
    if (small) shot.contents = Contents::Small;
    add_shot(cases, shot);
  };
  for (int type = 0; type <= 12; ++type) {
    const uint32_t row = 32 / element_bytes(type);
    for (int fill = 0; fill <= (type >= 6 ? 1 : 0); ++fill) {
      MapSpec map = dense_map(type, {row * 2 + 1, 9}, {row, 6});
      map.oob = fill;
      const std::string name = "type" + std::to_string(type) + (fill == 1 ? "_nan" : "");
      const int chunk = 16 / static_cast<int>(element_bytes(type));
      shoot(name + "_inside", map, {chunk, 2}, 0, true);
      shoot(name + "_outside", map, {3 * chunk, 5});
      shoot(name + "_negative", map, {-chunk, -2}, 0, true);
    }
  }
  for (int swizzle = 1; swizzle <= 3; ++swizzle) {
    const uint32_t span = 16u << swizzle;
    for (uint32_t inner = 16; inner <= span; inner += swizzle == 3 ? 48 : 16) {
      MapSpec map = dense_map(1, {100, 40}, {inner / 2, 18});
      map.swizzle = swizzle;
      const std::string name = "swizzle" + std::to_string(swizzle) + "_inner" + std::to_string(inner);
      shoot(name, map, {8, 3});
      shoot(name + "_at128", map, {8, 3}, 128);
      shoot(name + "_at896", map, {88, 30}, 896);
    }
    MapSpec map = dense_map(2, {span / 4, 24, 3}, {span / 4, 5, 3});
    map.swizzle = swizzle;
    shoot("swizzle" + std::to_string(swizzle) + "_3d", map, {0, 22, -1}, 256);
  }
  for (const auto& [sx, sy] :
       std::vector<std::pair<uint32_t, uint32_t>>{{1, 2}, {1, 3}, {2, 1}, {3, 2}, {1, 8}}) {
    MapSpec map = dense_map(1, {80, 30}, {16, 13});
    map.steps[0] = sx;
    map.steps[1] = sy;
    const std::string name = "steps" + std::to_string(sx) + "_" + std::to_string(sy);
    shoot(name, map, {8, 2});
    shoot(name + "_edges", map, {72, -5});
    shoot(name + "_end", map, {-8, 22});
  }
  MapSpec steps3 = dense_map(1, {24, 9, 7}, {16, 5, 6});
  steps3.steps[1] = 2;
  steps3.steps[2] = 3;
  shoot("steps_3d", steps3, {-8, -3, 2});
  shoot("rank1", dense_map(1, {200}, {64}), {16});
  shoot("rank1_ends", dense_map(1, {50}, {64}), {-8});
  shoot("rank1_far", dense_map(1, {50}, {64}), {1000});
  shoot("rank3", dense_map(1, {20, 6, 5}, {16, 4, 3}), {8, 1, 1});
  shoot("rank3_ends", dense_map(1, {20, 6, 5}, {16, 4, 3}), {-8, 4, 3});
  shoot("rank4_ends", dense_map(1, {20, 6, 5, 4}, {8, 4, 3, 2}), {16, -1, 3, 3});
  shoot("rank5", dense_map(1, {20, 4, 3, 3, 3}, {8, 3, 2, 2, 2}), {8, 1, 1, 0, 1});
  shoot("rank5_ends", dense_map(1, {20, 4, 3, 3, 3}, {8, 3, 2, 2, 3}), {16, -1, 2, -1, 1});
  MapSpec overlap = dense_map(1, {64, 12}, {16, 8});
  overlap.strides[0] = 16;
  shoot("overlapping_rows", overlap, {8, 2});
  MapSpec still = dense_map(1, {64, 12}, {16, 8});
  still.strides[0] = 0;
  shoot("stride_zero", still, {8, 2});
  for (uint32_t ctas : {2u, 4u}) {
    for (uint32_t mask = 1; mask < (1u << ctas); mask += ctas) {
      TensorShot shot;
      shot.name = "tensor_load/multicast" + std::to_string(ctas) + "_mask" + std::to_string(mask);
      shot.map = dense_map(1, {40, 20}, {32, 8});
      shot.map.swizzle = 2;
      shot.coordinates = {24, 3};
      shot.shared_offset = 512;
      shot.tensor_bytes = bytes_of(shot.map);
      shot.cluster = ctas;
      shot.multicast = mask;
      add_shot(cases, shot);
    }
  }
}

/// A load and a store through an interleaved layout: a slice of 16 or 32 bytes for each position, dimension 0
/// the positions in a row of slices, the dimension before the last one the slices.
inline void add_interleaved_pair(std::vector<Case>& cases, const std::string& name, const MapSpec& map,
                                 const std::vector<int>& at, uint32_t shared_offset = 0) {
  TensorShot shot;
  shot.map = map;
  shot.coordinates = at;
  shot.shared_offset = shared_offset;
  shot.tensor_bytes = 65536;
  shot.name = "tensor_load/interleave" + name;
  add_shot(cases, shot);
  shot.store = true;
  for (int& v : shot.coordinates) v = std::max(v, 0);
  shot.name = "tensor_store/interleave" + name;
  add_shot(cases, shot);
}

inline MapSpec interleaved_map(int type, int interleave, const std::vector<uint64_t>& dims,
                               const std::vector<uint32_t>& box) {
  MapSpec map;
  map.type = type;
  map.rank = static_cast<uint32_t>(dims.size());
  map.interleave = interleave;
  map.swizzle = interleave == 2 ? 1 : 0;
  for (uint32_t d = 0; d < map.rank; ++d) {
    map.dims[d] = dims[d];
    if (d < box.size()) map.box[d] = box[d];
  }
  map.strides[0] = (interleave == 1 ? 16 : 32) * (dims[0] + 1);
  for (uint32_t d = 1; d + 1 < map.rank; ++d) map.strides[d] = map.strides[d - 1] * (dims[d] + 1);
  return map;
}

inline void add_interleaved_copies(std::vector<Case>& cases) {
  for (int interleave = 1; interleave <= 2; ++interleave) {
    const std::string of = std::to_string(interleave) + "_";
    // How the box counts slices, with slices to spare; from slice 1 on.
    for (const int type : {1, 7}) {
      const uint32_t row = 16 / element_bytes(type);
      for (const uint32_t slices : {1u, 3u, 4u, 5u, 7u, 8u, 9u, 16u, 17u, 32u}) {
        add_interleaved_pair(cases, of + "box" + std::to_string(slices) + "_type" + std::to_string(type),
                             interleaved_map(type, interleave, {row + 2, 40, 2}, {row, slices, 1}),
                             {0, 1, 1});
      }
      // How the tensor ends.
      for (const uint64_t end : {1u, 4u, 7u, 8u, 9u, 20u}) {
        add_interleaved_pair(cases, of + "end" + std::to_string(end) + "_type" + std::to_string(type),
                             interleaved_map(type, interleave, {row + 2, end, 2}, {row, 32, 1}), {0, -1, 0});
      }
    }
    const MapSpec plane = interleaved_map(1, interleave, {24, 6, 5}, {16, 16, 3});
    add_interleaved_pair(cases, of + "inside", plane, {0, 1, 1});
    add_interleaved_pair(cases, of + "at128", plane, {0, 1, 1}, 128);
    add_interleaved_pair(cases, of + "position1", plane, {1, 1, 1});
    add_interleaved_pair(cases, of + "position_edges", plane, {-8, 1, 1});
    add_interleaved_pair(cases, of + "position_end", plane, {16, 5, 3});
    add_interleaved_pair(cases, of + "outside", plane, {8, -2, -1});
    const MapSpec volume = interleaved_map(1, interleave, {16, 4, 6, 2}, {8, 3, 16, 2});
    add_interleaved_pair(cases, of + "volume", volume, {8, 1, 1, 0});
    add_interleaved_pair(cases, of + "volume_edges", volume, {0, -1, 5, 1});
    const MapSpec batch = interleaved_map(1, interleave, {10, 3, 3, 4, 2}, {8, 2, 2, 16, 2});
    add_interleaved_pair(cases, of + "batch", batch, {0, 1, 0, 1, 0});
    MapSpec filled = interleaved_map(6, interleave, {24, 6, 5}, {16, 16, 3});
    filled.oob = 1;
    add_interleaved_pair(cases, of + "filled", filled, {16, 5, 3});
    MapSpec steps = interleaved_map(1, interleave, {40, 8, 5}, {32, 16, 3});
    for (uint32_t d = 0; d < 3; ++d) {
      steps.steps[d] = d == 2 ? 3 : 2;
      add_interleaved_pair(cases, of + "steps" + std::to_string(d), steps, {0, 1, 1});
      steps.steps[d] = 1;
    }
  }
}

/// Loads, stores and sums of numbers that conversions treat apart, for each type of 32-bit floating point.
inline void add_special_singles(std::vector<Case>& cases) {
  for (const int type : {7, 10, 11, 12}) {
    TensorShot shot;
    shot.map = dense_map(type, {64, 12}, {64, 12});
    shot.coordinates = {0, 0};
    shot.tensor_bytes = bytes_of(shot.map);
    shot.contents = Contents::Special;
    shot.name = "tensor_load/special_type" + std::to_string(type);
    add_shot(cases, shot);
    shot.store = true;
    shot.name = "tensor_store/special_type" + std::to_string(type);
    add_shot(cases, shot);
    shot.reduction = "add";
    shot.name = "tensor_store/reduce_special_type" + std::to_string(type);
    add_shot(cases, shot);
  }
}

/// im2col boxes of interleaved tensors, and of swizzled ones whose pixels are narrower than the span.
inline void add_im2col_layouts(std::vector<Case>& cases) {
  for (const uint32_t rank : {4u, 5u}) {
    for (int interleave = 1; interleave <= 2; ++interleave) {
      TensorShot shot;
      shot.map = interleaved_map(1, interleave, {10, 5, 4, 3, 2}, {});
      shot.map.rank = rank;
      shot.im2col = shot.map.im2col = true;
      shot.map.channels = interleave == 1 ? 8 : 16;
      shot.map.pixels = 14;
      shot.coordinates = {7, 3, 1, 1, 0};
      shot.coordinates.resize(rank);
      shot.offsets = {0, 0, 0};
      shot.offsets.resize(rank - 2);
      shot.tensor_bytes = 65536;
      shot.name =
          "tensor_load/im2col_interleave" + std::to_string(interleave) + "_rank" + std::to_string(rank);
      add_shot(cases, shot);
    }
  }
  // More or fewer channels than a slice holds.
  for (const auto& [interleave, channels] : {std::pair{1, 4u}, {1, 16u}, {1, 24u}, {2, 8u}, {2, 32u}}) {
    TensorShot shot;
    shot.map = interleaved_map(1, interleave, {10, 5, 4, 3, 2}, {});
    shot.map.rank = 4;
    shot.im2col = shot.map.im2col = true;
    shot.map.channels = channels;
    shot.map.pixels = 14;
    shot.coordinates = {7, 3, 1, 0};
    shot.offsets = {0, 0};
    shot.tensor_bytes = 65536;
    shot.name =
        "tensor_load/im2col_interleave" + std::to_string(interleave) + "_channels" + std::to_string(channels);
    add_shot(cases, shot);
  }
  for (int swizzle = 1; swizzle <= 3; ++swizzle) {
    TensorShot shot;
    shot.map = dense_map(1, {24, 6, 5, 3}, {});
    shot.im2col = shot.map.im2col = true;
    shot.map.channels = 8;
    shot.map.pixels = 20;
    shot.map.swizzle = swizzle;
    shot.coordinates = {8, 2, 1, 0};
    shot.offsets = {0, 1};
    shot.shared_offset = 128;
    shot.tensor_bytes = bytes_of(shot.map);
    shot.name = "tensor_load/im2col_narrow_swizzle" + std::to_string(swizzle);
    add_shot(cases, shot);
  }
}

inline void add_im2col_loads(std::vector<Case>& cases) {
  Random random(4711);
  for (int i = 0; i < 36; ++i) {
    TensorShot shot;
    const auto rank = static_cast<uint32_t>(3 + i % 3);
    const uint32_t spatial = rank - 2;
    std::vector<uint64_t> dims = {24};
    for (uint32_t d = 0; d < spatial; ++d) dims.push_back(rank == 5 ? 4 : 6);
    dims.push_back(3);
    shot.map = dense_map(1, dims, {});
    shot.map.im2col = true;
    shot.map.channels = i % 4 == 3 ? 32 : 16;
    shot.map.pixels = 1 + random.below(40);
    shot.map.swizzle = i % 5 == 4 ? (shot.map.channels == 16 ? 1 : 2) : 0;
    shot.im2col = true;
    shot.coordinates = {i % 2 == 0 ? 0 : 8 * random.between(-1, 2)};
    for (uint32_t d = 0; d < spatial; ++d) {
      const int extent = static_cast<int>(dims[d + 1]);
      // From case 30 on, a filter of two taps: the bounding box ends before the last pixel.
      shot.map.lower[d] = i < 3 ? 0 : i >= 30 ? -1 : random.between(-2, 1);
      shot.map.upper[d] = i < 3 ? 0 : i >= 30 ? -1 : random.between(-2, 1);
      if (i >= 18) shot.map.steps[d + 1] = 1 + random.below(3);
      // A start inside the bounding box.
      const int last = extent - 1 + shot.map.upper[d];
      shot.coordinates.push_back(i < 6 ? shot.map.lower[d] : random.between(shot.map.lower[d], last));
      shot.offsets.push_back(i < 6 ? 0 : random.between(0, 2));
    }
    shot.coordinates.push_back(random.between(0, 2));
    shot.name = "tensor_load/im2col_" + std::to_string(i);
    shot.tensor_bytes = bytes_of(shot.map);
    add_shot(cases, shot);
  }
}

inline void add_tensor_stores(std::vector<Case>& cases) {
  const auto shoot = [&cases](const std::string& name, const MapSpec& map, std::vector<int> at,
                              std::string reduction = {}, uint32_t shared_offset = 0) {
    TensorShot shot;
    shot.store = true;
    shot.im2col = map.im2col;
    shot.name = "tensor_store/" + name;
    shot.map = map;
    shot.coordinates = std::move(at);
    shot.shared_offset = shared_offset;
    shot.tensor_bytes = bytes_of(map);
    shot.reduction = std::move(reduction);
    if (!shot.reduction.empty()) shot.contents = Contents::Small;
    add_shot(cases, shot);
  };
  shoot("inside", dense_map(1, {40, 12}, {16, 5}), {8, 3});
  shoot("end", dense_map(1, {37, 12}, {16, 5}), {32, 10});
  shoot("ftz", dense_map(10, {20, 6}, {8, 4}), {4, 1});
  shoot("tf32", dense_map(11, {20, 6}, {8, 4}), {4, 1});
  shoot("rank4", dense_map(2, {9, 4, 3, 2}, {8, 3, 2, 2}), {4, 2, 1, 1});
  for (int swizzle = 1; swizzle <= 3; ++swizzle) {
    MapSpec map = dense_map(1, {100, 14}, {8u << swizzle, 9});
    map.swizzle = swizzle;
    shoot("swizzle" + std::to_string(swizzle), map, {64, 8}, "", 128);
  }
  for (int swizzle = 1; swizzle <= 3; ++swizzle) {
    MapSpec map = dense_map(1, {100, 14}, {8u * static_cast<uint32_t>(2 * swizzle - 1), 9});
    map.swizzle = swizzle;
    shoot("swizzle" + std::to_string(swizzle) + "_narrow", map, {64, 3}, "", 128);
  }
  // Where the tensor ends within a 16-byte chunk.
  for (int type : {0, 2, 6, 8}) {
    const uint32_t row = 64 / element_bytes(type);
    const std::string of = std::to_string(type);
    shoot("end_type" + of, dense_map(type, {row + 1, 7}, {row, 3}), {static_cast<int>(row) / 2, 2});
    if (type != 0 && type != 8)
      shoot("reduce_end_type" + of, dense_map(type, {row + 1, 7}, {row, 3}), {static_cast<int>(row) / 2, 2},
            "add");
  }
  MapSpec stepped = dense_map(1, {40, 30}, {16, 12});
  stepped.steps[1] = 3;
  shoot("steps", stepped, {8, 1});
  for (const char* op : {"add", "min", "max", "inc", "dec", "and", "or", "xor"}) {
    for (int type : {2, 3, 4, 5, 6, 7, 8, 9, 10}) {
      const std::string name = op;
      const bool is_float = type >= 6;
      const bool logic = name == "and" || name == "or" || name == "xor";
      if (is_float && (logic || name == "inc" || name == "dec")) continue;
      if ((name == "inc" || name == "dec") && type != 2) continue;
      if ((type == 7 || type == 8 || type == 10) && name != "add") continue;
      if (type == 3 && logic) continue;
      shoot("reduce_" + name + "_type" + std::to_string(type),
            dense_map(type, {128 / element_bytes(type), 5}, {64 / element_bytes(type), 4}),
            {16 / static_cast<int>(element_bytes(type)), 2}, name);
    }
  }
  MapSpec pixels = dense_map(1, {16, 5, 4, 2}, {});
  pixels.im2col = true;
  pixels.channels = 16;
  pixels.pixels = 23;
  shoot("im2col", pixels, {0, 2, 1, 0});
  shoot("im2col_channels", pixels, {8, 2, 1, 0});
  MapSpec reduced = pixels;
  reduced.swizzle = 1;
  shoot("im2col_reduce", reduced, {0, 3, 2, 0}, "add");  // no unit adds elements of this type
  pixels.steps[1] = 2, pixels.steps[2] = 3;
  shoot("im2col_steps", pixels, {0, 1, 2, 1});
  for (const auto& [type, op] : {std::pair{2, "add"},
                                 {2, "inc"},
                                 {2, "xor"},
                                 {3, "min"},
                                 {4, "add"},
                                 {5, "max"},
                                 {6, "add"},
                                 {6, "max"},
                                 {7, "add"},
                                 {9, "add"},
                                 {9, "min"}}) {
    const uint32_t channels = 32 / element_bytes(type);
    MapSpec numbers = dense_map(type, {channels, 5, 4, 2}, {});
    numbers.im2col = true;
    numbers.channels = channels;
    numbers.pixels = 23;
    shoot("im2col_reduce_" + std::string(op) + "_type" + std::to_string(type), numbers, {0, 3, 2, 0}, op);
  }
}

}  // namespace sluice::hardware
