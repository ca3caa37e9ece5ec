// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of the report directory: `PID-CLOCK.records` and `PID-CLOCK.counters`.
#include "cuda/channel.hpp"
#include "report/json_text.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>

namespace sluice::cuda {
namespace {

namespace fs = std::filesystem;
constexpr const char* kRecords = ".records";
constexpr const char* kCounters = ".counters";

// Maps the counters of `path`; null if that is impossible. Creates the file if `create`.
Counters* map_counters(const std::string& path, bool create) {
  const int fd = open(path.c_str(), create ? O_RDWR | O_CREAT | O_CLOEXEC : O_RDONLY | O_CLOEXEC, 0600);
  if (fd < 0) return nullptr;
  void* memory = MAP_FAILED;
  if (!create || ftruncate(fd, sizeof(Counters)) == 0) {
    memory = mmap(nullptr, sizeof(Counters), create ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
  }
  close(fd);
  // Zero pages are a valid set of lock-free counters.
  return memory == MAP_FAILED ? nullptr : static_cast<Counters*>(memory);
}

// Calls visit(counters) for the counter file of every process.
template <class Visit>
void for_each_counters(const std::string& directory, Visit visit) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    if (entry.path().extension() != kCounters) continue;
    if (entry.file_size(ignored) < sizeof(Counters)) continue;
    Counters* counters = map_counters(entry.path(), /*create=*/false);
    if (counters == nullptr) continue;
    visit(*counters);
    munmap(counters, sizeof(Counters));
  }
}

}  // namespace

Channel::Channel(const std::string& directory) : counters_(&own_counters_) {
  if (directory.empty()) return;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::string stem = fmt::format("{}/{}-{}{:09}", directory, getpid(), now.tv_sec, now.tv_nsec);
  const int fd = open((stem + kRecords).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  close(fd);
  records_ = stem + kRecords;
  if (Counters* shared = map_counters(stem + kCounters, /*create=*/true)) counters_ = shared;
}

Channel::~Channel() {
  if (counters_ != &own_counters_) munmap(counters_, sizeof(Counters));
}

void Channel::write_record(const nlohmann::json& record) {
  std::string line = report::json_text(record);
  line += '\n';
  const int fd = open(records_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return;
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = write(fd, line.data() + done, line.size() - done);
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  close(fd);
}

void Channel::say(const report::Diagnostic& diagnostic) {
  if (has_directory()) {
    write_record({{"diagnostic", report::to_json(diagnostic)}});
  } else {
    std::fputs(report::render_text(diagnostic).c_str(), stderr);
  }
}

void Channel::log(const std::string& line) {
  if (has_directory()) {
    write_record({{"log", line}});
  } else {
    std::fprintf(stderr, "sluice: %s\n", line.c_str());
  }
}

Result<ChannelReader> ChannelReader::create() {
  SLUICE_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::create("reports"));
  return ChannelReader(std::move(folder));
}

Gathered ChannelReader::poll() {
  Gathered gathered;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory(), ignored)) {
    if (entry.path().extension() != kRecords) continue;
    size_t& offset = offsets_[entry.path().string()];
    std::ifstream in(entry.path(), std::ios::binary);
    in.seekg(static_cast<std::streamoff>(offset));
    std::string line;
    // A line without its newline is still being written.
    while (std::getline(in, line) && !in.eof()) {
      offset += line.size() + 1;
      const auto record = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!record.is_object()) continue;
      if (const auto it = record.find("diagnostic"); it != record.end()) {
        if (auto diagnostic = report::diagnostic_from_json(*it)) gathered.diagnostics.push_back(*diagnostic);
      } else if (const auto log = record.find("log"); log != record.end() && log->is_string()) {
        gathered.log.push_back(log->get<std::string>());
      }
    }
  }
  return gathered;
}

void ChannelReader::add_counters(report::Tally& tally) const {
  for_each_counters(directory(), [&](const Counters& c) {
    tally.kernels += c.kernels;
    tally.refused_launches += c.refused_launches;
    tally.skipped_launches += c.skipped_launches;
    tally.ctas_run += c.ctas_run;
    tally.ctas_left_out += c.ctas_left_out;
  });
}

std::vector<Crash> ChannelReader::crashes() const {
  std::vector<Crash> result;
  for_each_counters(directory(), [&](const Counters& c) {
    if (c.crash != 0) result.push_back({static_cast<int>(c.crash), c.kernel});
  });
  return result;
}

std::vector<std::string> ChannelReader::open_kernels() const {
  std::vector<std::string> result;
  for_each_counters(directory(), [&](const Counters& c) {
    if (c.launch_started_ns != 0 && c.crash == 0) result.emplace_back(c.kernel);
  });
  return result;
}

uint64_t ChannelReader::launch_started_ns() const {
  uint64_t earliest = 0;
  for_each_counters(directory(), [&](const Counters& c) {
    const uint64_t started = c.launch_started_ns;
    if (started != 0 && (earliest == 0 || started < earliest)) earliest = started;
  });
  return earliest;
}

}  // namespace sluice::cuda
