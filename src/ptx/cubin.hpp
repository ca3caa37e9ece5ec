// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What a cubin says of its kernels: registers, shared and local memory, launch bounds, parameters. The engine
// runs the PTX; it asks the machine code only for the resources that a launch on hardware would have.
#pragma once

#include "base/result.hpp"
#include "ptx/bytes.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::ptx {

struct CubinKernel {
  std::string name;
  uint32_t registers = 0;      ///< per thread
  uint32_t max_registers = 0;  ///< the bound that the assembler kept to; 255: none
  uint64_t shared_bytes = 0;  ///< static, as the section has it: on sm_90 the system's 1024 bytes are part of
                              ///< it when the kernel has static shared memory at all
  uint32_t frame_bytes = 0;   ///< stack frame of the kernel itself
  uint32_t stack_bytes = 0;  ///< least stack, with the functions that it calls where the assembler knows them
  uint32_t parameter_bytes = 0;
  uint32_t barriers = 0;                       ///< named barriers used, the highest number plus one
  std::array<uint32_t, 3> max_threads{};       ///< .maxntid; 0 = not given
  std::array<uint32_t, 3> required_threads{};  ///< .reqntid
  std::array<uint32_t, 3> cluster{};           ///< .reqnctapercluster
  uint32_t max_cluster_rank = 0;
  bool is_explicit_cluster = false;

  struct Parameter {
    uint32_t ordinal = 0;
    uint32_t offset = 0;
    uint32_t size = 0;
  };
  std::vector<Parameter> parameters;  ///< by ordinal
};

struct Cubin {
  uint32_t sm = 0;
  std::vector<CubinKernel> kernels;

  [[nodiscard]] const CubinKernel* find(std::string_view name) const;
};

[[nodiscard]] Result<Cubin> read_cubin(Bytes bytes);

}  // namespace sluice::ptx
