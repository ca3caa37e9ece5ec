// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// mkdtemp and its counterpart.
#include "base/temporary_folder.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <system_error>

namespace sluice {

Result<TemporaryFolder> TemporaryFolder::create(const std::string& purpose) {
  const char* base = std::getenv("TMPDIR");
  const std::string folder = base != nullptr && *base != '\0' ? base : "/tmp";
  std::string path = folder + "/sluice-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    return Error{
        fmt::format("cannot create a folder for {} in '{}': {}", purpose, folder, std::strerror(errno)), ""};
  }
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace sluice
