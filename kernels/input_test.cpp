#include "kernels/input.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace kernels {
namespace {

constexpr std::int64_t kCount = 1 << 20;

static_assert(input(InputKind::ones, 1, 2) == 1.0F && input(InputKind::zeros, 1, 2) == 0.0F);

struct Moments {
  double mean = 0.0, variance = 0.0, fourth = 0.0;
};

Moments moments(InputKind kind, std::uint64_t seed, std::int64_t first) {
  Moments m;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const double x = input(kind, seed, first + i);
    m.mean += x / kCount;
    m.variance += x * x / kCount;
    m.fourth += x * x * x * x / kCount;
  }
  return m;
}

// The standard error of a mean over 2^20 is 2^-10, of a variance 2^-10 sqrt(2): five of them.
TEST(InputTest, NormalHasTheMomentsOfANormal) {
  for (const std::int64_t first : {std::int64_t{0}, (std::int64_t{1} << 32) - kCount / 2}) {
    const Moments m = moments(InputKind::normal, 7, first);
    EXPECT_NEAR(m.mean, 0.0, 0.005);
    EXPECT_NEAR(m.variance, 1023.0 / 1024.0, 0.007);
    EXPECT_NEAR(m.fourth, 2.9, 0.05);  // 3 - 1.2 / 12 for a sum of 12 uniforms
  }
}

TEST(InputTest, UniformAndIntegersCoverTheirRange) {
  EXPECT_NEAR(moments(InputKind::uniform, 7, 0).variance, 1.0 / 3.0, 0.003);
  std::set<float> integers;
  for (int i = 0; i < 1000; ++i) {
    const float x = input(InputKind::uniform, 3, i);
    EXPECT_TRUE(x >= -1.0F && x < 1.0F && x * 1024.0F == std::floor(x * 1024.0F)) << x;
    integers.insert(input(InputKind::integers, 3, i));
  }
  EXPECT_EQ(integers.size(), 16U);
  EXPECT_EQ(*integers.begin(), -8.0F);
  EXPECT_EQ(*integers.rbegin(), 7.0F);
}

TEST(InputTest, NormalIsExactInBf16) {
  for (int i = 0; i < 10000; ++i) {
    const float x = input(InputKind::normal, 3, i);
    EXPECT_EQ(x * 32.0F, std::floor(x * 32.0F));
    EXPECT_LE(std::fabs(x), 186.0F / 32.0F);  // 8 bits
  }
}

TEST(InputTest, SeedsAndNeighboursAreUncorrelated) {
  double seeds = 0.0, neighbours = 0.0, words = 0.0;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const double x = input(InputKind::normal, 1, i);
    seeds += x * input(InputKind::normal, 2, i) / kCount;
    neighbours += x * input(InputKind::normal, 1, i + 1) / kCount;
    words += x * input(InputKind::normal, 1, i + (std::int64_t{1} << 32)) / kCount;
  }
  EXPECT_NEAR(seeds, 0.0, 0.005);
  EXPECT_NEAR(neighbours, 0.0, 0.005);
  EXPECT_NEAR(words, 0.0, 0.005);
}

}  // namespace
}  // namespace kernels
