// ReLU and GeLU.
#pragma once

#include <cmath>

#include "kernels/dtype.cuh"
#include "kernels/elementwise.cuh"
#include "kernels/ptx.cuh"

namespace kernels {

/// max(x, 0) on the bits, for all lanes of a word at once: what is negative and no NaN becomes 0,
/// all else passes as it is, E5M2's infinity and the payload of NaNs with it. By way of floats it
/// would be several times the instructions, and the FP8 store would saturate the infinity.
template <Dtype T>
struct Relu {
  using Element = T;
  static constexpr const char* kName = "relu";
  static constexpr int kInputs = 1;
  __host__ __device__ Word operator()(Word w) const {
    constexpr int kBits = 8 * sizeof(T);
    constexpr Word kOnes = ~Word{0} / (~Word{0} >> (32 - kBits));  // bit 0 of each lane
    constexpr Word kSigns = kOnes << (kBits - 1);
    // Carries into a lane's sign bit where its magnitude lies above kLargest, where NaNs are.
    const Word nans = (w & ~kSigns) + kSigns - kOnes * (DtypeTraits<T>::kLargest + 1);
    const Word zeroed = w & ~nans & kSigns;
    return w & ~((zeroed - (zeroed >> (kBits - 1))) | zeroed);
  }
};

/// The tanh form (Hendrycks and Gimpel, arXiv:1606.08415):
/// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
template <Dtype T>
struct Gelu {
  using Element = T;
  static constexpr const char* kName = "gelu";
  static constexpr int kInputs = 1;
  __host__ __device__ Word operator()(Word w) const {
    if constexpr (sizeof(T) == 1) {
      const Word low = packed(static_cast<std::uint16_t>(w));
      return low | Word{packed(static_cast<std::uint16_t>(w >> 16))} << 16;
    } else {
      return map<T>([](float x) { return value(x); }, w);
    }
  }

 private:
  static constexpr float kLinear = 0.7978845608F, kCubic = kLinear * 0.044715F;  // sqrt(2 / pi)

  // 0.5 (1 + tanh(u)) = 1 / (1 + e^-2u), which cancels nowhere.
  __host__ __device__ static float value(float x) {
    constexpr float kScale = -2.0F * 1.4426950409F;  // -2 log2(e)
    const float e = exp2_approx(x * (kScale * kLinear + kScale * kCubic * x * x));
    return x * reciprocal_approx(1.0F + e);
  }

  // Two FP8 at once, in fp16, and one transcendental an element: at the rate of FP8 elements that
  // HBM3e delivers (8.5 a clock and SM) the two of the form above (16 a clock) would be the limit,
  // and so would arithmetic in fp32 (128 instructions a clock, 15 an element). What fp16 and tanh
  // lose, below 2^-10 |x|, is little beside a step of FP8. x^2 may overflow: then tanh is +-1.
  __host__ __device__ static std::uint16_t packed(std::uint16_t pair) {
    const auto both = [](float value) { return __float2half2_rn(value); };
    const __half2 x = DtypeTraits<T>::unpack_half2(pair);
    const __half2 slope = fma_packed(multiply_packed(x, x), both(kCubic), both(kLinear));
    const __half2 half_x = multiply_packed(x, both(0.5F));
    return DtypeTraits<T>::pack_half2(
        fma_packed(half_x, tanh_packed(multiply_packed(x, slope)), half_x));
  }
};

/// The erf form, x Phi(x) = 0.5 x (1 + erf(x / sqrt(2))).
template <Dtype T>
struct GeluErf {
  using Element = T;
  static constexpr const char* kName = "gelu_erf";
  static constexpr int kInputs = 1;
  __host__ __device__ Word operator()(Word w) const {
    return map<T>([](float x) { return 0.5F * x * (1.0F + erff(x * 0.7071067812F)); }, w);
  }
};

}  // namespace kernels
