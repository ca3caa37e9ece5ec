// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// wgmma: asynchronous matrix products of a warpgroup. A product starts when all four warps have issued it and
// is one operation from then on: it reads its operands in shared memory (and registers) and writes the
// accumulators when it is performed. Products of a warpgroup are performed in order. PTX ISA, "Asynchronous
// Warpgroup Level Matrix Instructions".
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "base/lifetime.hpp"
#include "machine/bind.hpp"
#include "machine/definedness_watch.hpp"
#include "machine/state.hpp"
#include "machine/units/copy.hpp"
#include "machine/units/emit.hpp"
#include "machine/units/wgmma_descriptor.hpp"
#include "machine/units/wgmma_marks.hpp"
#include "machine/units/wgmma_multiply.hpp"
#include "machine/units/wgmma_rules.hpp"

namespace sluice::machine {
namespace {

using Kind = ptx::Operand::Kind;
using ptx::Mod;
using ptx::Opcode;
using ptx::ScalarType;

constexpr uint32_t kWarps = 4;
constexpr uint32_t kChunk = 16;

/// The instruction, as bound.
struct Product {
  WgmmaForm form;
  bool a_in_registers = false;
  bool a_mn_major = false, b_mn_major = false;
  uint32_t selector = 0;  ///< sparse: which threads' metadata count
  std::vector<Location> d;
  Location a[4] = {};  ///< registers of A, or the descriptor
  Location b = 0;
  Location metadata = 0;
  uint32_t scale_d = kTruePredicate;  ///< predicate
  uint32_t scale_d_flip = 0;
};

/// What a product needs once all four warps have issued it.
struct ProductArgs {
  WgmmaIssue warps[kWarps];
  uint32_t warpgroup = 0;
  uint64_t ordinal = 0;
};
static_assert(sizeof(ProductArgs) <= AsyncOp::kArgBytes);

const Product& product_of(const WgmmaIssue& issue) {
  return *static_cast<const Product*>(issue.op->extra);
}

// --- operands -----------------------------------------------------------------------------------------

uint8_t* register_base(Warp& w, const WgmmaIssue& issue) {
  return w.registers.data() + w.register_shift + issue.frame_base;
}

uint32_t* register_vector(Warp& w, const WgmmaIssue& issue, Location location) {
  if ((location & kConstantBit) != 0) {
    return reinterpret_cast<uint32_t*>(w.worker().kernel().functions[issue.function]->constant_base() +
                                       (location & ~kConstantBit));
  }
  return reinterpret_cast<uint32_t*>(register_base(w, issue) + location);
}

/// Reads chunks of shared memory by descriptor and tells the listener which bytes were read.
class OperandReader {
 public:
  OperandReader(Worker& worker, const AsyncOp& op)
      : worker_(worker), op_(op), listening_(listener_for(worker, event::Kind::AsyncRead) != nullptr) {
    if (worker.definedness() != nullptr) marks_ = worker.definedness()->marks(*op.cta, op.cta->shared.data());
  }

  /// Copies a 16-byte chunk; false when it lies outside the CTA's shared memory.
  bool chunk(uint32_t address, uint8_t* out) {
    const uint8_t* const from = op_.cta->shared_at(address, kChunk);
    if (from == nullptr) {
      if (!failed_) {
        fail_operation(
            worker_, op_, FaultKind::IllegalAddress,
            fmt::format("a matrix descriptor leads to shared address 0x{:x}, outside the {} bytes of the CTA",
                        address, op_.cta->shared.size()),
            address, "wgmma-descriptor-invalid");
      }
      failed_ = true;
      return false;
    }
    std::memcpy(out, from, kChunk);
    if (listening_) chunks_.push_back(address);
    return true;
  }

  /// Notes in `lines[i]` that line i has undefined bytes, for the chunk's bytes [16 / count * i, ...).
  void note_undefined(uint32_t address, bool* lines, uint32_t count) const {
    constexpr uint32_t kAll = kChunk;
    for (uint32_t i = 0; marks_ != nullptr && i < kAll; ++i)
      if (marks_[address + i] != kDefined) lines[i * count / kAll] = true;
  }

  bool failed() const { return failed_; }

  void emit() {
    if (!listening_) return;
    std::sort(chunks_.begin(), chunks_.end());
    for (size_t i = 0; i < chunks_.size();) {
      size_t j = i + 1;
      while (j < chunks_.size() && chunks_[j] <= chunks_[j - 1] + kChunk) ++j;
      emit_operation_access(worker_, op_, event::Kind::AsyncRead, event::Space::Shared,
                            shared_event_address(*op_.cta, chunks_[i]), chunks_[j - 1] + kChunk - chunks_[i]);
      i = j;
    }
  }

 private:
  Worker& worker_;
  const AsyncOp& op_;
  bool listening_;
  bool failed_ = false;
  const uint8_t* marks_ = nullptr;  ///< of the CTA's shared memory, where definedness is followed
  std::vector<uint32_t> chunks_;
};

/// Rows [first, first + 16) of A from shared memory.
void read_a(OperandReader& reader, const Product& p, uint64_t bits, uint32_t first, WgmmaOperands& o,
            ProductMarks& marks) {
  const MatrixDescriptor d = MatrixDescriptor::decode(bits);
  if (!p.a_mn_major) {
    for (uint32_t row = first; row < first + 16; ++row) {
      for (uint32_t chunk = 0; chunk < kWgmmaKBytes / kChunk; ++chunk) {
        const uint32_t at = d.k_major(row, chunk);
        if (!reader.chunk(at, o.a[row] + chunk * kChunk)) return;
        reader.note_undefined(at, &marks.a[row], 1);
      }
    }
    return;
  }
  for (uint32_t k = 0; k < kWgmmaKBytes / 2; ++k) {
    for (uint32_t block = first / 8; block < first / 8 + 2; ++block) {
      uint16_t values[8];
      const uint32_t at = d.mn_major(block, k);
      if (!reader.chunk(at, reinterpret_cast<uint8_t*>(values))) return;
      reader.note_undefined(at, &marks.a[block * 8], 8);
      for (uint32_t i = 0; i < 8; ++i) std::memcpy(o.a[block * 8 + i] + k * 2, &values[i], 2);
    }
  }
}

/// The same rows from the registers of the warp that holds them: a register holds four bytes of a row.
void take_a(Warp& w, const WgmmaIssue& issue, const Product& p, uint32_t first, WgmmaOperands& o) {
  for (uint32_t r = 0; r < 4; ++r) {
    const uint32_t* const lanes = register_vector(w, issue, p.a[r]);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      std::memcpy(o.a[first + lane / 4 + 8 * (r % 2)] + lane % 4 * 4 + r / 2 * 16, &lanes[lane], 4);
    }
  }
}

/// Column `n` of a block of eight is kept at the place where a row of accumulators has it: the even columns
/// of the four threads first, then the odd ones.
uint32_t column_place(uint32_t n) {
  return n / 8 * 8 + n % 2 * 4 + n % 8 / 2;
}

void read_b(OperandReader& reader, const Product& p, uint64_t bits, WgmmaOperands& o, ProductMarks& marks) {
  const MatrixDescriptor d = MatrixDescriptor::decode(bits);
  const uint32_t bytes = p.form.b_bytes();
  if (!p.b_mn_major) {
    for (uint32_t n = 0; n < p.form.n; ++n) {
      for (uint32_t chunk = 0; chunk < bytes / kChunk; ++chunk) {
        const uint32_t at = d.k_major(n, chunk);
        if (!reader.chunk(at, o.b[column_place(n)] + chunk * kChunk)) return;
        reader.note_undefined(at, &marks.b[n], 1);
      }
    }
    return;
  }
  for (uint32_t k = 0; k < bytes / 2; ++k) {
    for (uint32_t block = 0; block < p.form.n / 8; ++block) {
      uint16_t values[8];
      const uint32_t at = d.mn_major(block, k);
      if (!reader.chunk(at, reinterpret_cast<uint8_t*>(values))) return;
      reader.note_undefined(at, &marks.b[block * 8], 8);
      for (uint32_t i = 0; i < 8; ++i) std::memcpy(o.b[column_place(block * 8 + i)] + k * 2, &values[i], 2);
    }
  }
}

/// Positions along K of the stored elements of rows [first, first + 16). A group of four positions (two for
/// TF32) has a nibble: two 2-bit positions, or one of the two values that mean first and second. Which thread
/// holds whose nibbles depends on the type.
void read_metadata(Warp& w, const WgmmaIssue& issue, const Product& p, uint32_t first, WgmmaOperands& o) {
  const uint32_t* const words = register_vector(w, issue, p.metadata);
  const uint32_t bits = p.form.element_bits();
  const uint32_t groups = bits == 8 ? 16 : 8;  // of a row
  for (uint32_t row = 0; row < 16; ++row) {
    for (uint32_t group = 0; group < groups; ++group) {
      uint32_t lane, nibble;
      if (bits == 8) {
        // Bit 0 of the lane: row + 8. Bit 1: second half of K. A word holds eight groups.
        lane = row % 8 * 4 + row / 8 + group / 8 * 2;
        nibble = group % 8;
      } else {
        // Bit 0 of the lane: second half of K. Bit 1: selector. The upper half of a word is row + 8.
        lane = row % 8 * 4 + group / 4 + p.selector * 2;
        nibble = group % 4 + row / 8 * 4;
      }
      const uint32_t value = words[lane] >> (4 * nibble) & 0xf;
      uint8_t* const index = o.index[first + row];
      if (bits == 32) {
        index[group] = static_cast<uint8_t>(group * 2 + (value & 3) / 2);
      } else {
        index[group * 2] = static_cast<uint8_t>(group * 4 + (value & 3));
        index[group * 2 + 1] = static_cast<uint8_t>(group * 4 + (value >> 2));
      }
    }
  }
}

// --- performing ---------------------------------------------------------------------------------------

/// Rows of accumulators of one warp, to and from its registers.
class AccumulatorRows {
 public:
  AccumulatorRows(Warp& w, const WgmmaIssue& issue, const Product& p) : half_(p.form.d == WgmmaResult::F16) {
    for (const Location location : p.d) vectors_.push_back(register_vector(w, issue, location));
  }

  void load(uint32_t row, uint32_t n, uint32_t* out) const {
    for (uint32_t block = 0; block < n / 8; ++block) {
      uint32_t* const to = out + block * 8;
      if (half_) {
        const uint32_t* const from = vectors_[block * 2 + row / 8] + row % 8 * 4;
        for (uint32_t q = 0; q < 4; ++q) {
          to[q] = from[q] & 0xffff;
          to[q + 4] = from[q] >> 16;
        }
      } else {
        std::memcpy(to, vectors_[block * 4 + row / 8 * 2] + row % 8 * 4, 16);
        std::memcpy(to + 4, vectors_[block * 4 + row / 8 * 2 + 1] + row % 8 * 4, 16);
      }
    }
  }

  void store(uint32_t row, uint32_t n, const uint32_t* in) {
    for (uint32_t block = 0; block < n / 8; ++block) {
      const uint32_t* const from = in + block * 8;
      if (half_) {
        uint32_t* const to = vectors_[block * 2 + row / 8] + row % 8 * 4;
        for (uint32_t q = 0; q < 4; ++q) to[q] = (from[q] & 0xffff) | from[q + 4] << 16;
      } else {
        std::memcpy(vectors_[block * 4 + row / 8 * 2] + row % 8 * 4, from, 16);
        std::memcpy(vectors_[block * 4 + row / 8 * 2 + 1] + row % 8 * 4, from + 4, 16);
      }
    }
  }

 private:
  bool half_;
  std::vector<uint32_t*> vectors_;
};

/// Computes the product; false after a fault.
bool compute(Worker& worker, const AsyncOp& op, const ProductArgs& args) {
  static const PerThread<WgmmaOperands> operands;
  WgmmaOperands& o = *operands;
  Cta& cta = *op.cta;
  OperandReader reader(worker, op);
  ProductMarks marks;
  for (uint32_t i = 0; i < kWarps; ++i) {
    Warp& w = *cta.warps[args.warpgroup * kWarps + i];
    const WgmmaIssue& issue = args.warps[i];
    const Product& p = product_of(issue);
    if (p.a_in_registers) {
      take_a(w, issue, p, i * 16, o);
      marks.take_a(w.marks, issue.frame_base, p.a, i * 16);
    } else {
      read_a(reader, p, issue.a, i * 16, o, marks);
    }
    if (p.form.sparse) read_metadata(w, issue, p, i * 16, o);
  }
  // Each warp multiplies its sixteen rows with the B that its own descriptor names; mostly there is one.
  for (uint32_t i = 0; i < kWarps && !reader.failed(); ++i) {
    Warp& w = *cta.warps[args.warpgroup * kWarps + i];
    const WgmmaIssue& issue = args.warps[i];
    const Product& p = product_of(issue);
    if (i == 0 || issue.b != args.warps[i - 1].b || issue.op != args.warps[i - 1].op) {
      std::fill(std::begin(marks.b), std::end(marks.b), false);
      read_b(reader, p, issue.b, o, marks);
      if (reader.failed()) break;
      if (wants_data(worker)) wgmma_prepare(p.form, o);
    }
    if (!wants_data(worker)) continue;
    AccumulatorRows rows(w, issue, p);
    alignas(64) uint32_t d[kWgmmaMostN];
    for (uint32_t row = 0; row < 16; ++row) {
      rows.load(row, p.form.n, d);
      wgmma_row(p.form, o, i * 16 + row, !issue.scale_d, d);
      rows.store(row, p.form.n, d);
    }
    if (worker.definedness() != nullptr) {
      marks.put(w.marks, issue.frame_base, p.d, p.form.d == WgmmaResult::F16, issue.scale_d, i * 16,
                origin_at(worker, issue.function, issue.pc));
    }
  }
  reader.emit();
  return !reader.failed();
}

bool perform(Worker& worker, AsyncOp& op) {
  const auto& args = op.as<ProductArgs>();
  WarpgroupState& group = op.cta->warpgroups[args.warpgroup];
  if (group.performed != args.ordinal) return false;  // an earlier product of the warpgroup comes first
  if ((wants_data(worker) || worker.listener() != nullptr) && !compute(worker, op, args)) return true;
  ++group.performed;
  emit_complete(worker, op);
  worker.wake_all(*op.cta, Wait::Wgmma);
  return true;
}

// --- issue --------------------------------------------------------------------------------------------

WarpgroupState& group_of(Warp& w) {
  auto& groups = w.cta->warpgroups;
  if (groups.empty()) groups.resize((w.cta->warps.size() + kWarps - 1) / kWarps);
  return groups[w.index / kWarps];
}

/// Tells about descriptors that no operand can have; each is looked at once per instruction.
void judge_descriptor(Warp& w, const Op& op, uint64_t bits, const DescribedOperand& operand) {
  if (listener_for(w.worker(), event::Kind::BrokenRule) == nullptr) return;
  const uint64_t key =
      (reinterpret_cast<uint64_t>(&op) ^ uint64_t{operand.is_a}) * 0x9e3779b97f4a7c15ull ^ bits;
  if (!w.worker().judged_descriptors.insert(key).second) return;
  const std::string wrong =
      broken_descriptor_rule(bits, operand, static_cast<uint32_t>(w.cta->shared.size()));
  if (wrong.empty()) return;
  event::BrokenRule rule;
  rule.name = "wgmma-descriptor-invalid";
  rule.headline = fmt::format("the descriptor of {} {}", operand.is_a ? "A" : "B", wrong);
  rule.label = describe_descriptor(bits);
  rule.why =
      "a matrix descriptor says where in the CTA's shared memory each 16 bytes of the operand lie; bytes "
      "outside "
      "it, or one place for two parts of the operand, are no matrix";
  rule.help =
      "make the descriptor from the shared address (18 bits) and from byte offsets, each shifted right by 4, "
      "and "
      "choose the offsets for the swizzle and the shape of the operand";
  emit_broken_rule(w, w.active, rule);
}

Step issue(Warp& w, const Op& op, uint32_t) {
  if (Step s = w.rendezvous(kAllLanes); s != Step::Next) return s;
  const auto& p = *static_cast<const Product*>(op.extra);
  WarpgroupState& group = group_of(w);
  const uint32_t position = w.index % kWarps;
  WgmmaIssue item;
  item.op = &op;
  item.frame_base = w.frames[w.frame_node].base;
  item.function = w.frames[w.frame_node].function;
  item.pc = w.pc;
  item.scale_d = ((w.predicate(p.scale_d) ^ p.scale_d_flip) & 1) != 0;
  // MODEL: the lanes of a warp name the same descriptors; lane 0's count.
  const auto lane = static_cast<uint32_t>(std::countr_zero(w.active));
  if (!p.a_in_registers) item.a = w.u64(p.a[0])[lane];
  item.b = w.u64(p.b)[lane];
  if (!p.a_in_registers) judge_descriptor(w, op, item.a, {true, kWgmmaRows, kWgmmaKBytes, p.a_mn_major});
  judge_descriptor(w, op, item.b, {false, p.form.n, p.form.b_bytes(), p.b_mn_major});
  group.issued[position].push_back(item);
  if (event::Sink* const sink = listener_for(w.worker(), event::Kind::WgmmaIssue)) {
    event::Event e = warp_event(w, event::Kind::WgmmaIssue, w.active);
    e.phase = group.issued_count[position];
    e.bytes = p.form.n * p.form.b_bytes();
    sink->receive(e);
  }
  ++group.issued_count[position];
  w.acted = true;

  for (const auto& queue : group.issued) {
    if (queue.empty()) return Step::Next;
  }
  AsyncOp product = make_operation(w, lane, AsyncKind::Wgmma, perform);
  auto& args = product.as<ProductArgs>();
  args.warpgroup = w.index / kWarps;
  args.ordinal = group.submitted++;
  product.group = static_cast<uint32_t>(args.ordinal);
  for (uint32_t i = 0; i < kWarps; ++i) {
    args.warps[i] = group.issued[i].front();
    group.issued[i].pop_front();
  }
  w.worker().submit(product);
  return w.worker().failed() ? Step::Fault : Step::Next;
}

// --- fence and groups ---------------------------------------------------------------------------------

Step fence(Warp& w, const Op&, uint32_t lanes) {
  if (Step s = w.rendezvous(kAllLanes); s != Step::Next) return s;
  if (event::Sink* const sink = listener_for(w.worker(), event::Kind::WgmmaFence)) {
    sink->receive(warp_event(w, event::Kind::WgmmaFence, lanes));
  }
  return Step::Next;
}

Step commit(Warp& w, const Op&, uint32_t lanes) {
  if (Step s = w.rendezvous(kAllLanes); s != Step::Next) return s;
  WarpgroupState& group = group_of(w);
  const uint32_t position = w.index % kWarps;
  group.groups[position].push_back(group.issued_count[position]);
  emit_commit(w, lanes, GroupKind::Wgmma);
  return Step::Next;
}

/// Waits until at most `imm` committed groups hold products that have not been performed.
Step wait(Warp& w, const Op& op, uint32_t lanes) {
  if (Step s = w.rendezvous(kAllLanes); s != Step::Next) return s;
  WarpgroupState& group = group_of(w);
  auto& groups = group.groups[w.index % kWarps];
  while (!groups.empty() && groups.front() <= group.performed) groups.pop_front();
  const auto allowed = static_cast<uint64_t>(op.imm);
  if (groups.size() > allowed) return w.block(Wait::Wgmma, allowed);
  emit_group_wait(w, lanes, GroupKind::Wgmma, op.imm, false);
  return Step::Next;
}

// --- binding ------------------------------------------------------------------------------------------

Result<Op> bind_fence(Binder& b) {
  return b.op(fence);
}
Result<Op> bind_commit(Binder& b) {
  return b.op(commit);
}

Result<Op> bind_wait(Binder& b) {
  if (!b.is_immediate(b.operand(0))) return b.unsupported("a group count that is not a constant");
  Op op = b.op(wait);
  op.imm = static_cast<int64_t>(b.immediate(b.operand(0), ScalarType::u32));
  return op;
}

bool type_of(ScalarType type, WgmmaType& out) {
  switch (type) {
    case ScalarType::f16:
      out = WgmmaType::F16;
      return true;
    case ScalarType::bf16:
      out = WgmmaType::BF16;
      return true;
    case ScalarType::tf32:
      out = WgmmaType::TF32;
      return true;
    case ScalarType::e4m3:
      out = WgmmaType::E4M3;
      return true;
    case ScalarType::e5m2:
      out = WgmmaType::E5M2;
      return true;
    case ScalarType::s8:
      out = WgmmaType::S8;
      return true;
    case ScalarType::u8:
      out = WgmmaType::U8;
      return true;
    case ScalarType::b1:
      out = WgmmaType::B1;
      return true;
    default:
      return false;
  }
}

Result<void> bind_form(Binder& b, WgmmaForm& form) {
  form.n = b.mods().shape.n;
  form.sparse = b.instruction().op == Opcode::wgmma_mma_async_sp;
  form.saturate = b.has(Mod::satfinite);
  switch (b.type(0)) {
    case ScalarType::f32:
      form.d = WgmmaResult::F32;
      break;
    case ScalarType::f16:
      form.d = WgmmaResult::F16;
      break;
    case ScalarType::s32:
      form.d = WgmmaResult::S32;
      break;
    default:
      return b.unsupported("an accumulator of this type");
  }
  if (!type_of(b.type(1), form.a) || !type_of(b.type(2), form.b))
    return b.unsupported("operands of these types");
  if (form.n < 8 || form.n > kWgmmaMostN || form.n % 8 != 0) return b.unsupported("this number of columns");
  return {};
}

Result<Op> bind_product(Binder& b) {
  Product p;
  if (Result<void> form = bind_form(b, p.form); !form) return form.error();

  for (const ptx::Operand& part : b.parts(b.operand(0))) {
    if (!b.is_register(part)) return b.unsupported("an accumulator that is not a register");
    p.d.push_back(b.destination(part));
  }
  if (p.d.size() != (p.form.d == WgmmaResult::F16 ? p.form.n / 4 : p.form.n / 2)) {
    return b.unsupported("a number of accumulators that does not fit the shape");
  }
  const ptx::Operand& a = b.operand(1);
  p.a_in_registers = a.kind == Kind::Vector;
  if (p.a_in_registers) {
    const auto parts = b.parts(a);
    if (parts.size() != 4) return b.unsupported("A in a number of registers other than 4");
    for (uint32_t i = 0; i < 4; ++i) {
      Result<Location> location = b.source(parts[i], ScalarType::b32);
      if (!location) return location.error();
      p.a[i] = *location;
    }
  } else {
    Result<Location> descriptor = b.source(a, ScalarType::b64);
    if (!descriptor) return descriptor.error();
    p.a[0] = *descriptor;
  }
  Result<Location> descriptor = b.source(2, ScalarType::b64);
  if (!descriptor) return descriptor.error();
  p.b = *descriptor;

  uint32_t next = 3;
  if (p.form.sparse) {
    Result<Location> metadata = b.source(next++, ScalarType::b32);
    if (!metadata) return metadata.error();
    p.metadata = *metadata;
    p.selector = static_cast<uint32_t>(b.immediate(b.operand(next++), ScalarType::u32));
    if (p.selector > (p.form.element_bits() == 8 ? 0u : 1u)) return b.unsupported("this metadata selector");
  }
  const ptx::Operand& scale = b.operand(next++);
  if (b.is_immediate(scale)) {
    p.scale_d_flip = b.immediate(scale, ScalarType::u32) != 0 ? 0 : kAllLanes;
  } else {
    p.scale_d = b.predicate(scale);
    p.scale_d_flip = scale.negate ? kAllLanes : 0;
  }
  const auto immediate = [&b](uint32_t i) {
    return static_cast<int32_t>(b.immediate(b.operand(i), ScalarType::s32));
  };
  if (b.count() >= next + 2) {
    p.form.negate_a = immediate(next++) < 0;
    p.form.negate_b = immediate(next++) < 0;
  }
  if (!p.a_in_registers && b.count() > next + 1) p.a_mn_major = immediate(next++) != 0;
  if (b.count() > next) p.b_mn_major = immediate(next++) != 0;
  Op op = b.op(issue);
  op.extra = b.extra(std::move(p));
  return op;
}

constexpr BindRow kRows[] = {
    {Opcode::wgmma_fence, bind_fence},          {Opcode::wgmma_commit_group, bind_commit},
    {Opcode::wgmma_wait_group, bind_wait},      {Opcode::wgmma_mma_async, bind_product},
    {Opcode::wgmma_mma_async_sp, bind_product},
};

}  // namespace

std::span<const BindRow> wgmma_rows() {
  return kRows;
}

}  // namespace sluice::machine
