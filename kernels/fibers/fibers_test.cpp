// Bugs planted to show that the tests of the kernels would see them: by the executor itself, by the
// address and undefined-behaviour sanitizers, or by the thread sanitizer.
#include "kernels/fibers/fibers.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/tiles.cuh"

namespace kernels {
namespace {

constexpr unsigned kThreads = 64;

std::string error_of(void (*kernel)(float*)) {
  std::vector<float> data(kThreads);
  try {
    launch({1, kThreads, nullptr}, kernel, data.data());
  } catch (const fibers::Error& error) {
    return error.what();
  }
  return "";
}

__global__ void reverse_kernel(float* data) {
  __shared__ float copy[kThreads];
  copy[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = copy[kThreads - 1 - threadIdx.x];
}

__global__ void exited_lane_kernel(float* data) {
  if (threadIdx.x == 37) return;
  data[threadIdx.x] = __shfl_down_sync(0xffffffffU, 1.0F, 1);
}

__global__ void divergent_barrier_kernel(float* data) {
  if (threadIdx.x == 0) __syncthreads();
  data[threadIdx.x] = __shfl_down_sync(0xffffffffU, 1.0F, 1);
}

__global__ void not_in_its_mask_kernel(float* data) {
  data[threadIdx.x] = __shfl_down_sync(0x0000ffffU, 1.0F, 1);
}

TEST(FibersTest, ABarrierOrdersTheThreadsOfABlock) {
  std::vector<float> data(kThreads);
  for (unsigned i = 0; i < kThreads; ++i) data[i] = static_cast<float>(i);
  launch({1, kThreads, nullptr}, reverse_kernel, data.data());
  for (unsigned i = 0; i < kThreads; ++i) EXPECT_EQ(data[i], static_cast<float>(kThreads - 1 - i));
}

TEST(FibersTest, SeesAnExitedLane) {
  EXPECT_EQ(error_of(exited_lane_kernel),
            "thread 38 of block 0 waits for thread 37 of block 0, which has returned");
}

TEST(FibersTest, SeesADivergentBarrier) {
  EXPECT_EQ(error_of(divergent_barrier_kernel),
            "deadlock: thread 1 of block 0 waits for its warp, thread 0 of block 0 at a barrier");
}

TEST(FibersTest, SeesALaneThatIsNotInItsMask) {
  EXPECT_EQ(error_of(not_in_its_mask_kernel),
            "thread 16 of block 0 is not in the mask that it waits for");
}

TEST(FibersTest, RunsOnAfterAnError) {
  EXPECT_NE(error_of(exited_lane_kernel), "");
  EXPECT_EQ(error_of(reverse_kernel), "");
}

TEST(FibersTest, RefusesGridsThatAGpuRefuses) {
  std::vector<float> data(kThreads);
  EXPECT_THROW(launch({0, kThreads, nullptr}, reverse_kernel, data.data()), std::invalid_argument);
  EXPECT_THROW(launch({1, 2048, nullptr}, reverse_kernel, data.data()), std::invalid_argument);
}

#ifdef __SANITIZE_ADDRESS__

__global__ void long_tail_kernel(float* data, unsigned n) {
  if (threadIdx.x <= n) data[threadIdx.x] = 1.0F;  // not <
}

__global__ void vector_kernel(float* data) { reinterpret_cast<Vector*>(data)[threadIdx.x] = {}; }

TEST(FibersDeathTest, TheAddressSanitizerSeesATailThatIsOneTooLong) {
  std::vector<float> data(kThreads - 1);
  EXPECT_DEATH(launch({1, kThreads, nullptr}, long_tail_kernel, data.data(), kThreads - 1),
               "heap-buffer-overflow");
}

TEST(FibersDeathTest, TheUndefinedBehaviourSanitizerSeesAMisalignedVector) {
  std::vector<float> data(5 * kThreads);
  EXPECT_DEATH(launch({1, kThreads, nullptr}, vector_kernel, data.data() + 1),
               "misaligned address");
}

#endif

#ifdef __SANITIZE_THREAD__

extern "C" const char* __tsan_default_options() { return "halt_on_error=1"; }

__global__ void missing_barrier_kernel(float* data) {
  __shared__ float copy[kThreads];
  copy[threadIdx.x] = data[threadIdx.x];
  data[threadIdx.x] = copy[kThreads - 1 - threadIdx.x];  // no __syncthreads() before
}

TEST(FibersDeathTest, TheThreadSanitizerSeesAMissingBarrier) {
  EXPECT_DEATH(error_of(missing_barrier_kernel), "data race");
}

#endif

}  // namespace
}  // namespace kernels
