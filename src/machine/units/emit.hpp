// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Events of the asynchronous units: the agent is a warp instruction or an asynchronous operation. Everything
// here is behind the test whether someone listens.
#pragma once

#include <span>
#include <string>

#include "event/event.hpp"
#include "machine/state.hpp"

namespace sluice::machine {

/// The listener if it wants this kind, else null.
inline event::Sink* listener_for(Worker& worker, event::Kind kind) {
  event::Sink* const sink = worker.listener();
  return sink != nullptr && (sink->wants() & event::mask_of(kind)) != 0 ? sink : nullptr;
}

using GroupKind = event::GroupKind;

/// Address of a place in a CTA's shared memory, as events name it: the generic address.
inline uint64_t shared_event_address(const Cta& cta, uint32_t offset) {
  return kSharedWindow | uint64_t{cta.rank} << kSharedRankShift | offset;
}

inline uint32_t origin_at(Worker& worker, uint32_t function, uint32_t pc) {
  return worker.kernel().functions[function]->first_origin + pc;
}

/// The running instruction's.
inline uint32_t origin_here(Warp& w) {
  return origin_at(w.worker(), w.frames[w.frame_node].function, w.pc);
}

/// An event of the running warp instruction.
inline event::Event warp_event(Warp& w, event::Kind kind, uint32_t lanes) {
  event::Event e;
  e.kind = kind;
  e.launch = w.worker().launch().ordinal;
  e.cta = w.cta->linear;
  e.warp = w.index;
  e.lanes = lanes;
  e.steps = w.steps;
  e.origin = origin_here(w);
  return e;
}

/// An event of an asynchronous operation, told apart by its id.
inline event::Event operation_event(Worker& worker, const AsyncOp& op, event::Kind kind) {
  event::Event e;
  e.kind = kind;
  e.proxy = op.kind == AsyncKind::CpAsync ? event::Proxy::Generic : event::Proxy::Async;
  e.launch = worker.launch().ordinal;
  e.cta = op.cta->linear;
  e.warp = op.warp;
  e.lanes = uint32_t{1} << op.lane;
  e.operation = op.id;
  if (op.reduces) e.semantics = event::Semantics::Relaxed;
  e.origin = origin_at(worker, op.origin_function, op.origin_pc);
  return e;
}

/// One contiguous access of an asynchronous operation.
inline void emit_operation_access(Worker& worker, const AsyncOp& op, event::Kind kind, event::Space space,
                                  uint64_t address, uint32_t bytes) {
  event::Sink* const sink = listener_for(worker, kind);
  if (sink == nullptr) return;
  event::Event e = operation_event(worker, op, kind);
  e.space = space;
  e.bytes = bytes;
  e.addresses = std::span<const uint64_t>(&address, 1);
  sink->receive(e);
}

/// An operation begins.
void emit_issue(Worker& worker, const AsyncOp& op);

/// An operation has ended.
inline void emit_complete(Worker& worker, const AsyncOp& op) {
  if (event::Sink* const sink = listener_for(worker, event::Kind::AsyncComplete))
    sink->receive(operation_event(worker, op, event::Kind::AsyncComplete));
}

/// The lanes close the group that each of them fills.
void emit_commit(Warp& w, uint32_t lanes, GroupKind kind);

/// A wait for groups that is over. `all`: cp.async.wait_all, which also covers what no group holds.
void emit_group_wait(Warp& w, uint32_t lanes, GroupKind kind, int64_t allowed, bool source_only,
                     bool all = false);

// --- what the scheduler tells -------------------------------------------------------------------------

void emit_cta_begin(Worker& worker, const Cta& cta);
void emit_exit(Worker& worker, const Warp& warp, uint32_t lanes);
/// One event per group of lanes that waits, when nobody can go on.
void emit_stuck(Worker& worker, const Cluster& cluster);

/// Fills in what every asynchronous operation says about its issuer.
inline AsyncOp make_operation(Warp& w, uint32_t lane, AsyncKind kind, AsyncOp::Perform perform) {
  AsyncOp op;
  op.kind = kind;
  op.cta = w.cta;
  op.warp = w.index;
  op.lane = lane;
  op.origin_function = w.frames[w.frame_node].function;
  op.origin_pc = w.pc;
  op.perform = perform;
  return op;
}

/// Ends the launch with a fault that an asynchronous operation met.
/// `name`: the finding, where it is finer than the kind.
void fail_operation(Worker& worker, const AsyncOp& op, FaultKind kind, std::string message, uint64_t address,
                    const char* name = "");

/// The lane returns a block of the heap of device code.
void emit_free(Warp& w, uint32_t lane, uint64_t first, uint64_t bytes);

/// Tells that the running instruction breaks a rule, if someone listens.
void emit_broken_rule(Warp& w, uint32_t lanes, const event::BrokenRule& rule);

}  // namespace sluice::machine
