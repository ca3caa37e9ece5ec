// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// stacksave, stackrestore, alloca. A thread's stack grows down from the end of its local memory, towards the
// frames of its functions; the pointer is an address in local memory. PTX ISA, "Stack Manipulation
// Instructions".
#include <bit>

#include "machine/bind.hpp"
#include "machine/ops/lanes.hpp"
#include "machine/state.hpp"

namespace sluice::machine {
namespace {

using ptx::ScalarType;

constexpr uint64_t kDefaultAlignment = 8;

Step save(Warp& w, const Op& op, uint32_t lanes) {
  uint64_t* d = w.u64(op.d);
  for_lanes(lanes, [&](int i) { d[i] = w.local_bytes - w.stack_bytes[static_cast<size_t>(i)]; });
  return Step::Next;
}

Step restore(Warp& w, const Op& op, uint32_t lanes) {
  const uint64_t* a = w.u64(op.a);
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const uint64_t lowest = w.local_bytes - w.stack_bytes[lane];
    if (a[lane] < lowest || a[lane] > w.local_bytes)
      return w.fault(FaultKind::HardwareStack, "stackrestore of a pointer that no stacksave gave", lane,
                     a[lane]);
    w.stack_bytes[lane] = static_cast<uint32_t>(w.local_bytes - a[lane]);
  }
  return Step::Next;
}

Step allocate(Warp& w, const Op& op, uint32_t lanes) {
  uint64_t* d = w.u64(op.d);
  const uint64_t* size = w.u64(op.a);
  const auto alignment = static_cast<uint64_t>(op.imm);
  const FrameNode& frame = w.frames[w.frame_node];
  const uint64_t lowest = frame.local_base + w.worker().kernel().functions[frame.function]->local_bytes;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const uint64_t top = w.local_bytes - w.stack_bytes[lane];
    const uint64_t at = size[lane] <= top ? (top - size[lane]) & ~(alignment - 1) : 0;
    if (size[lane] > top || at < lowest)
      return w.fault(FaultKind::HardwareStack, "alloca: the stack of a thread is exhausted", lane);
    w.stack_bytes[lane] = static_cast<uint32_t>(w.local_bytes - at);
    d[lane] = at;
  }
  return Step::Next;
}

/// The pointer's type is that of addresses.
Result<void> check_type(const Binder& b) {
  if (ptx::size_of(b.type()) != 8)
    return b.unsupported("stack pointers of 32 bits need a module of 32-bit addresses");
  return {};
}

Result<Op> bind_save(Binder& b) {
  SLUICE_TRY(check_type(b));
  Op op = b.op(save);
  op.d = b.destination(0);
  return op;
}

Result<Op> bind_restore(Binder& b) {
  SLUICE_TRY(check_type(b));
  Op op = b.op(restore);
  SLUICE_ASSIGN_OR_RETURN(op.a, b.source(0, ScalarType::u64));
  return op;
}

Result<Op> bind_alloca(Binder& b) {
  SLUICE_TRY(check_type(b));
  uint64_t alignment = kDefaultAlignment;
  if (b.count() > 2) alignment = b.immediate(b.operand(2), ScalarType::u64);
  if (!std::has_single_bit(alignment)) return b.unsupported("an alignment that is no power of two");
  b.out().allocates = true;
  Op op = b.op(allocate);
  op.d = b.destination(0);
  SLUICE_ASSIGN_OR_RETURN(op.a, b.source(1, ScalarType::u64));
  op.imm = static_cast<int64_t>(alignment);
  return op;
}

constexpr BindRow kRows[] = {
    {ptx::Opcode::stacksave, bind_save},
    {ptx::Opcode::stackrestore, bind_restore},
    {ptx::Opcode::alloca, bind_alloca},
};

}  // namespace

std::span<const BindRow> stack_rows() {
  return kRows;
}

}  // namespace sluice::machine
