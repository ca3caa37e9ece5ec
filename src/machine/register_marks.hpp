// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Which bytes of a warp's registers are undefined, laid out as the registers are. Registers are defined until
// something undefined is put into them; while none is, nothing has to be looked at.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice::machine {

/// Marks of bytes in registers: those of memory with all bits flipped.
constexpr uint8_t kRegisterDefined = 0;
constexpr uint8_t kRegisterUndefined = 0xff;
constexpr uint8_t kRegisterComputed = 0xfe;

/// A register of a frame.
struct RegisterPlace {
  uint32_t at = 0;     ///< bytes from the start of the frame
  uint32_t width = 4;  ///< bytes per lane; 0: a predicate, a word with one bit per lane
  uint32_t bytes() const { return width == 0 ? 4 : 32 * width; }
  bool operator==(const RegisterPlace&) const = default;
};

class RegisterMarks {
 public:
  bool any() const { return dirty_count_ != 0; }
  /// Of `lanes` those in which the register has undefined bytes. `base`: where the frame starts.
  uint32_t undefined(uint32_t base, RegisterPlace place, uint32_t lanes) const;
  /// The mark of the first byte that is undefined in these lanes is that of a computed value.
  bool is_computed(uint32_t base, RegisterPlace place, uint32_t lanes) const;
  /// Where the undefined bytes of the register were read from memory: an origin.
  uint32_t origin(uint32_t base, RegisterPlace place) const;

  /// All bytes of the register in these lanes get the mark.
  void set(uint32_t base, RegisterPlace place, uint32_t lanes, uint8_t mark, uint32_t origin);
  void clear(uint32_t base, RegisterPlace place, uint32_t lanes) {
    if (any()) set(base, place, lanes, kRegisterDefined, 0);
  }
  /// Marks of one lane's bytes, to read; null while everything is defined.
  const uint8_t* lane(uint32_t base, RegisterPlace place, uint32_t lane) const;
  /// Puts the marks of one lane's bytes; call `settle` when the register is complete.
  void put(uint32_t base, RegisterPlace place, uint32_t lane, uint32_t first, uint32_t count,
           const uint8_t* marks);
  void settle(uint32_t base, RegisterPlace place, uint32_t origin);
  /// The marks of a whole register, where there are some.
  const uint8_t* vector(uint32_t base, RegisterPlace place) const;

 private:
  static constexpr uint32_t kGranule = 128;

  void reserve(uint32_t end);
  bool is_dirty(uint32_t first, uint32_t bytes) const;

  std::vector<uint8_t> bytes_;
  std::vector<uint8_t> dirty_;     ///< by granule: something in it is undefined
  std::vector<uint32_t> origins_;  ///< by granule
  uint32_t dirty_count_ = 0;
};

}  // namespace sluice::machine
