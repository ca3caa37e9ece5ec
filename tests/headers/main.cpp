// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The main function of the programs that consist of one translation unit per public header. That they link is
// the test.
#include <cstdio>

int main() {
  std::puts("every header compiled alone and linked with the others");
  return 0;
}
