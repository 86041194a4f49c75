// cuBLAS on a GPU: dot and GEMV, peers of our kernels. Its GEMMs are cuBLASLt's.
#include <cublas_v2.h>
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "bench/cublas_check.h"
#include "bench/implementation.h"
#include "bench/owner.h"

namespace bench {
namespace {

using roofline::Case;
using roofline::Dtype;
using roofline::Op;

/// What NVIDIA advises for Hopper. Ours, for a graph that captures cuBLAS's own pool allocates.
constexpr std::size_t kWorkspaceBytes = 32 << 20;

bool offers(Op op, const Device& /*device*/) { return op == Op::dot || op == Op::gemv; }

std::optional<std::string> refuses(const Case& c, const Device& /*device*/) {
  if (c.op == Op::dot && c.a != Dtype::fp32) {
    return fmt::format("cublasDotEx returns the type of its inputs, {}, expected fp32", name(c.a));
  }
  if (c.op == Op::gemv && (!std::in_range<int>(c.m) || !std::in_range<int>(c.n + 16))) {
    return fmt::format("Sgemv and GemmEx count in 32 bits, expected less than {}", shape_label(c));
  }
  if (bytes_per_element(c.a) == 1) return "cuBLAS multiplies FP8 through cuBLASLt only";
  return std::nullopt;
}

std::vector<Alternatives> variants(const Case& c, Device& /*device*/) {
  return {{c.op == Op::dot ? "DotEx" : c.a == Dtype::fp32 ? "Sgemv" : "GemmEx"}};
}

cudaDataType_t cuda_type(Dtype t) { return t == Dtype::fp16 ? CUDA_R_16F : CUDA_R_16BF; }

using Handle = std::shared_ptr<cublasContext>;

/// One for each row: stream, workspace and pointer mode are the handle's.
Handle make_handle(void* stream, const Memory& workspace, cublasPointerMode_t mode) {
  cublasHandle_t made = nullptr;
  CUBLAS_CHECK(cublasCreate(&made));
  Handle handle(made, Destroy<cublasDestroy>{});
  CUBLAS_CHECK(cublasSetStream(made, static_cast<cudaStream_t>(stream)));
  CUBLAS_CHECK(cublasSetWorkspace(made, workspace.get(), kWorkspaceBytes));  // after the stream
  CUBLAS_CHECK(cublasSetPointerMode(made, mode));
  return handle;
}

void dot(cublasHandle_t handle, const Case& c, const Operands::Copy& at) {
  CUBLAS_CHECK(cublasDotEx_64(handle, c.n, at.a.get(), CUDA_R_32F, 1, at.b.get(), CUDA_R_32F, 1,
                              at.out.get(), CUDA_R_32F, CUDA_R_32F));
}

/// A [m, n] row-major is column-major [n, m], transposed.
void gemv(cublasHandle_t handle, const Case& c, std::int64_t stride, const Operands::Copy& at) {
  const float one = 1, zero = 0;
  const auto m = static_cast<int>(c.m), n = static_cast<int>(c.n), lda = static_cast<int>(stride);
  if (c.a == Dtype::fp32) {
    CUBLAS_CHECK(cublasSgemv(handle, CUBLAS_OP_T, n, m, &one, static_cast<const float*>(at.a.get()),
                             lda, static_cast<const float*>(at.b.get()), 1, &zero,
                             static_cast<float*>(at.out.get()), 1));
    return;
  }
  CUBLAS_CHECK(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, 1, n, &one, at.a.get(),
                            cuda_type(c.a), lda, at.b.get(), cuda_type(c.b), n, &zero, at.out.get(),
                            cuda_type(c.out), m, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

Work prepare(const Case& c, const std::string& /*variant*/, const Operands& operands,
             Device& device) {
  Work work;
  work.workspace = device.allocate(kWorkspaceBytes);
  work.workspace_bytes = kWorkspaceBytes;
  // The sum stays on the device: a result for the host could not be captured.
  const Handle handle =
      make_handle(device.queue().stream, work.workspace,
                  c.op == Op::dot ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST);
  work.launch = [c, handle, workspace = work.workspace, &operands](int copy) {
    if (c.op == Op::dot) {
      dot(handle.get(), c, operands[copy]);
    } else {
      gemv(handle.get(), c, operands.shapes().a.stride, operands[copy]);
    }
  };
  return work;
}

}  // namespace

const Implementation kCublas{names::kCublas, "cuda", &offers, &refuses, &variants, &prepare, true};

}  // namespace bench
