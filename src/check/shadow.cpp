// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What a granule remembers.
#include "check/shadow.hpp"

namespace sluice::check {

void Granule::push(const Record& record) {
  if (count_ < kInline) {
    inline_[count_++] = record;
    return;
  }
  if (more_ == nullptr) more_ = std::make_unique<std::vector<Record>>();
  if (count_ - kInline < more_->size())
    (*more_)[count_ - kInline] = record;
  else
    more_->push_back(record);
  ++count_;
}

void Granule::remember(const Record& record) {
  uint32_t kept = 0;
  bool merged = false;
  for (uint32_t i = 0; i < count_; ++i) {
    Record r = at(i);
    if (record.writes()) {
      r.bytes &= static_cast<uint16_t>(~record.bytes);
    } else if (!r.writes() && r.stamp.agent == record.stamp.agent) {
      const bool same =
          r.stamp.time == record.stamp.time && r.origin == record.origin && r.flags == record.flags;
      if (!merged && same && r.stamp.lanes == record.stamp.lanes) {
        r.bytes |= record.bytes;
        merged = true;
      } else if (!merged && same && r.bytes == record.bytes) {
        r.stamp.lanes |= record.stamp.lanes;
        merged = true;
      } else if ((r.stamp.lanes & ~record.stamp.lanes) == 0 && r.stamp.time <= record.stamp.time) {
        r.bytes &= static_cast<uint16_t>(~record.bytes);
      }
    }
    if (r.bytes == 0) continue;
    at(kept++) = r;
  }
  count_ = kept;
  if (merged) return;
  if (count_ >= kMostReaders) {
    // Forget the oldest read.
    uint32_t oldest = count_;
    for (uint32_t i = 0; i < count_ && oldest == count_; ++i)
      if (!at(i).writes()) oldest = i;
    if (oldest == count_) oldest = 0;
    for (uint32_t i = oldest; i + 1 < count_; ++i) at(i) = at(i + 1);
    --count_;
  }
  push(record);
}

}  // namespace sluice::check
