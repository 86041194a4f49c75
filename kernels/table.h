// The one table of kernels: names, sizes and function pointers, plain C++ over .cu and OpenMP files.
// The cuda and the cpu backend fill the same table, so that whoever runs it does not care which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kernels {

/// How a launch is cut up. Each policy of a kernel is a variant that can be measured.
struct Policy {
  const char* name;   // "t256v4"; unique in its kernel
  int threads;        // CUDA threads a block; elements a block on a cpu
  int vectors;        // 16-byte loads a thread has in flight
  int blocks_per_processor = 0;  // 0: one-shot grid that covers n; else grid-stride, this many x SMs
};

/// Operands of one launch, in the memory of the backend. What an op does not use stays null or 1.
/// Elementwise, stream: out[n] = f(a[n], b[n]). Dot: out[1] fp32. GEMV: out[m] = a[m, n] b[n].
struct Operands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* out = nullptr;
  void* workspace = nullptr;  // workspace_bytes() of it, 256-byte aligned
  std::int64_t m = 1, n = 1;
  std::int64_t lda = 0;  // elements between rows of a; 0: n
};

/// Where a launch is enqueued.
struct Queue {
  void* stream = nullptr;  // a cudaStream_t; unused on a cpu
  int processors = 1;      // SMs, or CPU threads
};

/// One op on one storage type.
struct Kernel {
  const char* op;     // "relu", "gelu", "dot", "gemv", "read", "copy" ...
  const char* dtype;  // "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"
  std::span<const Policy> policies;  // the default first
  std::size_t (*workspace_bytes)(const Operands&, const Policy&, const Queue&);
  /// Returns before the work is done. Throws std::invalid_argument with the numbers when operands
  /// are misaligned, overlap or do not fit together; CudaError when the launch is refused.
  void (*launch)(const Operands&, const Policy&, const Queue&);
};

std::span<const Kernel> cuda_kernels();
std::span<const Kernel> cpu_kernels();

}  // namespace kernels
