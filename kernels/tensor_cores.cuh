// The inline PTX of the tensor cores, with its host form, as ptx.cuh has the rest.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <type_traits>

#include "kernels/dtype.cuh"

namespace kernels {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define KERNELS_WGMMA 1
#endif

/// A tile is the product of A [64, k] and B [k, 256] by 128 threads, k being what 32 bytes hold:
/// the largest that Hopper multiplies at once, and the one that keeps its tensor cores busy where
/// both operands are read from shared memory.
inline constexpr int kTileThreads = 128, kTileSums = 128;       // sums of each thread
inline constexpr int kTileVectorsA = 128, kTileVectorsB = 512;  // 16-byte ones

/// Called by each thread that has written operands, before the barrier: tensor cores read shared
/// memory past what orders the accesses of threads. Source: PTX ISA, async proxy.
__host__ __device__ inline void publish_tile_operands() {
#ifdef KERNELS_WGMMA
  asm volatile("fence.proxy.async;" ::: "memory");
#endif
}

/// Called before the first multiply_tile() after d was written.
__host__ __device__ inline void begin_tiles() {
#ifdef KERNELS_WGMMA
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

/// Lets the tiles since the last call run on while the next are issued, and waits for those before.
__host__ __device__ inline void commit_tiles() {
#ifdef KERNELS_WGMMA
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
#endif
}

/// Waits for all tiles that were committed; d holds their sums then.
__host__ __device__ inline void finish_tiles() {
#ifdef KERNELS_WGMMA
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
}

#ifdef KERNELS_WGMMA

/// Where an operand lies, as wgmma wants it described: no swizzle, 128 bytes between the pieces of
/// 8 rows x 16 bytes along k, 256 along the rows. Source: PTX ISA, matrix descriptor.
__device__ inline std::uint64_t tile_descriptor(const Vector* operand) {
  const std::uint64_t address = __cvta_generic_to_shared(operand);
  return (address & 0x3ffff) >> 4 | std::uint64_t{128 >> 4} << 16 | std::uint64_t{256 >> 4} << 32;
}

// The 128 sums of a thread, as asm() wants them: "%0, %1 ... %127", and the variables.
#define KERNELS_TEN_NAMES(tens)                                                                \
  "%" tens "0, %" tens "1, %" tens "2, %" tens "3, %" tens "4, %" tens "5, %" tens "6, %" tens \
  "7, %" tens "8, %" tens "9, "
#define KERNELS_NAMES     \
  KERNELS_TEN_NAMES("")   \
  KERNELS_TEN_NAMES("1")  \
  KERNELS_TEN_NAMES("2")  \
  KERNELS_TEN_NAMES("3")  \
  KERNELS_TEN_NAMES("4")  \
  KERNELS_TEN_NAMES("5")  \
  KERNELS_TEN_NAMES("6")  \
  KERNELS_TEN_NAMES("7")  \
  KERNELS_TEN_NAMES("8")  \
  KERNELS_TEN_NAMES("9")  \
  KERNELS_TEN_NAMES("10") \
  KERNELS_TEN_NAMES("11") \
  "%120, %121, %122, %123, %124, %125, %126, %127"
#define KERNELS_FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define KERNELS_SIXTEEN(i) \
  KERNELS_FOUR(i), KERNELS_FOUR(i + 4), KERNELS_FOUR(i + 8), KERNELS_FOUR(i + 12)
#define KERNELS_SUMS                                                                 \
  KERNELS_SIXTEEN(0), KERNELS_SIXTEEN(16), KERNELS_SIXTEEN(32), KERNELS_SIXTEEN(48), \
      KERNELS_SIXTEEN(64), KERNELS_SIXTEEN(80), KERNELS_SIXTEEN(96), KERNELS_SIXTEEN(112)
#define KERNELS_MULTIPLY(depth_and_types, flags)                                         \
  asm volatile("wgmma.mma_async.sync.aligned.m64n256" depth_and_types " {" KERNELS_NAMES \
               "}, %128, %129, " flags ";"                                               \
               : KERNELS_SUMS                                                            \
               : "l"(tile_descriptor(a)), "l"(tile_descriptor(b)))

#elif defined(__CUDA_ARCH__)

// The tile in pieces of 16 x 8. Each register of a fragment is the lane's word of any vector, as
// they are alike. Source: PTX ISA, fragments of mma.m16n8k8, m16n8k16 and m16n8k32.
#define KERNELS_MULTIPLY(depth_and_types, registers_a, registers_b)                          \
  _Pragma("unroll") for (int i = 0; i < kTileSums; i += 4) {                                 \
    asm volatile("mma.sync.aligned.m16n8" depth_and_types " {%0, %1, %2, %3}, {" registers_a \
                 "}, {" registers_b "}, {%0, %1, %2, %3};"                                   \
                 : "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])                \
                 : "r"(a->word[threadIdx.x % 4]), "r"(b->word[threadIdx.x % 4]));            \
  }

#endif

/// d += A B of a tile in shared memory. All vectors of A must be alike, and all of B: then it does
/// not matter which sum is whose, nor where an element lies. What a GPU has no instruction for does
/// nothing. Source: PTX ISA, wgmma.mma_async (sm_90a) and mma.sync.
template <typename T>
__host__ __device__ void multiply_tile(float (&d)[kTileSums], const Vector* a, const Vector* b) {
#if defined(KERNELS_WGMMA)
  if constexpr (std::is_same_v<T, Tf32>) {
    KERNELS_MULTIPLY("k8.f32.tf32.tf32", "1, 1, 1");
  } else if constexpr (std::is_same_v<T, __half>) {
    KERNELS_MULTIPLY("k16.f32.f16.f16", "1, 1, 1, 0, 0");
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    KERNELS_MULTIPLY("k16.f32.bf16.bf16", "1, 1, 1, 0, 0");
  } else if constexpr (std::is_same_v<T, __nv_fp8_e4m3>) {
    KERNELS_MULTIPLY("k32.f32.e4m3.e4m3", "1, 1, 1");
  } else if constexpr (std::is_same_v<T, __nv_fp8_e5m2>) {
    KERNELS_MULTIPLY("k32.f32.e5m2.e5m2", "1, 1, 1");
  }
#elif defined(__CUDA_ARCH__)
#if __CUDA_ARCH__ < 800
  if constexpr (std::is_same_v<T, __half>) {
    for (int half = 0; half < 2; ++half) {
      KERNELS_MULTIPLY("k8.row.col.f32.f16.f16.f32", "%4, %4", "%5");
    }
  }
#else
  if constexpr (std::is_same_v<T, Tf32>) {
    KERNELS_MULTIPLY("k8.row.col.f32.tf32.tf32.f32", "%4, %4, %4, %4", "%5, %5");
  } else if constexpr (std::is_same_v<T, __half>) {
    KERNELS_MULTIPLY("k16.row.col.f32.f16.f16.f32", "%4, %4, %4, %4", "%5, %5");
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    KERNELS_MULTIPLY("k16.row.col.f32.bf16.bf16.f32", "%4, %4, %4, %4", "%5, %5");
  }
#if __CUDA_ARCH__ >= 890
  if constexpr (std::is_same_v<T, __nv_fp8_e4m3>) {
    KERNELS_MULTIPLY("k32.row.col.f32.e4m3.e4m3.f32", "%4, %4, %4, %4", "%5, %5");
  } else if constexpr (std::is_same_v<T, __nv_fp8_e5m2>) {
    KERNELS_MULTIPLY("k32.row.col.f32.e5m2.e5m2.f32", "%4, %4, %4, %4", "%5, %5");
  }
#endif
#endif
#else
  float product = 0;
  for (int word = 0; word < 4; ++word) {
    const auto x = DtypeTraits<T>::unpack(a->word[word]), y = DtypeTraits<T>::unpack(b->word[word]);
    for (int j = 0; j < kLanesPerWord<T>; ++j) product += x.lane[j] * y.lane[j];
  }
  for (float& sum : d) sum += 2 * product;  // k is two vectors
#endif
}

#undef KERNELS_MULTIPLY
#undef KERNELS_SUMS
#undef KERNELS_SIXTEEN
#undef KERNELS_FOUR
#undef KERNELS_NAMES
#undef KERNELS_TEN_NAMES
#undef KERNELS_WGMMA

}  // namespace kernels
