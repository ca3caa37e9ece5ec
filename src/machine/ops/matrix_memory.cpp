// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// ldmatrix, stmatrix, movmatrix, and wmma's loads and stores.
#include <cstring>

#include "machine/numeric/fragment.hpp"
#include "machine/ops/access.hpp"
#include "machine/ops/matrix.hpp"

namespace sluice::machine {
namespace {

using namespace numeric;
using ptx::Mod;
using ptx::Operand;
using ptx::ScalarType;

// --- 8 x 8 matrices of 16 bits
// -----------------------------------------------------------------------------------------------

struct MatrixAccess {
  Address address;
  FragmentLocations regs;
  bool transposed = false;
};

/// Rows of the matrices: lane 8 i + j has the address of row j of matrix i. Fills host pointers; false after
/// a fault.
bool row_pointers(Warp& w, const MatrixAccess& x, bool write, uint8_t* (&rows)[kLanes]) {
  const auto used = static_cast<uint32_t>(x.regs.size()) * 8;
  const uint32_t lanes = used == 32 ? kAllLanes : (1u << used) - 1;
  uint64_t addresses[kLanes];
  compute_addresses(w, x.address, lanes, addresses);
  if (!translate(w, x.address.window, lanes, addresses, 16, write, rows)) return false;
  if (w.worker().listener() != nullptr) {
    emit_access(w, write ? event::Kind::Write : event::Kind::Read, x.address.window, lanes, addresses, 16,
                event::Semantics::Weak, event::Scope::Cta);
  }
  return true;
}

Step ldmatrix(Warp& w, const Op& op, uint32_t) {
  if (const Step s = w.rendezvous(kAllLanes); s != Step::Next) return s;
  const auto& x = *static_cast<const MatrixAccess*>(op.extra);
  uint8_t* rows[kLanes];
  if (!row_pointers(w, x, false, rows)) return Step::Fault;
  uint32_t out[4][kLanes];
  for (size_t i = 0; i < x.regs.size(); ++i) {
    for (uint32_t lane = 0; lane < 32; ++lane) {
      if (!x.transposed) {
        std::memcpy(&out[i][lane], rows[8 * i + lane / 4] + 4 * (lane % 4), 4);
      } else {
        uint16_t pair[2];
        for (uint32_t e = 0; e < 2; ++e)
          std::memcpy(&pair[e], rows[8 * i + 2 * (lane % 4) + e] + 2 * (lane / 4), 2);
        std::memcpy(&out[i][lane], pair, 4);
      }
    }
  }
  for (size_t i = 0; i < x.regs.size(); ++i) std::memcpy(w.u32(x.regs[i]), out[i], sizeof out[i]);
  return Step::Next;
}

Step stmatrix(Warp& w, const Op& op, uint32_t) {
  if (const Step s = w.rendezvous(kAllLanes); s != Step::Next) return s;
  const auto& x = *static_cast<const MatrixAccess*>(op.extra);
  uint8_t* rows[kLanes];
  if (!row_pointers(w, x, true, rows)) return Step::Fault;
  for (size_t i = 0; i < x.regs.size(); ++i) {
    const uint32_t* const values = w.u32(x.regs[i]);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      if (!x.transposed) {
        std::memcpy(rows[8 * i + lane / 4] + 4 * (lane % 4), &values[lane], 4);
      } else {
        uint16_t pair[2];
        std::memcpy(pair, &values[lane], 4);
        for (uint32_t e = 0; e < 2; ++e)
          std::memcpy(rows[8 * i + 2 * (lane % 4) + e] + 2 * (lane / 4), &pair[e], 2);
      }
    }
  }
  w.acted = true;
  return Step::Next;
}

Step movmatrix(Warp& w, const Op& op, uint32_t) {
  if (const Step s = w.rendezvous(kAllLanes); s != Step::Next) return s;
  const uint32_t* const a = w.u32(op.a);
  uint32_t out[kLanes];
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t r = 0;
    for (uint32_t e = 0; e < 2; ++e) {
      // Element (row lane/4, column 2 (lane%4) + e) of the transposed matrix.
      const uint32_t row = 2 * (lane % 4) + e, column = lane / 4;
      r |= ((a[row * 4 + column / 2] >> (16 * (column % 2))) & 0xffff) << (16 * e);
    }
    out[lane] = r;
  }
  std::memcpy(w.u32(op.d), out, sizeof out);
  return Step::Next;
}

Result<Op> bind_rows(Binder& b, uint32_t address, uint32_t regs, bool load) {
  if (b.type() != ScalarType::b16) return b.unsupported("8-, 6- and 4-bit matrices need sm_100a");
  MatrixAccess x;
  SLUICE_ASSIGN_OR_RETURN(x.address, bind_memory_address(b, b.operand(address), b.mods().space()));
  if (load) {
    x.regs = bind_fragment_destination(b, b.operand(regs));
  } else {
    SLUICE_ASSIGN_OR_RETURN(x.regs, bind_fragment_source(b, b.operand(regs), ScalarType::b32));
  }
  x.transposed = b.has(Mod::trans);
  Op op = b.op(load ? ldmatrix : stmatrix);
  op.extra = b.extra(std::move(x));
  return op;
}

// --- wmma fragments
// ----------------------------------------------------------------------------------------------------------

/// One wmma.load or wmma.store: which matrix, how it lies in memory, which registers.
struct WmmaAccess {
  Address address;
  FragmentLocations regs;
  char fragment = 'a';
  uint32_t m = 0, n = 0, k = 0;
  uint32_t bits = 16;
  uint32_t repeats = 1;
  bool by_rows = true;
  bool has_stride = false;
  Location stride = 0;
};

/// Index of an element in memory, in elements.
uint64_t element_index(const WmmaAccess& x, uint32_t lane, uint32_t reg, uint32_t element, uint64_t leading) {
  const uint32_t per_register = x.bits >= 32 ? 1 : 32 / x.bits;
  uint32_t row, column;
  if (x.fragment == 'a') {
    const Position p = multiplicand_position(spread_of_a(x.m, x.k, per_register), lane, reg, element);
    row = p.row;
    column = p.column;
  } else if (x.fragment == 'b') {
    const Position p = multiplicand_position(spread_of_b(x.m, x.n, x.k, per_register), lane, reg, element);
    row = p.column;
    column = p.row;
  } else {
    const Position p = accumulator_position(x.m, x.n, lane, reg * per_register + element);
    row = p.row;
    column = p.column;
  }
  return x.by_rows ? row * leading + column : column * leading + row;
}

/// Rows (or columns) are this far apart where the instruction does not say it.
uint64_t natural_leading(const WmmaAccess& x) {
  const uint32_t rows = x.fragment == 'b' ? x.k : x.m, columns = x.fragment == 'a' ? x.k : x.n;
  return x.by_rows ? columns : rows;
}

/// The bytes that a lane's register covers: `count` consecutive elements at a time, so that sub-byte ones go
/// together.
template <bool Load>
Step wmma_access(Warp& w, const Op& op, uint32_t) {
  if (const Step s = w.rendezvous(kAllLanes); s != Step::Next) return s;
  const auto& x = *static_cast<const WmmaAccess*>(op.extra);
  const uint64_t leading = x.has_stride ? w.u32(x.stride)[0] : natural_leading(x);
  const uint32_t per_register = x.bits >= 32 ? 1 : 32 / x.bits;
  // Elements narrower than a byte are consecutive along K: a whole word at a time.
  const uint32_t count = x.bits < 8 ? per_register : 1;
  const uint32_t bytes = x.bits * count / 8;
  uint64_t base[kLanes], addresses[kLanes];
  uint8_t* pointers[kLanes];
  compute_addresses(w, x.address, kAllLanes, base);
  const auto distinct = static_cast<uint32_t>(x.regs.size()) / x.repeats;
  for (uint32_t r = 0; r < distinct; ++r) {
    uint64_t values[kLanes] = {};
    for (uint32_t e = 0; e < per_register; e += count) {
      for (uint32_t lane = 0; lane < 32; ++lane)
        addresses[lane] = base[lane] + element_index(x, lane, r, e, leading) * x.bits / 8;
      if (!translate(w, x.address.window, kAllLanes, addresses, bytes, !Load, pointers)) return Step::Fault;
      if (w.worker().listener() != nullptr) {
        emit_access(w, Load ? event::Kind::Read : event::Kind::Write, x.address.window, kAllLanes, addresses,
                    bytes, event::Semantics::Weak, event::Scope::Cta);
      }
      for (uint32_t lane = 0; lane < 32; ++lane) {
        if constexpr (Load) {
          uint64_t value = 0;
          std::memcpy(&value, pointers[lane], bytes);
          values[lane] |= value << (e * x.bits);
        } else {
          const uint64_t word =
              x.bits == 64 ? w.u64(x.regs[r])[lane] : w.u32(x.regs[r])[lane] >> (e * x.bits);
          std::memcpy(pointers[lane], &word, bytes);
        }
      }
    }
    if constexpr (Load) {
      for (uint32_t copy = 0; copy < x.repeats; ++copy) {
        const Location reg = x.regs[r + copy * distinct];
        for (uint32_t lane = 0; lane < 32; ++lane) {
          if (x.bits == 64) {
            w.u64(reg)[lane] = values[lane];
          } else {
            w.u32(reg)[lane] = static_cast<uint32_t>(values[lane]);
          }
        }
      }
    }
  }
  if constexpr (!Load) w.acted = true;
  return Step::Next;
}

Result<Op> bind_wmma_access(Binder& b, bool load) {
  const ScalarType type = b.type();
  WmmaAccess x;
  x.fragment = b.has(Mod::a) ? 'a' : b.has(Mod::b) ? 'b' : 'c';
  x.m = b.mods().shape.m;
  x.n = b.mods().shape.n;
  x.k = b.mods().shape.k;
  x.bits = type == ScalarType::tf32 ? 32 : ptx::bits_of(type);
  x.by_rows = b.has(Mod::row);
  const bool multiplicand = x.fragment != 'c';
  if (multiplicand && type == ScalarType::f16) x.repeats = 8 * 64 / ((x.fragment == 'a' ? x.m : x.n) * x.k);
  const uint32_t address = load ? 1 : 0;
  SLUICE_ASSIGN_OR_RETURN(x.address, bind_memory_address(b, b.operand(address), b.mods().space()));
  const ScalarType held = type == ScalarType::f64 ? ScalarType::b64 : ScalarType::b32;
  if (load) {
    x.regs = bind_fragment_destination(b, b.operand(0));
  } else {
    SLUICE_ASSIGN_OR_RETURN(x.regs, bind_fragment_source(b, b.operand(1), held));
  }
  if (b.count() > 2) {
    x.has_stride = true;
    SLUICE_ASSIGN_OR_RETURN(x.stride, b.source(2, ScalarType::b32));
  }
  Op op = b.op(load ? wmma_access<true> : wmma_access<false>);
  op.extra = b.extra(std::move(x));
  return op;
}

}  // namespace

Result<Op> bind_ldmatrix(Binder& b) {
  return bind_rows(b, 1, 0, true);
}
Result<Op> bind_stmatrix(Binder& b) {
  return bind_rows(b, 0, 1, false);
}
Result<Op> bind_movmatrix(Binder& b) {
  Op op = b.op(movmatrix);
  op.d = b.destination(0);
  SLUICE_ASSIGN_OR_RETURN(op.a, b.source(1, ScalarType::b32));
  return op;
}
Result<Op> bind_wmma_load(Binder& b) {
  return bind_wmma_access(b, true);
}
Result<Op> bind_wmma_store(Binder& b) {
  return bind_wmma_access(b, false);
}

}  // namespace sluice::machine
