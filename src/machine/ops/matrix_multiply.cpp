// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// mma.sync, mma.sp and wmma.mma: gather the warp's fragments into matrices, multiply, scatter the result.
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>

#include "machine/numeric/convert.hpp"
#include "machine/numeric/fragment.hpp"
#include "machine/numeric/integer.hpp"
#include "machine/numeric/tensor_sum.hpp"
#include "machine/ops/matrix.hpp"

namespace sluice::machine {
namespace {

using namespace numeric;
using ptx::Mod;
using ptx::Operand;
using ptx::ScalarType;

constexpr uint32_t kMostRows = 32;
constexpr uint32_t kMostK = 256;

/// One instruction, completely described.
struct Multiply {
  uint32_t m = 0, n = 0, k = 0;
  ScalarType d_type{}, a_type{}, b_type{}, c_type{};
  bool quads = false;  ///< m8n8k4 of f16
  bool a_by_rows = true, b_by_rows = false;
  bool saturate = false;
  bool popc_and = false;
  bool sparse = false;
  int f64_rounding = FE_TONEAREST;
  uint32_t selector = 0;
  Location metadata = 0;
  uint32_t a_repeats = 1, b_repeats = 1;  ///< wmma: how often the fragment holds each element
  uint32_t step = 0;                      ///< products that the hardware adds at once
  FragmentLocations a, b, c, d;
};

/// An element of a fragment's register. Sub-word types lie lowest first.
uint64_t element_of(Warp& w, Location reg, uint32_t lane, uint32_t element, uint32_t bits) {
  if (bits == 64) return w.u64(reg)[lane];
  const uint32_t word = w.u32(reg)[lane];
  return bits == 32 ? word : (word >> (element * bits)) & ((1u << bits) - 1);
}

/// The matrices of one product, as raw bits. B is kept by columns.
struct Matrices {
  uint64_t a[kMostRows][kMostK];
  uint64_t b[kMostRows][kMostK];
  uint64_t c[kMostRows][kMostRows];
  uint64_t d[kMostRows][kMostRows];
  uint8_t position[kMostRows][kMostK];  ///< sparse: along K, of each stored element of A
};

void gather_multiplicand(Warp& w, const FragmentLocations& regs, uint32_t repeats, const Spread& spread,
                         uint32_t bits, uint64_t (&out)[kMostRows][kMostK]) {
  const auto distinct = static_cast<uint32_t>(regs.size()) / repeats;
  for (uint32_t r = 0; r < distinct; ++r) {
    for (uint32_t lane = 0; lane < 32; ++lane) {
      for (uint32_t e = 0; e < spread.per_register; ++e) {
        const Position p = multiplicand_position(spread, lane, r, e);
        out[p.row][p.column] = element_of(w, regs[r], lane, e, bits);
      }
    }
  }
}

template <class Each>
void each_accumulator(const Multiply& x, ScalarType type, size_t registers, Each each) {
  const uint32_t per_register = type == ScalarType::f16 ? 2 : 1;
  for (uint32_t r = 0; r < registers; ++r) {
    for (uint32_t e = 0; e < per_register; ++e) {
      for (uint32_t lane = 0; lane < 32; ++lane) {
        each(r, e, lane, accumulator_position(x.m, x.n, lane, r * per_register + e));
      }
    }
  }
}

void write_element(Warp& w, Location reg, uint32_t lane, uint32_t element, ScalarType type, uint64_t value) {
  if (type == ScalarType::f64) {
    w.u64(reg)[lane] = value;
  } else if (type == ScalarType::f16) {
    uint32_t& word = w.u32(reg)[lane];
    word = element == 0 ? static_cast<uint32_t>(value & 0xffff) | (word & 0xffff0000u)
                        : (word & 0xffffu) | static_cast<uint32_t>(value << 16);
  } else {
    w.u32(reg)[lane] = static_cast<uint32_t>(value);
  }
}

// --- products
// ------------------------------------------------------------------------------------------------------------------

/// Position along K of A's stored element.
uint32_t position_of(const Multiply& x, const Matrices& t, uint32_t row, uint32_t k) {
  return x.sparse ? t.position[row][k] : k;
}

/// One element of the result, in the steps that an H200 takes.
uint32_t add_products(const Multiply& x, const TensorNumber* a, const TensorNumber* b, uint32_t count,
                      uint32_t start, TensorResult result) {
  if (x.quads) {
    // m8n8k4 has no tensor instruction there: a chain of fused multiply-adds, then the accumulator.
    float sum = 0.0f;
    for (uint32_t k = 0; k < count; ++k)
      sum = __builtin_fmaf(static_cast<float>(a[k].value), static_cast<float>(b[k].value), sum);
    return F32<false, false>::add(to_bits(sum), start);
  }
  if (ptx::bits_of(x.a_type) == 8) {
    // Widened to f16 and multiplied in two steps, the lower halves of all registers first; then the
    // accumulator.
    TensorNumber part_a[2][kMostK / 2], part_b[2][kMostK / 2];
    for (uint32_t k = 0; k < count; ++k) {
      part_a[(k / 2) % 2][k / 4 * 2 + k % 2] = a[k];
      part_b[(k / 2) % 2][k / 4 * 2 + k % 2] = b[k];
    }
    uint32_t sum = 0;
    for (int half = 0; half < 2; ++half)
      sum = tensor_step(part_a[half], part_b[half], count / 2, sum, result);
    return result == TensorResult::F16 ? Half<F16, false>::add(sum, start)
                                       : F32<false, false>::add(sum, start);
  }
  uint32_t sum = start;
  for (uint32_t k = 0; k < count; k += x.step)
    sum = tensor_step(a + k, b + k, std::min(x.step, count - k), sum, result);
  return sum;
}

/// An f32 sum as f16. MODEL: .satfinite, which older ISA versions had here, makes an H200 round towards zero,
/// and that is all it does.
uint32_t narrow_sum(const Multiply& x, uint32_t sum) {
  if (!x.saturate) return f32_to_f16(sum);
  return static_cast<uint32_t>(round_to(decode(sum, kF32), kF16, Rounding::Zero));
}

void multiply_float(const Multiply& x, Matrices& t) {
  const uint32_t stored = x.sparse ? x.k / 2 : x.k;
  const Format& fa = format_of(x.a_type);
  const Format& fb = format_of(x.b_type);
  static thread_local TensorNumber a[kMostK], b[kMostRows][kMostK], picked[kMostK];
  const auto raw = [](uint64_t bits, ScalarType type) {
    return type == ScalarType::tf32 ? bits >> 13 : bits;
  };
  for (uint32_t n = 0; n < x.n; ++n) {
    for (uint32_t k = 0; k < x.k; ++k) b[n][k] = tensor_number(raw(t.b[n][k], x.b_type), fb);
  }
  const bool half = x.d_type == ScalarType::f16 && x.c_type == ScalarType::f16 && !x.quads;
  const TensorResult result = half ? TensorResult::F16 : TensorResult::F32;
  for (uint32_t m = 0; m < x.m; ++m) {
    for (uint32_t k = 0; k < stored; ++k) a[k] = tensor_number(raw(t.a[m][k], x.a_type), fa);
    for (uint32_t n = 0; n < x.n; ++n) {
      const TensorNumber* other = b[n];
      if (x.sparse) {
        for (uint32_t k = 0; k < stored; ++k) picked[k] = b[n][position_of(x, t, m, k)];
        other = picked;
      }
      uint32_t start = static_cast<uint32_t>(t.c[m][n]);
      if (result == TensorResult::F32 && x.c_type == ScalarType::f16) start = f16_to_f32(start);
      const uint32_t sum = add_products(x, a, other, stored, start, result);
      const bool narrow = result == TensorResult::F32 && x.d_type == ScalarType::f16;
      t.d[m][n] = narrow ? narrow_sum(x, sum) : sum;
    }
  }
}

/// Must not be inlined: it runs under the rounding mode that its caller sets.
[[gnu::noinline]] void multiply_f64(const Multiply& x, Matrices& t) {
  for (uint32_t m = 0; m < x.m; ++m) {
    for (uint32_t n = 0; n < x.n; ++n) {
      uint64_t sum = t.c[m][n];
      for (uint32_t k = 0; k < x.k; ++k) sum = F64::fma(t.a[m][k], t.b[n][k], sum);
      t.d[m][n] = sum;
    }
  }
}

int32_t integer_element(uint64_t bits, ScalarType type) {
  switch (type) {
    case ScalarType::s8:
      return static_cast<int8_t>(bits);
    case ScalarType::s4:
      return static_cast<int32_t>(static_cast<uint32_t>(bits) << 28) >> 28;
    default:
      return static_cast<int32_t>(bits);
  }
}

void multiply_integer(const Multiply& x, Matrices& t) {
  const uint32_t stored = x.sparse ? x.k / 2 : x.k;
  for (uint32_t m = 0; m < x.m; ++m) {
    for (uint32_t n = 0; n < x.n; ++n) {
      int64_t sum = static_cast<int32_t>(t.c[m][n]);
      for (uint32_t k = 0; k < stored; ++k) {
        if (x.a_type == ScalarType::b1) {
          sum += static_cast<int64_t>(x.popc_and ? t.a[m][k] & t.b[n][k] : t.a[m][k] ^ t.b[n][k]);
        } else {
          sum += int64_t{integer_element(t.a[m][k], x.a_type)} *
                 integer_element(t.b[n][position_of(x, t, m, k)], x.b_type);
        }
      }
      t.d[m][n] = x.saturate ? word(saturate_s32(sum)) : static_cast<uint32_t>(sum);
    }
  }
}

/// Fills `position` from the metadata operand.
void read_metadata(Warp& w, const Multiply& x, Matrices& t) {
  const uint32_t stored = x.k / 2;
  const uint32_t bits = ptx::bits_of(x.a_type);
  // Elements that one nibble of metadata places, and how far the group reaches along K.
  const uint32_t per_group = bits == 32 ? 1 : bits == 4 ? 4 : 2;
  const uint32_t groups = stored / per_group;
  for (uint32_t row = 0; row < x.m; ++row) {
    for (uint32_t group = 0; group < groups; ++group) {
      const MetadataPlace place = metadata_place(bits < 16, groups, x.selector, row, group);
      const uint32_t nibble = (w.u32(x.metadata)[place.lane] >> place.shift) & 15;
      const uint32_t pick[2] = {nibble & 3, nibble >> 2};
      for (uint32_t i = 0; i < per_group; ++i) {
        uint32_t at;
        if (bits == 32) {
          at = group * 2 + pick[0] / 2;
        } else if (bits == 4) {
          at = group * 8 + pick[i / 2] * 2 + i % 2;
        } else {
          at = group * 4 + pick[i];
        }
        t.position[row][group * per_group + i] = static_cast<uint8_t>(at);
      }
    }
  }
}

void multiply(const Multiply& x, Matrices& t) {
  if (x.d_type == ScalarType::f64) {
    std::fesetround(x.f64_rounding);
    multiply_f64(x, t);
    std::fesetround(FE_TONEAREST);
    return;
  }
  if (x.d_type == ScalarType::s32) return multiply_integer(x, t);
  multiply_float(x, t);
}

// --- the handlers
// ----------------------------------------------------------------------------------------------------------------

Step run_multiply(Warp& w, const Op& op, uint32_t) {
  if (const Step s = w.rendezvous(kAllLanes); s != Step::Next) return s;
  const auto& x = *static_cast<const Multiply*>(op.extra);
  static thread_local Matrices t;
  const uint32_t a_bits = ptx::bits_of(x.a_type);
  const uint32_t stored = x.sparse ? x.k / 2 : x.k, per_register = a_bits == 64 ? 1 : 32 / a_bits;
  gather_multiplicand(w, x.a, x.a_repeats, spread_of_a(x.m, stored, per_register), a_bits, t.a);
  gather_multiplicand(w, x.b, x.b_repeats, spread_of_b(x.m, x.n, x.k, per_register), a_bits, t.b);
  each_accumulator(x, x.c_type, x.c.size(), [&](uint32_t r, uint32_t e, uint32_t lane, Position p) {
    t.c[p.row][p.column] = element_of(w, x.c[r], lane, e,
                                      x.c_type == ScalarType::f16   ? 16
                                      : x.c_type == ScalarType::f64 ? 64
                                                                    : 32);
  });
  if (x.sparse) read_metadata(w, x, t);
  multiply(x, t);
  each_accumulator(x, x.d_type, x.d.size(), [&](uint32_t r, uint32_t e, uint32_t lane, Position p) {
    write_element(w, x.d[r], lane, e, x.d_type, t.d[p.row][p.column]);
  });
  return Step::Next;
}

/// m8n8k4 of f16: the same four times over.
Step run_quads(Warp& w, const Op& op, uint32_t) {
  if (const Step s = w.rendezvous(kAllLanes); s != Step::Next) return s;
  const auto& x = *static_cast<const Multiply*>(op.extra);
  static thread_local Matrices products[4];
  const auto accumulator = [](ScalarType type, uint32_t lane, uint32_t i) {
    return type == ScalarType::f16 ? quad_half_position(lane, i) : quad_single_position(lane, i);
  };
  for (uint32_t lane = 0; lane < 32; ++lane) {
    Matrices& t = products[quad_pair(lane)];
    for (uint32_t e = 0; e < 4; ++e) {
      const Position a = quad_a_position(x.a_by_rows, lane, e), b = quad_b_position(x.b_by_rows, lane, e);
      t.a[a.row][a.column] = element_of(w, x.a[e / 2], lane, e % 2, 16);
      t.b[b.row][b.column] = element_of(w, x.b[e / 2], lane, e % 2, 16);
    }
    for (uint32_t e = 0; e < 8; ++e) {
      const Position p = accumulator(x.c_type, lane, e);
      const bool half = x.c_type == ScalarType::f16;
      t.c[p.row][p.column] =
          half ? element_of(w, x.c[e / 2], lane, e % 2, 16) : element_of(w, x.c[e], lane, 0, 32);
    }
  }
  for (Matrices& t : products) multiply(x, t);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const Matrices& t = products[quad_pair(lane)];
    for (uint32_t e = 0; e < 8; ++e) {
      const Position p = accumulator(x.d_type, lane, e);
      const bool half = x.d_type == ScalarType::f16;
      write_element(w, x.d[half ? e / 2 : e], lane, half ? e % 2 : 0, x.d_type, t.d[p.row][p.column]);
    }
  }
  return Step::Next;
}

ScalarType register_type(ScalarType element) {
  return element == ScalarType::f64 ? ScalarType::b64 : ScalarType::b32;
}

/// Products that the machine adds in one step.
uint32_t step_of(const Multiply& x) {
  switch (ptx::bits_of(x.a_type)) {
    case 16:
      return 16;
    default:
      return x.k;
  }
}

Result<Op> bind_fragments(Binder& b, Multiply x, Handler handler) {
  x.d = bind_fragment_destination(b, b.operand(0));
  SLUICE_ASSIGN_OR_RETURN(x.a, bind_fragment_source(b, b.operand(1), register_type(x.a_type)));
  SLUICE_ASSIGN_OR_RETURN(x.b, bind_fragment_source(b, b.operand(2), register_type(x.b_type)));
  SLUICE_ASSIGN_OR_RETURN(x.c, bind_fragment_source(b, b.operand(3), register_type(x.c_type)));
  Op op = b.op(handler);
  op.extra = b.extra(std::move(x));
  return op;
}

Multiply describe(const Binder& b) {
  Multiply x;
  x.m = b.mods().shape.m;
  x.n = b.mods().shape.n;
  x.k = b.mods().shape.k;
  x.saturate = b.has(Mod::satfinite);
  x.popc_and = b.has(Mod::and_);
  int layouts = 0;
  for (const Mod mod : b.mods().all()) {
    if (mod != Mod::row && mod != Mod::col) continue;
    (layouts++ == 0 ? x.a_by_rows : x.b_by_rows) = mod == Mod::row;
  }
  return x;
}

}  // namespace

Result<Op> bind_mma(Binder& b) {
  Multiply x = describe(b);
  x.d_type = b.type(0);
  x.a_type = b.type(1);
  x.b_type = b.type(2);
  x.c_type = b.type(3);
  x.sparse = b.has(Mod::sp) || b.has(Mod::sp__ordered_metadata);
  x.step = step_of(x);
  if (b.has(Mod::block_scale) || b.has(Mod::kind__f8f6f4))
    return b.unsupported("scaled and 4- or 6-bit types need sm_120a");
  if (x.sparse) {
    const Operand& selector = b.operand(5);
    if (!b.is_immediate(selector)) return b.unsupported("the sparsity selector is not an immediate");
    x.selector = static_cast<uint32_t>(selector.value);
    SLUICE_ASSIGN_OR_RETURN(x.metadata, b.source(4, ScalarType::b32));
  }
  x.quads = x.m == 8 && x.k == 4 && x.a_type == ScalarType::f16;
  return bind_fragments(b, std::move(x), x.quads ? run_quads : run_multiply);
}

Result<Op> bind_wmma_mma(Binder& b) {
  Multiply x = describe(b);
  x.d_type = b.type(0);
  const bool half = b.mods().type_count() == 2;  // the f16 forms name accumulators alone
  x.a_type = half ? ScalarType::f16 : b.type(1);
  x.b_type = half ? ScalarType::f16 : b.type(2);
  x.c_type = half ? b.type(1) : b.type(3);
  if (b.has(Mod::rz)) x.f64_rounding = FE_TOWARDZERO;
  if (b.has(Mod::rm)) x.f64_rounding = FE_DOWNWARD;
  if (b.has(Mod::rp)) x.f64_rounding = FE_UPWARD;
  x.step = step_of(x);
  if (x.a_type == ScalarType::tf32) x.step = 4;
  if (x.a_type == ScalarType::f16) {
    // The fragments always have eight registers and hold each element as often as that needs.
    x.a_repeats = 8 * 64 / (x.m * x.k);
    x.b_repeats = 8 * 64 / (x.n * x.k);
  }
  return bind_fragments(b, std::move(x), run_multiply);
}

}  // namespace sluice::machine
