// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A trace in memory, and the reader of the file form (docs/trace-format.md says what every member means).
#pragma once

#include <array>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sluice::timeline {

enum class Source : uint8_t { Engine, Gpu };

enum class RecordKind : uint8_t { Role, Wait, Arrive, Copy, Land, Init, Flip, Product, Sync, Exit, Mark };
std::string_view to_string(RecordKind kind);

/// Which half of a stage a barrier is, where the source says so.
enum class Part : uint8_t { Unknown, Full, Empty };

struct TracePlace {
  std::string file;
  uint32_t line = 0, column = 0;
  std::string function;
};

/// One record. Members that its kind does not have are zero or empty.
struct Record {
  RecordKind kind{};
  uint64_t t = 0;
  std::optional<uint64_t> end;
  uint32_t cta = 0, warp = 0;
  uint32_t lanes = 0;  ///< 0 = unknown
  uint32_t at = 0;     ///< into Trace::places; 0 = unknown
  bool has_barrier = false;
  uint32_t barrier = 0;  ///< address in the shared memory of `of`
  uint32_t of = 0;
  int64_t phase = 0;
  uint32_t parity = 0;
  bool waited = false;
  int64_t count = 0;
  int64_t bytes = 0;
  int64_t drop = 0;
  uint64_t id = 0;  ///< of copy, land, product, sync; of arrive: the copy in whose name
  uint32_t ranks = 0;
  bool to_global = false;
  uint32_t warps = 1;
  int32_t ring = -1, stage = -1, stages = 0;
  Part part = Part::Unknown;
  std::string name;  ///< role, mark: name; copy, sync: what
  std::string text;  ///< mark
};

struct TraceLaunch {
  uint64_t ordinal = 0;
  std::string kernel;
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  std::vector<uint32_t> ctas;
  uint64_t ctas_left_out = 0;
  std::vector<Record> records;  ///< sorted by time; equal times in the order of the file
  std::vector<std::pair<uint32_t, std::string>> names;  ///< of barriers, by address
  bool ended = false, failed = false;
  uint64_t end = 0;
  uint64_t left_out = 0;  ///< records that were not written
};

struct Trace {
  Source source = Source::Engine;
  std::string clock = "step";  ///< the unit of time
  std::string about;           ///< a sentence on the clock
  std::vector<std::string> program;
  std::vector<TracePlace> places;  ///< by the number that records use; number 0 is none
  std::vector<TraceLaunch> launches;
};

/// Reads a trace. An error names `file`, the line and what is wrong with it.
Result<Trace> read_trace(std::istream& in, const std::string& file);
Result<Trace> read_trace_file(const std::string& file);

}  // namespace sluice::timeline
