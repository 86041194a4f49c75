// GEMMs by cuBLASLt: how a case is described to it, and which library is loaded.
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <optional>
#include <string>

#include "bench/owner.h"
#include "roofline/case.h"

namespace bench {

/// The library that this process has loaded, beside the header that it was compiled with.
struct CublasLtLibrary {
  std::string path;
  std::size_t loaded = 0, header = 0;  // 130100 for 13.1.0
};
CublasLtLibrary cublaslt_library();

/// Why they do not work together: their major versions differ. Names both and the file.
std::optional<std::string> cublaslt_mismatch(const CublasLtLibrary& library);

std::string cublas_version_text(std::size_t version);  // "13.1.0"

/// A case in cuBLASLt's terms. It is column-major and so is told the transpose, Y^T = W^T X^T: its
/// A is our W, its B our X; its m, n and k are our N, M and K. Needs no GPU.
class GemmDescriptors {
 public:
  /// `scale`: in device memory, what both FP8 operands are multiplied by; null for other types.
  GemmDescriptors(const roofline::Case& c, bool fast_accumulation, const float* scale);

  cublasLtMatmulDesc_t operation() const { return operation_.get(); }
  cublasLtMatrixLayout_t w() const { return w_.get(); }
  cublasLtMatrixLayout_t x() const { return x_.get(); }
  cublasLtMatrixLayout_t y() const { return y_.get(); }

 private:
  using Layout = Owner<cublasLtMatrixLayoutOpaque_t, cublasLtMatrixLayoutDestroy>;

  static Layout layout(roofline::Dtype dtype, std::int64_t rows, std::int64_t columns,
                       std::int64_t batch);

  Owner<cublasLtMatmulDescOpaque_t, cublasLtMatmulDescDestroy> operation_;
  Layout w_, x_, y_;
};

/// The ids of a tile and of stages by the size that their enumerators name: "tile 128x256, split-K
/// 1" (128 of our N, 256 of our M) and "64x4"; "tile id 999, ..." and "id 999" where the header
/// that this was compiled with has none. Split-K is 0 or 1 for none.
std::string tile_words(std::uint32_t id, std::int32_t split_k);
std::string stages_words(std::uint32_t id);

/// cublasLtNumericalImplFlags_t in words: "hmma, bf16 inputs, fp32 accumulator". Hopper's wgmma is
/// an hmma here; fma is the pipe of the CUDA cores.
std::string numerical_impl_words(std::uint64_t flags);

}  // namespace bench
