// OpenBLAS on the cpu: sdot, sgemv and sgemm, the peer of our fp32 loops and of oneDNN.
#include <cblas.h>
#include <fmt/format.h>

#include <limits>

#include "bench/implementation.h"

namespace bench {
namespace {

using roofline::Case;
using roofline::Dtype;
using roofline::Layout;
using roofline::Op;

constexpr std::string_view kFlavours[] = {"sequential", "pthreads", "OpenMP"};

bool offers(Op op, const Device& /*device*/) {
  return op == Op::dot || op == Op::gemv || op == Op::gemm;
}

std::optional<std::string> refuses(const Case& c, const Device& device) {
  // With pthreads it has a pool of its own, which spins for 2^26 cycles after each call
  // (blas_server.c): that is, through the blocks of the rows that are sampled after it. With OpenMP
  // all share one pool.
  const auto flavour = static_cast<std::size_t>(openblas_get_parallel());
  if (flavour != OPENBLAS_OPENMP && device.facts().processors > 1) {
    return fmt::format(
        "this OpenBLAS is built with {} threads, which would take part in other rows' samples: "
        "expected its OpenMP flavour (libopenblas-openmp-dev), or OMP_NUM_THREADS=1",
        kFlavours[flavour]);
  }
  if (c.a != Dtype::fp32 || c.b != Dtype::fp32 || c.compute != Dtype::fp32) {
    return fmt::format("OpenBLAS computes fp32 here, not {}", dtype_label(c));
  }
  constexpr std::int64_t kMost = std::numeric_limits<blasint>::max();
  if (c.m > kMost || c.n > kMost || c.k > kMost) {
    return fmt::format("this OpenBLAS counts to {}, and {} is larger", kMost, shape_label(c));
  }
  return std::nullopt;
}

std::vector<Alternatives> variants(const Case& c, Device& /*device*/) {
  return {{c.op == Op::dot ? "sdot" : c.op == Op::gemv ? "sgemv" : "sgemm"}};
}

void compute(const Case& c, const Operands& operands, int copy) {
  const auto& [a_memory, b_memory, out_memory] = operands[copy];
  const auto* const a = static_cast<const float*>(a_memory.get());
  const auto* const b = static_cast<const float*>(b_memory.get());
  auto* const out = static_cast<float*>(out_memory.get());
  const auto m = static_cast<blasint>(c.m), n = static_cast<blasint>(c.n);
  const auto k = static_cast<blasint>(c.k);
  if (c.op == Op::dot) {
    *out = cblas_sdot(n, a, 1, b, 1);
    return;
  }
  if (c.op == Op::gemv) {
    const auto lda = static_cast<blasint>(operands.shapes().a.stride);
    cblas_sgemv(CblasRowMajor, CblasNoTrans, m, n, 1, a, lda, b, 1, 0, out, 1);
    return;
  }
  const bool x_transposed = c.layout == Layout::nt, w_transposed = c.layout == Layout::tn;
  for (std::int64_t i = 0; i < c.batch; ++i) {
    cblas_sgemm(CblasRowMajor, x_transposed ? CblasTrans : CblasNoTrans,
                w_transposed ? CblasTrans : CblasNoTrans, m, n, k, 1, a + i * c.m * c.k,
                x_transposed ? m : k, b + i * c.n * c.k, w_transposed ? k : n, 0,
                out + i * c.m * c.n, n);
  }
}

Work prepare(const Case& c, const std::string& /*variant*/, const Operands& operands,
             Device& device) {
  openblas_set_num_threads(static_cast<int>(device.facts().processors));
  Work work;
  work.launch = [c, &operands](int copy) { compute(c, operands, copy); };
  work.numerical_impl = fmt::format("{} kernels, {} threads", openblas_get_corename(),
                                    kFlavours[static_cast<std::size_t>(openblas_get_parallel())]);
  return work;
}

}  // namespace

const Implementation kOpenBlas{names::kOpenBlas, "cpu",    &offers, &refuses,
                               &variants,        &prepare, true};

}  // namespace bench
