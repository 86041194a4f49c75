// What is computed, by whomever, and what it costs: the only place that counts FLOPs and bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "roofline/dtype.h"
#include "roofline/units.h"

namespace roofline {

enum class Op {
  empty,
  read,
  write,
  copy,
  triad,
  fma,
  mma,
  relu,
  gelu,
  gelu_erf,
  dot,
  gemv,
  gemm,
  h2d,
  d2h
};

/// The units that do the arithmetic, whatever the vendor calls them.
enum class Pipe {
  none,    // the op moves data only
  vector,  // CUDA cores; the SIMD units of a CPU
  matrix,  // tensor cores; AMX
};

/// What an op does to memory. Bandwidth depends on it: a DRAM pays for turning from read to write.
enum class Access { none, read, write, copy, triad };

/// One row of the table of ops.
struct OpInfo {
  Op op;
  std::string_view name;
  int dims;  // sizes in a shape: N, MxN, MxNxK
  Access access;
  std::string_view flops, bytes;  // the formulas of cost(), for people; s: bytes per element
};

std::span<const OpInfo> ops();
const OpInfo& info(Op op);
std::string_view name(Op op);
std::optional<Op> parse_op(std::string_view name);

/// How a GEMM's operands are stored, in cuBLAS's letters: tn is the linear layer, with X [M,K] and
/// W [N,K] both K-contiguous; nn and nt are its two backward GEMMs.
enum class Layout { none, tn, nn, nt };
std::string_view name(Layout layout);
std::optional<Layout> parse_layout(std::string_view name);

/// Elementwise and stream ops: n elements. Dot: a[n] . b[n]. GEMV: y[m] = A[m,n] x[n], A row-major.
/// GEMM: Y[m,n] = X[m,k] W[k,n], `batch` times. FMA: n accumulators, m multiply-adds each.
/// MMA, the same of the matrix pipe: n accumulators, m steps of k multiply-adds each.
/// H2D, D2H: n elements from host to device memory, and back.
struct Case {
  Op op = Op::empty;
  Dtype a = Dtype::fp32, b = Dtype::fp32, out = Dtype::fp32;  // as stored
  Dtype compute = Dtype::fp32;                                // the accumulator, or tf32
  Layout layout = Layout::none;
  std::int64_t m = 1, n = 1, k = 1, batch = 1;
  friend bool operator==(const Case&, const Case&) = default;
};

/// A case with the project's output types: elementwise as the input; dot fp32; GEMV as the input,
/// bf16 for FP8; MMA fp32; GEMM fp32 for fp32 and tf32, as the input for fp16 and bf16, bf16 for
/// FP8.
Case make_case(Op op, Dtype dtype, std::int64_t m, std::int64_t n, std::int64_t k);

/// The type that it is listed under: that of `a`, or tf32 where that is how it computes.
Dtype input_dtype(const Case& c);

/// "bf16", "tf32" where that is how it computes, "fp8_e4m3*fp8_e5m2" where the operands differ.
std::string dtype_label(const Case& c);
std::string shape_label(const Case& c);  // "1024", "4096x4096", "1x16896x16384", "8x64x64x64"
std::string name(const Case& c);         // "gemm/bf16/1x16896x16384", "gemm/bf16/64x64x64/nt"

/// The pipe that a case runs on: the matrix units for an MMA, and for a GEMM unless it computes in
/// true fp32.
Pipe pipe(const Case& c);

/// Whether the op moves data over the link between host and device, PCIe as a rule.
bool crosses_link(Op op);

/// Work of one call, and its algorithmic traffic: inputs read once, outputs written once. Of a
/// transfer what crosses the link counts: the device reads n elements from it, or writes them.
struct Cost {
  Flops flops;
  Bytes read, written;
  constexpr Bytes bytes() const { return read + written; }
  /// Infinite where nothing is moved.
  constexpr Intensity intensity() const { return flops / bytes(); }
};

/// A multiply-add is 2 FLOPs, a ReLU 1; a GeLU is 20 by the lecture's decree.
Cost cost(const Case& c);

}  // namespace roofline
