// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Constant expressions: 64-bit integers with C's operators and precedences, signed unless a U or a cast says
// otherwise, folded while reading (ISA "Constant Expressions"). A floating-point literal stands alone, with a
// sign.
#include "ptx/parser.hpp"

#include <bit>

namespace sluice::ptx {
namespace {

constexpr int kMaxDepth = 64;
thread_local int depth = 0;  // of nested parentheses and signs, so that no text can exhaust the stack
struct DepthGuard {
  DepthGuard() { ++depth; }
  ~DepthGuard() { --depth; }
};

struct Operator {
  std::string_view text;
  int precedence;
};
// Longer spellings first.
constexpr Operator kOperators[] = {
    {"<<", 8}, {">>", 8}, {"<=", 7}, {">=", 7}, {"==", 6}, {"!=", 6}, {"&&", 2}, {"||", 1}, {"<", 7},
    {">", 7},  {"&", 5},  {"^", 4},  {"|", 3},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};

uint64_t apply(std::string_view op, uint64_t a, uint64_t b, bool is_unsigned, bool& bad) {
  const int64_t sa = int64_t(a);
  const int64_t sb = int64_t(b);
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "/" || op == "%") {
    if (b == 0 || (!is_unsigned && sa == INT64_MIN && sb == -1)) {
      bad = true;
      return 0;
    }
    if (is_unsigned) return op == "/" ? a / b : a % b;
    return uint64_t(op == "/" ? sa / sb : sa % sb);
  }
  if (op == "<<") return b > 63 ? 0 : a << b;
  if (op == ">>") {
    if (is_unsigned) return b > 63 ? 0 : a >> b;
    return uint64_t(sa >> (b > 63 ? 63 : b));
  }
  if (op == "<") return is_unsigned ? a < b : sa < sb;
  if (op == ">") return is_unsigned ? a > b : sa > sb;
  if (op == "<=") return is_unsigned ? a <= b : sa <= sb;
  if (op == ">=") return is_unsigned ? a >= b : sa >= sb;
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "&") return a & b;
  if (op == "^") return a ^ b;
  if (op == "|") return a | b;
  if (op == "&&") return a != 0 && b != 0;
  return a != 0 || b != 0;
}

bool is_comparison(std::string_view op) {
  return op == "<" || op == ">" || op == "<=" || op == ">=" || op == "==" || op == "!=" || op == "&&" ||
         op == "||";
}

}  // namespace

bool Parser::parse_unary(Literal& out) {
  const DepthGuard guard;
  if (depth > kMaxDepth) return fail("expression is nested too deeply");
  if (lex_.accept('-')) {
    if (!parse_unary(out)) return false;
    if (out.kind == Literal::Kind::Int) out.bits = 0 - out.bits;
    if (out.kind == Literal::Kind::F32) out.bits ^= 0x80000000u;
    if (out.kind == Literal::Kind::F64) out.bits ^= uint64_t(1) << 63;
    return true;
  }
  if (lex_.accept('+')) return parse_unary(out);
  if (lex_.peek() == '~' || (lex_.peek() == '!' && lex_.peek(1) != '=')) {
    const bool is_not = lex_.peek() == '!';
    const Mark at = lex_.mark();
    (void)lex_.accept(lex_.peek());
    if (!parse_unary(out)) return false;
    if (out.kind != Literal::Kind::Int) return fail(at, "this operator takes an integer");
    out.bits = is_not ? out.bits == 0 : ~out.bits;
    return true;
  }
  if (lex_.accept('(')) {
    // A cast: (.s64) or (.u64).
    if (const std::string_view type = lex_.peek_directive(); type == "s64" || type == "u64") {
      (void)lex_.directive();
      if (!expect(')') || !parse_unary(out)) return false;
      out.is_unsigned = type == "u64";
      return true;
    }
    return parse_ternary(out) && expect(')');
  }
  if (lex_.literal(out)) return true;
  const Mark at = lex_.mark();
  if (lex_.identifier() == "WARP_SZ") {
    out = {Literal::Kind::Int, 32, false};
    return true;
  }
  lex_.rewind(at);
  return expected("a constant");
}

bool Parser::parse_binary(Literal& out, int min_precedence) {
  if (!parse_unary(out)) return false;
  for (;;) {
    const Operator* found = nullptr;
    for (const Operator& op : kOperators) {
      bool matches = lex_.peek() == op.text[0] && (op.text.size() == 1 || lex_.peek(1) == op.text[1]);
      // `|` alone between operands separates a pair; inside an expression it must be followed by a number.
      if (matches) {
        found = &op;
        break;
      }
    }
    if (found == nullptr || found->precedence < min_precedence) return true;
    const Mark at = lex_.mark();
    (void)lex_.accept(found->text);
    Literal right;
    if (!parse_binary(right, found->precedence + 1)) return false;
    if (out.kind != Literal::Kind::Int || right.kind != Literal::Kind::Int)
      return fail(at, "constant expressions take integers only");
    const bool is_unsigned = out.is_unsigned || right.is_unsigned;
    bool bad = false;
    out.bits = apply(found->text, out.bits, right.bits, is_unsigned, bad);
    if (bad) return fail(at, "division by zero in a constant expression");
    out.is_unsigned = is_unsigned && !is_comparison(found->text);
  }
}

bool Parser::parse_ternary(Literal& out) {
  const DepthGuard guard;
  if (depth > kMaxDepth) return fail("expression is nested too deeply");
  if (!parse_binary(out, 1)) return false;
  if (!lex_.accept('?')) return true;
  Literal yes;
  Literal no;
  if (!parse_ternary(yes) || !expect(':') || !parse_ternary(no)) return false;
  out = out.bits != 0 ? yes : no;
  return true;
}

bool Parser::parse_expression(Literal& out) {
  return parse_ternary(out);
}

bool Parser::parse_integer(int64_t& out) {
  const Mark at = lex_.mark();
  Literal literal;
  if (!parse_expression(literal)) return false;
  if (literal.kind != Literal::Kind::Int) return fail(at, "expected an integer constant");
  out = int64_t(literal.bits);
  return true;
}

bool Parser::parse_unsigned(uint32_t& out, std::string_view what) {
  const Mark at = lex_.mark();
  Literal literal;
  if (!lex_.literal(literal) || literal.kind != Literal::Kind::Int) {
    lex_.rewind(at);
    return expected(what);
  }
  if (literal.bits > UINT32_MAX) return fail(at, std::string(what) + " is too large");
  out = uint32_t(literal.bits);
  return true;
}

}  // namespace sluice::ptx
