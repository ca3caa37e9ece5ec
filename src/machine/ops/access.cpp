// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Address translation and its faults.
#include "machine/ops/access.hpp"

#include <fmt/format.h>

#include <bit>

#include "machine/device.hpp"
#include "machine/units/emit.hpp"

namespace sluice::machine {

using Kind = ptx::Operand::Kind;
using ptx::Mod;
using ptx::ScalarType;
using ptx::Space;

namespace {

bool is_shared(Space space) {
  return space == Space::shared || space == Space::shared_cta;
}

Window window_of(Space space) {
  switch (space) {
    case Space::global:
    case Space::const_:
      return Window::Global;
    case Space::shared:
    case Space::shared_cta:
      return Window::Shared;
    case Space::shared_cluster:
      return Window::SharedCluster;
    case Space::local:
      return Window::Local;
    // A parameter's address in a register is an address in the parameter buffer.
    case Space::param:
    case Space::param_entry:
    case Space::param_func:
      return Window::Global;
    default:
      return Window::Generic;
  }
}

bool fault_at(Warp& w, FaultKind kind, std::string message, uint32_t lane, uint64_t address) {
  w.fault(kind, std::move(message), lane, address);
  return false;
}

bool misaligned(Warp& w, uint32_t lane, uint64_t address, uint32_t bytes) {
  return fault_at(w, FaultKind::MisalignedAddress,
                  fmt::format("an access of {} bytes at address 0x{:x}, which is not a multiple of {}", bytes,
                              address, bytes),
                  lane, address);
}

bool outside_global(Warp& w, uint32_t lane, uint64_t address, uint32_t bytes, bool write) {
  const char* const what = write ? "write" : "read";
  const Allocation* const found = w.worker().find_allocation(address);
  const Allocation* const released = w.worker().launch().device->memory().find_released(address);
  std::string message;
  if (address < 4096) {
    message = fmt::format("a {} of {} bytes through a null pointer (address 0x{:x})", what, bytes, address);
  } else if (found != nullptr && write && found->read_only) {
    message = fmt::format("a write of {} bytes to read-only memory at 0x{:x}", bytes, address);
  } else if (found != nullptr) {
    message =
        fmt::format("a {} of {} bytes that runs {} bytes past the end of an allocation of {} bytes at 0x{:x}",
                    what, bytes, address + bytes - found->end(), found->bytes, found->first);
  } else if (released != nullptr) {
    message =
        fmt::format("a {} of {} bytes at 0x{:x}, in an allocation of {} bytes at 0x{:x} that has been freed",
                    what, bytes, address, released->bytes, released->first);
  } else {
    message = fmt::format("a {} of {} bytes at 0x{:x}, outside every allocation", what, bytes, address);
    // Name the nearest allocation below, which is what was overrun most of the time.
    for (uint64_t back = 1; back <= 65536; back *= 2) {
      const Allocation* near = address >= back ? w.worker().find_allocation(address - back) : nullptr;
      if (near == nullptr) continue;
      message += fmt::format(", {} bytes behind the end of an allocation of {} bytes at 0x{:x}",
                             address - near->end(), near->bytes, near->first);
      break;
    }
  }
  return fault_at(w, FaultKind::IllegalAddress, std::move(message), lane, address);
}

}  // namespace

Result<Address> bind_memory_address(Binder& b, const ptx::Operand& operand, Space space) {
  if (operand.kind != Kind::Address) return b.unsupported("an operand that is not an address");
  const ptx::Operand& base = b.parts(operand)[0];
  const program::Function& f = b.function();
  Address address;
  address.offset = operand.value;
  address.window = window_of(space);
  switch (base.kind) {
    case Kind::Register: {
      address.base = f.location[base.index];
      address.wide = ptx::size_of(f.regs[base.index].type) == 8;
      return address;
    }
    case Kind::ImmInt:
      address.base = b.constant64(0);
      address.offset += base.value;
      return address;
    case Kind::Variable: {
      const ptx::Variable& variable =
          base.is_module ? f.module->variables[base.index] : f.source->variables[base.index];
      address.offset += base.value;
      if (is_shared(variable.space)) {
        address.offset += b.symbols().shared_offset(f, base);
        if (space == Space::none) {
          // Generic addressing of a shared variable by name.
          address.window = Window::Shared;
        } else if (space == Space::shared_cluster) {
          address.window = Window::Shared;  // a variable's own address is in the executing CTA
        }
        address.base = b.constant32(0);
        address.wide = false;
        return address;
      }
      if (base.is_module) {
        address.base = b.constant64(b.symbols().global_address(base.index));
        address.window = Window::Global;
        return address;
      }
      if (b.symbols().is_entry_parameter(f, base.index)) {
        address.offset += b.symbols().parameter_offset(f, base.index);
        address.window = Window::Parameter;
        address.base = b.constant64(0);
        return address;
      }
      address.offset += f.variable_offset[base.index];
      address.window = Window::Frame;
      address.base = b.constant64(0);
      return address;
    }
    default:
      return b.unsupported("an address with a base of this kind");
  }
}

uint8_t* shared_pointer(Warp& w, uint32_t lane, uint32_t address, uint32_t bytes) {
  const uint32_t rank = address >> kSharedRankShift;
  const uint32_t offset = address & kSharedOffsetMask;
  uint8_t* const pointer = rank == w.cta->rank || rank == 0 ? w.cta->shared_at(offset, bytes) : nullptr;
  if (pointer != nullptr) return pointer;
  std::string message =
      rank != w.cta->rank && rank != 0
          ? fmt::format("a shared::cta access to the shared memory of cluster rank {} (this CTA has rank {})",
                        rank, w.cta->rank)
          : fmt::format("an access of {} bytes at shared address 0x{:x}, outside the {} bytes of the CTA",
                        bytes, offset, w.cta->shared.size());
  w.fault(FaultKind::IllegalAddress, std::move(message), lane, address);
  return nullptr;
}

uint8_t* cluster_pointer(Warp& w, uint32_t lane, uint32_t address, uint32_t bytes, Cta** owner) {
  Cta* const cta = w.worker().shared_owner(*w.cta, address);
  const uint32_t offset = address & kSharedOffsetMask;
  if (owner != nullptr) *owner = cta;
  if (cta == nullptr) {
    w.fault(FaultKind::IllegalAddress,
            fmt::format("a shared::cluster access to rank {} of a cluster of {} CTAs",
                        address >> kSharedRankShift, w.cta->cluster->ctas.size()),
            lane, address);
    return nullptr;
  }
  if (cta->ended()) {
    w.fault(FaultKind::IllegalAddress,
            fmt::format("a shared::cluster access to the CTA of rank {}, which has ended", cta->rank), lane,
            address, "cluster-exit-early");
    return nullptr;
  }
  uint8_t* const pointer = cta->shared_at(offset, bytes);
  if (pointer == nullptr) {
    w.fault(FaultKind::IllegalAddress,
            fmt::format("an access of {} bytes at shared address 0x{:x} of rank {}, outside its {} bytes",
                        bytes, offset, cta->rank, cta->shared.size()),
            lane, address);
  }
  return pointer;
}

namespace {

/// The common case: all lanes, one kind of memory, everything in bounds. False sends it the careful way.
bool translate_together(Warp& w, Window window, const uint64_t (&addresses)[kLanes], uint32_t bytes,
                        bool write, uint8_t* (&out)[kLanes]) {
  uint64_t first;
  uint64_t room;  // largest offset from `first` at which the access still fits
  if (window == Window::Shared) {
    if (bytes > w.cta->shared.size()) return false;
    first = uint64_t{w.cta->rank} << kSharedRankShift;
    room = w.cta->shared.size() - bytes;
  } else if (window == Window::Global || window == Window::Generic) {
    // The windows of shared and local memory hold no allocation, so a generic address in one is a global
    // address.
    if (!w.worker().cached_allocation(bytes, write, first, room)) return false;
  } else {
    return false;
  }
  uint64_t any = 0;
  bool outside = false;
  for (int i = 0; i < kLanes; ++i) {
    any |= addresses[i];
    outside |= addresses[i] - first > room;
  }
  if (outside || (any & (bytes - 1)) != 0) return false;
  const uint64_t base =
      window == Window::Shared ? reinterpret_cast<uint64_t>(w.cta->shared.data()) - first : 0;
  for (int i = 0; i < kLanes; ++i) out[i] = reinterpret_cast<uint8_t*>(base + addresses[i]);
  return true;
}

/// The general case, with the fault of the first lane that has one.
bool translate_each(Warp& w, Window window, uint32_t lanes, uint64_t (&addresses)[kLanes], uint32_t bytes,
                    bool write, uint8_t* (&out)[kLanes]) {
  uint64_t low_bits = 0;
  for (uint32_t m = lanes; m != 0; m &= m - 1) low_bits |= addresses[std::countr_zero(m)];
  if ((low_bits & (bytes - 1)) != 0) {
    for (uint32_t m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(m));
      if ((addresses[lane] & (bytes - 1)) != 0) return misaligned(w, lane, addresses[lane], bytes);
    }
  }

  Worker& worker = w.worker();
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const uint64_t address = addresses[lane];
    Window actual = window;
    if (window == Window::Generic) {
      actual = is_shared_address(address)  ? Window::SharedCluster
               : is_local_address(address) ? Window::Local
                                           : Window::Global;
    }
    switch (actual) {
      case Window::Global:
        out[lane] = worker.global_at(address, bytes, write);
        if (out[lane] == nullptr) return outside_global(w, lane, address, bytes, write);
        break;
      case Window::Shared: {
        const uint32_t offset = static_cast<uint32_t>(address) & kSharedOffsetMask;
        const uint32_t rank = static_cast<uint32_t>(address) >> kSharedRankShift;
        out[lane] = rank == w.cta->rank || rank == 0 ? w.cta->shared_at(offset, bytes) : nullptr;
        if (out[lane] == nullptr) {
          shared_pointer(w, lane, static_cast<uint32_t>(address), bytes);
          return false;
        }
        break;
      }
      case Window::SharedCluster:
        out[lane] = cluster_pointer(w, lane, static_cast<uint32_t>(address), bytes, nullptr);
        if (out[lane] == nullptr) return false;
        break;
      case Window::Local: {
        const uint64_t offset = window == Window::Generic ? address - kLocalWindow : address;
        if (offset > w.local_bytes || bytes > w.local_bytes - offset) {
          return fault_at(
              w, FaultKind::IllegalAddress,
              fmt::format("an access of {} bytes at local address 0x{:x}, outside the thread's {} bytes",
                          bytes, offset, w.local_bytes),
              lane, address);
        }
        out[lane] = w.local_of(lane) + offset;
        break;
      }
      default:
        return false;
    }
  }
  return true;
}

}  // namespace

bool translate(Warp& w, Window window, uint32_t lanes, uint64_t (&addresses)[kLanes], uint32_t bytes,
               bool write, uint8_t* (&out)[kLanes]) {
  // Relative addresses become absolute first.
  if (window == Window::Parameter) {
    for (uint64_t& address : addresses) address += w.worker().launch().parameters;
    window = Window::Global;
  } else if (window == Window::Frame) {
    for (uint64_t& address : addresses) address += w.frames[w.frame_node].local_base;
    window = Window::Local;
  }
  if (!(lanes == kAllLanes && translate_together(w, window, addresses, bytes, write, out)) &&
      !translate_each(w, window, lanes, addresses, bytes, write, out)) {
    return false;
  }
  AccessWatch* const watch = w.worker().watch();
  return watch == nullptr || watch->access(w, lanes, out, bytes);
}

event::Semantics semantics_of(const ptx::Mods& mods) {
  if (mods.has(Mod::volatile_)) return event::Semantics::Volatile;
  if (mods.has(Mod::acq_rel)) return event::Semantics::AcquireRelease;
  if (mods.has(Mod::acquire)) return event::Semantics::Acquire;
  if (mods.has(Mod::release)) return event::Semantics::Release;
  if (mods.has(Mod::relaxed)) return event::Semantics::Relaxed;
  return event::Semantics::Weak;
}

event::Scope scope_of(const ptx::Mods& mods) {
  if (mods.has(Mod::sys) || mods.has(Mod::volatile_) || mods.has(Mod::mmio)) return event::Scope::System;
  if (mods.has(Mod::gpu)) return event::Scope::Gpu;
  if (mods.has(Mod::cluster)) return event::Scope::Cluster;
  return event::Scope::Cta;
}

void emit_access_to(Warp& w, event::Kind kind, Window window, uint32_t lanes,
                    const uint64_t (&addresses)[kLanes], uint32_t bytes, event::Semantics semantics,
                    event::Scope scope, uint32_t unchanged) {
  event::Sink* const listener = w.worker().listener();
  if ((listener->wants() & event::mask_of(kind)) == 0) return;
  event::Event e = warp_event(w, kind, lanes);
  e.semantics = semantics;
  e.scope = scope;
  e.space = window == Window::Shared || window == Window::SharedCluster ? event::Space::Shared
            : window == Window::Local || window == Window::Frame        ? event::Space::Local
            : window == Window::Generic                                 ? event::Space::Generic
                                                                        : event::Space::Global;
  e.bytes = bytes;
  e.detail = unchanged;
  if (e.space != event::Space::Shared) {
    e.addresses = addresses;
    listener->receive(e);
    return;
  }
  // Shared addresses become generic ones. One without a rank means the own CTA where the window does.
  const uint64_t own = kSharedWindow | uint64_t{w.cta->rank} << kSharedRankShift;
  uint64_t generic[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const auto narrow = static_cast<uint32_t>(addresses[i]);
    generic[i] = window == Window::Shared ? own | (narrow & kSharedOffsetMask) : kSharedWindow | narrow;
  }
  e.addresses = generic;
  listener->receive(e);
}

}  // namespace sluice::machine
