// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The builder: what it fills in by itself, and mistakes that only a list of a wrong length can make. The
// runtime's look-up is replaced, so that encode() runs without a driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sluice/host/tensor_map.hpp"

namespace {

using testing::HasSubstr;

/// What the replaced driver was asked, and what it is to answer.
struct FakeDriver {
  bool present = true;
  CUresult answer = CUDA_SUCCESS;
  int tiled_calls = 0;
  int im2col_calls = 0;
  cuuint64_t stride = 0;
} fake;

CUresult fake_tiled(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                    const cuuint64_t* strides, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                    CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  ++fake.tiled_calls;
  fake.stride = strides[0];
  return fake.answer;
}

CUresult fake_im2col(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                     const cuuint64_t*, const int*, const int*, cuuint32_t, cuuint32_t, const cuuint32_t*,
                     CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                     CUtensorMapFloatOOBfill) {
  ++fake.im2col_calls;
  return fake.answer;
}

float* const kDevice = reinterpret_cast<float*>(0x10000);

sluice::TensorMapBuilder matrix() {
  return sluice::tensor_map(kDevice).shape({256, 64}).box({32, 8}).swizzle(sluice::Swizzle::B128);
}

}  // namespace

extern "C" {
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                             unsigned long long, cudaDriverEntryPointQueryResult* status) {
  const bool tiled = std::string(symbol) == "cuTensorMapEncodeTiled";
  *function = !fake.present ? nullptr
              : tiled       ? reinterpret_cast<void*>(fake_tiled)
                            : reinterpret_cast<void*>(fake_im2col);
  *status = fake.present ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
const char* cudaGetErrorString(cudaError_t) {
  return "text";
}
}

namespace {

class TensorMapBuilder : public testing::Test {
 protected:
  void SetUp() override { fake = FakeDriver{}; }
};

TEST_F(TensorMapBuilder, dense_strides_follow_from_the_shape) {
  const auto spec = sluice::tensor_map(kDevice).shape({256, 64, 3, 2}).box({32, 8, 1, 1}).spec();
  EXPECT_EQ(spec.rank, 4);
  EXPECT_EQ(spec.strides[0], 1024u);
  EXPECT_EQ(spec.strides[1], 65536u);
  EXPECT_EQ(spec.strides[2], 196608u);
}

TEST_F(TensorMapBuilder, given_strides_are_kept) {
  EXPECT_EQ(matrix().strides({2048}).spec().strides[0], 2048u);
}

TEST_F(TensorMapBuilder, element_type_follows_from_the_pointer) {
  EXPECT_EQ(matrix().spec().element, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
  const auto* bytes = reinterpret_cast<const signed char*>(kDevice);
  EXPECT_EQ(sluice::tensor_map(bytes).spec().element, CU_TENSOR_MAP_DATA_TYPE_UINT8);
}

TEST_F(TensorMapBuilder, encode_asks_the_driver_once) {
  const auto map = matrix().encode();
  EXPECT_TRUE(map) << map.message();
  EXPECT_EQ(fake.tiled_calls, 1);
  EXPECT_EQ(fake.stride, 1024u);
}

TEST_F(TensorMapBuilder, broken_rule_does_not_reach_the_driver) {
  const auto map = matrix().box({33, 8}).encode();
  EXPECT_FALSE(map);
  EXPECT_EQ(map.rule(), sluice::TensorMapRule::BoxInnerMultiple);
  EXPECT_EQ(fake.tiled_calls, 0);
}

TEST_F(TensorMapBuilder, lists_of_wrong_length_are_named) {
  EXPECT_EQ(matrix().box({32}).check().rule, sluice::TensorMapRule::ListLength);
  EXPECT_THAT(matrix().box({32}).check().text,
              HasSubstr("the list box has 1 entries and the tensor 2 dimensions"));
  EXPECT_EQ(matrix().strides({1024, 4}).check().rule, sluice::TensorMapRule::ListLength);
  EXPECT_EQ(matrix().element_strides({1}).check().rule, sluice::TensorMapRule::ListLength);
  EXPECT_EQ(sluice::tensor_map(kDevice).shape({8, 8, 8, 8}).im2col({0}, {0, 0}, 8, 8).check().rule,
            sluice::TensorMapRule::ListLength);
}

TEST_F(TensorMapBuilder, six_dimensions_are_one_too_many) {
  const auto map = sluice::tensor_map(kDevice).shape({8, 1, 1, 1, 1, 1}).box({8, 1, 1, 1, 1, 1}).encode();
  EXPECT_EQ(map.rule(), sluice::TensorMapRule::RankInRange);
}

TEST_F(TensorMapBuilder, forgotten_shape_and_box_are_found) {
  EXPECT_EQ(sluice::tensor_map(kDevice).box({8}).encode().rule(), sluice::TensorMapRule::ListLength);
  EXPECT_EQ(sluice::tensor_map(kDevice).encode().rule(), sluice::TensorMapRule::RankInRange);
  EXPECT_EQ(sluice::tensor_map(kDevice).shape({64}).encode().rule(), sluice::TensorMapRule::BoxInRange);
}

TEST_F(TensorMapBuilder, im2col_calls_the_other_function) {
  const auto map =
      sluice::tensor_map(kDevice).shape({32, 16, 16, 4}).im2col({-1, -1}, {-1, -1}, 32, 64).encode();
  EXPECT_TRUE(map) << map.message();
  EXPECT_EQ(fake.im2col_calls, 1);
  EXPECT_EQ(fake.tiled_calls, 0);
}

TEST_F(TensorMapBuilder, missing_driver_is_said) {
  fake.present = false;
  const auto map = matrix().encode();
  EXPECT_EQ(map.rule(), sluice::TensorMapRule::DriverCall);
  EXPECT_THAT(map.message(), HasSubstr("the CUDA driver has no cuTensorMapEncodeTiled"));
}

TEST_F(TensorMapBuilder, refusal_of_the_driver_is_said) {
  fake.answer = CUDA_ERROR_INVALID_VALUE;
  const auto map = matrix().encode();
  EXPECT_EQ(map.rule(), sluice::TensorMapRule::DriverCall);
  EXPECT_THAT(map.message(), HasSubstr("driver error 1"));
}

}  // namespace
