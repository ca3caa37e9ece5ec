// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention and its gradients on the host: softmax(scale * Q K^T) V, several query heads per key head
// allowed.
#pragma once

#include <algorithm>

#include "compare.hpp"

namespace conformance {

struct AttentionShape {
  int batches, query_heads, key_heads, queries, keys, width;
  bool causal = false;

  float scale() const { return 1 / std::sqrt(static_cast<float>(width)); }
  std::size_t query_count() const { return std::size_t(batches) * query_heads * queries * width; }
  std::size_t key_count() const { return std::size_t(batches) * key_heads * keys * width; }
  std::size_t rows() const { return std::size_t(batches) * query_heads * queries; }
  /// How many keys a query sees.
  int visible(int query) const { return causal ? std::clamp(query + 1 + keys - queries, 0, keys) : keys; }
};

/// Where element 0 of (batch, head, position) lies.
struct HeadLayout {
  std::size_t batch, head, position;

  static HeadLayout heads_outside(int heads, int positions, int width) {
    return {std::size_t(heads) * positions * width, std::size_t(positions) * width, std::size_t(width)};
  }
  static HeadLayout heads_inside(int heads, int positions, int width) {
    return {std::size_t(heads) * positions * width, std::size_t(width), std::size_t(heads) * width};
  }
  std::size_t operator()(int b, int h, int p) const { return b * batch + h * head + p * position; }
};

struct Attention {
  std::vector<float> output;
  std::vector<float> log_sum;  ///< by (batch, head, query)
  // Only with a gradient of the output.
  std::vector<float> delta;  ///< by (batch, head, query): output . gradient
  std::vector<float> query_gradient, key_gradient, value_gradient;
};

struct AttentionInputs {
  AttentionShape shape;
  HeadLayout of_queries, of_keys;
  std::vector<float> queries, keys, values;
  std::vector<float> gradient;  ///< of the output; may be empty
};

/// One query's part.
inline void attend(const AttentionInputs& in, int b, int h, int query, Attention* out) {
  const AttentionShape& s = in.shape;
  const int width = s.width, visible = s.visible(query);
  const int key_head = h / (s.query_heads / s.key_heads);
  const std::size_t at = in.of_queries(b, h, query);
  const std::size_t row = (std::size_t(b) * s.query_heads + h) * s.queries + query;
  const auto dot = [width](const float* x, const float* y) {
    float sum = 0;
    for (int d = 0; d < width; ++d) sum += x[d] * y[d];
    return sum;
  };
  const auto key_at = [&](int key) { return in.of_keys(b, key_head, key); };

  std::vector<float> weight(visible);
  float largest = -INFINITY;
  for (int key = 0; key < visible; ++key) {
    weight[key] = s.scale() * dot(&in.queries[at], &in.keys[key_at(key)]);
    largest = std::max(largest, weight[key]);
  }
  double sum = 0;
  for (float& w : weight) sum += w = std::exp(w - largest);
  out->log_sum[row] = largest + static_cast<float>(std::log(sum));
  for (int key = 0; key < visible; ++key) {
    weight[key] /= static_cast<float>(sum);
    for (int d = 0; d < width; ++d) out->output[at + d] += weight[key] * in.values[key_at(key) + d];
  }
  if (in.gradient.empty()) return;

  const float* gradient = &in.gradient[at];
  out->delta[row] = dot(&out->output[at], gradient);
  for (int key = 0; key < visible; ++key) {
    const std::size_t k = key_at(key);
    const float ds = s.scale() * weight[key] * (dot(gradient, &in.values[k]) - out->delta[row]);
    for (int d = 0; d < width; ++d) {
      out->value_gradient[k + d] += weight[key] * gradient[d];
      out->query_gradient[at + d] += ds * in.keys[k + d];
      out->key_gradient[k + d] += ds * in.queries[at + d];
    }
  }
}

inline Attention attention(const AttentionInputs& in) {
  const AttentionShape& s = in.shape;
  Attention out;
  out.output.resize(s.query_count());
  out.log_sum.resize(s.rows());
  if (!in.gradient.empty()) {
    out.delta.resize(s.rows());
    out.query_gradient.resize(s.query_count());
    out.key_gradient.resize(s.key_count());
    out.value_gradient.resize(s.key_count());
  }
  for (int b = 0; b < s.batches; ++b) {
    for (int h = 0; h < s.query_heads; ++h) {
      for (int query = 0; query < s.queries; ++query) attend(in, b, h, query, &out);
    }
  }
  return out;
}

inline std::string describe(const char* what, const AttentionShape& s) {
  char text[160];
  std::snprintf(text, sizeof text, "%s %s: width %d, %d x %d heads (%d of keys), %d queries, %d keys", what,
                s.causal ? "causal" : "full", s.width, s.batches, s.query_heads, s.key_heads, s.queries,
                s.keys);
  return text;
}

}  // namespace conformance
