// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A folder for the files of one run.
#pragma once

#include <string>
#include <utility>

#include "base/result.hpp"

namespace sluice {

/// Made empty where TMPDIR says, else in /tmp; removed with all that is in it at the end of its life.
class TemporaryFolder {
 public:
  /// `purpose`: what it is for, as in "a folder for reports".
  static Result<TemporaryFolder> create(const std::string& purpose);
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace sluice
