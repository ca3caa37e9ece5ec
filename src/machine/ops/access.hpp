// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Addresses of memory instructions: from an operand `[base + offset]` to one host pointer per lane, with the
// checks a GPU makes (alignment, bounds, window). Used by loads and stores, atomics, matrix loads,
// asynchronous copies.
#pragma once

#include <cstdint>
#include <string>

#include "event/event.hpp"
#include "machine/bind.hpp"
#include "machine/state.hpp"

namespace sluice::machine {

/// Which memory an address means, after everything known at binding has been taken into account.
enum class Window : uint8_t {
  Global,         ///< global, constant, parameter buffer: a device address
  Shared,         ///< shared::cta: own CTA
  SharedCluster,  ///< shared::cluster: the CTA in the address
  Local,          ///< the thread's local memory
  Frame,          ///< local memory relative to the running function's frame
  Parameter,      ///< relative to the launch's parameter buffer
  Generic,
};

/// `[base + offset]`: base is a vector of 32- or 64-bit lanes (a register or a constant).
struct Address {
  Window window = Window::Generic;
  Location base = 0;
  bool wide = true;
  int64_t offset = 0;
};

/// Binds an address operand for an instruction on `space` (Space::none = generic).
Result<Address> bind_memory_address(Binder& binder, const ptx::Operand& operand, ptx::Space space);

/// Address values of the lanes, before any check.
inline void compute_addresses(Warp& w, const Address& address, uint32_t lanes, uint64_t (&out)[kLanes]) {
  if (address.wide) {
    const uint64_t* base = w.u64(address.base);
    for (int i = 0; i < kLanes; ++i) out[i] = base[i] + static_cast<uint64_t>(address.offset);
  } else {
    const uint32_t* base = w.u32(address.base);
    for (int i = 0; i < kLanes; ++i) out[i] = uint32_t(base[i] + static_cast<uint32_t>(address.offset));
  }
  (void)lanes;
}

/// Host pointers for an access of `bytes` at each lane. False after a fault was raised (return Step::Fault
/// then). `addresses` are turned into global addresses, for events, where they were relative.
bool translate(Warp& w, Window window, uint32_t lanes, uint64_t (&addresses)[kLanes], uint32_t bytes,
               bool write, uint8_t* (&out)[kLanes]);

/// Host pointer for one lane's access of `bytes` at a shared::cta address, or null after a fault.
uint8_t* shared_pointer(Warp& w, uint32_t lane, uint32_t address, uint32_t bytes);

/// The same for a shared::cluster address; `owner` receives the CTA.
uint8_t* cluster_pointer(Warp& w, uint32_t lane, uint32_t address, uint32_t bytes, Cta** owner);

/// Semantics and scope of a memory instruction's modifiers.
event::Semantics semantics_of(const ptx::Mods& mods);
event::Scope scope_of(const ptx::Mods& mods);

/// Tells the listener, if there is one, about an access of these lanes; of a write, which lanes have changed
/// nothing. emit_access_to: there is a listener.
void emit_access_to(Warp& w, event::Kind kind, Window window, uint32_t lanes,
                    const uint64_t (&addresses)[kLanes], uint32_t bytes, event::Semantics semantics,
                    event::Scope scope, uint32_t unchanged = 0);
inline void emit_access(Warp& w, event::Kind kind, Window window, uint32_t lanes,
                        const uint64_t (&addresses)[kLanes], uint32_t bytes, event::Semantics semantics,
                        event::Scope scope) {
  if (w.worker().listener() != nullptr)
    emit_access_to(w, kind, window, lanes, addresses, bytes, semantics, scope);
}

}  // namespace sluice::machine
