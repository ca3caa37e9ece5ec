// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The host's side of a trace: gives kernels a buffer, reads it when they have ended, writes the file. Nothing
// here throws or prints. Host only, on the CUDA runtime.
//
//   sluice::trace::Recording recording;
//   if (auto error = recording.allocate({.ctas = 4, .warps = 9})) ...
//   kernel<<<grid, 288, bytes>>>(..., recording.buffer());
//   if (auto error = recording.read({"kernel", {grid, 1, 1}, {288, 1, 1}})) ...   // waits for the kernel
//   if (auto error = recording.write("kernel.trace")) ...
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "sluice/host/error.hpp"
#include "sluice/trace/file.hpp"

namespace sluice::trace {

/// What is wrong with a recording.
enum class RecordingRule {
  None,         ///< nothing
  NoRoom,       ///< asked for no CTA, no warp or no record
  RuntimeCall,  ///< the CUDA runtime answered with an error
  WrongState,   ///< a state's count does not fit its phase
  File,         ///< the file cannot be written
};

using RecordingError = host::Error<RecordingRule>;

/// Which CTAs are recorded, and how much room they have.
struct Extent {
  uint32_t ctas = 1;        ///< so many, from first_cta on; whole clusters, or their peers are missing
  uint32_t warps = 4;       ///< warps of a CTA that record
  uint32_t records = 4096;  ///< room of a lane, 16 bytes each: a trip through a stage takes half of one
  uint32_t first_cta = 0;
  uint32_t lanes_of_warp = 2;  ///< that record by themselves: the lowest of those that act together
};

/// A buffer in device memory, and what has been read from it.
class Recording {
 public:
  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() { cudaFree(buffer_.head); }

  /// Makes room. The buffer is empty afterwards.
  RecordingError allocate(const Extent& extent) {
    RecordingError error;
    if (extent.ctas == 0 || extent.warps == 0 || extent.records == 0 || extent.lanes_of_warp == 0) {
      error.set(RecordingRule::NoRoom,
                "a recording of %u CTAs, %u warps of each, %u lanes of a warp and %u records of a lane holds "
                "nothing: "
                "ask for at least 1 of each",
                extent.ctas, extent.warps, extent.lanes_of_warp, extent.records);
      return error;
    }
    cudaFree(buffer_.head);
    buffer_ = Buffer{};
    const uint32_t slices = extent.ctas * extent.warps * extent.lanes_of_warp;
    void* memory = nullptr;
    if (!check(cudaMalloc(&memory, Buffer::bytes(slices, extent.records)), "cudaMalloc", error)) return error;
    buffer_.head = static_cast<BufferHead*>(memory);
    buffer_.slices = slices;
    buffer_.slice_records = extent.records;
    buffer_.first_cta = extent.first_cta;
    buffer_.ctas = extent.ctas;
    check(cudaMemset(memory, 0, Buffer::bytes(slices, extent.records)), "cudaMemset", error);
    return error;
  }

  /// Empties the buffer, for a kernel whose records read() has not taken.
  RecordingError clear() {
    RecordingError error;
    clear(error);
    return error;
  }

  /// For the kernel, by value.
  Buffer buffer() const { return buffer_; }

  /// Waits for the device, takes what the kernel has recorded and empties the buffer for the next one.
  RecordingError read(const Launched& launched) {
    RecordingError error;
    std::vector<unsigned char> bytes(Buffer::bytes(buffer_.slices, buffer_.slice_records));
    if (!check(cudaDeviceSynchronize(), "cudaDeviceSynchronize", error) ||
        !check(cudaMemcpy(bytes.data(), buffer_.head, bytes.size(), cudaMemcpyDeviceToHost), "cudaMemcpy",
               error) ||
        !clear(error)) {
      return error;
    }
    int device = 0;
    int kilohertz = 0;
    if (!check(cudaGetDevice(&device), "cudaGetDevice", error) ||
        !check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device), "cudaDeviceGetAttribute",
               error)) {
      return error;
    }
    Decoded decoded = decode(bytes.data(), buffer_, launched, kilohertz > 0 ? kilohertz / 1e6 : 1);
    if (!decoded.error.empty()) {
      error.set(RecordingRule::WrongState, "%s", decoded.error.c_str());
      return error;
    }
    launches_.push_back(std::move(decoded));
    return error;
  }

  /// How many records and trips the last kernel has made, and how many of them had room. Waits for the
  /// device.
  RecordingError count(uint64_t* made, uint64_t* kept) const {
    RecordingError error;
    BufferHead head{};
    std::vector<SliceHead> slices(buffer_.slices);
    if (!check(cudaDeviceSynchronize(), "cudaDeviceSynchronize", error) ||
        !check(cudaMemcpy(&head, buffer_.head, sizeof head, cudaMemcpyDeviceToHost), "cudaMemcpy", error) ||
        !check(cudaMemcpy2D(slices.data(), sizeof(SliceHead), buffer_.head + 1,
                            Buffer::slice_bytes(buffer_.slice_records), sizeof(SliceHead), slices.size(),
                            cudaMemcpyDeviceToHost),
               "cudaMemcpy2D", error)) {
      return error;
    }
    *made = head.lost;
    *kept = 0;
    for (const SliceHead& slice : slices) {
      *made += slice.count;
      *kept += slice.count - slice.lost;
    }
    return error;
  }

  /// What has been read so far.
  const std::vector<Decoded>& launches() const { return launches_; }

  /// Writes all launches. `program` is the command line, for the reader.
  RecordingError write(const char* path, const std::vector<std::string>& program = {}) const {
    RecordingError error;
    const std::string text = trace_text(launches_, program);
    std::FILE* const file = std::fopen(path, "wb");
    bool is_written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    int reason = errno;
    if (file != nullptr && std::fclose(file) != 0) {
      if (is_written) reason = errno;
      is_written = false;
    }
    if (!is_written)
      error.set(RecordingRule::File, "cannot write the trace '%s': %s", path, std::strerror(reason));
    return error;
  }

 private:
  static bool check(cudaError_t status, const char* call, RecordingError& error) {
    if (status == cudaSuccess) return true;
    error.set(RecordingRule::RuntimeCall, "%s answers %s (%s)", call, cudaGetErrorName(status),
              cudaGetErrorString(status));
    return false;
  }

  /// Heads alone: a kernel that has ended says how many records are its own.
  bool clear(RecordingError& error) const {
    return check(cudaMemset(buffer_.head, 0, sizeof(BufferHead)), "cudaMemset", error) &&
           check(cudaMemset2D(buffer_.head + 1, Buffer::slice_bytes(buffer_.slice_records), 0,
                              sizeof(SliceHead), buffer_.slices),
                 "cudaMemset2D", error);
  }

  Buffer buffer_;
  std::vector<Decoded> launches_;
};

}  // namespace sluice::trace
