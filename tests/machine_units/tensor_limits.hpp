// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor copies that leave the rules: which of them a GPU stops, with which error, and what the others do.
#pragma once

#include "tensor_shot.hpp"

namespace sluice::hardware {

/// A copy that keeps every rule, to be spoilt in one place.
inline TensorShot proper_shot(int type = 1) {
  TensorShot shot;
  const uint32_t row = 64 / element_bytes(type);
  shot.map = dense_map(type, {row * 2, 9}, {row, 6});
  shot.coordinates = {16 / static_cast<int>(element_bytes(type)), 2};
  shot.tensor_bytes = bytes_of(shot.map);
  return shot;
}

inline TensorShot proper_im2col_shot() {
  TensorShot shot;
  shot.map = dense_map(1, {16, 6, 5, 2}, {});
  shot.map.im2col = shot.im2col = true;
  shot.map.channels = 16;
  shot.map.pixels = 7;
  for (int d = 0; d < 2; ++d) shot.map.lower[d] = -1, shot.map.upper[d] = -1;
  shot.coordinates = {0, 1, 1, 0};
  shot.offsets = {1, 1};
  shot.tensor_bytes = bytes_of(shot.map);
  return shot;
}

/// The innermost coordinate does not lie on a 16-byte chunk.
inline void add_unaligned_coordinates(std::vector<Case>& cases) {
  const auto add = [&cases](const std::string& name, TensorShot shot, int first) {
    shot.name = "tensor_limits/coordinate_" + name;
    shot.coordinates[0] = first;
    add_shot(cases, shot);
  };
  add("u8", proper_shot(0), 8);
  add("u16", proper_shot(1), 4);
  add("f32", proper_shot(7), -1);
  add("f64", proper_shot(8), 1);
  add("far_outside", proper_shot(), 1001);
  TensorShot swizzled = proper_shot();
  swizzled.map.swizzle = 2;
  add("swizzled", swizzled, 12);
  TensorShot store = proper_shot();
  store.store = true;
  add("store", store, 4);
  store.reduction = "add";
  add("reduce", store, 4);
  add("im2col", proper_im2col_shot(), 4);
}

/// Stores and sums before and behind the tensor.
inline void add_store_places(std::vector<Case>& cases) {
  const auto add = [&cases](const std::string& name, std::vector<int> at, const std::string& reduction = {}) {
    TensorShot shot;
    shot.map = dense_map(2, {20, 6, 5}, {8, 3, 2});
    shot.tensor_bytes = bytes_of(shot.map);
    shot.store = true;
    shot.coordinates = std::move(at);
    shot.reduction = reduction;
    if (!reduction.empty()) shot.contents = Contents::Small;
    shot.name = "tensor_limits/" + name;
    add_shot(cases, shot);
  };
  add("store_before_0", {-4, 1, 1});
  add("store_before_1", {4, -1, 1});
  add("store_before_2", {4, 1, -1});
  add("store_far_before_1", {4, -100, 1});
  add("store_behind_0", {20, 1, 1});
  add("store_behind_1", {4, 6, 1});
  add("store_behind_2", {4, 1, 5});
  add("store_far_behind_1", {4, 100, 1});
  add("reduce_before_1", {4, -1, 1}, "add");
  add("reduce_behind_1", {4, 6, 1}, "add");
}

/// Which bounding boxes a store takes, and where it may go.
inline void add_im2col_stores(std::vector<Case>& cases) {
  const auto add = [&cases](const std::string& name, int lower, int upper, uint32_t pixels,
                            std::vector<int> at) {
    TensorShot shot = proper_im2col_shot();
    shot.store = true;
    shot.offsets.clear();
    for (int d = 0; d < 2; ++d) shot.map.lower[d] = lower, shot.map.upper[d] = upper;
    shot.map.pixels = pixels;
    shot.coordinates = std::move(at);
    shot.name = "tensor_limits/im2col_store_" + name;
    add_shot(cases, shot);
  };
  add("whole_box", 0, 0, 7, {0, 1, 1, 0});
  add("from_before", -1, -1, 7, {0, 1, 1, 0});
  add("never_before", -1, -1, 2, {0, 1, 1, 0});
  add("at_before", -1, 0, 2, {0, -1, 1, 0});
  add("inner_box", 1, 0, 7, {0, 1, 1, 0});
  add("short_box", 0, -1, 7, {0, 1, 1, 0});
  add("long_box", 0, 1, 12, {0, 1, 1, 0});
  add("behind_w", -1, -1, 7, {0, 5, 1, 0});
  add("behind_n", -1, -1, 7, {0, 1, 1, 2});
  add("last_w", 0, 0, 7, {0, 5, 1, 0});
  add("behind_last_w", 0, 0, 7, {0, 6, 1, 0});
  add("behind_all", 0, 0, 7, {0, 1, 1, 2});
  add("before_n0", 0, 0, 7, {0, 1, 1, -1});
  add("before_c", 0, 0, 7, {-8, 1, 1, 0});
  add("behind_c0", 0, 0, 7, {16, 1, 1, 0});
}

/// Where an im2col box may start: dimension by dimension, one before and one behind the bounding box.
inline void add_im2col_starts(std::vector<Case>& cases) {
  const auto add = [&cases](const std::string& name, uint32_t dimension, int value) {
    TensorShot shot = proper_im2col_shot();
    shot.name = "tensor_limits/im2col_" + name;
    shot.coordinates[dimension] = value;
    add_shot(cases, shot);
  };
  add("proper", 0, 0);
  add("first_w", 1, -1);
  add("before_w", 1, -2);
  add("last_w", 1, 4);
  add("behind_w", 1, 5);
  add("before_h", 2, -2);
  add("last_h", 2, 3);
  add("behind_h", 2, 4);
  add("before_n", 3, -1);
  add("behind_n", 3, 2);
  add("behind_c", 0, 16);
}

inline void add_tensor_limits(std::vector<Case>& cases) {
  add_unaligned_coordinates(cases);
  add_im2col_starts(cases);
  add_store_places(cases);
  add_im2col_stores(cases);
  const auto add = [&cases](const std::string& name, TensorShot shot) {
    shot.name = "tensor_limits/" + name;
    add_shot(cases, shot);
  };
  for (const uint32_t offset : {8u, 16u, 32u, 64u}) {
    TensorShot shot = proper_shot();
    shot.shared_offset = offset;
    add("shared_at_" + std::to_string(offset), shot);
    shot.store = true;
    add("store_shared_at_" + std::to_string(offset), shot);
  }
  for (const uint32_t kibibytes : {16u, 96u, 226u, 228u, 256u}) {
    TensorShot beyond_cta = proper_shot();
    beyond_cta.shared_offset = kibibytes << 10;
    add("shared_outside_" + std::to_string(kibibytes) + "k", beyond_cta);
  }
  TensorShot across = proper_shot();
  across.shared_offset = (226u << 10) + 896;
  add("shared_across_227k", across);
  TensorShot far = proper_shot();
  far.shared_offset = 1 << 20;
  add("shared_outside", far);
  TensorShot barrier = proper_shot();
  barrier.barrier_offset = 4;
  add("barrier_misaligned", barrier);
  TensorShot rank = proper_shot();
  rank.coordinates.push_back(0);
  add("three_coordinates_for_rank_2", rank);
  rank.coordinates.resize(1);
  add("one_coordinate_for_rank_2", rank);
  TensorShot tile_as_im2col = proper_im2col_shot();
  tile_as_im2col.map.im2col = false;
  for (uint32_t d = 0; d < 4; ++d) tile_as_im2col.map.box[d] = d == 0 ? 16 : 2;
  add("im2col_of_a_tile_map", tile_as_im2col);
  TensorShot im2col_as_tile = proper_im2col_shot();
  im2col_as_tile.im2col = false;
  im2col_as_tile.offsets.clear();
  add("tile_of_an_im2col_map", im2col_as_tile);
  TensorShot beyond = proper_shot();
  beyond.map.dims[1] = 1 << 30;
  beyond.coordinates[1] = 1 << 29;
  add("tensor_beyond_memory", beyond);
  beyond.store = true;
  add("store_beyond_memory", beyond);
  TensorShot mask = proper_shot();
  mask.cluster = 2;
  mask.multicast = 4;
  add("multicast_to_a_cta_that_is_not", mask);
  mask.multicast = 5;
  add("multicast_to_two_ctas_one_is_not", mask);
}

}  // namespace sluice::hardware
