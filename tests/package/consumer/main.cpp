// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Another project's program with a kernel of each layer. It links and starts; it needs no GPU.
#include <cstdio>

const void* layer1_kernel();
const void* layer2_kernel();

int main() {
  const bool linked = layer1_kernel() != nullptr && layer2_kernel() != nullptr;
  std::puts(linked ? "kernels of both layers are linked" : "a kernel is missing");
  return linked ? 0 : 1;
}
