// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Experiments on tensor copies: what lands where, how many bytes the barrier is told, what lies outside.
// Shared memory starts as 0xee bytes, tensors hold random bytes, and whole regions are read back.
#pragma once

#include "hardware_case.hpp"

namespace sluice::hardware {

constexpr uint32_t kStageBytes = 8192;  ///< shared memory that a case looks at

struct TensorShot {
  std::string name;
  MapSpec map;
  std::vector<int> coordinates;
  std::vector<int> offsets;    ///< im2col loads: one per spatial dimension
  uint32_t shared_offset = 0;  ///< of the tile, from a 1024-byte boundary
  uint32_t cluster = 1;
  uint32_t multicast = 0;  ///< cta mask, 0 = none
  std::string reduction;   ///< stores: "add", ... or empty
  bool store = false;
  size_t tensor_bytes = 4096;
  bool small_values = false;  ///< tensor and tile hold small numbers of the element type
};

inline std::string coordinate_list(const TensorShot& shot) {
  std::vector<std::string> names;
  for (size_t i = 0; i < shot.coordinates.size(); ++i) names.push_back("%c" + std::to_string(i));
  return join(names);
}

inline std::string load_coordinates(const TensorShot& shot) {
  std::string text;
  for (size_t i = 0; i < shot.coordinates.size(); ++i) {
    text += "ld.param.b32 %c" + std::to_string(i) + ", [c" + std::to_string(i) + "];\n";
  }
  for (size_t i = 0; i < shot.offsets.size(); ++i) {
    text += "ld.param.b16 %o" + std::to_string(i) + ", [o" + std::to_string(i) + "];\n";
  }
  return text;
}

inline std::string tensor_prologue(const TensorShot& shot) {
  std::string parameters = ".param .u64 out, .param .align 64 .b8 map[128], .param .u32 shared_offset";
  for (size_t i = 0; i < shot.coordinates.size(); ++i) parameters += ", .param .b32 c" + std::to_string(i);
  for (size_t i = 0; i < shot.offsets.size(); ++i) parameters += ", .param .b32 o" + std::to_string(i);
  return fill_in(R"(.version 8.3
.target sm_90a
.address_size 64
.visible .entry k($parameters$)
{
.reg .pred %p, %lead;
.reg .b16 %o<4>, %mask;
.reg .b32 %c<6>, %me, %i, %v, %at, %base, %tile, %bar, %bytes, %rank, %tries, %done;
.reg .b64 %out, %map, %word, %wide;
.shared .align 1024 .b8 stage[$stage$];
.shared .align 8 .b64 bar;
mov.u32 %me, %tid.x;
setp.eq.u32 %lead, %me, 0;
ld.param.u64 %out, [out];
cvta.to.global.u64 %out, %out;
mov.b64 %map, map;
cvta.param.u64 %map, %map;
mov.u32 %base, stage;
mov.u32 %bar, bar;
ld.param.u32 %tile, [shared_offset];
add.u32 %tile, %tile, %base;
$coordinates$
)",
                 {{"parameters", parameters},
                  {"stage", std::to_string(kStageBytes)},
                  {"coordinates", load_coordinates(shot)}});
}

/// Loads one box and writes out: the barrier's word after the copy has landed, a flag whether expecting the
/// box's bytes completes the phase, then the stage. With a cluster, each CTA writes its own part.
inline std::string tensor_load_ptx(const TensorShot& shot) {
  std::vector<std::string> offsets;
  for (size_t i = 0; i < shot.offsets.size(); ++i) offsets.push_back("%o" + std::to_string(i));
  std::string address = "[%map, {" + coordinate_list(shot) + "}], [%bar]";
  if (!offsets.empty()) address += ", {" + join(offsets) + "}";
  if (shot.multicast != 0) address += ", %mask";
  const std::string text = tensor_prologue(shot) + R"(
mov.u32 %rank, %cluster_ctarank;
mul.wide.u32 %wide, %rank, $part$;
add.u64 %out, %out, %wide;
mov.u32 %i, %me;
FILL:
shl.b32 %at, %i, 2;
add.u32 %at, %at, %base;
mov.b32 %v, 0xeeeeeeee;
st.shared.b32 [%at], %v;
add.u32 %i, %i, 128;
setp.lt.u32 %p, %i, $words$;
@%p bra FILL;
@!%lead bra READY;
mbarrier.init.shared::cta.b64 [%bar], 1;
fence.mbarrier_init.release.cluster;
READY:
fence.proxy.async;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
mov.b16 %mask, $mask$;
@!%lead bra ISSUED;
setp.ne.u32 %p, %rank, 0;
@%p bra ISSUED;
cp.async.bulk.tensor.$dims$d.shared::cluster.global.$mode$.mbarrier::complete_tx::bytes$multicast$ [%tile], $address$;
ISSUED:
mov.u32 %tries, 0;
PAUSE:
nanosleep.u32 1000;
add.u32 %tries, %tries, 1;
setp.lt.u32 %p, %tries, 60;
@%p bra PAUSE;
mov.u32 %done, 0;
@!%lead bra WAITED;
ld.volatile.shared.b64 %word, [%bar];
st.global.b64 [%out], %word;
mbarrier.arrive.expect_tx.shared::cta.b64 %word, [%bar], $expected$;
mov.u32 %tries, 0;
TRY:
mbarrier.test_wait.parity.shared::cta.b64 %p, [%bar], 0;
selp.u32 %done, 1, 0, %p;
add.u32 %tries, %tries, 1;
setp.lt.and.u32 %p, %tries, 100, !%p;
@%p bra TRY;
st.global.u32 [%out+8], %done;
WAITED:
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
mov.u32 %i, %me;
DUMP:
shl.b32 %at, %i, 2;
cvt.u64.u32 %wide, %at;
add.u64 %wide, %wide, %out;
add.u32 %at, %at, %base;
ld.shared.b32 %v, [%at];
st.global.b32 [%wide+16], %v;
add.u32 %i, %i, 128;
setp.lt.u32 %p, %i, $words$;
@%p bra DUMP;
ret;
}
)";
  uint64_t expected = 0;
  if (shot.map.im2col) {
    expected = uint64_t{shot.map.channels} * shot.map.pixels * element_bytes(shot.map.type);
  } else {
    expected = element_bytes(shot.map.type);
    for (uint32_t d = 0; d < shot.map.rank; ++d) {
      const uint32_t step = d == 0 && shot.map.interleave == 0 ? 1 : shot.map.steps[d];
      expected *= (shot.map.box[d] + step - 1) / step;
    }
  }
  return fill_in(text, {{"part", std::to_string(16 + kStageBytes)},
                        {"words", std::to_string(kStageBytes / 4)},
                        {"mask", std::to_string(shot.multicast)},
                        {"dims", std::to_string(shot.map.rank)},
                        {"mode", shot.map.im2col ? "im2col" : "tile"},
                        {"multicast", shot.multicast != 0 ? ".multicast::cluster" : ""},
                        {"address", address},
                        {"expected", std::to_string(expected)}});
}

/// Stores (or reduces) one box from a stage of known bytes; the tensor is read back by the host.
inline std::string tensor_store_ptx(const TensorShot& shot) {
  const std::string mode = shot.map.im2col ? "im2col_no_offs" : "tile";
  const std::string store =
      shot.reduction.empty()
          ? "cp.async.bulk.tensor.$dims$d.global.shared::cta.$mode$.bulk_group"
          : "cp.reduce.async.bulk.tensor.$dims$d.global.shared::cta.$reduction$.$mode$.bulk_group";
  const std::string text = tensor_prologue(shot) + R"(
mov.u32 %i, %me;
FILL:
shl.b32 %at, %i, 2;
cvt.u64.u32 %wide, %at;
add.u64 %wide, %wide, %out;
add.u32 %at, %at, %base;
ld.global.b32 %v, [%wide];
st.shared.b32 [%at], %v;
add.u32 %i, %i, 128;
setp.lt.u32 %p, %i, $words$;
@%p bra FILL;
fence.proxy.async;
bar.sync 0;
@!%lead bra DONE;
)" + store + R"( [%map, {$list$}], [%tile];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
DONE:
ret;
}
)";
  return fill_in(text, {{"dims", std::to_string(shot.map.rank)},
                        {"mode", mode},
                        {"reduction", shot.reduction},
                        {"words", std::to_string(kStageBytes / 4)},
                        {"list", coordinate_list(shot)}});
}

/// Random elements of a moderate size, so that sums and comparisons mean something.
inline Bytes small_elements(uint64_t seed, int type, size_t count) {
  Bytes bytes = random_bytes(seed, count);
  Random random(seed ^ 77);
  for (size_t i = 0; i + 8 <= count; i += element_bytes(type)) {
    const auto r = static_cast<uint32_t>(random.next() >> 32);
    switch (type) {
      case 6:  // f16: exponents around 1, now and then a special value
        put(bytes, i,
            static_cast<uint16_t>(r % 16 == 0 ? r >> 16 : (r & 0x83ff) | (10 + (r >> 16) % 10) << 10));
        break;
      case 9:  // bf16
        put(bytes, i,
            static_cast<uint16_t>(r % 16 == 0 ? r >> 16 : (r & 0x807f) | (122 + (r >> 16) % 10) << 7));
        break;
      case 7:
      case 10:
      case 11:
      case 12:  // f32
        put(bytes, i,
            r % 16 == 0 ? static_cast<uint32_t>(random.next())
                        : (r & 0x807fffff) | (120 + random.below(14)) << 23);
        break;
      case 8:  // f64
        put(bytes, i, (random.next() & 0x800fffffffffffffull) | (uint64_t{1018} + random.below(10)) << 52);
        break;
      case 2:
      case 3:
        put(bytes, i, r % 8 == 0 ? r : r & 0xff);
        break;
      default:
        break;
    }
  }
  return bytes;
}

inline void add_shot(std::vector<Case>& cases, const TensorShot& shot) {
  Case c;
  c.name = (shot.store ? "tensor_store/" : "tensor_load/") + shot.name;
  c.cluster = shot.cluster;
  const uint64_t seed = cases.size() + 1;
  const auto make = [&](uint64_t salt, size_t count) {
    return shot.small_values ? small_elements(seed * 2 + salt, shot.map.type, count)
                             : random_bytes(seed * 2 + salt, count);
  };
  if (shot.store) {
    c.ptx = tensor_store_ptx(shot);
    c.arguments.push_back({Argument::Buffer, c.add_buffer(make(0, kStageBytes))});
    c.add_buffer(make(1, shot.tensor_bytes), true);
  } else {
    c.ptx = tensor_load_ptx(shot);
    c.arguments.push_back({Argument::Buffer, c.add_buffer(Bytes((16 + kStageBytes) * shot.cluster), true)});
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

inline void add_tile_loads(std::vector<Case>& cases) {
  const auto shoot = [&cases](std::string name, const MapSpec& map, std::vector<int> at,
                              uint32_t shared_offset = 0, bool small = false) {
    TensorShot shot;
    shot.name = std::move(name);
    shot.map = map;
    shot.coordinates = std::move(at);
    shot.shared_offset = shared_offset;
    shot.tensor_bytes = bytes_of(map);
    shot.small_values = small;
    add_shot(cases, shot);
  };
  for (int type = 0; type <= 12; ++type) {
    const uint32_t row = 32 / element_bytes(type);
    for (int fill = 0; fill <= (type >= 6 ? 1 : 0); ++fill) {
      MapSpec map = dense_map(type, {row * 2 + 1, 9}, {row, 6});
      map.oob = fill;
      const std::string name = "type" + std::to_string(type) + (fill == 1 ? "_nan" : "");
      shoot(name + "_inside", map, {1, 2}, 0, true);
      shoot(name + "_outside", map, {static_cast<int>(row) + 3, 5});
      shoot(name + "_negative", map, {-3, -2}, 0, true);
    }
  }
  for (int swizzle = 1; swizzle <= 3; ++swizzle) {
    const uint32_t span = 16u << swizzle;
    for (uint32_t inner = 16; inner <= span; inner += swizzle == 3 ? 48 : 16) {
      MapSpec map = dense_map(1, {100, 40}, {inner / 2, 18});
      map.swizzle = swizzle;
      const std::string name = "swizzle" + std::to_string(swizzle) + "_inner" + std::to_string(inner);
      shoot(name, map, {5, 3});
      shoot(name + "_at128", map, {5, 3}, 128);
      shoot(name + "_at896", map, {90, 30}, 896);
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
    shoot(name, map, {3, 2});
    shoot(name + "_edges", map, {72, -5});
    shoot(name + "_end", map, {-4, 22});
  }
  MapSpec steps3 = dense_map(1, {24, 9, 7}, {8, 5, 6});
  steps3.steps[1] = 2;
  steps3.steps[2] = 3;
  shoot("steps_3d", steps3, {-2, -3, 2});
  shoot("rank1", dense_map(1, {200}, {64}), {10});
  shoot("rank1_ends", dense_map(1, {50}, {64}), {-7});
  shoot("rank1_far", dense_map(1, {50}, {64}), {1000});
  shoot("rank3", dense_map(1, {20, 6, 5}, {16, 4, 3}), {2, 1, 1});
  shoot("rank3_ends", dense_map(1, {20, 6, 5}, {16, 4, 3}), {-5, 4, 3});
  shoot("rank4_ends", dense_map(1, {20, 6, 5, 4}, {8, 4, 3, 2}), {14, -1, 3, 3});
  shoot("rank5", dense_map(1, {20, 4, 3, 3, 3}, {8, 3, 2, 2, 2}), {2, 1, 1, 0, 1});
  shoot("rank5_ends", dense_map(1, {20, 4, 3, 3, 3}, {8, 3, 2, 2, 3}), {14, -1, 2, -1, 1});
  MapSpec overlap = dense_map(1, {64, 12}, {16, 8});
  overlap.strides[0] = 16;
  shoot("overlapping_rows", overlap, {4, 2});
  MapSpec still = dense_map(1, {64, 12}, {16, 8});
  still.strides[0] = 0;
  shoot("stride_zero", still, {4, 2});
  // Interleaved layouts: channels in slices of 16 or 32 bytes.
  for (int interleave = 1; interleave <= 2; ++interleave) {
    const uint64_t slice = interleave == 1 ? 16 : 32;
    for (int variant = 0; variant < 6; ++variant) {
      MapSpec map;
      map.type = 1;
      map.rank = variant < 4 ? 3 : 4;
      map.interleave = interleave;
      map.swizzle = interleave == 2 ? 1 : 0;
      map.dims[0] = 24;
      map.dims[1] = 7;
      map.dims[2] = 5;
      map.dims[3] = 2;
      map.strides[0] = slice * 8;
      map.strides[1] = slice * 8 * 5;
      map.strides[2] = slice * 8 * 5 * 3;
      map.box[0] = variant == 1 ? 8 : variant == 3 ? 1 : 16;
      map.box[1] = 4;
      map.box[2] = 3;
      map.box[3] = variant >= 4 ? 2 : 1;
      std::vector<int> at = {0, 1, 1};
      if (variant == 2) at = {8, 5, -1};
      if (variant >= 4) at.push_back(variant == 5 ? -1 : 0);
      TensorShot shot;
      shot.name = "interleave" + std::to_string(interleave) + "_" + std::to_string(variant);
      shot.map = map;
      shot.coordinates = at;
      shot.tensor_bytes = 16384;
      add_shot(cases, shot);
    }
  }
  for (uint32_t ctas : {2u, 4u}) {
    for (uint32_t mask = 1; mask < (1u << ctas); mask += ctas) {
      TensorShot shot;
      shot.name = "multicast" + std::to_string(ctas) + "_mask" + std::to_string(mask);
      shot.map = dense_map(1, {40, 20}, {32, 8});
      shot.map.swizzle = 2;
      shot.coordinates = {20, 3};
      shot.shared_offset = 512;
      shot.tensor_bytes = bytes_of(shot.map);
      shot.cluster = ctas;
      shot.multicast = mask;
      add_shot(cases, shot);
    }
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
    shot.coordinates = {i % 2 == 0 ? 0 : random.between(-4, 12)};
    for (uint32_t d = 0; d < spatial; ++d) {
      const int extent = static_cast<int>(dims[d + 1]);
      shot.map.lower[d] = i < 3 ? 0 : random.between(-2, 1);
      shot.map.upper[d] = i < 3 ? 0 : random.between(-2, 1);
      if (i >= 18) shot.map.steps[d + 1] = 1 + random.below(3);
      // A start inside the bounding box.
      const int last = extent - 1 + shot.map.upper[d];
      shot.coordinates.push_back(i < 6 ? shot.map.lower[d] : random.between(shot.map.lower[d], last));
      shot.offsets.push_back(i < 6 ? 0 : random.between(0, 2));
    }
    shot.coordinates.push_back(random.between(0, 2));
    if (i >= 30) {
      // A filter of two taps: the bounding box ends before the last pixel.
      for (uint32_t d = 0; d < spatial; ++d) shot.map.lower[d] = -1, shot.map.upper[d] = -1;
    }
    shot.name = "im2col_" + std::to_string(i);
    shot.tensor_bytes = bytes_of(shot.map);
    add_shot(cases, shot);
  }
}

inline void add_tensor_stores(std::vector<Case>& cases) {
  const auto shoot = [&cases](std::string name, const MapSpec& map, std::vector<int> at,
                              std::string reduction = {}, uint32_t shared_offset = 0) {
    TensorShot shot;
    shot.store = true;
    shot.name = std::move(name);
    shot.map = map;
    shot.coordinates = std::move(at);
    shot.shared_offset = shared_offset;
    shot.tensor_bytes = bytes_of(map);
    shot.reduction = std::move(reduction);
    shot.small_values = !shot.reduction.empty();
    add_shot(cases, shot);
  };
  shoot("inside", dense_map(1, {40, 12}, {16, 5}), {8, 3});
  shoot("negative", dense_map(1, {40, 12}, {16, 5}), {-3, -2});
  shoot("end", dense_map(1, {40, 12}, {16, 5}), {33, 10});
  shoot("ftz", dense_map(10, {20, 6}, {8, 4}), {1, 1});
  shoot("tf32", dense_map(11, {20, 6}, {8, 4}), {1, 1});
  shoot("rank4", dense_map(2, {9, 4, 3, 2}, {4, 3, 2, 2}), {-1, 2, 1, 1});
  for (int swizzle = 1; swizzle <= 3; ++swizzle) {
    MapSpec map = dense_map(1, {100, 14}, {8u << swizzle, 9});
    map.swizzle = swizzle;
    shoot("swizzle" + std::to_string(swizzle), map, {5, 8}, "", 128);
  }
  MapSpec stepped = dense_map(1, {40, 30}, {16, 12});
  stepped.steps[1] = 3;
  shoot("steps", stepped, {2, -4});
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
            dense_map(type, {128 / element_bytes(type), 5}, {64 / element_bytes(type), 4}), {1, -1}, name);
    }
  }
  MapSpec pixels = dense_map(1, {16, 5, 4, 2}, {});
  pixels.im2col = true;
  pixels.channels = 16;
  pixels.pixels = 23;
  shoot("im2col", pixels, {0, 2, 1, 0});
  pixels.lower[0] = -1, pixels.lower[1] = 1, pixels.upper[0] = -2;
  shoot("im2col_corners", pixels, {4, 0, 1, 0});
}

}  // namespace sluice::hardware
