// The storage types of the cpu backend: branch-free conversions, which g++ vectorises where those
// of the CUDA headers do not. load() is exact; store() rounds to nearest even, FP8 saturates, and a
// NaN stays one.
#pragma once

#include <cstdint>
#include <type_traits>
#ifdef __F16C__
#include <immintrin.h>
#endif

namespace kernels::cpu {
// Included by files that are compiled for different CPUs. Internal linkage gives each its own copy;
// otherwise the linker would keep one, perhaps of instructions that this CPU does not have.
namespace {

template <typename To, typename From>
inline To same_bits(From from) {
  return __builtin_bit_cast(To, from);  // std::bit_cast is not of internal linkage
}

struct Fp32 {
  using Storage = std::uint32_t;
  static constexpr Storage kLargest = 0x7f800000;  // the largest magnitude that is not a NaN
  static float load(Storage s) { return same_bits<float>(s); }
  static Storage store(float x) { return same_bits<Storage>(x); }
};

struct Bf16 {
  using Storage = std::uint16_t;
  static constexpr Storage kLargest = 0x7f80;
  static float load(Storage s) { return same_bits<float>(std::uint32_t{s} << 16); }
  static Storage store(float x) {
    const auto bits = same_bits<std::uint32_t>(x);
    const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    const bool nan = (bits & 0x7fffffff) > 0x7f800000;
    return static_cast<Storage>(nan ? 0x7fff : rounded);
  }
};

/// The formats of fewer exponent bits than fp32. kFiniteMax: the bits of the largest finite value.
template <typename StorageType, int kExponentBits, int kMantissaBits, std::uint32_t kFiniteMax,
          bool kHasInfinity, bool kSaturates>
struct Small {
  using Storage = StorageType;
  static constexpr Storage kLargest = kFiniteMax + kHasInfinity;

  static float load(Storage s) {
    // The sign stays at the top, the magnitude goes as far below it as fp32 has it.
    const auto wide = static_cast<std::uint32_t>(static_cast<std::make_signed_t<Storage>>(s));
    const std::uint32_t sign = wide & 0x80000000U;
    const std::uint32_t bits = (wide << kShift & kNan << kShift) | sign;
    std::uint32_t finite;
    if constexpr (kSubnormalsAreRare) {
      // The exponent is off by the difference of the biases. A product puts that right, for
      // subnormals too, but slowly: a dot of E4M3 took 2.8 times as long in the cache by it.
      finite =
          same_bits<std::uint32_t>(same_bits<float>(bits) * same_bits<float>((254U - kBias) << 23));
    } else {
      // A subnormal is its mantissa with an implicit 1 before it, less that 1.
      const bool subnormal = (bits & 0x7f800000U) == 0;
      const std::uint32_t exponent = (subnormal ? 128U - kBias : 127U - kBias) << 23;
      const std::uint32_t implicit = subnormal ? (128U - kBias) << 23 | sign : 0U;
      finite =
          same_bits<std::uint32_t>(same_bits<float>(bits + exponent) - same_bits<float>(implicit)) |
          sign;
    }
    const bool special = (bits & 0x7fffffffU) > kFiniteMax << kShift;
    return same_bits<float>(special ? bits | 0x7f800000U : finite);
  }

  static Storage store(float x) {
    const auto bits = same_bits<std::uint32_t>(x);
    const std::uint32_t magnitude = bits & 0x7fffffff;
    const std::uint32_t half = (1U << (kShift - 1)) - 1 + ((magnitude >> kShift) & 1);
    const std::uint32_t normal = (magnitude - ((127U - kBias) << 23) + half) >> kShift;
    // Added to a number whose last bit is the smallest subnormal, x is rounded to that.
    constexpr std::uint32_t kStep = (127U + 1 - kBias - kMantissaBits + 23) << 23;
    const auto subnormal =
        same_bits<std::uint32_t>(same_bits<float>(magnitude) + same_bits<float>(kStep)) - kStep;
    std::uint32_t code = magnitude < ((128U - kBias) << 23) ? subnormal : normal;
    constexpr std::uint32_t kMost = kFiniteMax + !kSaturates;
    code = code > kMost ? kMost : code;
    code = magnitude > 0x7f800000 ? kNan : code;
    return static_cast<Storage>(code | bits >> 31 << kSignBit);
  }

  /// The bits of the fp16 that is the value / kFp16Scale, which no format here is too wide for.
  static std::uint16_t fp16(Storage s) {
    const auto wide = static_cast<std::uint16_t>(static_cast<std::make_signed_t<Storage>>(s));
    constexpr int kUp = 10 - kMantissaBits;
    const auto bits = static_cast<std::uint16_t>(wide << kUp & (0x8000U | kNan << kUp));
    if constexpr (kExponentBits == 5) return bits;  // a NaN's exponent says so
    // The one NaN is all ones: one more carries into the exponent's top bit, which nothing else
    // has.
    return static_cast<std::uint16_t>(bits | ((bits + (1U << kUp)) & 0x4000U));
  }
  static constexpr float kFp16Scale = 1 << (16 - (1 << (kExponentBits - 1)));

 private:
  // Below 2^-14, where one in 20 000 of a normal distribution falls; below 2^-6, one in 80, in
  // E4M3.
  static constexpr bool kSubnormalsAreRare = kExponentBits >= 5;
  static constexpr int kSignBit = kExponentBits + kMantissaBits;
  static constexpr int kShift = 23 - kMantissaBits;
  static constexpr std::uint32_t kBias = (1U << (kExponentBits - 1)) - 1;
  static constexpr std::uint32_t kNan = (1U << kSignBit) - 1;
};

using Fp16 = Small<std::uint16_t, 5, 10, 0x7bff, true, false>;
using Fp8E4m3 = Small<std::uint8_t, 4, 3, 0x7e, false, true>;
using Fp8E5m2 = Small<std::uint8_t, 5, 2, 0x7b, true, true>;

// clang-format off
template <typename T> struct Dtype;
template <> struct Dtype<Fp32>    { static constexpr const char* kName = "fp32";     using GemvOutput = Fp32; };
template <> struct Dtype<Fp16>    { static constexpr const char* kName = "fp16";     using GemvOutput = Fp16; };
template <> struct Dtype<Bf16>    { static constexpr const char* kName = "bf16";     using GemvOutput = Bf16; };
template <> struct Dtype<Fp8E4m3> { static constexpr const char* kName = "fp8_e4m3"; using GemvOutput = Bf16; };
template <> struct Dtype<Fp8E5m2> { static constexpr const char* kName = "fp8_e5m2"; using GemvOutput = Bf16; };
// clang-format on

/// Elements that are converted together: four vectors of AVX-512.
constexpr int kLanes = 64;

#ifdef __F16C__
// The masks are for g++ 12, which warns of the undefined vector inside the forms without one.
inline void fp16_to_fp32(const std::uint16_t* from, float* to) {
#ifdef __AVX512F__
  for (int i = 0; i < kLanes; i += 16) {
    const auto half = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    _mm512_storeu_ps(to + i, _mm512_maskz_cvtph_ps(0xffff, half));
  }
#else
  for (int i = 0; i < kLanes; i += 8) {
    const auto half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(half));
  }
#endif
}

inline void fp32_to_fp16(const float* from, std::uint16_t* to) {
#ifdef __AVX512F__
  for (int i = 0; i < kLanes; i += 16) {
    const auto half =
        _mm512_maskz_cvtps_ph(0xffff, _mm512_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), half);
  }
#else
  for (int i = 0; i < kLanes; i += 8) {
    const auto half = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), half);
  }
#endif
}
#endif

/// What load_scaled() leaves to be multiplied by.
template <typename T>
constexpr float kScale = [] {
#ifdef __F16C__
  if constexpr (requires { T::kFp16Scale; }) return T::kFp16Scale;
#endif
  return 1.0F;
}();

/// to[i] kScale<T> = T::load(from[i]) for i < kLanes; from fp16 by the processor's own instruction,
/// where it has one, and from FP8, which is a part of fp16, too.
template <typename T>
void load_scaled(const typename T::Storage* from, float* __restrict to) {
#ifdef __F16C__
  if constexpr (std::is_same_v<T, Fp16>) {
    return fp16_to_fp32(from, to);  // by a copy of them a gemv in the cache was a third slower
  } else if constexpr (requires { T::kFp16Scale; }) {
    std::uint16_t half[kLanes];
    for (int i = 0; i < kLanes; ++i) half[i] = T::fp16(from[i]);
    return fp16_to_fp32(half, to);
  }
#endif
  for (int i = 0; i < kLanes; ++i) to[i] = T::load(from[i]);
}

template <typename T>
void load_lanes(const typename T::Storage* from, float* __restrict to) {
  load_scaled<T>(from, to);
  for (int i = 0; i < kLanes; ++i) to[i] *= kScale<T>;
}

/// to[i] = T::store(from[i]) for i < kLanes.
template <typename T>
void store_lanes(const float* from, typename T::Storage* __restrict to) {
#ifdef __F16C__
  if constexpr (std::is_same_v<T, Fp16>) return fp32_to_fp16(from, to);
#endif
  for (int i = 0; i < kLanes; ++i) to[i] = T::store(from[i]);
}

}  // namespace
}  // namespace kernels::cpu
