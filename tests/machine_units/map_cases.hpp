// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Experiments on tensormap.replace: a map is copied to global memory, one field after the other is replaced
// there, and the bytes are written out after each step.
#pragma once

#include "hardware_case.hpp"
#include "tensor_shot.hpp"

namespace sluice::hardware {

/// `operations` are what stands behind "tensormap.replace.tile.", with `[%map]` as the place.
inline std::string map_replace_ptx(const std::vector<std::string>& operations) {
  std::string body;
  for (const std::string& operation : operations) {
    body += "tensormap.replace.tile." + operation + ";\n";
    for (int word = 0; word < 16; ++word) {
      const std::string at = std::to_string(word * 8);
      body += "ld.volatile.global.b64 %word, [%map+" + at + "];\nst.global.b64 [%out+" + at + "], %word;\n";
    }
    body += "add.u64 %out, %out, 128;\n";
  }
  return fill_in(R"(.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 scratch, .param .align 64 .b8 map[128])
{
.reg .b64 %out, %map, %word, %big;
.reg .b32 %w;
ld.param.u64 %out, [out];
cvta.to.global.u64 %out, %out;
ld.param.u64 %map, [scratch];
cvta.to.global.u64 %map, %map;
$copy$
$body$
ret;
}
)",
                 {{"copy",
                   [] {
                     std::string copy;
                     for (int word = 0; word < 16; ++word) {
                       const std::string at = std::to_string(word * 8);
                       copy +=
                           "ld.param.b64 %word, [map+" + at + "];\nst.global.b64 [%map+" + at + "], %word;\n";
                     }
                     return copy;
                   }()},
                  {"body", body}});
}

inline void add_map_case(std::vector<Case>& cases, const std::string& name, const MapSpec& map,
                         const std::vector<std::string>& operations) {
  Case c;
  c.name = "tensormap_replace/" + name;
  c.ptx = map_replace_ptx(operations);
  c.threads = 1;
  c.arguments.push_back({Argument::Buffer, c.add_buffer(Bytes(128 * operations.size()), true)});
  c.arguments.push_back({Argument::Buffer, c.add_buffer(Bytes(128))});
  c.maps.push_back(map);
  c.maps[0].offset = 0;
  c.maps[0].buffer = 1;
  c.arguments.push_back({Argument::Map, 0});
  cases.push_back(std::move(c));
}

inline void add_map_cases(std::vector<Case>& cases) {
  const MapSpec map = dense_map(1, {64, 32, 8, 4, 2}, {16, 8, 2, 2, 1});
  const std::string g = ".global.b1024";
  // The address is a fixed number, so that the output does not depend on where buffers lie.
  std::vector<std::string> all = {"global_address" + g + ".b64 [%map], 0x7f0123456780"};
  for (int d = 0; d < 5; ++d) {
    const std::string ord = std::to_string(d);
    all.push_back("box_dim" + g + ".b32 [%map], " + ord + ", " + std::to_string(3 + d));
    all.push_back("global_dim" + g + ".b32 [%map], " + ord + ", " + std::to_string(1000 + d));
    all.push_back("element_stride" + g + ".b32 [%map], " + ord + ", " + std::to_string(2 + d));
    if (d < 4)
      all.push_back("global_stride" + g + ".b64 [%map], " + ord + ", " +
                    std::to_string((1ull << 36) + 4096 * (1 + d) + 16));
  }
  for (int rank = 0; rank < 5; ++rank) all.push_back("rank" + g + ".b32 [%map], " + std::to_string(rank));
  for (int type = 0; type <= 12; ++type)
    all.push_back("elemtype" + g + ".b32 [%map], " + std::to_string(type));
  for (int mode = 0; mode <= 2; ++mode)
    all.push_back("interleave_layout" + g + ".b32 [%map], " + std::to_string(mode));
  for (int mode = 0; mode <= 3; ++mode)
    all.push_back("swizzle_mode" + g + ".b32 [%map], " + std::to_string(mode));
  for (int mode = 0; mode <= 1; ++mode)
    all.push_back("fill_mode" + g + ".b32 [%map], " + std::to_string(mode));
  add_map_case(cases, "all", map, all);
  add_map_case(cases, "edges", map,
               {"global_address" + g + ".b64 [%map], 0x10", "global_dim" + g + ".b32 [%map], 0, 0",
                "global_dim" + g + ".b32 [%map], 1, 0xffffffff", "box_dim" + g + ".b32 [%map], 0, 256",
                "box_dim" + g + ".b32 [%map], 1, 0", "box_dim" + g + ".b32 [%map], 2, 257",
                "element_stride" + g + ".b32 [%map], 0, 8", "element_stride" + g + ".b32 [%map], 1, 0",
                "global_stride" + g + ".b64 [%map], 0, 0xfffffffff0",
                "global_stride" + g + ".b64 [%map], 1, 8", "global_stride" + g + ".b64 [%map], 2, 0"});
}

}  // namespace sluice::hardware
