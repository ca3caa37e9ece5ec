// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Another project's program with a kernel of each layer and one that records itself. It links and starts; it
// needs no GPU.
#include <cstdio>
#include <string>

const void* layer1_kernel();
const void* layer2_kernel();
const void* traced_kernel();
std::string recording_of_nothing();

int main() {
  const bool linked = layer1_kernel() != nullptr && layer2_kernel() != nullptr && traced_kernel() != nullptr;
  std::puts(linked ? "kernels of both layers are linked" : "a kernel is missing");
  if (recording_of_nothing().find("holds nothing") == std::string::npos) {
    std::puts("a recording of nothing is accepted");
    return 1;
  }
  return linked ? 0 : 1;
}
