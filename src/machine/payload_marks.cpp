// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranges as words of bits.
#include "machine/payload_marks.hpp"

#include <algorithm>
#include <vector>

namespace sluice::machine {
namespace {

/// Calls visit(page, word of the page, bits) for each word that the range touches, until it returns false.
template <class Visit>
void for_each_word(const void* first, uint64_t bytes, uint64_t page_bytes, Visit visit) {
  auto at = reinterpret_cast<uint64_t>(first);
  const uint64_t end = at + bytes;
  while (at < end) {
    const uint64_t shift = at % 64;
    const uint64_t count = std::min(end - at, 64 - shift);
    const uint64_t bits = (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << shift;
    if (!visit(at / page_bytes, at % page_bytes / 64, bits)) return;
    at += count;
  }
}

}  // namespace

void PayloadMarks::mark(const void* first, uint64_t bytes) {
  for_each_word(first, bytes, kPage, [this](uint64_t page, uint64_t word, uint64_t bits) {
    pages_[page][word] |= bits;
    return true;
  });
}

void PayloadMarks::clear(const void* first, uint64_t bytes) {
  if (pages_.empty()) return;
  for_each_word(first, bytes, kPage, [this](uint64_t page, uint64_t word, uint64_t bits) {
    const auto found = pages_.find(page);
    if (found != pages_.end()) found->second[word] &= ~bits;
    return true;
  });
}

bool PayloadMarks::any(const void* first, uint64_t bytes) const {
  if (pages_.empty()) return false;
  bool found_one = false;
  for_each_word(first, bytes, kPage, [&](uint64_t page, uint64_t word, uint64_t bits) {
    const auto found = pages_.find(page);
    found_one = found != pages_.end() && (found->second[word] & bits) != 0;
    return !found_one;
  });
  return found_one;
}

void PayloadMarks::move(const void* to, const void* from, uint64_t bytes) {
  if (pages_.empty()) return;
  const auto* const source = static_cast<const uint8_t*>(from);
  std::vector<uint64_t> marked;
  if (any(from, bytes)) {
    for (uint64_t i = 0; i < bytes; ++i) {
      if (any(source + i, 1)) marked.push_back(i);
    }
  }
  clear(to, bytes);
  for (const uint64_t i : marked) mark(static_cast<const uint8_t*>(to) + i, 1);
}

}  // namespace sluice::machine
