#include "roofline/dtype.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace roofline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Limits {
  Dtype dtype;
  int bits;
  double bytes, max, smallest_normal, smallest_subnormal, epsilon;
};

// From the definitions: max = (2 - 2^-m) 2^(top - bias); min normal 2^(1 - bias); subnormal 2^-m of
// that. E4M3 gives its last mantissa to NaN: 1.75 x 2^8. E2M1 has 0, .5, 1, 1.5, 2, 3, 4, 6.
const Limits kLimits[] = {
    {Dtype::fp64, 64, 8, 1.7976931348623157e308, 0x1p-1022, 0x1p-1074, 0x1p-52},
    {Dtype::fp32, 32, 4, 3.4028234663852886e38, 0x1p-126, 0x1p-149, 0x1p-23},
    {Dtype::tf32, 19, 4, 3.4011621342146535e38, 0x1p-126, 0x1p-136, 0x1p-10},
    {Dtype::fp16, 16, 2, 65504, 0x1p-14, 0x1p-24, 0x1p-10},
    {Dtype::bf16, 16, 2, 3.3895313892515355e38, 0x1p-126, 0x1p-133, 0x1p-7},
    {Dtype::fp8_e4m3, 8, 1, 448, 0x1p-6, 0x1p-9, 0x1p-3},
    {Dtype::fp8_e5m2, 8, 1, 57344, 0x1p-14, 0x1p-16, 0x1p-2},
    {Dtype::nvfp4, 4, 0.5625, 6, 1, 0.5, 0.5},  // 4 bits and a byte of scale per 16
};

TEST(Dtype, LimitsFollowFromTheDefinition) {
  ASSERT_EQ(formats().size(), std::size(kLimits));
  for (const Limits& row : kLimits) {
    EXPECT_EQ(format(row.dtype).bits(), row.bits) << name(row.dtype);
    EXPECT_EQ(bytes_per_element(row.dtype), row.bytes) << name(row.dtype);
    EXPECT_EQ(max_finite(row.dtype), row.max) << name(row.dtype);
    EXPECT_EQ(smallest_normal(row.dtype), row.smallest_normal) << name(row.dtype);
    EXPECT_EQ(smallest_subnormal(row.dtype), row.smallest_subnormal) << name(row.dtype);
    EXPECT_EQ(epsilon(row.dtype), row.epsilon) << name(row.dtype);
    EXPECT_EQ(decode(row.dtype, encode(row.dtype, 1) + 1), 1 + row.epsilon) << name(row.dtype);
  }
}

TEST(Dtype, NamesAreReadBack) {
  for (const Format& f : formats()) EXPECT_EQ(parse_dtype(f.name), f.dtype);
  EXPECT_EQ(parse_dtype("fp12"), std::nullopt);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
}

struct Stored {
  Dtype dtype;
  double value;
  double to_infinity, saturated;  // what is read back
};

const Stored kStored[] = {
    // Half of the smallest subnormal rounds to the even 0, the next value up does not.
    {Dtype::fp16, 1e-8, 0, 0},
    {Dtype::fp16, 0x1p-25, 0, 0},
    {Dtype::fp16, 0x1.00001p-25, 0x1p-24, 0x1p-24},
    // 1e-8 = 1.342 x 2^-27; 1.342 x 128 = 171.8, so 172/128 x 2^-27 = 1.00117...e-8.
    {Dtype::bf16, 1e-8, 172.0 / 128 * 0x1p-27, 172.0 / 128 * 0x1p-27},
    {Dtype::fp16, 65519, 65504, 65504},
    {Dtype::fp16, 65520, kInfinity, 65504},  // the tie with 65536, which is even
    // 448 = 1.75 x 2^8, the next would be 480: 464 is the tie and 1.75 is even.
    {Dtype::fp8_e4m3, 448, 448, 448},
    {Dtype::fp8_e4m3, 449, 448, 448},
    {Dtype::fp8_e4m3, 464, 448, 448},
    {Dtype::fp8_e4m3, 464.5, kNaN, 448},
    {Dtype::fp8_e4m3, kInfinity, kNaN, 448},
    {Dtype::fp8_e4m3, -500, kNaN, -448},
    {Dtype::fp8_e4m3, 0x1p-10, 0, 0},
    // 57344 = 1.75 x 2^15, the next would be 65536: the tie 61440 goes there, for 1.75 is odd.
    {Dtype::fp8_e5m2, 57345, 57344, 57344},
    {Dtype::fp8_e5m2, 61439, 57344, 57344},
    {Dtype::fp8_e5m2, 61440, kInfinity, 57344},
    {Dtype::fp8_e5m2, -kInfinity, -kInfinity, -57344},
    {Dtype::nvfp4, 5, 4, 4},
    {Dtype::nvfp4, 7, 6, 6},
    {Dtype::nvfp4, -kInfinity, -6, -6},
    {Dtype::nvfp4, 0.25, 0, 0},
    {Dtype::nvfp4, kNaN, 6, 6},
    {Dtype::tf32, 1 + 0x1p-11, 1, 1},
    {Dtype::fp32, 16777217, 16777216, 16777216},
    {Dtype::fp64, 0.1, 0.1, 0.1},
};

TEST(Dtype, EncodesTheNearestWithTiesToEven) {
  for (const Stored& row : kStored) {
    const double plain = decode(row.dtype, encode(row.dtype, row.value, Overflow::to_infinity));
    const double saturated = decode(row.dtype, encode(row.dtype, row.value, Overflow::saturate));
    EXPECT_TRUE(plain == row.to_infinity || (std::isnan(plain) && std::isnan(row.to_infinity)))
        << name(row.dtype) << ' ' << row.value << ": " << plain;
    EXPECT_EQ(saturated, row.saturated) << name(row.dtype) << ' ' << row.value;
  }
}

TEST(Dtype, KeepsTheSignOfZeroAndOfNaN) {
  for (const Format& f : formats()) {
    EXPECT_TRUE(std::signbit(decode(f.dtype, encode(f.dtype, -0.0)))) << f.name;
    EXPECT_FALSE(std::signbit(decode(f.dtype, encode(f.dtype, 0.0)))) << f.name;
    if (f.specials == Specials::none) continue;
    EXPECT_TRUE(std::isnan(decode(f.dtype, encode(f.dtype, kNaN)))) << f.name;
    EXPECT_TRUE(std::signbit(decode(f.dtype, encode(f.dtype, -kNaN)))) << f.name;
  }
}

TEST(Dtype, E2M1HasTheseEightMagnitudes) {
  const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (std::uint64_t code = 0; code < 8; ++code) {
    EXPECT_EQ(decode(Dtype::nvfp4, code), values[code]);
    EXPECT_EQ(decode(Dtype::nvfp4, code | 8), -values[code]);
  }
}

TEST(Dtype, NeighboursAreOneCodeAway) {
  EXPECT_EQ(next_above(Dtype::fp16, 0), 0x1p-24);
  EXPECT_EQ(next_below(Dtype::fp16, 0), -0x1p-24);
  EXPECT_EQ(next_above(Dtype::fp16, -0x1p-24), 0);
  EXPECT_EQ(next_above(Dtype::fp16, 1), 1 + 0x1p-10);
  EXPECT_EQ(next_below(Dtype::fp16, 1), 1 - 0x1p-11);
  EXPECT_EQ(next_above(Dtype::fp16, 65504), kInfinity);
  EXPECT_EQ(next_below(Dtype::fp16, kInfinity), 65504);
  EXPECT_TRUE(std::isnan(next_above(Dtype::fp8_e4m3, 448)));
  EXPECT_EQ(next_below(Dtype::fp8_e4m3, 448), 416);
  EXPECT_TRUE(std::isnan(next_above(Dtype::nvfp4, 6)));
  EXPECT_EQ(next_below(Dtype::nvfp4, -4), -6);
  EXPECT_TRUE(std::isnan(next_above(Dtype::fp16, kNaN)));
}

// ---- properties
// ----------------------------------------------------------------------------------

/// Values over the whole range of a format and a little beyond, ascending.
std::vector<double> spread(Dtype dtype) {
  std::mt19937_64 random(7);
  const double low = std::log2(smallest_subnormal(dtype)) - 2;
  const double high = std::min(std::log2(max_finite(dtype)) + 2, 1023.0);
  std::uniform_real_distribution<double> exponent(low, high);
  std::vector<double> values;
  for (int i = 0; i < 20000; ++i) {
    const double value = std::exp2(exponent(random));
    values.push_back(i % 2 == 0 ? value : -value);
  }
  std::sort(values.begin(), values.end());
  return values;
}

TEST(Dtype, EveryCodeUpTo19BitsSurvivesARoundTrip) {
  for (const Format& f : formats()) {
    if (f.bits() > 19) continue;
    for (std::uint64_t code = 0; code < std::uint64_t{1} << f.bits(); ++code) {
      const double value = decode(f.dtype, code);
      if (!std::isnan(value)) {
        ASSERT_EQ(encode(f.dtype, value), code) << f.name;
      }
    }
  }
}

TEST(Dtype, EncodingIsMonotoneIdempotentAndNearest) {
  for (const Format& f : formats()) {
    double before = -kInfinity;
    for (const double value : spread(f.dtype)) {
      const double stored = decode(f.dtype, encode(f.dtype, value, Overflow::saturate));
      ASSERT_GE(stored, before) << f.name << ' ' << value;
      ASSERT_EQ(decode(f.dtype, encode(f.dtype, stored)), stored) << f.name << ' ' << value;
      const double error = std::fabs(stored - value);
      for (const double other : {next_below(f.dtype, stored), next_above(f.dtype, stored)}) {
        if (std::isfinite(other)) {
          ASSERT_LE(error, std::fabs(other - value)) << f.name << ' ' << value;
        }
      }
      before = stored;
    }
  }
}

TEST(Dtype, Fp32IsWhatTheCompilerRoundsTo) {
  for (const double value : spread(Dtype::fp32)) {
    if (std::fabs(value) > max_finite(Dtype::fp32)) continue;  // the conversion would be undefined
    ASSERT_EQ(decode(Dtype::fp32, encode(Dtype::fp32, value)), static_cast<float>(value)) << value;
  }
}

}  // namespace
}  // namespace roofline
