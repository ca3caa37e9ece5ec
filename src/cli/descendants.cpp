// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The process tree, as /proc tells it.
#include "cli/descendants.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

struct Process {
  pid_t id = 0, parent = 0;
  bool runs = false;  ///< it has not ended; what has ended may still have children
};

/// What /proc/PID/stat says; all zero if the process is gone.
Process read_process(const fs::path& folder) {
  std::ifstream in(folder / "stat");
  std::string line;
  std::getline(in, line);
  // "PID (NAME) STATE PARENT ...", where the name may contain anything.
  const size_t after_name = line.rfind(')');
  if (after_name == std::string::npos || after_name + 4 >= line.size()) return {};
  const char state = line[after_name + 2];
  return {std::atoi(line.c_str()), std::atoi(line.c_str() + after_name + 4), state != 'Z' && state != 'X'};
}

}  // namespace

void adopt_orphans() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

bool has_children() {
  pid_t ended = 0;
  do {
    ended = waitpid(-1, nullptr, WNOHANG);
  } while (ended > 0);
  return ended == 0;
}

std::vector<pid_t> descendants() {
  std::multimap<pid_t, Process> children;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    if (std::atoi(entry.path().filename().c_str()) == 0) continue;
    const Process process = read_process(entry.path());
    children.emplace(process.parent, process);
  }
  std::vector<pid_t> found;
  std::vector<pid_t> open{getpid()};
  while (!open.empty()) {
    const auto [first, last] = children.equal_range(open.back());
    open.pop_back();
    for (auto it = first; it != last; ++it) {
      if (it->second.runs) found.push_back(it->second.id);
      open.push_back(it->second.id);
    }
  }
  return found;
}

bool has_engine(pid_t process) {
  std::ifstream in(fmt::format("/proc/{}/maps", process));
  for (std::string line; std::getline(in, line);) {
    if (line.find("libsluice-engine") != std::string::npos) return true;
  }
  return false;
}

}  // namespace sluice::cli
