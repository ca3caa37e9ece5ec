// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Filling, printing, writing and comparing of buffers.
#include "cli/launch_memory.hpp"

#include <fmt/format.h>

#include <cstring>
#include <span>

#include "cli/input_file.hpp"

namespace sluice::cli {
namespace {

constexpr uint64_t kPrintedPerLine = 8;

// A uniform number of 53 bits, the same on every machine.
uint64_t next_random(uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return (z ^ (z >> 31)) >> 11;
}

// Sets each element to the bits that `next` gives.
template <class Next>
void set_all(const BufferSpec& buffer, uint8_t* memory, const Next& next) {
  const uint32_t size = size_of(buffer.element);
  for (uint64_t i = 0; i < buffer.count; ++i) {
    const uint64_t bits = next(i);
    std::memcpy(memory + i * size, &bits, size);
  }
}

// The error of a file, with the place in the description that names it.
Error at_place(Error error, const std::string& place) {
  error.place = place;
  return error;
}

std::string printed(const BufferSpec& buffer, const uint8_t* memory) {
  const uint32_t size = size_of(buffer.element);
  std::string text = fmt::format("{}: {} x {}\n", buffer.name, buffer.count, name_of(buffer.element));
  for (uint64_t i = 0; i < buffer.count; ++i) {
    text += i % kPrintedPerLine == 0 ? "  " : " ";
    text += text_of(buffer.element, memory + i * size);
    if (i % kPrintedPerLine == kPrintedPerLine - 1 || i + 1 == buffer.count) text += '\n';
  }
  return text;
}

Delivery compared(const BufferSpec& buffer, const uint8_t* memory, const uint8_t* expected) {
  const uint32_t size = size_of(buffer.element);
  uint64_t different = 0, first = 0;
  for (uint64_t i = 0; i < buffer.count; ++i) {
    if (equal_within(buffer.element, memory + i * size, expected + i * size, buffer.tolerance)) continue;
    if (different++ == 0) first = i;
  }
  if (different == 0) return {true, fmt::format("{}: equal\n", buffer.name)};
  return {false,
          fmt::format("{}: {} of {} elements differ, the first is [{}]: {}, expected {}\n", buffer.name,
                      different, buffer.count, first, text_of(buffer.element, memory + first * size),
                      text_of(buffer.element, expected + first * size))};
}

}  // namespace

Result<void> fill_buffer(const BufferSpec& buffer, uint8_t* memory) {
  switch (buffer.fill) {
    case BufferSpec::Fill::Zeros:
      break;
    case BufferSpec::Fill::Value:
      set_all(buffer, memory, [&](uint64_t) { return buffer.values[0]; });
      break;
    case BufferSpec::Fill::Values:
      set_all(buffer, memory, [&](uint64_t i) { return buffer.values[i]; });
      break;
    case BufferSpec::Fill::Random: {
      uint64_t state = buffer.seed;
      set_all(buffer, memory,
              [&](uint64_t) { return random_element(buffer.element, buffer.range, next_random(state)); });
      break;
    }
    case BufferSpec::Fill::File:
      if (auto read = read_exactly(buffer.fill_file, {memory, buffer.bytes()}); !read)
        return at_place(std::move(read).error(), buffer.fill_place);
      break;
  }
  return {};
}

Result<Delivery> deliver_buffer(const BufferSpec& buffer, const uint8_t* memory) {
  switch (buffer.output) {
    case BufferSpec::Output::None:
      break;
    case BufferSpec::Output::Print:
      return Delivery{true, printed(buffer, memory)};
    case BufferSpec::Output::File:
      if (auto written = write_file(buffer.output_file, {memory, buffer.bytes()}); !written)
        return at_place(std::move(written).error(), buffer.output_place);
      break;
    case BufferSpec::Output::Compare: {
      std::vector<uint8_t> expected(buffer.bytes());
      if (auto read = read_exactly(buffer.output_file, expected); !read)
        return at_place(std::move(read).error(), buffer.output_place);
      return compared(buffer, memory, expected.data());
    }
  }
  return Delivery{};
}

}  // namespace sluice::cli
