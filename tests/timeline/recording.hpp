// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Small PTX kernels on the engine, recorded, read back and made a model.
#pragma once

#include <filesystem>
#include <string>

#include "check/kernels.hpp"
#include "timeline/model.hpp"
#include "timeline/recorder.hpp"
#include "timeline/trace.hpp"

namespace sluice::test {

/// A file of this process's own.
inline std::string trace_file() {
  return (std::filesystem::path(testing::TempDir()) / ("timeline_" + std::to_string(getpid()) + ".trace"))
      .string();
}

inline timeline::Trace record(const std::string& body, Launch launch = {},
                              timeline::RecorderOptions options = {.file = "", .ctas = {0}}) {
  options.file = trace_file();
  {
    timeline::Recorder recorder(options);
    launch.listener = &recorder;
    auto* out = buffer<uint32_t>(1024);
    auto* in = buffer<uint32_t>(1024);
    run(checked_kernel(body), "k", {out, in}, launch);
  }
  auto trace = timeline::read_trace_file(options.file);
  std::filesystem::remove(options.file);
  if (trace) return *std::move(trace);
  ADD_FAILURE() << trace.error().text();
  return {};
}

inline timeline::Model model_of(const std::string& body, Launch launch = {}, uint32_t cta = 0) {
  const timeline::Trace trace = record(body, launch);
  if (trace.launches.size() == 1) return timeline::build_model(trace, trace.launches[0], cta);
  ADD_FAILURE() << trace.launches.size() << " launches";
  return {};
}

/// `count` instructions that do nothing else.
inline std::string work(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "add.u32 %r20, %r20, 1;\n";
  return text;
}

/// A ring of two stages, full at barriers `first` and `first` + 1, empty at the two after them: the
/// producer's part and that of warp 1, for `tiles` tiles, and what each does at a tile besides.
inline std::string init_ring(int first) {
  return init(first, 1) + init(first + 1, 1) + init(first + 2, 32) + init(first + 3, 32);
}
inline std::string produce(int first, int tiles, const std::string& also = "") {
  std::string text;
  for (int t = 0; t < tiles; ++t) {
    const int stage = t % 2;
    text += also + wait(first + 2 + stage, 1 - t / 2 % 2) + expect(first + stage, 256) +
            copy(first + stage, 256, (first / 4 * 2 + stage) * 256);
  }
  return text;
}
inline std::string consume(int first, int tiles, const std::string& also = "") {
  std::string text;
  for (int t = 0; t < tiles; ++t) text += wait(first + t % 2, t / 2 % 2) + also + arrive(first + 2 + t % 2);
  return text;
}

}  // namespace sluice::test
