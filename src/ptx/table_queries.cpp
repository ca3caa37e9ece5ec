// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What a row asks of its operands, and the ways to write it.
#include "ptx/table.hpp"

#include <algorithm>
#include <numeric>

namespace sluice::ptx {
namespace {

uint32_t vector_width(const Mods& mods) {
  if (mods.has(Mod::v2)) return 2;
  if (mods.has(Mod::v4)) return 4;
  if (mods.has(Mod::v8)) return 8;
  return 1;
}

uint32_t multiple(const Mods& mods) {
  if (mods.has(Mod::x2)) return 2;
  if (mods.has(Mod::x4)) return 4;
  return 1;
}

bool is_sparse(const Form& form, const Mods& mods) {
  return form.opcode == Opcode::wgmma_mma_async_sp || mods.has(Mod::sp) ||
         mods.has(Mod::sp__ordered_metadata);
}

/// Bits that one element of a multiplicand takes in its register: the narrow float types of kind::f8f6f4 fill
/// a byte each, those of kind::mxf4 half a byte.
uint32_t element_bits(const Mods& mods, ScalarType type) {
  const bool narrow = type == ScalarType::e2m1 || type == ScalarType::e2m3 || type == ScalarType::e3m2;
  if (narrow && !mods.has(Mod::kind__mxf4) && !mods.has(Mod::kind__mxf4nvf4)) return 8;
  return bits_of(type);
}

/// Registers per thread of rows x columns elements spread over the warp (or warpgroup).
uint32_t fragment_registers(const Form& form, const Mods& mods, uint32_t elements, ScalarType type) {
  const uint32_t threads = form.family == Family::Wgmma ? 128 : 32;
  // One m8n8k4 of halves is four independent products, one per quad pair.
  const bool is_quad =
      form.opcode == Opcode::mma && mods.shape == Shape{8, 8, 4} && mods.type(1) == ScalarType::f16;
  const uint32_t copies = is_quad ? 4 : 1;
  if (type == ScalarType::f64) return elements * copies / threads;
  return elements * element_bits(mods, type) * copies / (threads * 32);
}

uint32_t wmma_registers(const Mods& mods, char fragment, ScalarType type) {
  const Shape& shape = mods.shape;
  if (fragment == 'c' || fragment == 'd') {
    const uint32_t elements = uint32_t(shape.m) * shape.n;
    return type == ScalarType::f16 ? elements / 64 : elements / 32;
  }
  if (type == ScalarType::f16) return 8;  // each element is held twice
  const uint32_t elements = uint32_t(fragment == 'a' ? shape.m : shape.n) * shape.k;
  if (type == ScalarType::f64) return elements / 32;
  return std::max(1u, elements * bits_of(type) / 1024);
}

char wmma_fragment(const Mods& mods) {
  return mods.has(Mod::a) ? 'a' : mods.has(Mod::b) ? 'b' : mods.has(Mod::c) ? 'c' : 'd';
}

/// The type that says how wide a wmma multiplicand is: the f16 form of wmma.mma does not name it.
ScalarType wmma_type(const OperandSpec& spec, const Mods& mods) {
  return spec.type == OperandSpec::Type::Fixed ? ScalarType::f16 : mods.type(spec.type_index);
}

uint32_t dimensions(const Mods& mods) {
  if (mods.has(Mod::n1d)) return 1;
  if (mods.has(Mod::n2d)) return 2;
  if (mods.has(Mod::n3d)) return 3;
  if (mods.has(Mod::n4d)) return 4;
  return 5;
}

ScalarType wide(ScalarType type) {
  switch (type) {
    case ScalarType::u16:
      return ScalarType::u32;
    case ScalarType::s16:
      return ScalarType::s32;
    case ScalarType::u32:
      return ScalarType::u64;
    case ScalarType::s32:
      return ScalarType::s64;
    default:
      return type;
  }
}

std::string spelling_of(const ModAlternative& alternative) {
  if (alternative.first == Mod::shape) {
    const Shape& shape = alternative.shape;
    std::string text = "m" + std::to_string(shape.m) + "n";
    text += alternative.n_mask == 0 ? std::to_string(shape.n) : "N";
    if (shape.k != 0) text += "k" + std::to_string(shape.k);
    return text;
  }
  std::string text(spelling(alternative.first));
  if (alternative.is_pair) text += "." + std::string(spelling(alternative.second));
  return text;
}

}  // namespace

OperandRange operand_range(const Form& form, const Mods& mods) {
  OperandRange range;
  for (const OperandSpec& spec : form.operands) {
    if (spec.has_condition && !mods.has(spec.condition)) continue;
    ++(spec.is_optional ? range.optional : range.required);
  }
  return range;
}

OperandCount operand_count(const Form& form, const OperandSpec& spec, const Mods& mods) {
  using Count = OperandSpec::Count;
  const Shape& shape = mods.shape;
  const uint32_t k_of_a = is_sparse(form, mods) ? shape.k / 2u : shape.k;
  const ScalarType type = mods.type(spec.type_index);
  switch (spec.count) {
    case Count::One:
      return {1, false};
    case Count::Vec:
      return {vector_width(mods), vector_width(mods) > 1};
    case Count::Exactly:
      return {spec.exact_count, true};
    case Count::Num:
      return {multiple(mods), true};
    case Count::Num2:
      return {2 * multiple(mods), true};
    case Count::FragmentD:
    case Count::FragmentC:
      return {fragment_registers(form, mods, uint32_t(shape.m) * shape.n, type), true};
    case Count::FragmentA: {
      const ScalarType a = form.family == Family::Wgmma ? mods.type(1) : type;
      return {fragment_registers(form, mods, uint32_t(shape.m) * k_of_a, a), true};
    }
    case Count::FragmentB:
      return {fragment_registers(form, mods, uint32_t(shape.n) * shape.k, type), true};
    case Count::WmmaFromFrag:
      return {wmma_registers(mods, wmma_fragment(mods), type), true};
    case Count::WmmaA:
      return {wmma_registers(mods, 'a', wmma_type(spec, mods)), true};
    case Count::WmmaB:
      return {wmma_registers(mods, 'b', wmma_type(spec, mods)), true};
    case Count::WmmaC:
      return {wmma_registers(mods, 'c', type), true};
    case Count::WmmaD:
      return {wmma_registers(mods, 'd', type), true};
    case Count::Im2col:
      return {mods.has(Mod::im2col) ? dimensions(mods) - 2 : 2u, true};
    case Count::Pack:
      return {0, true};
  }
  return {1, false};
}

ScalarType operand_type(const OperandSpec& spec, const Mods& mods) {
  using Type = OperandSpec::Type;
  switch (spec.type) {
    case Type::Fixed:
      return spec.fixed;
    case Type::TypeMod:
      return mods.type(spec.type_index);
    case Type::Wide:
      return wide(mods.type(spec.type_index));
    case Type::Fragment: {
      const ScalarType type = mods.type(spec.type_index);
      const bool own = type == ScalarType::f32 || type == ScalarType::s32 || type == ScalarType::f64;
      return own ? type : ScalarType::b32;
    }
    default:
      return ScalarType::none;
  }
}

uint32_t tensor_coordinates(const Mods& mods) {
  if (mods.has(Mod::tile__gather4) || mods.has(Mod::tile__scatter4)) return 5;
  return dimensions(mods);
}

Requirement requirement(const Form& form, const Mods& mods) {
  Requirement out{form.ptx, form.sm, 0};
  if (form.opcode == Opcode::shfl || form.opcode == Opcode::vote) out.removed_ptx = 64;
  if (form.id == FormId::wmma_mma_f16_satfinite) out.removed_ptx = 65;
  const auto raise = [&](uint16_t ptx, uint16_t sm) {
    out.ptx = std::max(out.ptx, ptx);
    if (out.sm.number < sm) out.sm.number = sm;
  };
  for (Mod mod : mods.all()) {
    switch (mod) {
      case Mod::cluster:
        raise(78, 90);
        break;
      case Mod::shared__cluster:
        raise(78, 90);
        break;
      default:
        break;
    }
  }
  return out;
}

std::string_view conflict(const Form& form, const Mods& mods) {
  const Space space = mods.space();
  const bool is_access = form.opcode == Opcode::ld || form.opcode == Opcode::st ||
                         form.opcode == Opcode::atom || form.opcode == Opcode::red ||
                         form.opcode == Opcode::ldu || form.opcode == Opcode::st_async;
  if (is_access) {
    // Policies of the caches in front of global memory.
    const bool is_global = space == Space::none || space == Space::global || form.opcode == Opcode::st_async;
    if (!is_global) {
      if (mods.has(Mod::L2__cache_hint)) return ".L2::cache_hint goes with global or generic addresses";
      for (Mod mod : mods.all()) {
        if (mod == Mod::L2__64B || mod == Mod::L2__128B || mod == Mod::L2__256B)
          return "a prefetch size goes with global or generic addresses";
        if (mod >= Mod::L1__evict_normal && mod <= Mod::L1__no_allocate)
          return "an eviction priority goes with global or generic addresses";
      }
    }
    const uint32_t bytes = vector_width(mods) * size_of(mods.type());
    const bool is_wide = form.name.ends_with("_wide");
    if (bytes > (is_wide ? 32u : 16u)) return "the vector is larger than 16 bytes";
  }
  if (form.opcode == Opcode::cp_async_bulk_tensor && mods.has(Mod::multicast__cluster) &&
      space == Space::shared_cta)
    return "a multicast goes to .shared::cluster";
  if (form.id == FormId::cvt_int && mods.has(Mod::sat)) {
    // Saturation must be able to happen: some value of the source has no place in the destination.
    const ScalarType to = mods.type(0);
    const ScalarType from = mods.type(1);
    const bool fits = is_signed(from) ? is_signed(to) && bits_of(to) >= bits_of(from)
                                      : bits_of(to) - is_signed(to) >= bits_of(from);
    if (fits) return ".sat has no effect between these types";
  }
  return {};
}

std::vector<Mods> variants(const Form& form, size_t limit) {
  if (form.takes_anything) return {Mods{}};
  // A choice is one number per slot: the alternative, or `size` for none. Families of n count as three.
  struct Choices {
    std::vector<ModAlternative> alternatives;
    bool may_be_empty;
    [[nodiscard]] size_t size() const { return alternatives.size() + may_be_empty; }
  };
  std::vector<Choices> choices;
  for (const ModSlot& slot : form.slots) {
    Choices c{{}, slot.is_optional};
    for (const ModAlternative& alternative : slot.alternatives) {
      if (alternative.n_mask == 0) {
        c.alternatives.push_back(alternative);
        continue;
      }
      for (uint16_t n : {8, 96, 256}) {
        ModAlternative one = alternative;
        one.n_mask = 0;
        one.shape.n = n;
        c.alternatives.push_back(one);
      }
    }
    choices.push_back(std::move(c));
  }
  const auto build = [&](const std::vector<size_t>& pick) {
    Mods mods;
    for (size_t i = 0; i < choices.size(); ++i) {
      if (pick[i] >= choices[i].alternatives.size()) continue;
      const ModAlternative& alternative = choices[i].alternatives[pick[i]];
      mods.list[mods.count++] = alternative.first;
      if (alternative.is_pair) mods.list[mods.count++] = alternative.second;
      if (alternative.first == Mod::shape) mods.shape = alternative.shape;
    }
    return mods;
  };

  // The plainest one, then each alternative of each slot once, then spread over the whole product.
  std::vector<size_t> plain(choices.size());
  size_t total = 1;
  for (size_t i = 0; i < choices.size(); ++i) {
    plain[i] = choices[i].may_be_empty ? choices[i].alternatives.size() : 0;
    total = total > 1'000'000 ? total : total * choices[i].size();
  }
  std::vector<std::vector<size_t>> picks{plain};
  const auto add = [&](const std::vector<size_t>& pick) {
    if (picks.size() < limit && std::find(picks.begin(), picks.end(), pick) == picks.end())
      picks.push_back(pick);
  };
  for (size_t i = 0; i < choices.size(); ++i)
    for (size_t a = 0; a < choices[i].alternatives.size(); ++a) {
      std::vector<size_t> pick = plain;
      pick[i] = a;
      add(pick);
    }
  const size_t wanted = std::min(limit, total);
  size_t step = total <= limit ? 1 : static_cast<size_t>(double(total) * 0.6180339887) | 1u;
  while (std::gcd(step, total) != 1) step += 2;
  for (size_t i = 0, index = 0; i < total && picks.size() < wanted; ++i, index = (index + step) % total) {
    std::vector<size_t> pick(choices.size());
    size_t rest = index;
    for (size_t slot = 0; slot < choices.size(); ++slot) {
      pick[slot] = rest % choices[slot].size();
      rest /= choices[slot].size();
    }
    add(pick);
  }
  std::vector<Mods> out;
  out.reserve(picks.size());
  for (const auto& pick : picks) {
    const Mods mods = build(pick);
    if (conflict(form, mods).empty()) out.push_back(mods);
  }
  return out;
}

std::string syntax(const Form& form) {
  std::string text(spelling(form.opcode));
  if (form.takes_anything) return text + "...";
  for (const ModSlot& slot : form.slots) {
    text += slot.is_optional ? "{." : ".";
    const bool many = slot.alternatives.size() > 1;
    if (many && !slot.is_optional) text += "{";
    for (size_t i = 0; i < slot.alternatives.size(); ++i)
      text += (i == 0 ? "" : "|") + spelling_of(slot.alternatives[i]);
    if (many && !slot.is_optional) text += "}";
    if (slot.is_optional) text += "}";
  }
  std::string separator = "  ";
  for (const OperandSpec& spec : form.operands) {
    const bool optional = spec.is_optional || spec.has_condition;
    std::string name(spec.name);
    if (spec.type == OperandSpec::Type::Address) name = "[" + name + "]";
    if (spec.type == OperandSpec::Type::TensorAddress) name = "[tensor-map, {coordinates}]";
    if (spec.type == OperandSpec::Type::List) name = "(" + name + ")";
    if (spec.type == OperandSpec::Type::SinkOnly) name = "_";
    if (spec.count != OperandSpec::Count::One && spec.count != OperandSpec::Count::Vec)
      name = "{" + name + "..}";
    if (spec.may_not) name = "{!}" + name;
    if (spec.has_pair) name += spec.pair_optional ? "{|p}" : "|p";
    text += optional ? "{" + separator + name + "}" : separator + name;
    separator = ", ";
  }
  return text;
}

}  // namespace sluice::ptx
