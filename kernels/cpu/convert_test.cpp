// The cpu's conversions against the model's codec, and its exp2 and erf against libm.
#include "kernels/cpu/convert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "kernels/cpu/math.h"
#include "roofline/dtype.h"

namespace kernels::cpu {
namespace {

template <typename T>
class ConvertTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kCodes = std::uint64_t{1} << (8 * sizeof(typename T::Storage));
  const roofline::Dtype dtype_ = *roofline::parse_dtype(Dtype<T>::kName);
};
using Types = testing::Types<Fp16, Bf16, Fp8E4m3, Fp8E5m2>;
TYPED_TEST_SUITE(ConvertTest, Types);

TYPED_TEST(ConvertTest, LoadsEveryCode) {
  for (std::uint64_t code = 0; code < this->kCodes; ++code) {
    const double expected = decode(this->dtype_, code);
    const float got = TypeParam::load(static_cast<typename TypeParam::Storage>(code));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(got)) << code;
    } else {
      EXPECT_EQ(same_bits<std::uint32_t>(got),
                same_bits<std::uint32_t>(static_cast<float>(expected)))
          << code;
    }
  }
}

TYPED_TEST(ConvertTest, IsAPartOfFp16WhereItIsLoadedAsThat) {
  if constexpr (requires { TypeParam::kFp16Scale; }) {
    for (std::uint64_t code = 0; code < this->kCodes; ++code) {
      const double expected = decode(this->dtype_, code);
      const std::uint16_t half = TypeParam::fp16(static_cast<typename TypeParam::Storage>(code));
      const double got = decode(roofline::Dtype::fp16, half) * TypeParam::kFp16Scale;
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(got)) << code;
      } else {
        EXPECT_EQ(got, expected) << code;
      }
      EXPECT_EQ(std::signbit(got), std::signbit(expected)) << code;
    }
  }
}

TYPED_TEST(ConvertTest, LoadsLanesAsItLoadsEach) {
  std::array<typename TypeParam::Storage, kLanes> codes;
  std::array<float, kLanes> lanes;
  for (std::uint64_t first = 0; first < this->kCodes; first += kLanes) {
    std::iota(codes.begin(), codes.end(), static_cast<typename TypeParam::Storage>(first));
    load_scaled<TypeParam>(codes.data(), lanes.data());
    for (int i = 0; i < kLanes; ++i) {
      const float expected = TypeParam::load(codes[i]), got = lanes[i] * kScale<TypeParam>;
      EXPECT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected))) << codes[i];
    }
  }
}

TYPED_TEST(ConvertTest, StoresFloatsFromAllOverTheRange) {
  const auto overflow = sizeof(typename TypeParam::Storage) == 1 ? roofline::Overflow::saturate
                                                                 : roofline::Overflow::to_infinity;
  const auto check = [&](std::uint32_t bits) {
    const auto x = same_bits<float>(bits);
    const auto got = TypeParam::store(x);
    if (std::isnan(x)) return std::isnan(TypeParam::load(got));
    return got == encode(this->dtype_, x, overflow);
  };
  // Every 4099th float (a prime), and those around each code and each middle of two.
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 4099) {
    ASSERT_TRUE(check(static_cast<std::uint32_t>(bits))) << bits;
  }
  for (std::uint64_t code = 0; code < this->kCodes; ++code) {
    const float value = TypeParam::load(static_cast<typename TypeParam::Storage>(code));
    const float next = TypeParam::load(static_cast<typename TypeParam::Storage>(code + 1));
    for (const float x : {value, value + (next - value) / 2}) {
      for (const std::uint32_t distance : {-1U, 0U, 1U}) {
        ASSERT_TRUE(check(same_bits<std::uint32_t>(x) + distance)) << x;
      }
    }
  }
}

TEST(MathTest, Exp2IsWithinItsBound) {
  double worst = 0.0;
  for (double x = -126.0; x < 127.5; x += 1.0 / 4096) {
    const auto argument = static_cast<float>(x);
    worst = std::max(worst, std::fabs(static_cast<double>(exp2(argument)) / std::exp2(x) - 1.0));
  }
  EXPECT_LE(worst, 3e-7);
  EXPECT_EQ(exp2(127.6F), INFINITY);
  EXPECT_EQ(exp2(INFINITY), INFINITY);
  EXPECT_EQ(exp2(-INFINITY), 0x1p-126F);
  EXPECT_EQ(exp2(NAN), INFINITY);
  EXPECT_EQ(exp2(-NAN), 0x1p-126F);
}

TEST(MathTest, ErfIsWithinItsBound) {
  double worst = 0.0;
  for (double x = -6.0; x < 6.0; x += 1e-5) {
    const auto argument = static_cast<float>(x);
    const double expected = std::erf(static_cast<double>(argument));
    worst = std::max(worst, std::fabs(static_cast<double>(erf(argument)) - expected));
  }
  EXPECT_LE(worst, 5e-7);
  EXPECT_EQ(erf(4.0F), 1.0F);
  EXPECT_EQ(erf(-INFINITY), -1.0F);
  EXPECT_TRUE(std::isnan(erf(NAN)));
}

}  // namespace
}  // namespace kernels::cpu
