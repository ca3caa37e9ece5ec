// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Guards a run without data: payload that was not computed must not steer anything. Copies mark the bytes
// that they would have written (units/copy.hpp). Here a load that reads marked bytes ends the launch if its
// result may steer (program/payload_flow.hpp), and from then on counts as one that brings payload; a store
// that such a load may feed marks what it writes, any other store clears it.
#pragma once

#include <string>
#include <vector>

#include "machine/access_watch.hpp"
#include "machine/kernel.hpp"
#include "machine/payload_marks.hpp"

namespace sluice::machine {

class PayloadWatch : public AccessWatch {
 public:
  PayloadWatch(const Kernel& kernel, PayloadMarks& marks);

  bool access(Warp& warp, uint32_t lanes, uint8_t* const (&pointers)[kLanes], uint32_t bytes) override;
  void moved(const void* to, const void* from, uint64_t bytes) override { marks_.move(to, from, bytes); }

 private:
  bool read(Warp& warp, uint32_t function, uint32_t source);

  const Kernel& kernel_;
  PayloadMarks& marks_;
  std::vector<std::vector<bool>> brought_;  ///< by function and source: it has brought payload
};

/// The sentence for a source whose result steers.
std::string steering_sentence(const program::Function& function, const program::PayloadFlow::Source& source);

}  // namespace sluice::machine
