// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// vprintf, __assertfail, malloc, free. Arguments lie in `.param` variables of the caller's frame; results go
// back there. The format string and the argument buffer of vprintf are in generic memory.
#include "machine/ops/system_call.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdio>
#include <cstring>
#include <string>

#include "machine/device.hpp"
#include "machine/ops/access.hpp"
#include "machine/state.hpp"
#include "machine/units/emit.hpp"

namespace sluice::machine {
namespace {

using Kind = ptx::Operand::Kind;

struct Arguments {
  uint32_t offset[8] = {};  ///< of each argument in the caller's local frame
  uint32_t count = 0;
  uint32_t result = 0;
  bool has_result = false;
};

template <class T>
T argument(Warp& w, const Arguments& a, uint32_t lane, uint32_t i) {
  T value;
  std::memcpy(&value, w.local_of(lane) + w.frames[w.frame_node].local_base + a.offset[i], sizeof value);
  return value;
}

template <class T>
void set_result(Warp& w, const Arguments& a, uint32_t lane, T value) {
  if (!a.has_result) return;
  std::memcpy(w.local_of(lane) + w.frames[w.frame_node].local_base + a.result, &value, sizeof value);
}

/// Host pointer of generic memory of one lane, `bytes` long, or null.
const uint8_t* generic(Warp& w, uint32_t lane, uint64_t address, uint32_t bytes) {
  if (is_shared_address(address)) {
    Cta* const owner = w.worker().shared_owner(*w.cta, static_cast<uint32_t>(address));
    return owner == nullptr ? nullptr : owner->shared_at(address & kSharedOffsetMask, bytes);
  }
  if (is_local_address(address)) {
    const uint64_t offset = address - kLocalWindow;
    return offset + bytes <= w.local_bytes ? w.local_of(lane) + offset : nullptr;
  }
  return w.worker().global_at(address, bytes, false);
}

/// A zero-terminated string in generic memory, at most 4 KiB of it. False when it leaves memory.
bool read_string(Warp& w, uint32_t lane, uint64_t address, std::string& out) {
  out.clear();
  for (uint32_t i = 0; i < 4096; ++i) {
    const uint8_t* at = generic(w, lane, address + i, 1);
    if (at == nullptr) return false;
    if (*at == 0) return true;
    out.push_back(static_cast<char>(*at));
  }
  return true;
}

/// What one conversion of a format string consumes.
struct Conversion {
  std::string spec;  ///< "%5.2f", with the length modifier that the host needs
  char kind = 0;
  int stars = 0;
};

/// Formats like the device's printf: arguments are 8-byte slots for 64-bit types, 4-byte ones otherwise, each
/// aligned.
bool format(Warp& w, uint32_t lane, const std::string& text, uint64_t arguments, std::string& out,
            int& conversions) {
  uint64_t at = 0;
  conversions = 0;
  const auto take = [&](uint32_t bytes, uint64_t& value) {
    at = (at + bytes - 1) / bytes * bytes;
    const uint8_t* from = generic(w, lane, arguments + at, bytes);
    if (from == nullptr) return false;
    value = 0;
    std::memcpy(&value, from, bytes);
    at += bytes;
    return true;
  };
  char buffer[4608];
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '%') {
      out.push_back(text[i++]);
      continue;
    }
    size_t end = i + 1;
    while (end < text.size() && std::strchr("-+ #0", text[end]) != nullptr) ++end;
    std::string spec = text.substr(i, end - i);
    const auto number_or_star = [&] {
      if (end < text.size() && text[end] == '*') {
        uint64_t value;
        if (!take(4, value)) return false;
        spec += std::to_string(static_cast<int32_t>(value));
        ++end;
      }
      while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) spec += text[end++];
      return true;
    };
    if (!number_or_star()) return false;
    if (end < text.size() && text[end] == '.') {
      spec += text[end++];
      if (!number_or_star()) return false;
    }
    int longs = 0;
    while (end < text.size() && std::strchr("hlLqjzt", text[end]) != nullptr) {
      if (text[end] == 'l')
        ++longs;
      else if (std::strchr("qjztL", text[end]) != nullptr)
        longs = 2;
      ++end;
    }
    if (end >= text.size()) {
      out += text.substr(i);
      break;
    }
    const char kind = text[end++];
    i = end;
    if (kind == '%') {
      out.push_back('%');
      continue;
    }
    ++conversions;
    uint64_t value = 0;
    switch (kind) {
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o': {
        if (!take(longs > 0 ? 8 : 4, value)) return false;
        const auto signed_value = longs > 0 ? static_cast<int64_t>(value) : static_cast<int32_t>(value);
        const bool is_signed = kind == 'd' || kind == 'i';
        std::snprintf(buffer, sizeof buffer, (spec + "ll" + kind).c_str(),
                      is_signed ? static_cast<long long>(signed_value) : static_cast<long long>(value));
        break;
      }
      case 'c':
        if (!take(4, value)) return false;
        std::snprintf(buffer, sizeof buffer, (spec + kind).c_str(), static_cast<int>(value));
        break;
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        if (!take(8, value)) return false;
        std::snprintf(buffer, sizeof buffer, (spec + kind).c_str(), std::bit_cast<double>(value));
        break;
      case 'p':
        if (!take(8, value)) return false;
        std::snprintf(buffer, sizeof buffer, (spec + 'p').c_str(), reinterpret_cast<void*>(value));
        break;
      case 's': {
        std::string string;
        if (!take(8, value)) return false;
        if (value == 0)
          string = "(null)";
        else if (!read_string(w, lane, value, string))
          return false;
        std::snprintf(buffer, sizeof buffer, (spec + 's').c_str(), string.c_str());
        break;
      }
      default:
        out += text.substr(i - spec.size() - 1, spec.size() + 1);
        continue;
    }
    out += buffer;
  }
  return true;
}

Step print(Warp& w, const Op& op, uint32_t lanes) {
  const auto& a = *static_cast<const Arguments*>(op.extra);
  w.acted = true;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    std::string text, out;
    int conversions = 0;
    const auto format_at = argument<uint64_t>(w, a, lane, 0);
    const auto values_at = argument<uint64_t>(w, a, lane, 1);
    if (!read_string(w, lane, format_at, text) || !format(w, lane, text, values_at, out, conversions)) {
      return w.fault(FaultKind::IllegalAddress, "printf reads outside every allocation", lane, format_at);
    }
    if (w.worker().launch().request->print) w.worker().launch().request->print(out);
    set_result<int32_t>(w, a, lane, conversions);
  }
  return Step::Next;
}

/// __assertfail(message, file, line, function, char size)
Step assert_fail(Warp& w, const Op& op, uint32_t lanes) {
  const auto& a = *static_cast<const Arguments*>(op.extra);
  const auto lane = static_cast<uint32_t>(std::countr_zero(lanes));
  std::string message, file, function;
  read_string(w, lane, argument<uint64_t>(w, a, lane, 0), message);
  read_string(w, lane, argument<uint64_t>(w, a, lane, 1), file);
  read_string(w, lane, argument<uint64_t>(w, a, lane, 3), function);
  const auto line = argument<uint32_t>(w, a, lane, 2);
  const auto& block = w.worker().launch().request->block;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const uint32_t linear = w.index * 32 + static_cast<uint32_t>(std::countr_zero(m));
    const std::string text =
        fmt::format("{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.\n", file, line,
                    function, w.cta->index[0], w.cta->index[1], w.cta->index[2], linear % block[0],
                    linear / block[0] % block[1], linear / block[0] / block[1], message);
    if (w.worker().launch().request->print) w.worker().launch().request->print(text);
  }
  return w.fault(FaultKind::Assert, fmt::format("assertion `{}` failed at {}:{}", message, file, line), lane);
}

Step allocate(Warp& w, const Op& op, uint32_t lanes) {
  const auto& a = *static_cast<const Arguments*>(op.extra);
  w.acted = true;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const auto bytes = argument<uint64_t>(w, a, lane, 0);
    const LaunchContext& launch = w.worker().launch();
    const uint64_t block = launch.device->memory().allocate_heap(bytes, launch.request->options.heap_bytes);
    set_result<uint64_t>(w, a, lane, block);
  }
  return Step::Next;
}

/// What is wrong with freeing `address`, which is no block of the heap; the codes are those of an H200.
Step wrong_free(Warp& w, uint32_t lane, uint64_t address) {
  const DeviceMemory& memory = w.worker().launch().device->memory();
  const Allocation* const around = memory.find(address);
  const Allocation* const before = memory.find_released(address);
  if (around != nullptr && around->kind == AllocationKind::Heap) {
    return w.fault(FaultKind::LaunchFailure,
                   fmt::format("free of 0x{:x}, which lies {} bytes inside a block that malloc gave", address,
                               address - around->first),
                   lane, address);
  }
  if (around == nullptr && before != nullptr && before->kind == AllocationKind::Heap) {
    return w.fault(FaultKind::LaunchFailure,
                   fmt::format("free of 0x{:x}, a block that has been freed already", address), lane,
                   address);
  }
  return w.fault(
      FaultKind::IllegalAddress,
      fmt::format("free of 0x{:x}, which the malloc of device code did not give{}", address,
                  around != nullptr ? fmt::format(" (it lies in an allocation of {} bytes at 0x{:x})",
                                                  around->bytes, around->first)
                                    : ""),
      lane, address);
}

Step deallocate(Warp& w, const Op& op, uint32_t lanes) {
  const auto& a = *static_cast<const Arguments*>(op.extra);
  w.acted = true;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const auto address = argument<uint64_t>(w, a, lane, 0);
    if (address == 0) continue;
    DeviceMemory& memory = w.worker().launch().device->memory();
    const Allocation* const block = memory.find(address);
    if (block == nullptr || block->kind != AllocationKind::Heap || block->first != address) {
      return wrong_free(w, lane, address);
    }
    emit_free(w, lane, address, block->bytes);
    memory.release(address);
    w.worker().forget_cached_allocation();
  }
  return Step::Next;
}

struct SystemCall {
  std::string_view name;
  Handler handler;
  uint32_t arguments;
};

constexpr SystemCall kCalls[] = {
    {"vprintf", print, 2},
    {"__assertfail", assert_fail, 5},
    {"malloc", allocate, 1},
    {"free", deallocate, 1},
};

}  // namespace

bool is_system_call(std::string_view name) {
  for (const SystemCall& call : kCalls) {
    if (call.name == name) return true;
  }
  return false;
}

Result<Op> bind_system_call(Binder& b, std::string_view name) {
  for (const SystemCall& call : kCalls) {
    if (call.name != name) continue;
    Arguments a;
    const auto list = b.parts(b.operand(2));
    if (list.size() != call.arguments) return b.unsupported("a system call with another number of arguments");
    for (const ptx::Operand& argument : list) {
      if (argument.kind != Kind::Variable) return b.unsupported("a system call with arguments in registers");
      a.offset[a.count++] =
          b.function().variable_offset[argument.index] + static_cast<uint32_t>(argument.value);
    }
    const auto results = b.parts(b.operand(0));
    if (!results.empty() && results[0].kind == Kind::Variable) {
      a.has_result = true;
      a.result = b.function().variable_offset[results[0].index];
    }
    Op op = b.op(call.handler);
    op.extra = b.extra(a);
    return op;
  }
  return b.unsupported("an unknown system call");
}

}  // namespace sluice::machine
