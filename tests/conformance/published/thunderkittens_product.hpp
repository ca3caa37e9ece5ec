// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches one of ThunderKittens' matrix multiplications; to be included behind the kernel's own file.
#pragma once

#include "compare.hpp"

namespace conformance {

template <class Template, class T>
std::vector<T> multiply(const std::vector<T>& a, const std::vector<T>& b, int m, int n, int k) {
  const DeviceArray<T> device_a(a), device_b(b), c(std::size_t(m) * n);
  check(cudaFuncSetAttribute(prototype::lcf::kernel<Template>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             MAX_SHARED_MEMORY - 1024),
        "shared memory");
  inner_run<Template>(device_a.get(), device_b.get(), c.get(), m, n, k, Template::grid(m, n, k),
                      dim3(prototype::detail::NUM_THREADS_v<Template>));
  finish("kernel");
  return c.read();
}

}  // namespace conformance
