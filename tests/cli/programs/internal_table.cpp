// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Asks the driver for an internal table, as NVIDIA's libraries do, and goes on without. With an argument it
// looks up a function first, as a CUDA runtime does for all it calls.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char**) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return 1;
  const auto look_up = reinterpret_cast<int (*)(const char*, void**, int, unsigned long long, void*)>(
      dlsym(driver, "cuGetProcAddress_v2"));
  const auto ask =
      reinterpret_cast<int (*)(const void**, const unsigned char*)>(dlsym(driver, "cuGetExportTable"));
  void* function = nullptr;
  if (argc > 1)
    std::printf("%s\n", look_up("cuInit", &function, 12000, 0, nullptr) == 0 ? "cuInit" : "nothing");
  const unsigned char id[16] = {};
  const void* table = driver;
  std::printf("%s\n", ask(&table, id) != 0 && table == nullptr ? "no table" : "a table");
}
