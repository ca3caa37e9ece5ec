// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// From a function of one lane to the handler of a warp. The function takes and returns lane values (32- or
// 64-bit words, or the number that they stand for); `map<F>` applies it to the lanes of the mask. With all
// lanes it is a loop over 32 without branches, which the compiler turns into vector instructions. A
// destination is either the same vector as a source or shares nothing with it, so lanes never disturb each
// other.
#pragma once

#include <bit>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "machine/bind.hpp"
#include "machine/state.hpp"

namespace sluice::machine {

namespace detail {

template <class F>
struct LaneFunction;
template <class D, class... A>
struct LaneFunction<D (*)(A...)> {
  using Result = D;
  template <size_t I>
  using Arg = std::tuple_element_t<I, std::tuple<A...>>;
  static constexpr size_t kArity = sizeof...(A);
};

}  // namespace detail

/// Where operands behind the third lie.
struct MoreSources {
  Location fourth = 0;
  Location fifth = 0;
};

/// The handler that applies F to every lane: d = F(a, b, c, fourth), as many as F takes.
template <auto F>
Step map(Warp& w, const Op& op, uint32_t lanes) {
  using Fn = detail::LaneFunction<decltype(+F)>;
  constexpr size_t kArity = Fn::kArity;
  auto* const d = w.at<typename Fn::Result>(op.d);
  const auto* const a = w.at<typename Fn::template Arg<0>>(op.a);
  if constexpr (kArity == 1) {
    if (lanes == kAllLanes) {
#pragma GCC ivdep
      for (int i = 0; i < kLanes; ++i) d[i] = F(a[i]);
    } else {
      for (uint32_t m = lanes; m != 0; m &= m - 1) {
        const int i = std::countr_zero(m);
        d[i] = F(a[i]);
      }
    }
  } else if constexpr (kArity == 2) {
    const auto* const b = w.at<typename Fn::template Arg<1>>(op.b);
    if (lanes == kAllLanes) {
#pragma GCC ivdep
      for (int i = 0; i < kLanes; ++i) d[i] = F(a[i], b[i]);
    } else {
      for (uint32_t m = lanes; m != 0; m &= m - 1) {
        const int i = std::countr_zero(m);
        d[i] = F(a[i], b[i]);
      }
    }
  } else if constexpr (kArity == 3) {
    const auto* const b = w.at<typename Fn::template Arg<1>>(op.b);
    const auto* const c = w.at<typename Fn::template Arg<2>>(op.c);
    if (lanes == kAllLanes) {
#pragma GCC ivdep
      for (int i = 0; i < kLanes; ++i) d[i] = F(a[i], b[i], c[i]);
    } else {
      for (uint32_t m = lanes; m != 0; m &= m - 1) {
        const int i = std::countr_zero(m);
        d[i] = F(a[i], b[i], c[i]);
      }
    }
  } else {
    static_assert(kArity == 4);
    const auto* const b = w.at<typename Fn::template Arg<1>>(op.b);
    const auto* const c = w.at<typename Fn::template Arg<2>>(op.c);
    const auto* const e =
        w.at<typename Fn::template Arg<3>>(static_cast<const MoreSources*>(op.extra)->fourth);
    for (uint32_t m = lanes; m != 0; m &= m - 1) {
      const int i = std::countr_zero(m);
      d[i] = F(a[i], b[i], c[i], e[i]);
    }
  }
  return Step::Next;
}

/// The op with destination 0 and sources 1, 2, ... of the given types. A null handler is refused.
inline Result<Op> bind_sources(Binder& b, Handler handler, std::initializer_list<ptx::ScalarType> types) {
  if (handler == nullptr) return b.unsupported("this form is not executed");
  Op op = b.op(handler);
  op.d = b.destination(0);
  MoreSources more;
  Location* const places[] = {&op.a, &op.b, &op.c, &more.fourth, &more.fifth};
  uint32_t i = 0;
  for (const ptx::ScalarType type : types) {
    SLUICE_ASSIGN_OR_RETURN(*places[i], b.source(i + 1, type));
    ++i;
  }
  if (i > 3) op.extra = b.extra(more);
  return op;
}

/// Calls `pick` with the C++ integer type of an integer or bit type; null for others.
template <class Pick>
Handler for_integer(ptx::ScalarType type, Pick pick) {
  using T = ptx::ScalarType;
  switch (type) {
    case T::u16:
    case T::b16:
      return pick.template operator()<uint16_t>();
    case T::s16:
      return pick.template operator()<int16_t>();
    case T::u32:
    case T::b32:
      return pick.template operator()<uint32_t>();
    case T::s32:
      return pick.template operator()<int32_t>();
    case T::u64:
    case T::b64:
      return pick.template operator()<uint64_t>();
    case T::s64:
      return pick.template operator()<int64_t>();
    default:
      return nullptr;
  }
}

/// The same for u32, s32, u64, s64 and their bit types.
template <class Pick>
Handler for_wide_integer(ptx::ScalarType type, Pick pick) {
  using T = ptx::ScalarType;
  switch (type) {
    case T::u32:
    case T::b32:
      return pick.template operator()<uint32_t>();
    case T::s32:
      return pick.template operator()<int32_t>();
    case T::u64:
    case T::b64:
      return pick.template operator()<uint64_t>();
    case T::s64:
      return pick.template operator()<int64_t>();
    default:
      return nullptr;
  }
}

// Bind functions of mnemonics that several kinds of types share; the integer family's rows lead to them.
Result<Op> bind_float(Binder& b);  ///< f32 and f64 forms (float.cpp)
Result<Op> bind_half(Binder& b);   ///< f16, f16x2, bf16, bf16x2 forms (float_half.cpp)

}  // namespace sluice::machine
