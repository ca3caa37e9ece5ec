// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A set of small numbers, for data-flow analyses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::program {

class BitSet {
 public:
  explicit BitSet(size_t bits) : words_((bits + 63) / 64) {}
  void set(size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  void reset(size_t i) { words_[i / 64] &= ~(uint64_t{1} << (i % 64)); }
  bool test(size_t i) const { return (words_[i / 64] >> (i % 64)) & 1; }
  void clear() { words_.assign(words_.size(), 0); }
  /// this |= (other & ~without); true if something was added.
  bool merge(const BitSet& other, const BitSet& without) {
    uint64_t added = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      const uint64_t before = words_[i];
      words_[i] |= other.words_[i] & ~without.words_[i];
      added |= words_[i] ^ before;
    }
    return added != 0;
  }
  /// this |= other; true if something was added.
  bool merge(const BitSet& other) {
    uint64_t added = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      added |= other.words_[i] & ~words_[i];
      words_[i] |= other.words_[i];
    }
    return added != 0;
  }
  template <class F>
  void for_each(F&& f) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t w = words_[i]; w != 0; w &= w - 1) f(i * 64 + static_cast<size_t>(__builtin_ctzll(w)));
    }
  }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace sluice::program
