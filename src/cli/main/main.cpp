// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The tool's entry: everything is in the room's library.
#include "cli/entry.hpp"

int main(int argc, char** argv) {
  return sluice::cli::run_tool(argc, argv);
}
