// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// See special_cases.hpp. Every thread has a cell of 64 bytes in the space that the instruction names; cells
// are filled from the thread's record, and what the instruction leaves in them is an output.
#include "special_cases.hpp"

#include <algorithm>
#include <string>

namespace sluice::parity {
namespace {

using ptx::Form;
using ptx::Mod;
using ptx::Mods;
using ptx::Opcode;
using ptx::OperandSpec;
using ptx::ScalarType;
using ptx::Space;

constexpr uint32_t kCell = 64;

std::string number(uint64_t value) {
  return std::to_string(value);
}

/// The thread's cell: its address and the space to name in ordinary loads and stores.
struct Cell {
  std::string address;  ///< register with the address, as the instruction takes it
  std::string space;    ///< ".global" and the like, for our own accesses
  std::string ours;     ///< register with the address for these
};

Cell make_cell(KernelText& k, Space space, uint32_t choice) {
  const std::string offset = k.declare(64), address = k.declare(64);
  k.line("mul.wide.u32 " + offset + ", %thread, " + number(kCell) + ";");
  const auto shared = [&] {
    k.top(".shared .align 16 .b8 s_cells[" + number(kCell * kThreads) + "];");
    k.line("mov.u64 " + address + ", s_cells;");
    k.line("add.u64 " + address + ", " + address + ", " + offset + ";");
  };
  const auto local = [&] {
    k.top(".local .align 16 .b8 l_cell[" + number(kCell) + "];");
    k.line("mov.u64 " + address + ", l_cell;");
  };
  switch (space) {
    case Space::shared:
    case Space::shared_cta:
    case Space::shared_cluster:
      shared();
      return {address, ".shared", address};
    case Space::local:
      local();
      return {address, ".local", address};
    case Space::const_:
      k.line("mov.u64 " + address + ", c_cells;");
      k.line("add.u64 " + address + ", " + address + ", " + offset + ";");
      return {address, ".const", address};
    default:
      break;
  }
  // Generic addresses lead to each of the windows in turn.
  const uint32_t where = space == Space::none ? choice % 3 : 0;
  if (where == 0) {
    k.line("add.u64 " + address + ", %scratch, " + offset + ";");
    return {address, ".global", address};
  }
  if (where == 1) {
    shared();
  } else {
    local();
  }
  const std::string generic = k.declare(64);
  k.line(std::string("cvta.") + (where == 1 ? "shared" : "local") + ".u64 " + generic + ", " + address + ";");
  return {generic, where == 1 ? ".shared" : ".local", address};
}

/// Fills the cell with values of the type from the record.
void fill_cell(KernelText& k, const Cell& cell, ScalarType type) {
  const uint32_t at = k.raw_input(kCell, type, Flavour::Any);
  const std::string low = k.declare(64), high = k.declare(64);
  for (uint32_t i = 0; i < kCell; i += 16) {
    k.line("ld.global.v2.b64 {" + low + ", " + high + "}, [%in+" + number(at + i) + "];");
    k.line("st" + cell.space + ".v2.b64 [" + cell.ours + "+" + number(i) + "], {" + low + ", " + high + "};");
  }
}

/// The first `bytes` of the cell become outputs.
void dump_cell(KernelText& k, const Cell& cell, ScalarType type, uint32_t bytes) {
  const uint32_t at = k.raw_output(bytes, type);
  const std::string low = k.declare(64), high = k.declare(64);
  for (uint32_t i = 0; i < bytes; i += 16) {
    k.tail("ld" + cell.space + ".v2.b64 {" + low + ", " + high + "}, [" + cell.ours + "+" + number(i) + "];");
    k.tail("st.global.v2.b64 [%out+" + number(at + i) + "], {" + low + ", " + high + "};");
  }
}

std::string cache_policy(KernelText& k) {
  const std::string policy = k.declare(64);
  k.line("createpolicy.fractional.L2::evict_first.b64 " + policy + ", 1.0;");
  return policy;
}

uint32_t register_bits(ScalarType type, uint32_t choice) {
  const uint32_t bits = std::max(16u, ptx::size_of(type) * 8);
  return bits == 16 && choice % 2 == 1 && ptx::size_of(type) == 1 ? 32 : bits;
}

/// A vector or scalar of registers, read from the record or written to it.
std::string values(KernelText& k, uint32_t count, ScalarType type, uint32_t bits, bool written) {
  std::string text;
  for (uint32_t i = 0; i < count; ++i) {
    std::string reg;
    if (written) {
      reg = k.declare(bits);
      k.output(reg, bits, type);
    } else {
      reg = k.input(type, Flavour::Any, bits);
    }
    text += (i == 0 ? "" : ", ") + reg;
  }
  return count > 1 ? "{" + text + "}" : text;
}

bool write_load(KernelText& k, const Form& form, const Mods& mods, uint32_t choice) {
  const Space space = mods.space();
  if (space == Space::param_func) return false;
  const ScalarType type = mods.type();
  std::string address;
  if (space == Space::param || space == Space::param_entry) {
    address = "p_blob+" + number(16 * (choice % 2));
  } else if (mods.has(Mod::nc) || form.opcode == Opcode::ldu) {
    const uint32_t at = k.raw_input(kCell, type, Flavour::Any);
    address = "%in+" + number(at);
  } else {
    const Cell cell = make_cell(k, space, choice);
    if (space != Space::const_) fill_cell(k, cell, type);
    address = cell.address + (choice % 2 == 1 ? "+32" : "");
  }
  const uint32_t count = ptx::operand_count(form, form.operands[0], mods).count;
  const std::string d = values(k, count, type, register_bits(type, choice), true);
  const std::string policy = mods.has(Mod::L2__cache_hint) ? ", " + cache_policy(k) : "";
  k.line(instruction_text(form, mods) + " " + d + ", [" + address + "]" + policy + ";");
  return true;
}

bool write_store(KernelText& k, const Form& form, const Mods& mods, uint32_t choice) {
  const Space space = mods.space();
  if (space == Space::param || space == Space::param_func) return false;
  const ScalarType type = mods.type();
  const Cell cell = make_cell(k, space, choice);
  fill_cell(k, cell, ScalarType::b64);
  const uint32_t count = ptx::operand_count(form, form.operands[1], mods).count;
  const std::string value = values(k, count, type, register_bits(type, choice), false);
  const std::string policy = mods.has(Mod::L2__cache_hint) ? ", " + cache_policy(k) : "";
  k.line(instruction_text(form, mods) + " [" + cell.address + "], " + value + policy + ";");
  dump_cell(k, cell, ScalarType::b64, 32);
  return true;
}

/// cas compares with what lies there in half of the cases.
std::string compare_value(KernelText& k, const Cell& cell, ScalarType type, uint32_t bits) {
  const std::string from_record = k.input(type, Flavour::Any, bits);
  const std::string flag = k.input(ScalarType::pred, Flavour::Any);
  const std::string out = k.declare(bits);
  if (bits == 128) {
    const std::string low = k.declare(64), high = k.declare(64), other_low = k.declare(64),
                      other_high = k.declare(64);
    k.line("ld" + cell.space + ".v2.b64 {" + low + ", " + high + "}, [" + cell.ours + "];");
    k.line("mov.b128 {" + other_low + ", " + other_high + "}, " + from_record + ";");
    k.line("selp.b64 " + low + ", " + low + ", " + other_low + ", " + flag + ";");
    k.line("selp.b64 " + high + ", " + high + ", " + other_high + ", " + flag + ";");
    k.line("mov.b128 " + out + ", {" + low + ", " + high + "};");
    return out;
  }
  const std::string there = k.declare(bits);
  k.line("ld" + cell.space + ".b" + number(bits) + " " + there + ", [" + cell.ours + "];");
  k.line("selp.b" + number(bits) + " " + out + ", " + there + ", " + from_record + ", " + flag + ";");
  return out;
}

bool write_atomic(KernelText& k, const Form& form, const Mods& mods, uint32_t choice) {
  const ScalarType type = mods.type();
  const bool vector = mods.has(Mod::v2) || mods.has(Mod::v4) || mods.has(Mod::v8);
  // No atomics in local memory: generic addresses lead to global and shared.
  const Cell cell =
      make_cell(k, mods.space(), mods.space() == Space::none ? (vector ? 0 : (choice / 2) % 2) : 0);
  fill_cell(k, cell, type);
  const bool returns = form.opcode == Opcode::atom;
  const uint32_t bits = std::max(16u, ptx::size_of(type) * 8);
  const uint32_t count = ptx::operand_count(form, form.operands[returns ? 2 : 1], mods).count;
  std::string text = instruction_text(form, mods) + " ";
  if (returns) text += values(k, count, type, bits, true) + ", ";
  text += "[" + cell.address + "], ";
  if (mods.has(Mod::cas)) text += compare_value(k, cell, type, bits) + ", ";
  text += values(k, count, type, bits, false);
  if (mods.has(Mod::L2__cache_hint)) text += ", " + cache_policy(k);
  k.line(text + ";");
  dump_cell(k, cell, type, 16);
  return true;
}

bool write_cp_async(KernelText& k, const Form& form, const Mods& mods, uint32_t choice) {
  const Cell cell = make_cell(k, Space::shared, choice);
  fill_cell(k, cell, ScalarType::b64);
  const uint32_t at = k.raw_input(16, ScalarType::b64, Flavour::Any);
  constexpr uint32_t kSizes[] = {16, 8, 4};
  const uint32_t size = mods.has(Mod::cg) ? 16 : kSizes[choice % 3];
  std::string text =
      instruction_text(form, mods) + " [" + cell.address + "], [%in+" + number(at) + "], " + number(size);
  for (const OperandSpec& spec : form.operands) {
    if (spec.name == "src-size" && choice % 2 == 0) {
      const std::string bytes = k.input_made(
          32, +[](Random& random) { return random.below(17); });
      k.line("min.u32 " + bytes + ", " + bytes + ", " + number(size) + ";");
      text += ", " + bytes;
    }
    if (spec.name == "ignore-src") text += ", " + k.input(ScalarType::pred, Flavour::Any);
  }
  if (mods.has(Mod::L2__cache_hint)) text += ", " + cache_policy(k);
  k.line(text + ";");
  k.line("cp.async.wait_all;");
  dump_cell(k, cell, ScalarType::b64, 16);
  return true;
}

// --- matrices in memory
// ------------------------------------------------------------------------------------------------------

bool write_ldmatrix(KernelText& k, const Form& form, const Mods& mods, uint32_t choice) {
  const Cell cell = make_cell(k, Space::shared, 0);
  fill_cell(k, cell, ScalarType::b64);
  k.line("bar.sync 0;");
  // Rows lie in the cells of the warp, in another order than the lanes.
  const std::string row = k.declare(32), wide = k.declare(64), address = k.declare(64);
  k.line("mad.lo.u32 " + row + ", %thread, 5, " + number(3 + choice) + ";");
  k.line("and.b32 " + row + ", " + row + ", 63;");
  k.line("mul.wide.u32 " + wide + ", " + row + ", " + number(kCell) + ";");
  k.line("mov.u64 " + address + ", s_cells;");
  k.line("add.u64 " + address + ", " + address + ", " + wide + ";");
  if (mods.space() == Space::none) k.line("cvta.shared.u64 " + address + ", " + address + ";");
  const ptx::OperandCount count = ptx::operand_count(form, form.operands[0], mods);
  std::string d = values(k, count.count, ScalarType::b32, 32, true);
  if (count.count == 1) d = "{" + d + "}";
  k.line(instruction_text(form, mods) + " " + d + ", [" + address + "];");
  return true;
}

bool write_stmatrix(KernelText& k, const Form& form, const Mods& mods, uint32_t choice) {
  const Cell cell = make_cell(k, Space::shared, 0);
  fill_cell(k, cell, ScalarType::b64);
  k.line("bar.sync 0;");
  const std::string row = k.declare(32), wide = k.declare(64), address = k.declare(64);
  k.line("mad.lo.u32 " + row + ", %thread, 5, " + number(3 + choice) + ";");
  k.line("and.b32 " + row + ", " + row + ", 63;");
  k.line("mul.wide.u32 " + wide + ", " + row + ", " + number(kCell) + ";");
  k.line("mov.u64 " + address + ", s_cells;");
  k.line("add.u64 " + address + ", " + address + ", " + wide + ";");
  if (mods.space() == Space::none) k.line("cvta.shared.u64 " + address + ", " + address + ";");
  const ptx::OperandCount count = ptx::operand_count(form, form.operands[1], mods);
  std::string r = values(k, count.count, ScalarType::b32, 32, false);
  if (count.count == 1) r = "{" + r + "}";
  k.line(instruction_text(form, mods) + " [" + address + "], " + r + ";");
  k.line("bar.sync 0;");
  dump_cell(k, cell, ScalarType::b64, 32);
  return true;
}

constexpr uint32_t kPerThread = 96;  ///< bytes of matrix memory per thread

/// A register with the address of the warp's 3 KiB of the record, which must hold nothing else.
std::string warp_region(KernelText& k, ScalarType type) {
  k.raw_input(kPerThread, type, Flavour::Moderate);
  const std::string lane = k.declare(32), back = k.declare(64), address = k.declare(64);
  k.line("and.b32 " + lane + ", %thread, 31;");
  k.line("mul.wide.u32 " + back + ", " + lane + ", " + number(kPerThread) + ";");
  k.line("sub.u64 " + address + ", %in, " + back + ";");
  return address;
}
/// A register with the address of 4 KiB of scratch memory for the warp.
std::string warp_scratch(KernelText& k) {
  const std::string warp = k.declare(32), wide = k.declare(64), address = k.declare(64);
  k.line("shr.u32 " + warp + ", %thread, 5;");
  k.line("mul.wide.u32 " + wide + ", " + warp + ", 4096;");
  k.line("add.u64 " + address + ", %scratch, " + wide + ";");
  return address;
}
/// Copies the warp's region to shared memory; returns the address there.
std::string to_shared(KernelText& k, const std::string& region) {
  k.top(".shared .align 128 .b8 s_region[" + number(2 * 32 * kPerThread) + "];");
  const std::string base = warp_scratch(k), offset = k.declare(64), from = k.declare(64),
                    address = k.declare(64), mine = k.declare(64), lane = k.declare(32), wide = k.declare(64),
                    low = k.declare(64), high = k.declare(64);
  k.line("sub.u64 " + offset + ", " + base + ", %scratch;");  // 4096 per warp
  k.line("mul.lo.u64 " + offset + ", " + offset + ", 3;");
  k.line("shr.u64 " + offset + ", " + offset + ", 2;");  // 3072 per warp
  k.line("mov.u64 " + address + ", s_region;");
  k.line("add.u64 " + address + ", " + address + ", " + offset + ";");
  k.line("and.b32 " + lane + ", %thread, 31;");
  k.line("mul.wide.u32 " + wide + ", " + lane + ", " + number(kPerThread) + ";");
  k.line("add.u64 " + mine + ", " + address + ", " + wide + ";");
  k.line("add.u64 " + from + ", " + region + ", " + wide + ";");
  for (uint32_t i = 0; i < kPerThread; i += 16) {
    k.line("ld.global.v2.b64 {" + low + ", " + high + "}, [" + from + "+" + number(i) + "];");
    k.line("st.shared.v2.b64 [" + mine + "+" + number(i) + "], {" + low + ", " + high + "};");
  }
  k.line("bar.sync 0;");
  return address;
}
/// The first `bytes` per thread of the warp's region become outputs.
void dump_region(KernelText& k, const std::string& space, const std::string& region, ScalarType type,
                 uint32_t bytes) {
  const uint32_t at = k.raw_output(bytes, type);
  const std::string lane = k.declare(32), wide = k.declare(64), mine = k.declare(64), low = k.declare(64),
                    high = k.declare(64);
  k.tail("bar.sync 0;");
  k.tail("and.b32 " + lane + ", %thread, 31;");
  k.tail("mul.wide.u32 " + wide + ", " + lane + ", " + number(bytes) + ";");
  k.tail("add.u64 " + mine + ", " + region + ", " + wide + ";");
  for (uint32_t i = 0; i < bytes; i += 16) {
    k.tail("ld" + space + ".v2.b64 {" + low + ", " + high + "}, [" + mine + "+" + number(i) + "];");
    k.tail("st.global.v2.b64 [%out+" + number(at + i) + "], {" + low + ", " + high + "};");
  }
}

uint32_t fragment_bits(ScalarType type) {
  return type == ScalarType::f64 ? 64 : 32;
}

/// Distance of rows or columns in elements where the instruction is given one: 16 bytes more than needed.
uint32_t leading_dimension(const Mods& mods, char fragment, ScalarType type, bool row) {
  const ptx::Shape& s = mods.shape;
  const uint32_t rows = fragment == 'b' ? s.k : s.m, columns = fragment == 'a' ? s.k : s.n;
  return (row ? columns : rows) + 128 / ptx::bits_of(type);
}

bool write_wmma_load(KernelText& k, const Form& form, const Mods& mods, uint32_t choice) {
  const ScalarType type = mods.type();
  const std::string region = warp_region(k, type);
  const bool shared = mods.space() == Space::shared || mods.space() == Space::shared_cta;
  const std::string address = shared ? to_shared(k, region) : region;
  const ptx::OperandCount count = ptx::operand_count(form, form.operands[0], mods);
  std::string r = values(k, count.count, type, fragment_bits(type), true);
  if (count.count == 1) r = "{" + r + "}";
  std::string text = instruction_text(form, mods) + " " + r + ", [" + address + "]";
  const char fragment = mods.has(Mod::a) ? 'a' : mods.has(Mod::b) ? 'b' : 'c';
  if (choice % 2 == 1) text += ", " + number(leading_dimension(mods, fragment, type, mods.has(Mod::row)));
  k.line(text + ";");
  return true;
}

bool write_wmma_store(KernelText& k, const Form& form, const Mods& mods, uint32_t choice) {
  const ScalarType type = mods.type();
  const bool shared = mods.space() == Space::shared || mods.space() == Space::shared_cta;
  const ptx::OperandCount count = ptx::operand_count(form, form.operands[1], mods);
  std::string r;
  for (uint32_t i = 0; i < count.count; ++i)
    r += (i == 0 ? "{" : ", ") + k.packed_input(type, fragment_bits(type));
  r += "}";
  std::string address = warp_scratch(k);
  if (shared) {
    // Zeros first.
    k.top(".shared .align 128 .b8 s_out[8192];");
    const std::string offset = k.declare(64), mine = k.declare(64), wide = k.declare(64),
                      target = k.declare(64);
    k.line("mul.wide.u32 " + wide + ", %thread, 128;");
    k.line("mov.u64 " + mine + ", s_out;");
    k.line("add.u64 " + mine + ", " + mine + ", " + wide + ";");
    for (int i = 0; i < 128; i += 16) k.line("st.shared.v2.b64 [" + mine + "+" + number(i) + "], {0, 0};");
    k.line("bar.sync 0;");
    k.line("sub.u64 " + offset + ", " + address + ", %scratch;");
    k.line("mov.u64 " + target + ", s_out;");
    k.line("add.u64 " + target + ", " + target + ", " + offset + ";");
    address = target;
  }
  std::string text = instruction_text(form, mods) + " [" + address + "], " + r;
  if (choice % 2 == 1) text += ", " + number(leading_dimension(mods, 'd', type, mods.has(Mod::row)));
  k.line(text + ";");
  dump_region(k, shared ? ".shared" : ".global", address, type, 48);
  return true;
}

/// wmma.mma between its own loads and store, since the fragments' layout is nobody's business.
bool write_wmma_mma(KernelText& k, const Form& form, const Mods& mods, uint32_t) {
  const bool half = form.operands[1].type == OperandSpec::Type::Fixed;
  const ScalarType d_type = mods.type(0), a_type = half ? ScalarType::f16 : mods.type(1),
                   b_type = half ? ScalarType::f16 : mods.type(2),
                   c_type = half ? mods.type(1) : mods.type(3);
  std::string layouts[2];
  int found = 0;
  for (const Mod mod : mods.all()) {
    if ((mod == Mod::row || mod == Mod::col) && found < 2) layouts[found++] = ptx::spelling(mod);
  }
  const ptx::Shape& s = mods.shape;
  const std::string shape = "m" + number(s.m) + "n" + number(s.n) + "k" + number(s.k);
  // One region: A, B and C behind each other. Values are of A's type; C is read from it through a conversion
  // where the bits would be no number.
  const std::string region = warp_region(k, a_type == ScalarType::tf32 ? ScalarType::f32 : a_type);
  const auto load = [&](char which, const OperandSpec& spec, ScalarType type, const std::string& layout,
                        uint32_t offset) {
    std::string regs;
    const uint32_t count = ptx::operand_count(form, spec, mods).count;
    for (uint32_t i = 0; i < count; ++i) regs += (i == 0 ? "{" : ", ") + k.declare(fragment_bits(type));
    regs += "}";
    k.line(std::string("wmma.load.") + which + ".sync.aligned." + layout + "." + shape + ".global." +
           std::string(ptx::spelling(type)) + " " + regs + ", [" + region + "+" + number(offset) + "];");
    return regs;
  };
  const std::string a = load('a', form.operands[1], a_type, layouts[0], 0);
  const std::string b = load('b', form.operands[2], b_type, layouts[1], 1024);
  std::string c;
  const uint32_t c_count = ptx::operand_count(form, form.operands[3], mods).count;
  if (ptx::bits_of(c_type) == ptx::bits_of(a_type) || !ptx::is_float(c_type)) {
    c = load('c', form.operands[3], c_type, "row", 2048);
  } else {
    for (uint32_t i = 0; i < c_count; ++i) {
      const std::string reg = k.declare(32), word = k.declare(32);
      k.line("add.u32 " + word + ", %thread, " + number(i * 64) + ";");
      k.line("cvt.rn.f32.u32 " + reg + ", " + word + ";");
      k.line("mul.f32 " + reg + ", " + reg + ", 0f3A83126F;");
      c += (i == 0 ? "{" : ", ") + reg;
    }
    c += "}";
  }
  std::string d;
  const uint32_t d_count = ptx::operand_count(form, form.operands[0], mods).count;
  for (uint32_t i = 0; i < d_count; ++i) d += (i == 0 ? "{" : ", ") + k.declare(fragment_bits(d_type));
  d += "}";
  k.line(instruction_text(form, mods) + " " + d + ", " + a + ", " + b + ", " + c + ";");
  const std::string out = warp_scratch(k);
  k.line("wmma.store.d.sync.aligned.row." + shape + ".global." + std::string(ptx::spelling(d_type)) + " [" +
         out + "], " + d + ";");
  const uint32_t bytes = std::max(16u, s.m * s.n * ptx::size_of(d_type) / 32);
  dump_region(k, ".global", out, d_type, bytes);
  return true;
}

// --- address windows
// -----------------------------------------------------------------------------------------------------------

/// isspacep of a parameter's generic address.
bool write_parameter_window(KernelText& k, const Form& form, const Mods& mods) {
  const std::string address = k.declare(64), p = k.declare(1);
  k.line("mov.u64 " + address + ", p_blob;");
  k.line("cvta.param.u64 " + address + ", " + address + ";");
  k.line(instruction_text(form, mods) + " " + p + ", " + address + ";");
  k.output(p, 1, ScalarType::pred);
  return true;
}

bool write_address(KernelText& k, const Form& form, const Mods& mods, uint32_t choice) {
  const std::string instruction = instruction_text(form, mods);
  if (form.opcode == Opcode::isspacep) {
    for (const Space space : {Space::global, Space::shared, Space::local, Space::const_}) {
      const Cell cell = make_cell(k, space, 0);
      const std::string generic = k.declare(64), p = k.declare(1);
      k.line("cvta" + cell.space + ".u64 " + generic + ", " + cell.address + ";");
      k.line(instruction + " " + p + ", " + generic + ";");
      k.output(p, 1, ScalarType::pred);
    }
    return true;
  }
  if (form.opcode == Opcode::cvta) {
    if (mods.type() != ScalarType::u64) return false;
    const bool param = mods.space() == Space::param || mods.space() == Space::param_entry;
    const std::string generic = k.declare(64), value = k.declare(64);
    if (param) {
      const std::string address = k.declare(64);
      k.line("mov.u64 " + address + ", p_blob;");
      k.line((mods.has(Mod::to) ? "cvta.param.u64 " : instruction + " ") + generic + ", " + address + ";");
      if (mods.has(Mod::to)) {
        k.line(instruction + " " + address + ", " + generic + ";");
        k.line("ld.param.b64 " + value + ", [" + address + "+8];");
      } else {
        k.line("ld.b64 " + value + ", [" + generic + "+8];");
      }
      k.output(value, 64, ScalarType::b64);
      return true;
    }
    const Cell cell = make_cell(k, mods.space(), 0);
    if (mods.space() != Space::const_) fill_cell(k, cell, ScalarType::b64);
    k.line((mods.has(Mod::to) ? "cvta" + cell.space + ".u64 " : instruction + " ") + generic + ", " +
           cell.address + ";");
    if (mods.has(Mod::to)) {
      const std::string back = k.declare(64);
      k.line(instruction + " " + back + ", " + generic + ";");
      k.line("ld" + cell.space + ".b64 " + value + ", [" + back + "+8];");
    } else {
      k.line("ld.b64 " + value + ", [" + generic + "+8];");
    }
    k.output(value, 64, ScalarType::b64);
    return true;
  }
  // mapa and getctarank, in the cluster of one CTA.
  const uint32_t bits = ptx::size_of(mods.type()) * 8;
  const bool window = mods.space() == Space::shared_cluster;
  if (!window && bits == 32) return false;
  const Cell cell = make_cell(k, Space::shared, 0);
  fill_cell(k, cell, ScalarType::b64);
  std::string address = k.declare(bits);
  if (window) {
    k.line((bits == 32 ? "cvt.u32.u64 " : "mov.u64 ") + address + ", " + cell.address + ";");
  } else {
    k.line("cvta.shared.u64 " + address + ", " + cell.address + ";");
  }
  if (form.opcode == Opcode::getctarank) {
    const std::string rank = k.declare(32);
    k.line(instruction + " " + rank + ", " + address + ";");
    k.output(rank, 32, ScalarType::u32);
    return true;
  }
  const std::string mapped = k.declare(bits), value = k.declare(64);
  k.line(instruction + " " + mapped + ", " + address + ", 0;");
  k.line(std::string("ld") + (window ? ".shared::cluster" : "") + ".b64 " + value + ", [" + mapped + "+" +
         number(8 * (choice % 4)) + "];");
  k.output(value, 64, ScalarType::b64);
  return true;
}

bool write_stack(KernelText& k, const Form& form, const Mods& mods, uint32_t) {
  const uint32_t bits = ptx::size_of(mods.type()) * 8;
  if (bits != 64) return false;
  const std::string before = k.declare(bits), after = k.declare(bits), at = k.declare(bits),
                    value = k.declare(64), same = k.declare(1);
  const std::string from = k.input(ScalarType::b64, Flavour::Any);
  k.line("stacksave.u64 " + before + ";");
  k.line("alloca.u64 " + at + ", 64, 16;");
  k.line("st.local.b64 [" + at + "+8], " + from + ";");
  k.line("ld.local.b64 " + value + ", [" + at + "+8];");
  k.line("stackrestore.u64 " + before + ";");
  k.line("stacksave.u64 " + after + ";");
  k.line("setp.eq.u64 " + same + ", " + before + ", " + after + ";");
  k.output(value, 64, ScalarType::b64);
  k.output(same, 1, ScalarType::pred);
  (void)form;
  return true;
}

using Writer = bool (*)(KernelText&, const Form&, const Mods&, uint32_t);

Writer writer_of(const Form& form) {
  switch (form.opcode) {
    case Opcode::ld:
    case Opcode::ldu:
      return write_load;
    case Opcode::st:
      return write_store;
    case Opcode::atom:
    case Opcode::red:
      return write_atomic;
    case Opcode::cp_async:
      return write_cp_async;
    case Opcode::ldmatrix:
      return write_ldmatrix;
    case Opcode::stmatrix:
      return write_stmatrix;
    case Opcode::wmma_load:
      return write_wmma_load;
    case Opcode::wmma_store:
      return write_wmma_store;
    case Opcode::wmma_mma:
      return write_wmma_mma;
    case Opcode::cvta:
    case Opcode::isspacep:
    case Opcode::mapa:
    case Opcode::getctarank:
      return write_address;
    case Opcode::stacksave:
    case Opcode::alloca:
      return write_stack;
    default:
      return nullptr;
  }
}

}  // namespace

bool has_special_case(const Form& form) {
  return writer_of(form) != nullptr;
}

bool write_special_case(KernelText& k, const Form& form, const Mods& mods, uint32_t choice,
                        uint32_t repetition) {
  if (form.opcode == Opcode::isspacep && repetition == 1) return write_parameter_window(k, form, mods);
  return writer_of(form)(k, form, mods, choice);
}

}  // namespace sluice::parity
