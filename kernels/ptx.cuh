// All inline PTX, each piece with the host form that the tests on a CPU run.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <chrono>
#include <cmath>
#include <cstdint>

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

/// tanh(x) to 2^-11 relative, one instruction. Source: PTX ISA, tanh.approx.f32, sm_75.
__host__ __device__ inline float tanh_approx(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return std::tanh(x);
#endif
}

/// a * b + c, in each lane, rounded once. The headers' __hfma2 has no host form.
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
