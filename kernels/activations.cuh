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

/// 0.5 x (1 + tanh(u)), u = x slope(x^2), of the four FP8 of a word: two at once, in fp16, with one
/// transcendental an element. At the rate of FP8 elements that HBM3e delivers (9.6 a clock and SM),
/// the two of the form for wider types (16 a clock) would be the limit, and so would its arithmetic
/// in fp32 (14 instructions an element, where 13.3 are left). What fp16 and tanh lose, below 2^-10
/// |x|, is little beside a step of FP8. x^2 may overflow: then tanh is +-1.
template <Dtype T, typename Slope>
__host__ __device__ Word gelu_packed(Word w, Slope slope) {
  __half2 pairs[2];
  DtypeTraits<T>::unpack_half2(w, pairs);
  Word out = 0;
  for (int i = 0; i < 2; ++i) {
    const __half2 x = pairs[i], half_x = multiply_packed(x, both_halves(0.5F));
    const __half2 u = multiply_packed(x, slope(multiply_packed(x, x)));
    out |= Word{DtypeTraits<T>::pack_half2(fma_packed(half_x, tanh_packed(u), half_x))} << 16 * i;
  }
  return out;
}

/// The tanh form (Hendrycks and Gimpel, arXiv:1606.08415):
/// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
template <Dtype T>
struct Gelu {
  using Element = T;
  static constexpr const char* kName = "gelu";
  static constexpr int kInputs = 1;
  __host__ __device__ Word operator()(Word w) const {
    constexpr float kLinear = 0.7978845608F, kCubic = kLinear * 0.044715F;  // sqrt(2 / pi)
    if constexpr (sizeof(T) == 1) {
      return gelu_packed<T>(w, [](__half2 square) {
        return fma_packed(square, both_halves(kCubic), both_halves(kLinear));
      });
    } else {
      // 0.5 (1 + tanh(u)) = 1 / (1 + e^-2u), which cancels nowhere.
      constexpr float kScale = -2.0F * 1.4426950409F;  // -2 log2(e)
      return map<T>(
          [](float x) {
            const float e = exp2_approx(x * (kScale * kLinear + kScale * kCubic * x * x));
            return x * reciprocal_approx(1.0F + e);
          },
          w);
    }
  }
};

/// The erf form, x Phi(x) = 0.5 x (1 + erf(x / sqrt(2))). In FP8 erf is the tanh of a polynomial
/// that comes within 2.6e-5 of x Phi(x), a minimax fit over |x| < 6. From x^2 = 50 on tanh is +-1,
/// and the polynomial's last term would turn it round.
template <Dtype T>
struct GeluErf {
  using Element = T;
  static constexpr const char* kName = "gelu_erf";
  static constexpr int kInputs = 1;
  __host__ __device__ Word operator()(Word w) const {
    if constexpr (sizeof(T) == 1) {
      return gelu_packed<T>(w, [](__half2 square) {
        const __half2 z = min_packed(square, both_halves(50.0F));
        const __half2 upper = fma_packed(z, both_halves(-0.00035152F), both_halves(0.03700566F));
        return fma_packed(z, upper, both_halves(0.79750786F));
      });
    } else {
      return map<T>([](float x) { return 0.5F * x * (1.0F + erff(x * 0.7071067812F)); }, w);
    }
  }
};

}  // namespace kernels
