#include "roofline/dtype.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace roofline {
namespace {

// clang-format off
constexpr Format kFormats[] = {
    {Dtype::fp64,     "fp64",     11, 52, 1023, Specials::ieee,     64,  "IEEE 754 binary64"},
    {Dtype::fp32,     "fp32",      8, 23,  127, Specials::ieee,     32,  "IEEE 754 binary32"},
    {Dtype::tf32,     "tf32",      8, 10,  127, Specials::ieee,     32,  "NVIDIA A100 whitepaper: 19 bits, stored as fp32"},
    {Dtype::fp16,     "fp16",      5, 10,   15, Specials::ieee,     16,  "IEEE 754 binary16"},
    {Dtype::bf16,     "bf16",      8,  7,  127, Specials::ieee,     16,  "the upper half of fp32"},
    {Dtype::fp8_e4m3, "fp8_e4m3",  4,  3,    7, Specials::nan_only,  8,  "OCP FP8, arXiv 2209.05433"},
    {Dtype::fp8_e5m2, "fp8_e5m2",  5,  2,   15, Specials::ieee,      8,  "OCP FP8, arXiv 2209.05433"},
    {Dtype::nvfp4,    "nvfp4",     2,  1,    1, Specials::none,      4.5, "OCP MX 1.0 (E2M1), an E4M3 scale per 16, an fp32 per tensor"},
};
// clang-format on

/// Exponent field of the largest finite value.
int top_exponent(const Format& f) {
  const int all_ones = (1 << f.exponent_bits) - 1;
  return f.specials == Specials::ieee ? all_ones - 1 : all_ones;
}

std::uint64_t max_code(const Format& f) {
  const std::uint64_t all_mantissa = (std::uint64_t{1} << f.mantissa_bits) - 1;
  const std::uint64_t mantissa = f.specials == Specials::nan_only ? all_mantissa - 1 : all_mantissa;
  return static_cast<std::uint64_t>(top_exponent(f)) << f.mantissa_bits | mantissa;
}

std::uint64_t nan_code(const Format& f) {
  if (f.specials == Specials::nan_only) return max_code(f) + 1;
  // The quiet NaN: exponent and the first mantissa bit.
  return ((std::uint64_t{1} << (f.exponent_bits + 1)) - 1) << (f.mantissa_bits - 1);
}

}  // namespace

std::span<const Format> formats() { return kFormats; }

const Format& format(Dtype dtype) { return kFormats[static_cast<int>(dtype)]; }

std::string_view name(Dtype dtype) { return format(dtype).name; }

std::optional<Dtype> parse_dtype(std::string_view name) {
  for (const Format& f : kFormats) {
    if (f.name == name) return f.dtype;
  }
  return std::nullopt;
}

Dtype dtype_named(std::string_view name) {
  if (const auto dtype = parse_dtype(name)) return *dtype;
  std::vector<std::string_view> names;
  for (const Format& f : kFormats) names.push_back(f.name);
  throw std::invalid_argument(
      fmt::format("dtype: expected one of {}; got \"{}\"", fmt::join(names, " "), name));
}

double bytes_per_element(Dtype dtype) { return format(dtype).storage_bits / 8; }

double decode(Dtype dtype, std::uint64_t code) {
  const Format& f = format(dtype);
  const std::uint64_t mantissa_mask = (std::uint64_t{1} << f.mantissa_bits) - 1;
  const std::uint64_t exponent_mask = (std::uint64_t{1} << f.exponent_bits) - 1;
  const std::uint64_t mantissa = code & mantissa_mask;
  const std::uint64_t exponent = code >> f.mantissa_bits & exponent_mask;
  const double sign = (code >> (f.bits() - 1) & 1) != 0 ? -1.0 : 1.0;

  if (f.specials == Specials::ieee && exponent == exponent_mask) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  }
  if (f.specials == Specials::nan_only && exponent == exponent_mask && mantissa == mantissa_mask) {
    return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  }
  const bool subnormal = exponent == 0;
  const auto significand =
      static_cast<double>(subnormal ? mantissa : mantissa | std::uint64_t{1} << f.mantissa_bits);
  const int power = (subnormal ? 1 : static_cast<int>(exponent)) - f.bias - f.mantissa_bits;
  return sign * std::ldexp(significand, power);
}

std::uint64_t encode(Dtype dtype, double value, Overflow overflow) {
  const Format& f = format(dtype);
  const std::uint64_t sign = static_cast<std::uint64_t>(std::signbit(value)) << (f.bits() - 1);
  if (std::isnan(value)) return f.specials == Specials::none ? max_code(f) : sign | nan_code(f);

  std::uint64_t too_large = max_code(f);
  if (overflow == Overflow::to_infinity && f.specials == Specials::ieee) {
    too_large = static_cast<std::uint64_t>(top_exponent(f) + 1) << f.mantissa_bits;
  } else if (overflow == Overflow::to_infinity && f.specials == Specials::nan_only) {
    too_large = nan_code(f);
  }
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | too_large;
  if (magnitude == 0) return sign;

  // Count in units of the last place: that of the subnormals, or of the value's own binade.
  // nearbyint is exact here and, in the default rounding mode, takes ties to even.
  const int exponent = std::max(std::ilogb(magnitude), 1 - f.bias);
  const auto steps =
      static_cast<std::uint64_t>(std::nearbyint(std::ldexp(magnitude, f.mantissa_bits - exponent)));
  // A normal's leading bit, and a carry out of its mantissa, add to the exponent field.
  const std::uint64_t code =
      (static_cast<std::uint64_t>(exponent + f.bias - 1) << f.mantissa_bits) + steps;
  return sign | (code > max_code(f) ? too_large : code);
}

double max_finite(Dtype dtype) { return decode(dtype, max_code(format(dtype))); }

double smallest_normal(Dtype dtype) { return std::ldexp(1.0, 1 - format(dtype).bias); }

double smallest_subnormal(Dtype dtype) {
  return std::ldexp(1.0, 1 - format(dtype).bias - format(dtype).mantissa_bits);
}

double epsilon(Dtype dtype) { return std::ldexp(1.0, -format(dtype).mantissa_bits); }

double next_above(Dtype dtype, double value) {
  if (value == 0) return smallest_subnormal(dtype);
  const std::uint64_t code = encode(dtype, std::fabs(value));
  if (value < 0) return -decode(dtype, code - 1);
  const std::uint64_t sign_bit = std::uint64_t{1} << (format(dtype).bits() - 1);
  return code + 1 == sign_bit ? std::numeric_limits<double>::quiet_NaN() : decode(dtype, code + 1);
}

double next_below(Dtype dtype, double value) { return -next_above(dtype, -value); }

}  // namespace roofline
