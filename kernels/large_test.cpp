// Launches past 2^31 elements on a GPU: what no executor on a CPU has the time for. FP8, so that it
// takes 4.3 GB; ReLU for the elementwise kernel, dot for the sums.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "kernels/device_buffer.h"
#include "kernels/executor.h"
#include "kernels/input.h"

namespace kernels {
namespace {

// Past 2^31 by enough that fp32 sees it in a sum of ones, and by a tail.
constexpr std::int64_t kCount = (std::int64_t{1} << 31) + (1 << 24) + 7;

class LargeTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = unusable(); !reason.empty()) GTEST_SKIP() << reason;
    std::size_t free = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    // Three times what it takes: others may be at work on this GPU.
    if (free < 6 * static_cast<std::size_t>(kCount)) {
      GTEST_SKIP() << free << " bytes of GPU memory are free; expected " << 6 * kCount;
    }
    CUDA_CHECK(cudaDeviceGetAttribute(&on_.queue.processors, cudaDevAttrMultiProcessorCount, 0));
  }

  const Kernel& kernel(const char* op) const {
    for (const Kernel& k : on_.table) {
      if (std::strcmp(k.op, op) == 0 && std::strcmp(k.dtype, "fp8_e4m3") == 0) return k;
    }
    throw std::logic_error(op);
  }

  Executor on_ = executors()[0];
};

TEST_F(LargeTest, ReluReachesEveryBlockOfElements) {
  const auto a = on_.allocate(kCount), out = on_.allocate(kCount);
  on_.fill(a.get(), "fp8_e4m3", InputKind::normal, 1, kCount, on_.queue);
  const Kernel& relu = kernel("relu");
  relu.launch({.a = a.get(), .out = out.get(), .n = kCount}, relu.policies[0], on_.queue);
  constexpr std::int64_t kSample = 4096;
  for (const std::int64_t first :
       {std::int64_t{0}, kCount / 2, (std::int64_t{1} << 31) - kSample / 2, kCount - kSample}) {
    std::vector<std::uint8_t> in(kSample), got(kSample);
    on_.copy(in.data(), a.get() + first, kSample);
    on_.copy(got.data(), out.get() + first, kSample);
    for (std::int64_t i = 0; i < kSample; ++i) {
      ASSERT_EQ((in[i] & 0x80) != 0, std::signbit(input(InputKind::normal, 1, first + i)))
          << "input " << first + i;
      ASSERT_EQ(got[i], in[i] & 0x80 ? 0 : in[i]) << "element " << first + i;
    }
  }
}

TEST_F(LargeTest, DotCountsAllOfItsElements) {
  const auto a = on_.allocate(kCount), out = on_.allocate(sizeof(float));
  on_.fill(a.get(), "fp8_e4m3", InputKind::ones, 1, kCount, on_.queue);
  const Kernel& dot = kernel("dot");
  Operands operands{.a = a.get(), .b = a.get(), .out = out.get(), .n = kCount};
  const auto workspace = on_.allocate(dot.workspace_bytes(operands, dot.policies[0], on_.queue));
  operands.workspace = workspace.get();
  dot.launch(operands, dot.policies[0], on_.queue);
  float sum = 0.0F;
  on_.copy(&sum, out.get(), sizeof(sum));
  // Every partial sum is a whole number below 2^24, and exact; only their sum is rounded.
  EXPECT_NEAR(sum, static_cast<double>(kCount), 0x1p-20 * static_cast<double>(kCount));
}

}  // namespace
}  // namespace kernels
