// The one table of kernels: names, sizes and function pointers, plain C++ over .cu and OpenMP
// files. The cuda and the cpu backend fill the same table, so that whoever runs it does not care
// which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "kernels/input.h"

namespace kernels {

/// What a GPU's caches are told of the bytes that pass, each moved once.
enum class Caching {
  usual,       // nothing
  loads_once,  // what is loaded takes no room in L1 and is the first to leave L2
  once,        // so does what is stored
};

/// How a launch is cut up. Each policy of a kernel is a variant that can be measured.
struct Policy {
  const char* name = "";  // "t256v4"; unique in its kernel
  int threads = 0;        // CUDA threads a block
  int vectors = 1;        // 16-byte loads of each input a thread has in flight; of gemv: rows
  int blocks_per_processor = 0;  // this many x SMs, grid-stride; 0: one-shot, covers n
  int splits = 1;                // of gemv's columns, among blocks whose sums a second launch adds
  Caching caching = Caching::usual;  // on a GPU; gemv has its own

  // On a cpu.
  int one_thread_in = 1;   // so many processors: 2 where two share a core and one is enough
  int stretch_bytes = 0;   // computed, then stored past the caches; 0: stored at once, into them
  int ahead_bytes = 1024;  // that what is read is asked for before
};

/// Operands of one launch, in the memory of the backend, 16-byte aligned. What an op does not use
/// stays null or 1. All ops but dot, gemv, mma, read and empty are elementwise: out[n] = f(a[n],
/// b[n]).
///
///   relu   max(a, 0); NaN stays NaN, +inf stays +inf, -inf gives 0
///   gelu   0.5 a (1 + tanh(sqrt(2 / pi) (a + 0.044715 a^3))); NaN stays NaN, +inf stays +inf
///          (57344 in E5M2, whose store saturates), -inf gives NaN as the formula does
///   gelu_erf  0.5 a (1 + erf(a / sqrt(2))); likewise
///   copy   a, bit by bit
///   write  1, without reading
///   triad  a + 3 b
///   fma    a after m steps of a <- 1 - a, each one multiply-add; for even m that is a again
///   mma    m steps of the tensor cores, each of which adds a product of constants, of k terms, to
///          each of out[n] fp32: m / 4 exactly. m: a multiple of 4, to 8192; n: of 16384; k: what
///          32 bytes hold
///   read   nothing in out: the 32-bit words of workspace, XORed, are those of a, XORed (a padded
///          with zero bits to a whole word)
///   dot    out[1] fp32 = sum of a[i] b[i]; the same bits for the same policy and processors
///   gemv   out[m] = a[m, n] b[n], out of the type of a, bf16 for FP8
///   empty  nothing: what a launch costs
struct Operands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* out = nullptr;
  void* workspace = nullptr;  // workspace_bytes() of it, 256-byte aligned
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t lda = 0;  // elements between rows of a, each row 16-byte aligned; 0: n
};

/// Where a launch is enqueued.
struct Queue {
  void* stream = nullptr;  // a cudaStream_t; unused on a cpu
  int processors = 1;      // SMs, or CPU threads
};

/// One op on one storage type.
struct Kernel {
  const char* op;                    // "relu", "gelu", "dot", "gemv", "read", "copy" ...
  const char* dtype;                 // "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"; mma: "tf32"
  std::span<const Policy> policies;  // the default first, unless `suited` names it
  std::size_t (*workspace_bytes)(const Operands&, const Policy&, const Queue&);
  /// Returns before the work is done (on a cpu: when it is done). Throws std::invalid_argument with
  /// the numbers when operands are null, negative, misaligned, overlap or do not fit together;
  /// CudaError when the launch is refused.
  void (*launch)(const Operands&, const Policy&, const Queue&);
  /// Why a GPU of this compute capability (90: 9.0) is none for it; "" if it is. Null: any is.
  std::string (*refuses)(int compute_capability) = nullptr;
  /// Which of `policies` is the default for operands of this shape. Null: the first, for all.
  const Policy& (*suited)(const Operands&, const Queue&) = nullptr;
};

std::span<const Kernel> cuda_kernels();
std::span<const Kernel> cpu_kernels();

/// Enqueues data[i] = input(kind, seed, i) for i < n, rounded to nearest even, FP8 saturating.
/// `data`: n elements of `dtype`, 16-byte aligned. Throws std::invalid_argument as a launch does,
/// and for an unknown dtype.
void cuda_fill(void* data, const char* dtype, InputKind kind, std::uint64_t seed, std::int64_t n,
               const Queue& queue);
void cpu_fill(void* data, const char* dtype, InputKind kind, std::uint64_t seed, std::int64_t n,
              const Queue& queue);

}  // namespace kernels
