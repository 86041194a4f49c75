// Benchmark inputs as a function of (kind, seed, index): the same bits on host and device, so that
// nothing is stored, uploaded or downloaded. Plain C++; nvcc reads it with
// --expt-relaxed-constexpr.
#pragma once

#include <cstdint>

namespace kernels {

enum class InputKind {
  normal,    // about N(0, 1): multiples of 1/32 within +-5.8125, exact in all but FP8
  uniform,   // [-1, 1): multiples of 1/1024, exact in fp32, tf32 and fp16
  integers,  // -8 ... 7: exact in every storage type
  ones,      // ones and zeros draw less power than any real data and so flatter a GPU
  zeros,
  edges,  // 1e-8 and 1e6 in turn: no data for a benchmark, but what tells storage types apart, for
          // one is a sixth of fp16's least subnormal, the other past the largest of both FP8 types
};

/// What the elements [high * 2^32, (high + 1) * 2^32) of the inputs of one seed share. A loop
/// over 32-bit indices under one key vectorises; one over 64-bit indices does not.
constexpr std::uint64_t input_key(std::uint64_t seed, std::uint32_t high) {
  // The finaliser of SplitMix64 (Steele et al., OOPSLA 2014) after one step of its counter a seed.
  std::uint64_t z = seed * 0x9e3779b97f4a7c15U + high + 1;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

namespace detail {

/// A bijection of 32 bits with low bias: "lowbias32" of Wellons' hash-prospector.
constexpr std::uint32_t mix(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x21f0aaadU;
  x = (x ^ (x >> 15)) * 0xd35a2d97U;
  return x ^ (x >> 15);
}

}  // namespace detail

/// The input at index high * 2^32 + low, where `key` is input_key(seed, high).
constexpr float keyed_input(InputKind kind, std::uint64_t key, std::uint32_t low) {
  if (kind == InputKind::zeros) return 0.0F;
  if (kind == InputKind::ones) return 1.0F;
  if (kind == InputKind::edges) return low % 2 == 0 ? 1e-8F : 1e6F;
  const std::uint32_t first = detail::mix(low ^ static_cast<std::uint32_t>(key));
  const std::uint32_t second = detail::mix(first + static_cast<std::uint32_t>(key >> 32));
  if (kind == InputKind::integers) return static_cast<float>(static_cast<int>(second >> 28) - 8);
  if (kind == InputKind::uniform) {
    return static_cast<float>(static_cast<int>(second >> 21) - 1024) * 0x1p-10F;
  }
  // The sum of 12 uniform 5-bit fields, six a word: mean 12 * 15.5 = 186, variance 12 * (32^2 - 1)
  // / 12 = 1023, so 32 is one standard deviation. Fields are added in pairs, in 10-bit slots.
  constexpr std::uint32_t kEven = 0x01f07c1fU;
  const std::uint32_t slots =
      (first & kEven) + ((first >> 5) & kEven) + (second & kEven) + ((second >> 5) & kEven);
  const std::uint32_t sum = (slots + (slots >> 10) + (slots >> 20)) & 0x3ffU;
  return static_cast<float>(static_cast<int>(sum) - 186) * 0x1p-5F;
}

/// The input at `index` >= 0, before it is rounded to a storage type.
constexpr float input(InputKind kind, std::uint64_t seed, std::int64_t index) {
  const auto bits = static_cast<std::uint64_t>(index);
  return keyed_input(kind, input_key(seed, static_cast<std::uint32_t>(bits >> 32)),
                     static_cast<std::uint32_t>(bits));
}

}  // namespace kernels
