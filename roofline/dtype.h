// The number formats of the suite and their codec, written from the definition: the oracle that
// every faster conversion is tested against.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace roofline {

/// tf32 is a compute type: its operands are stored as fp32. nvfp4 exists in the model only.
enum class Dtype { fp64, fp32, tf32, fp16, bf16, fp8_e4m3, fp8_e5m2, nvfp4 };

/// What the codes above the largest finite value mean.
enum class Specials {
  ieee,      // exponent all ones: infinity where the mantissa is 0, else NaN
  nan_only,  // E4M3: only the code of all ones is NaN, and there is no infinity
  none,      // E2M1: every code is a finite number
};

/// A binary floating-point format: sign, exponent, mantissa, from the most significant bit on.
struct Format {
  Dtype dtype;
  std::string_view name;
  int exponent_bits, mantissa_bits, bias;
  Specials specials;
  double storage_bits;  // an element in memory: 32 for tf32, 4.5 for nvfp4 with its block scales
  std::string_view source;

  constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
};

std::span<const Format> formats();
const Format& format(Dtype dtype);

std::string_view name(Dtype dtype);
std::optional<Dtype> parse_dtype(std::string_view name);
/// The same for what a user typed: throws std::invalid_argument with all names where it is none.
Dtype dtype_named(std::string_view name);

/// Bytes of one element in memory; 0.5625 for nvfp4.
double bytes_per_element(Dtype dtype);

/// The value of a code; the bits above the format's are ignored.
double decode(Dtype dtype, std::uint64_t code);

enum class Overflow {
  to_infinity,  // as IEEE 754 rounds; NaN in E4M3, which has no infinity (CUDA's NOSAT)
  saturate,     // to the largest finite value, infinities too (CUDA's SATFINITE)
};

/// The nearest code, ties to even. NaN stays NaN; nvfp4 has none, there it is the
/// largest value (as in cuda_fp4.h).
std::uint64_t encode(Dtype dtype, double value, Overflow overflow = Overflow::to_infinity);

double max_finite(Dtype dtype);
double smallest_normal(Dtype dtype);
double smallest_subnormal(Dtype dtype);
/// The gap between 1 and the next value.
double epsilon(Dtype dtype);

/// The neighbours of a value of the format, infinities included where it has them; NaN beyond its
/// ends and for NaN. Next to either zero are the smallest subnormals.
double next_above(Dtype dtype, double value);
double next_below(Dtype dtype, double value);

}  // namespace roofline
