// Which GEMMs cuBLASLt computes, known before it is asked: its own refusal is a bare status code.
#pragma once

#include <optional>
#include <string>

#include "roofline/case.h"
#include "roofline/roof.h"

namespace bench {

/// "bf16*bf16 -> bf16, layout tn, M=1024 N=64 K=1008 batch=1"
std::string describe_gemm(const roofline::Case& c);

/// Nothing if cuBLASLt multiplies `c` on a GPU of this compute capability, else the reason, in this
/// project's letters with cuBLAS's beside them, and the next legal shape or type.
/// Source: cuBLAS documentation, cublasLtMatmul(), its table of types and its notes on FP8.
std::optional<std::string> gemm_refusal(const roofline::Case& c,
                                        const roofline::DeviceFacts& device);

}  // namespace bench
