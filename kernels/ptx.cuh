// All inline PTX but that of the tensor cores, each piece with the host form that the tests on a
// CPU run.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace kernels {

/// 2^x to 2 ulp, subnormal results flushed to 0. Source: PTX ISA, ex2.approx.ftz.f32.
__host__ __device__ inline float exp2_approx(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return std::exp2(x);
#endif
}

/// 1 / x to 1 ulp, subnormals flushed to 0. Source: PTX ISA, rcp.approx.ftz.f32.
__host__ __device__ inline float reciprocal_approx(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1.0F / x;
#endif
}

/// By how much tanh_packed() errs on a host: the tests set it to the most that the hardware may, up
/// and down.
inline float host_tanh_error = 0.0F;
inline constexpr float kTanhPackedError = 0x1.0252p-11F;  // 2^-10.987, rounded up

/// tanh(x) of each lane to 2^-10.987 absolute, one transcendental a lane. Source: PTX ISA,
/// tanh.approx.f16x2, sm_75.
__host__ __device__ inline __half2 tanh_packed(__half2 x) {
#ifdef __CUDA_ARCH__
  std::uint32_t bits, y;
  std::memcpy(&bits, &x, sizeof(x));
  asm("tanh.approx.f16x2 %0, %1;" : "=r"(y) : "r"(bits));
  std::memcpy(static_cast<void*>(&x), &y, sizeof(x));
  return x;
#else
  return __floats2half2_rn(std::tanh(__low2float(x)) + host_tanh_error,
                           std::tanh(__high2float(x)) + host_tanh_error);
#endif
}

/// `value` in each lane.
__host__ __device__ inline __half2 both_halves(float value) { return __float2half2_rn(value); }

/// The smaller of a and b in each lane; what is no NaN if one is. Their __hmin2 has no host form.
__host__ __device__ inline __half2 min_packed(__half2 a, __half2 b) {
#ifdef __CUDA_ARCH__
  return __hmin2(a, b);
#else
  return __floats2half2_rn(std::fmin(__low2float(a), __low2float(b)),
                           std::fmin(__high2float(a), __high2float(b)));
#endif
}

/// a * b in each lane. The headers' __hmul2 has no host form.
__host__ __device__ inline __half2 multiply_packed(__half2 a, __half2 b) {
#ifdef __CUDA_ARCH__
  return __hmul2(a, b);
#else
  return __floats2half2_rn(__low2float(a) * __low2float(b), __high2float(a) * __high2float(b));
#endif
}

/// a * b + c, in each lane, rounded once. Nor has their __hfma2.
__host__ __device__ inline float fma_packed(float a, float b, float c) { return fmaf(a, b, c); }

__host__ __device__ inline __half2 fma_packed(__half2 a, __half2 b, __half2 c) {
#ifdef __CUDA_ARCH__
  return __hfma2(a, b, c);
#else
  return __floats2half2_rn(__low2float(a) * __low2float(b) + __low2float(c),
                           __high2float(a) * __high2float(b) + __high2float(c));
#endif
}

__host__ __device__ inline __nv_bfloat162 fma_packed(__nv_bfloat162 a, __nv_bfloat162 b,
                                                     __nv_bfloat162 c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800  // in hardware from there on
  return __hfma2(a, b, c);
#else
  return __floats2bfloat162_rn(__low2float(a) * __low2float(b) + __low2float(c),
                               __high2float(a) * __high2float(b) + __high2float(c));
#endif
}

/// The FP8 of a word as fp16, exactly, two by two: the lower ones first. The headers convert 16
/// bits at a time and shift for the upper ones, a quarter of an instruction an element more.
/// Source: PTX ISA, cvt, sm_89.
template <__nv_fp8_interpretation_t kFormat>
__host__ __device__ inline void unpack_fp8(std::uint32_t four, __half2 (&pairs)[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  std::uint32_t low, high;
  if constexpr (kFormat == __NV_E4M3) {
    asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.rn.f16x2.e4m3x2 %0, l; cvt.rn.f16x2.e4m3x2 %1, "
        "h;}"
        : "=r"(low), "=r"(high)
        : "r"(four));
  } else {
    asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.rn.f16x2.e5m2x2 %0, l; cvt.rn.f16x2.e5m2x2 %1, "
        "h;}"
        : "=r"(low), "=r"(high)
        : "r"(four));
  }
  std::memcpy(static_cast<void*>(&pairs[0]), &low, sizeof(low));
  std::memcpy(static_cast<void*>(&pairs[1]), &high, sizeof(high));
#else
  for (int i = 0; i < 2; ++i) {
    const auto pair = static_cast<__nv_fp8x2_storage_t>(four >> (16 * i));
    const __half2_raw raw = __nv_cvt_fp8x2_to_halfraw2(pair, kFormat);
    std::memcpy(static_cast<void*>(&pairs[i]), &raw, sizeof(raw));
  }
#endif
}

/// Loads 16 bytes, aligned, that nobody will read again: they take no room in L1 and are the first
/// to leave L2, where what is read by all, as the x of a GEMV, then stays. Source: PTX ISA, ld,
/// createpolicy, sm_80.
__host__ __device__ inline void load_once(const void* from, std::uint32_t* to) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  std::uint64_t first_out;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first_out));
  asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "l"(from), "l"(first_out));
#else
  struct alignas(16) Bytes {
    std::uint32_t word[4];
  };
  const Bytes bytes = *static_cast<const Bytes*>(from);
  for (int k = 0; k < 4; ++k) to[k] = bytes.word[k];
#endif
}

/// Stores 16 bytes, aligned, that nobody will read soon: they are the first to leave L2. Source:
/// PTX ISA, st, cache operator .cs.
__host__ __device__ inline void store_once(const std::uint32_t* from, void* to) {
#ifdef __CUDA_ARCH__
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(to), "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
               : "memory");
#else
  std::memcpy(to, from, 16);
#endif
}

/// A barrier of the lanes that are here, over which ptxas 13.0 moves no load or use of one: all
/// loads before it are issued before any is waited for. Without it, 3 of the 4 of an FP8 GeLU are,
/// and 1 of the 4 of an FP8 erf; scripts/sass_report.py counts them. It costs 3 instructions.
__host__ __device__ inline void finish_issuing_loads() {
#ifdef __CUDA_ARCH__
  __syncwarp(__activemask());
#endif
}

/// The multiprocessor that runs this thread. Source: PTX ISA, %smid.
__host__ __device__ inline unsigned sm_id() {
#ifdef __CUDA_ARCH__
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
#else
  return 0;
#endif
}

/// Cycles that the SM of this thread has counted; on a host, nanoseconds.
__host__ __device__ inline std::uint64_t sm_cycles() {
#ifdef __CUDA_ARCH__
  return static_cast<std::uint64_t>(clock64());
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// Nanoseconds since some moment, the same for all SMs. Source: PTX ISA, %globaltimer.
__host__ __device__ inline std::uint64_t global_nanoseconds() {
#ifdef __CUDA_ARCH__
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

}  // namespace kernels
