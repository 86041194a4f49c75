// The storage types: what memory carries, and how the elements packed in a 32-bit word become
// floats and back. Arithmetic is fp32, but for the GeLU of FP8 and for fma. A new type is one
// specialisation.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <cstring>

#include "kernels/checks.h"
#include "kernels/ptx.cuh"
#include "kernels/tiles.cuh"

namespace kernels {

/// The floats of one word.
template <int kLanes>
struct Floats {
  float lane[kLanes];
};

/// std::bit_cast, for the CUDA types too, whose copy constructors are not trivial on the host.
template <typename To, typename From>
__host__ __device__ To same_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(static_cast<void*>(&to), &from, sizeof(To));
  return to;
}

/// kLargest: the bits of the largest magnitude that is not a NaN. unpack() is exact, pack() rounds
/// to nearest even, and FP8 saturates. GemvOutput: what y = A x of this type is stored as.
template <typename T>
struct DtypeTraits;

template <>
struct DtypeTraits<float> {
  static constexpr const char* kName = "fp32";
  static constexpr Word kLargest = 0x7f800000;
  using GemvOutput = float;
  __host__ __device__ static Floats<1> unpack(Word w) { return {{same_bits<float>(w)}}; }
  __host__ __device__ static Word pack(Floats<1> f) { return same_bits<Word>(f.lane[0]); }
};

/// fp32 in memory, of which tensor cores take 10 bits of mantissa: a type of mma alone.
struct Tf32 {
  float value;
};
template <>
struct DtypeTraits<Tf32> : DtypeTraits<float> {
  static constexpr const char* kName = "tf32";
};

template <>
struct DtypeTraits<__half> {
  static constexpr const char* kName = "fp16";
  static constexpr Word kLargest = 0x7c00;
  using GemvOutput = __half;
  __host__ __device__ static Floats<2> unpack(Word w) {
    const float2 f = __half22float2(same_bits<__half2>(w));
    return {{f.x, f.y}};
  }
  __host__ __device__ static Word pack(Floats<2> f) {
    return same_bits<Word>(__floats2half2_rn(f.lane[0], f.lane[1]));
  }
};

template <>
struct DtypeTraits<__nv_bfloat16> {
  static constexpr const char* kName = "bf16";
  static constexpr Word kLargest = 0x7f80;
  using GemvOutput = __nv_bfloat16;
  __host__ __device__ static Floats<2> unpack(Word w) {
    const float2 f = __bfloat1622float2(same_bits<__nv_bfloat162>(w));
    return {{f.x, f.y}};
  }
  __host__ __device__ static Word pack(Floats<2> f) {
    return same_bits<Word>(__floats2bfloat162_rn(f.lane[0], f.lane[1]));
  }
};

/// Both FP8 types: four lanes, converted in pairs. All their values are fp16 values too, to which
/// and from which the hardware converts two at once.
template <typename Four, __nv_fp8_interpretation_t kFormat>
struct Fp8Traits {
  using GemvOutput = __nv_bfloat16;
  __host__ __device__ static void unpack_half2(Word w, __half2 (&pairs)[2]) {
    unpack_fp8<kFormat>(w, pairs);
  }
  __host__ __device__ static std::uint16_t pack_half2(__half2 pair) {
    return __nv_cvt_halfraw2_to_fp8x2(same_bits<__half2_raw>(pair), __NV_SATFINITE, kFormat);
  }
  __host__ __device__ static Floats<4> unpack(Word w) {
    __half2 pairs[2];
    unpack_half2(w, pairs);
    const float2 low = __half22float2(pairs[0]), high = __half22float2(pairs[1]);
    return {{low.x, low.y, high.x, high.y}};
  }
  __host__ __device__ static Word pack(Floats<4> f) {
    return same_bits<Word>(Four(float4{f.lane[0], f.lane[1], f.lane[2], f.lane[3]}));
  }
};

template <>
struct DtypeTraits<__nv_fp8_e4m3> : Fp8Traits<__nv_fp8x4_e4m3, __NV_E4M3> {
  static constexpr const char* kName = "fp8_e4m3";
  static constexpr Word kLargest = 0x7e;
};

template <>
struct DtypeTraits<__nv_fp8_e5m2> : Fp8Traits<__nv_fp8x4_e5m2, __NV_E5M2> {
  static constexpr const char* kName = "fp8_e5m2";
  static constexpr Word kLargest = 0x7c;
};

template <typename T>
concept Dtype = DtypeTraits<T>::kName != nullptr;

template <Dtype T>
inline constexpr int kLanesPerWord = sizeof(Word) / sizeof(T);

/// Calls f.operator()<T>() for the T of that name. Throws std::invalid_argument if there is none.
template <typename F>
auto with_dtype(const char* name, F f) {
  const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
  if (is(DtypeTraits<float>::kName)) return f.template operator()<float>();
  if (is(DtypeTraits<__half>::kName)) return f.template operator()<__half>();
  if (is(DtypeTraits<__nv_bfloat16>::kName)) return f.template operator()<__nv_bfloat16>();
  if (is(DtypeTraits<__nv_fp8_e4m3>::kName)) return f.template operator()<__nv_fp8_e4m3>();
  if (is(DtypeTraits<__nv_fp8_e5m2>::kName)) return f.template operator()<__nv_fp8_e5m2>();
  refuse_dtype(name);
}

}  // namespace kernels
