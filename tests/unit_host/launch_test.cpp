// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The launch helper's own rules and the attributes it sets, with the runtime's calls replaced.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sluice/host/launch.hpp"

namespace {

using sluice::LaunchRule;
using sluice::LaunchShape;
using testing::HasSubstr;

struct FakeRuntime {
  int shared_limit = 232448;
  std::size_t static_shared = 0;
  int clusters_that_fit = 1;
  cudaError_t launch_answer = cudaSuccess;
  int launches = 0;
  int shared_attribute = -1;
  bool non_portable = false;
  unsigned attributes = 0;
  dim3 cluster{0, 0, 0};
  double second_argument = 0;
} fake;

void kernel(int, double) {}

class Launch : public testing::Test {
 protected:
  void SetUp() override { fake = FakeRuntime{}; }
};

}  // namespace

extern "C" {
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = fake.shared_limit;
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  attributes->sharedSizeBytes = fake.static_shared;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute attribute, int value) {
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) fake.shared_attribute = value;
  if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) fake.non_portable = value == 1;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void*, const cudaLaunchConfig_t*) {
  *clusters = fake.clusters_that_fit;
  return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void*, void** arguments) {
  ++fake.launches;
  fake.attributes = config->numAttrs;
  fake.second_argument = *static_cast<double*>(arguments[1]);
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    if (config->attrs[i].id == cudaLaunchAttributeClusterDimension) {
      const auto& shape = config->attrs[i].val.clusterDim;
      fake.cluster = dim3(shape.x, shape.y, shape.z);
    }
  }
  return fake.launch_answer;
}
const char* cudaGetErrorName(cudaError_t) {
  return "name";
}
}

namespace {

TEST_F(Launch, plain_launch_sets_nothing) {
  EXPECT_FALSE(sluice::launch(kernel, LaunchShape{.grid = 4, .cta = 128}, 1, 2.5));
  EXPECT_EQ(fake.launches, 1);
  EXPECT_EQ(fake.attributes, 0u);
  EXPECT_EQ(fake.shared_attribute, -1);
  EXPECT_EQ(fake.second_argument, 2.5);
}

TEST_F(Launch, arguments_are_converted_to_the_parameters) {
  EXPECT_FALSE(sluice::launch(kernel, LaunchShape{}, 1, 7));
  EXPECT_EQ(fake.second_argument, 7.0);
}

TEST_F(Launch, large_shared_memory_is_opted_into) {
  EXPECT_FALSE(sluice::launch(kernel, LaunchShape{.shared_bytes = 48 * 1024}, 1, 1.0));
  EXPECT_EQ(fake.shared_attribute, -1);
  EXPECT_FALSE(sluice::launch(kernel, LaunchShape{.shared_bytes = 48 * 1024 + 1}, 1, 1.0));
  EXPECT_EQ(fake.shared_attribute, 48 * 1024 + 1);
}

TEST_F(Launch, shared_memory_of_the_device_is_the_limit) {
  fake.static_shared = 1024;
  const auto error = sluice::launch(kernel, LaunchShape{.shared_bytes = 232448 - 1023}, 1, 1.0);
  EXPECT_EQ(error.rule, LaunchRule::TooMuchShared);
  EXPECT_THAT(error.text, HasSubstr("this device gives a CTA 232448"));
  EXPECT_EQ(fake.launches, 0);
  EXPECT_FALSE(sluice::launch(kernel, LaunchShape{.shared_bytes = 232448 - 1024}, 1, 1.0));
}

TEST_F(Launch, cluster_shape_and_size_follow) {
  EXPECT_FALSE(sluice::launch(kernel, LaunchShape{.grid = 8, .cluster = dim3(4, 1, 1)}, 1, 1.0));
  EXPECT_EQ(fake.cluster.x, 4u);
  EXPECT_FALSE(fake.non_portable);
  EXPECT_FALSE(sluice::launch(kernel, LaunchShape{.grid = 16, .cluster = dim3(16, 1, 1)}, 1, 1.0));
  EXPECT_TRUE(fake.non_portable);
}

TEST_F(Launch, impossible_shapes_are_named) {
  EXPECT_EQ(sluice::launch(kernel, LaunchShape{.grid = 32, .cluster = dim3(32, 1, 1)}, 1, 1.0).rule,
            LaunchRule::ClusterTooLarge);
  EXPECT_EQ(sluice::launch(kernel, LaunchShape{.cta = 1056}, 1, 1.0).rule, LaunchRule::TooManyThreads);
  const auto error = sluice::launch(kernel, LaunchShape{.grid = 7, .cluster = dim3(2, 1, 1)}, 1, 1.0);
  EXPECT_EQ(error.rule, LaunchRule::GridNotWhole);
  EXPECT_THAT(error.text, HasSubstr("7 CTAs along x and the cluster 2"));
  EXPECT_EQ(sluice::launch(kernel, LaunchShape{.grid = 0}, 1, 1.0).rule, LaunchRule::GridNotWhole);
}

TEST_F(Launch, extents_whose_product_overflows_are_named) {
  const auto rule_of = [](const LaunchShape& shape) { return sluice::launch(kernel, shape, 1, 1.0).rule; };
  EXPECT_EQ(rule_of({.cluster = dim3(65536, 65536, 1)}), LaunchRule::ClusterTooLarge);
  EXPECT_EQ(rule_of({.cta = dim3(65536, 65537, 1)}), LaunchRule::TooManyThreads);
  EXPECT_EQ(rule_of({.cta = dim3(0x10001, 0xFFFF0001, 1)}), LaunchRule::TooManyThreads);
  EXPECT_EQ(rule_of({.cta = dim3(2, 2, 65)}), LaunchRule::TooManyThreads);
  EXPECT_EQ(rule_of({.grid = dim3(1, 65536, 1)}), LaunchRule::GridTooLarge);
  EXPECT_EQ(rule_of({.shared_bytes = ~std::size_t{0} - 100}), LaunchRule::TooMuchShared);
}

TEST_F(Launch, cluster_that_fits_nowhere_is_named) {
  fake.clusters_that_fit = 0;
  EXPECT_EQ(sluice::launch(kernel, LaunchShape{.grid = 2, .cluster = dim3(2, 1, 1)}, 1, 1.0).rule,
            LaunchRule::ClusterNotSchedulable);
}

TEST_F(Launch, error_of_the_runtime_is_passed_on) {
  fake.launch_answer = cudaErrorInvalidValue;
  const auto error = sluice::launch(kernel, LaunchShape{}, 1, 1.0);
  EXPECT_EQ(error.rule, LaunchRule::RuntimeCall);
  EXPECT_THAT(error.text, HasSubstr("the kernel launch answers name"));
}

}  // namespace
