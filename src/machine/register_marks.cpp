// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Marks by granules of 128 bytes, so that defined registers are passed over quickly.
#include "machine/register_marks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sluice::machine {

void RegisterMarks::reserve(uint32_t end) {
  if (end <= bytes_.size()) return;
  const uint32_t granules = (end + kGranule - 1) / kGranule;
  bytes_.resize(size_t{granules} * kGranule);
  dirty_.resize(granules);
  origins_.resize(granules);
}

bool RegisterMarks::is_dirty(uint32_t first, uint32_t bytes) const {
  const uint32_t end =
      std::min<uint32_t>((first + bytes + kGranule - 1) / kGranule, static_cast<uint32_t>(dirty_.size()));
  for (uint32_t g = first / kGranule; g < end; ++g)
    if (dirty_[g] != 0) return true;
  return false;
}

const uint8_t* RegisterMarks::vector(uint32_t base, RegisterPlace place) const {
  return is_dirty(base + place.at, place.bytes()) ? bytes_.data() + base + place.at : nullptr;
}

const uint8_t* RegisterMarks::lane(uint32_t base, RegisterPlace place, uint32_t lane) const {
  const uint8_t* const all = vector(base, place);
  return all == nullptr ? nullptr : all + lane * place.width;
}

uint32_t RegisterMarks::undefined(uint32_t base, RegisterPlace place, uint32_t lanes) const {
  const uint8_t* const all = vector(base, place);
  if (all == nullptr) return 0;
  if (place.width == 0) {
    uint32_t mask = 0;
    std::memcpy(&mask, all, 4);
    return mask & lanes;
  }
  uint32_t found = 0;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const uint8_t* const marks = all + lane * place.width;
    if (std::any_of(marks, marks + place.width, [](uint8_t mark) { return mark != kRegisterDefined; }))
      found |= uint32_t{1} << lane;
  }
  return found;
}

bool RegisterMarks::is_computed(uint32_t base, RegisterPlace place, uint32_t lanes) const {
  const uint8_t* const all = vector(base, place);
  if (all == nullptr) return false;
  if (place.width == 0) return true;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const uint8_t* const marks = all + static_cast<uint32_t>(std::countr_zero(m)) * place.width;
    if (std::find(marks, marks + place.width, kRegisterComputed) != marks + place.width) return true;
  }
  return false;
}

uint32_t RegisterMarks::origin(uint32_t base, RegisterPlace place) const {
  const uint32_t first = (base + place.at) / kGranule,
                 last = (base + place.at + place.bytes() - 1) / kGranule;
  for (uint32_t g = first; g <= last && g < dirty_.size(); ++g)
    if (dirty_[g] != 0) return origins_[g];
  return 0;
}

void RegisterMarks::put(uint32_t base, RegisterPlace place, uint32_t lane, uint32_t first, uint32_t count,
                        const uint8_t* marks) {
  reserve(base + place.at + place.bytes());
  std::memcpy(bytes_.data() + base + place.at + lane * place.width + first, marks, count);
}

void RegisterMarks::settle(uint32_t base, RegisterPlace place, uint32_t origin) {
  const uint32_t first = (base + place.at) / kGranule,
                 last = (base + place.at + place.bytes() - 1) / kGranule;
  for (uint32_t g = first; g <= last && g < dirty_.size(); ++g) {
    const uint8_t* const from = bytes_.data() + size_t{g} * kGranule;
    const bool now =
        std::any_of(from, from + kGranule, [](uint8_t mark) { return mark != kRegisterDefined; });
    if (now && origin != 0) origins_[g] = origin;
    dirty_count_ += static_cast<uint32_t>(now) - dirty_[g];
    dirty_[g] = now;
  }
}

void RegisterMarks::set(uint32_t base, RegisterPlace place, uint32_t lanes, uint8_t mark, uint32_t origin) {
  if (mark == kRegisterDefined && !is_dirty(base + place.at, place.bytes())) return;
  reserve(base + place.at + place.bytes());
  uint8_t* const all = bytes_.data() + base + place.at;
  if (place.width == 0) {
    uint32_t mask = 0;
    std::memcpy(&mask, all, 4);
    mask = mark == kRegisterDefined ? mask & ~lanes : mask | lanes;
    std::memcpy(all, &mask, 4);
  } else {
    for (uint32_t m = lanes; m != 0; m &= m - 1)
      std::memset(all + static_cast<uint32_t>(std::countr_zero(m)) * place.width, mark, place.width);
  }
  settle(base, place, origin);
}

}  // namespace sluice::machine
