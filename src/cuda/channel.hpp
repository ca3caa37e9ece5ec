// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// How processes under test report to the command line. Each process leaves two files in the report directory:
// one with a JSON record per line, written as things happen, and one with counters in memory that both sides
// map, so that nothing is lost where a process dies. Without a directory the text of diagnostics goes to
// stderr.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/temporary_folder.hpp"
#include "report/diagnostic.hpp"
#include "report/verdict.hpp"

namespace sluice::cuda {

/// Counts of one process; zero at start, shared with the command line.
struct Counters {
  std::atomic<uint64_t> kernels{0};
  std::atomic<uint64_t> refused_launches{0};
  std::atomic<uint64_t> skipped_launches{0};
  std::atomic<uint64_t> ctas_run{0};
  std::atomic<uint64_t> ctas_left_out{0};
  std::atomic<uint64_t> launch_started_ns{0};  ///< host clock; 0 while no kernel runs
  std::atomic<uint32_t> crash{0};              ///< the fatal signal that met the engine; 0: none did
  char kernel[256] = {};                       ///< readable name of what runs, cut where it is longer
};

/// A process that died of a signal while it executed a kernel.
struct Crash {
  int signal = 0;
  std::string kernel;
};

/// The writing side, in the process under test.
class Channel {
 public:
  /// `directory` may be empty (text on stderr). A directory that cannot be written is treated as empty.
  explicit Channel(const std::string& directory);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  Counters& counters() { return *counters_; }
  void say(const report::Diagnostic& diagnostic);
  /// A line of information for `-v`.
  void log(const std::string& line);
  bool has_directory() const { return !records_.empty(); }

 private:
  void write_record(const nlohmann::json& record);

  std::string records_;  ///< the file; opened for each record, since daemons close what they have not opened
  Counters* counters_ = nullptr;
  Counters own_counters_;
};

/// What the reading side has gathered since it last looked.
struct Gathered {
  std::vector<report::Diagnostic> diagnostics;
  std::vector<std::string> log;
};

/// The reading side, in the command line.
class ChannelReader {
 public:
  /// With an empty directory for one run, which ends with the reader.
  static Result<ChannelReader> create();

  const std::string& directory() const { return folder_.path(); }
  /// New complete records of all processes.
  Gathered poll();
  /// How many processes loaded the engine.
  size_t process_count() const { return offsets_.size(); }
  /// Adds the counters of all processes to `tally`.
  void add_counters(report::Tally& tally) const;
  std::vector<Crash> crashes() const;
  /// Kernels that have begun and not ended; of processes that are gone, those that will not end.
  std::vector<std::string> open_kernels() const;
  /// Host clock at which the longest-running current launch began, 0 if none runs.
  uint64_t launch_started_ns() const;

 private:
  explicit ChannelReader(TemporaryFolder folder) : folder_(std::move(folder)) {}

  TemporaryFolder folder_;
  std::map<std::string, size_t> offsets_;  ///< record file -> bytes read
};

}  // namespace sluice::cuda
