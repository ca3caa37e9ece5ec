// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What is inside an image that a program hands over in memory: the PTX to execute, and what the machine code
// that lies beside it says about registers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cuda/errors.hpp"

namespace sluice::cuda {

/// Registers per thread of a kernel, as its machine code for sm_90a uses them.
struct KernelRegisters {
  std::string kernel;
  uint32_t registers = 0;
};

struct ImageContents {
  std::vector<std::string> texts;  ///< PTX to load: one, or the several of a program linked at load time
  std::vector<KernelRegisters> registers;
};

/// Why an image has nothing to execute.
struct ImageFailure {
  Status status = kOk;   ///< what the loading call returns
  std::string headline;  ///< for the report; one line
  std::string why, help;
};

/// Reads a fat binary, its start-up wrapper, PTX text ending in NUL, or machine code. Returns kOk, or the
/// status with `failure` filled in. `image` must point to one of these; sizes come from their headers.
Status read_image(const void* image, ImageContents* out, ImageFailure* failure);

/// The result of a JIT link: a container that `read_image` takes.
std::string link_container(const std::vector<std::string>& texts);

}  // namespace sluice::cuda
