// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// See kernel_text.hpp.
#include "kernel_text.hpp"

#include <algorithm>
#include <cstring>

namespace sluice::parity {
namespace {

uint32_t round_up(uint32_t value, uint32_t to) {
  return (value + to - 1) / to * to;
}

std::string number(uint64_t value) {
  return std::to_string(value);
}

}  // namespace

std::string instruction_text(const ptx::Form& form, const ptx::Mods& mods) {
  std::string text(ptx::spelling(form.opcode));
  for (const ptx::Mod mod : mods.all()) {
    text += ".";
    if (mod == ptx::Mod::shape) {
      text += "m" + number(mods.shape.m) + "n" + number(mods.shape.n);
      if (mods.shape.k != 0) text += "k" + number(mods.shape.k);
    } else {
      text += ptx::spelling(mod);
    }
  }
  return text;
}

std::string KernelText::declare(uint32_t bits) {
  const std::string name = "%x" + number(registers_++);
  top(".reg " + (bits == 1 ? std::string(".pred") : ".b" + number(bits)) + " " + name + ";");
  return name;
}

std::string KernelText::load(Input& in) {
  in.offset = round_up(in_bytes_, in.bits == 128 ? 16 : 8);
  in_bytes_ = in.offset + (in.bits == 128 ? 16 : 8);
  const std::string at = "[%in+" + number(in.offset) + "]";
  const std::string name = declare(in.bits);
  if (in.bits == 1) {
    const std::string word = declare(32);
    line("ld.global.b32 " + word + ", " + at + ";");
    line("setp.ne.b32 " + name + ", " + word + ", 0;");
  } else if (in.bits == 128) {
    const std::string low = declare(64), high = declare(64);
    line("ld.global.v2.b64 {" + low + ", " + high + "}, " + at + ";");
    line("mov.b128 " + name + ", {" + low + ", " + high + "};");
  } else {
    line("ld.global.b" + number(in.bits) + " " + name + ", " + at + ";");
  }
  return name;
}

std::string KernelText::input(ptx::ScalarType type, Flavour flavour, uint32_t register_bits) {
  uint32_t bits = register_bits;
  if (bits == 0) bits = type == ptx::ScalarType::pred ? 1 : std::max(16u, ptx::size_of(type) * 8);
  if (type == ptx::ScalarType::tf32) bits = 32;
  inputs_.push_back({bits, type, flavour});
  return load(inputs_.back());
}

std::string KernelText::packed_input(ptx::ScalarType element, uint32_t register_bits) {
  inputs_.push_back({register_bits, element, Flavour::Moderate});
  inputs_.back().packed = true;
  return load(inputs_.back());
}

void KernelText::output(const std::string& reg, uint32_t bits, ptx::ScalarType type) {
  const uint32_t bytes = bits == 1 ? 1 : bits / 8;
  const uint32_t offset = round_up(out_bytes_, bytes);
  out_bytes_ = offset + bytes;
  outputs_.push_back({offset, bytes, type});
  const std::string at = "[%out+" + number(offset) + "]";
  if (bits == 1) {
    const std::string word = declare(32);
    tail("selp.b32 " + word + ", 1, 0, " + reg + ";");
    tail("st.global.b8 " + at + ", " + word + ";");
  } else if (bits == 128) {
    const std::string low = declare(64), high = declare(64);
    tail("mov.b128 {" + low + ", " + high + "}, " + reg + ";");
    tail("st.global.v2.b64 " + at + ", {" + low + ", " + high + "};");
  } else {
    tail("st.global.b" + number(bits) + " " + at + ", " + reg + ";");
  }
}

uint32_t KernelText::raw_input(uint32_t bytes, ptx::ScalarType type, Flavour flavour) {
  const uint32_t offset = round_up(in_bytes_, 16);
  in_bytes_ = offset + bytes;
  inputs_.push_back({0, type, flavour, nullptr, offset, bytes});
  return offset;
}

uint32_t KernelText::raw_output(uint32_t bytes, ptx::ScalarType type) {
  const uint32_t offset = round_up(out_bytes_, 16);
  out_bytes_ = offset + bytes;
  const uint32_t each = type == ptx::ScalarType::none ? bytes : std::max(1u, ptx::size_of(type));
  for (uint32_t i = 0; i < bytes; i += each) outputs_.push_back({offset + i, each, type});
  return offset;
}

void KernelText::finish(Case& c) {
  c.in_stride = std::max(16u, round_up(in_bytes_, 16));
  c.out_stride = out_bytes_ <= 4 ? out_bytes_ : round_up(out_bytes_, out_bytes_ % 16 == 0 ? 16 : 4);
  for (const Output& o : outputs_) c.out_stride = round_up(c.out_stride, std::min(o.bytes, 16u));
  c.outputs = outputs_;

  // Values, thread by thread in the order of the inputs.
  c.inputs.assign(size_t{c.in_stride} * kThreads, 0);
  Random random(hash_of(c.name));
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    uint8_t* const record = c.inputs.data() + size_t{thread} * c.in_stride;
    for (const Input& in : inputs_) {
      if (in.raw_bytes != 0) {
        const uint32_t each = std::max(1u, ptx::size_of(in.type));
        for (uint32_t i = 0; i < in.raw_bytes; i += each) {
          const uint64_t value = make_value(random, in.type, in.flavour);
          std::memcpy(record + in.offset + i, &value, std::min<uint32_t>(each, 8));
        }
        continue;
      }
      uint64_t value[2] = {};
      value[0] = in.make != nullptr ? in.make(random) : make_value(random, in.type, in.flavour);
      if (in.packed) {
        const uint32_t width = ptx::bits_of(in.type);
        value[0] = 0;
        for (uint32_t i = 0; i < in.bits; i += width)
          value[0] |= make_value(random, in.type, in.flavour) << i;
        std::memcpy(record + in.offset, value, 8);
        continue;
      }
      if (in.bits == 128) value[1] = random.next();
      // Registers wider than the type hold junk above it, which must not matter.
      const uint32_t bits = ptx::bits_of(in.type);
      if (in.make == nullptr && in.bits > 1 && bits < in.bits && bits != 0 && bits < 64)
        value[0] |= random.next() << bits;
      std::memcpy(record + in.offset, value, in.bits == 128 ? 16 : 8);
    }
  }

  c.kernel = ".visible .entry " + c.entry +
             "(\n  .param .u64 p_in,\n  .param .u64 p_out,\n  .param .u64 p_scratch,\n  .param .align 16 .b8 "
             "p_blob[" +
             number(kBlobBytes) + "])\n{\n  .reg .b32 %thread;\n  .reg .b64 %in, %out, %scratch;\n" + top_ +
             "  mov.u32 %thread, %tid.x;\n  ld.param.u64 %in, [p_in];\n  ld.param.u64 %out, [p_out];\n"
             "  ld.param.u64 %scratch, [p_scratch];\n" +
             "  mad.wide.u32 %in, %thread, " + number(c.in_stride) +
             ", %in;\n  mad.wide.u32 %out, %thread, " + number(c.out_stride) + ", %out;\n" + body_ + tail_ +
             "  ret;\n}\n";
}

}  // namespace sluice::parity
