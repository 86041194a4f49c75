#include "bench/cublaslt_gemm.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/cublas_check.h"
#include "bench/cublaslt_names.h"
#include "bench/cublaslt_rules.h"
#include "bench/implementation.h"

namespace bench {
namespace {

using roofline::Case;
using roofline::Dtype;

constexpr std::size_t kMiB = 1 << 20;
constexpr int kCandidates = 16;

/// What NVIDIA advises: below it, split-K and stream-K algorithms are not even offered.
std::size_t advised_workspace_bytes(const Device& device) {
  return device.facts().compute_major >= 9 ? 32 * kMiB : 4 * kMiB;
}

bool is_fp8(const Case& c) { return bytes_per_element(c.a) == 1; }

cudaDataType_t cuda_type(Dtype t) {
  switch (t) {
    case Dtype::fp32:
      return CUDA_R_32F;
    case Dtype::fp16:
      return CUDA_R_16F;
    case Dtype::bf16:
      return CUDA_R_16BF;
    case Dtype::fp8_e4m3:
      return CUDA_R_8F_E4M3;
    case Dtype::fp8_e5m2:
      return CUDA_R_8F_E5M2;
    default:
      throw std::invalid_argument(fmt::format("cublaslt: no matrices of {}", name(t)));
  }
}

template <typename Value>
void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, Value value) {
  CUBLAS_CHECK(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value));
}

/// Made once, for making one takes long, and never destroyed: at exit the driver may be gone.
cublasLtHandle_t handle() {
  static const cublasLtHandle_t kHandle = [] {
    cublasLtHandle_t made = nullptr;
    CUBLAS_CHECK(cublasLtCreate(&made));
    return made;
  }();
  return kHandle;
}

using Heuristic = cublasLtMatmulHeuristicResult_t;

/// The library's ranking of its algorithms, best first; empty where it has none.
std::vector<Heuristic> heuristics(const GemmDescriptors& gemm, std::size_t workspace_bytes) {
  cublasLtMatmulPreference_t made = nullptr;
  CUBLAS_CHECK(cublasLtMatmulPreferenceCreate(&made));
  const Owner<cublasLtMatmulPreferenceOpaque_t, cublasLtMatmulPreferenceDestroy> preference(made);
  CUBLAS_CHECK(cublasLtMatmulPreferenceSetAttribute(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                    &workspace_bytes, sizeof workspace_bytes));
  std::vector<Heuristic> found(kCandidates);
  int count = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(handle(), gemm.operation(), gemm.w(), gemm.x(), gemm.y(),
                                     gemm.y(), made, kCandidates, found.data(), &count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) return {};
  CUBLAS_CHECK(status);
  found.resize(static_cast<std::size_t>(count));
  std::erase_if(found, [](const Heuristic& h) { return h.state != CUBLAS_STATUS_SUCCESS; });
  return found;
}

/// One variant: a place in the ranking, and what was asked of it.
struct Setting {
  std::string name;
  std::size_t rank;
  bool fast_accumulation;
  std::size_t workspace_limit;
};

/// The ranking under the advised workspace, for FP8 with full and fast accumulation in turn; then
/// its first under other workspaces.
std::vector<Setting> settings(const Case& c, const Device& device) {
  const std::size_t advised = advised_workspace_bytes(device);
  std::vector<Setting> all;
  const auto add = [&](std::size_t rank, std::size_t limit, std::string_view suffix) {
    all.push_back({fmt::format("heuristic{}{}", rank, suffix), rank, false, limit});
    if (is_fp8(c)) {
      all.push_back({fmt::format("heuristic{}{}-fast", rank, suffix), rank, true, limit});
    }
  };
  const std::size_t ranks = heuristics(GemmDescriptors(c, false, nullptr), advised).size();
  for (std::size_t rank = 0; rank < ranks; ++rank) add(rank, advised, "");
  for (const std::size_t limit : {0 * kMiB, 4 * kMiB, 32 * kMiB}) {
    if (limit != advised) add(0, limit, fmt::format("-workspace{}MiB", limit / kMiB));
  }
  return all;
}

std::string not_supported(const Case& c) {
  return fmt::format(
      "{}{}: cuBLASLt has no algorithm (CUBLAS_STATUS_NOT_SUPPORTED); with CUBLASLT_LOG_LEVEL=5 it "
      "logs why",
      describe_gemm(c), is_fp8(c) ? ", one scale per tensor" : "");
}

template <typename Value>
Value config(const cublasLtMatmulAlgo_t& algorithm,
             cublasLtMatmulAlgoConfigAttributes_t attribute) {
  Value value{};
  CUBLAS_CHECK(
      cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, sizeof value, nullptr));
  return value;
}

/// "algorithm 66, tile 128x256, split-K 1, stages 64x4"; ids that the header does not name as such.
std::string describe(const cublasLtMatmulAlgo_t& algorithm) {
  const auto tile = config<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID);
  const auto split_k = config<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
  return fmt::format(
      "algorithm {}, {}, stages {}", config<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_ID),
      tile_words(tile, split_k),
      stages_words(config<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID)));
}

/// 0 where the library does not tell.
std::uint64_t numerical_impl_flags(const cublasLtMatmulAlgo_t& algorithm) {
  std::uint64_t flags = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoCapGetAttribute(
      &algorithm, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, &flags, sizeof flags, nullptr);
  return status == CUBLAS_STATUS_SUCCESS ? flags : 0;
}

bool offers(roofline::Op op, const Device& /*device*/) { return op == roofline::Op::gemm; }

std::optional<std::string> refuses(const Case& c, const Device& device) {
  if (auto reason = gemm_refusal(c, device.facts())) return reason;
  if (heuristics(GemmDescriptors(c, false, nullptr), advised_workspace_bytes(device)).empty()) {
    return not_supported(c);
  }
  return std::nullopt;
}

std::vector<Alternatives> variants(const Case& c, Device& device) {
  Alternatives full, fast;
  for (const Setting& s : settings(c, device)) {
    (s.fast_accumulation ? fast : full).push_back(s.name);
  }
  std::vector<Alternatives> all = {full};
  if (!fast.empty()) all.push_back(fast);
  return all;
}

/// Which of the operands are the GEMM's X and W.
using Operand = Memory Operands::Copy::*;

Work prepare_gemm(const Case& c, Operand x, Operand w, const std::string& variant,
                  const Operands& operands, Device& device) {
  const std::vector<Setting> all = settings(c, device);
  const Setting setting =
      *std::ranges::find_if(all, [&](const Setting& s) { return s.name == variant; });
  Memory scale;
  if (is_fp8(c)) {
    scale = device.allocate(sizeof(float));
    device.fill(scale.get(), Dtype::fp32, kernels::InputKind::ones, 0, 1);
  }
  const auto gemm = std::make_shared<const GemmDescriptors>(c, setting.fast_accumulation,
                                                            static_cast<const float*>(scale.get()));
  const std::vector<Heuristic> ranking = heuristics(*gemm, setting.workspace_limit);
  if (setting.rank >= ranking.size()) throw std::runtime_error(not_supported(c));
  const Heuristic chosen = ranking[setting.rank];

  const std::uint64_t flags = numerical_impl_flags(chosen.algo);
  if (c.compute == Dtype::fp32 && c.a == Dtype::fp32 &&
      (flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_TENSOR_OP_MASK) != 0) {
    throw std::runtime_error(fmt::format("{}: multiplies on tensor cores ({}), expected fp32",
                                         describe(chosen.algo), numerical_impl_words(flags)));
  }

  const std::size_t bytes = chosen.workspaceSize;
  Work work;
  work.workspace = bytes > 0 ? device.allocate(bytes) : nullptr;
  work.workspace_bytes = static_cast<std::int64_t>(bytes);
  work.numerical_impl = numerical_impl_words(flags);
  if (is_fp8(c)) {
    work.scale_mode = "per_tensor";
    work.fast_accumulation = setting.fast_accumulation;
  }
  work.note = describe(chosen.algo);
  work.launch = [gemm, scale, x, w, algorithm = chosen.algo, workspace = work.workspace, bytes,
                 &operands, stream = static_cast<cudaStream_t>(device.queue().stream)](int copy) {
    const float one = 1, zero = 0;
    const Operands::Copy& at = operands[copy];
    CUBLAS_CHECK(cublasLtMatmul(handle(), gemm->operation(), &one, (at.*w).get(), gemm->w(),
                                (at.*x).get(), gemm->x(), &zero, at.out.get(), gemm->y(),
                                at.out.get(), gemm->y(), &algorithm, workspace.get(), bytes,
                                stream));
  };
  return work;
}

Work prepare(const Case& c, const std::string& variant, const Operands& operands, Device& device) {
  return prepare_gemm(c, &Operands::Copy::a, &Operands::Copy::b, variant, operands, device);
}

// ---- y = A x as a GEMM of one row: X is x, W is A
// --------------------------------------------------

Case one_row(const Case& gemv) { return make_case(roofline::Op::gemm, gemv.a, 1, gemv.m, gemv.n); }

bool offers_gemv(roofline::Op op, const Device& /*device*/) { return op == roofline::Op::gemv; }

std::optional<std::string> refuses_gemv(const Case& c, const Device& device) {
  if (const auto stride = operand_shapes(c).a.stride; stride != c.n) {
    return fmt::format("the rows of A are padded from {} to {} elements, expected none", c.n,
                       stride);
  }
  return refuses(one_row(c), device);
}

std::vector<Alternatives> variants_gemv(const Case& c, Device& device) {
  return variants(one_row(c), device);
}

Work prepare_gemv(const Case& c, const std::string& variant, const Operands& operands,
                  Device& device) {
  return prepare_gemm(one_row(c), &Operands::Copy::b, &Operands::Copy::a, variant, operands,
                      device);
}

}  // namespace

const Implementation kCublasLt{names::kCublasLt, "cuda", &offers, &refuses, &variants, &prepare};
const Implementation kCublasLtGemv{names::kCublasLtGemv, "cuda",        &offers_gemv, &refuses_gemv,
                                   &variants_gemv,       &prepare_gemv, true};

GemmDescriptors::Layout GemmDescriptors::layout(Dtype dtype, std::int64_t rows,
                                                std::int64_t columns, std::int64_t batch) {
  cublasLtMatrixLayout_t made = nullptr;
  CUBLAS_CHECK(cublasLtMatrixLayoutCreate(&made, cuda_type(dtype), static_cast<std::uint64_t>(rows),
                                          static_cast<std::uint64_t>(columns), rows));
  Layout layout(made);
  const auto count = static_cast<std::int32_t>(batch);
  const std::int64_t stride = rows * columns;
  CUBLAS_CHECK(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                                sizeof count));
  CUBLAS_CHECK(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                &stride, sizeof stride));
  return layout;
}

GemmDescriptors::GemmDescriptors(const Case& c, bool fast_accumulation, const float* scale) {
  const bool w_along_k = c.layout == roofline::Layout::tn;
  const bool x_along_k = c.layout != roofline::Layout::nt;
  cublasLtMatmulDesc_t made = nullptr;
  CUBLAS_CHECK(cublasLtMatmulDescCreate(
      &made, c.compute == Dtype::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
      CUDA_R_32F));
  operation_.reset(made);
  set(made, CUBLASLT_MATMUL_DESC_TRANSA, w_along_k ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(made, CUBLASLT_MATMUL_DESC_TRANSB, x_along_k ? CUBLAS_OP_N : CUBLAS_OP_T);
  if (fast_accumulation) set(made, CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
  if (scale != nullptr) {
    set(made, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scale);
    set(made, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scale);
  }
  w_ = w_along_k ? layout(c.b, c.k, c.n, c.batch) : layout(c.b, c.n, c.k, c.batch);
  x_ = x_along_k ? layout(c.a, c.k, c.m, c.batch) : layout(c.a, c.m, c.k, c.batch);
  y_ = layout(c.out, c.n, c.m, c.batch);
}

std::string tile_words(std::uint32_t id, std::int32_t split_k) {
  for (const auto& [tile, tiling] : kTiles) {
    if (tile == id)
      return roofline::to_text({tiling.along_n, tiling.along_m, std::max(split_k, 1)});
  }
  return fmt::format("tile id {}, split-K {}", id, split_k);
}

std::string stages_words(std::uint32_t id) {
  for (const auto& [stages, words] : kStages) {
    if (stages == id) return std::string(words);
  }
  return fmt::format("id {}", id);
}

std::string numerical_impl_words(std::uint64_t flags) {
  // cublasLtNumericalImplFlags_t: the operation in byte 0, the accumulator in byte 1, the inputs in
  // byte 2, from their lowest bit on.
  constexpr std::array<std::string_view, 4> kOperations{"fma", "hmma", "imma", "dmma"};
  constexpr std::array<std::string_view, 4> kAccumulators{"fp16", "fp32", "fp64", "int32"};
  constexpr std::array<std::string_view, 8> kInputs{"fp16", "bf16", "tf32",     "fp32",
                                                    "fp64", "int8", "fp8_e4m3", "fp8_e5m2"};
  const auto words = [flags](std::span<const std::string_view> names, unsigned first_bit) {
    std::vector<std::string_view> set_bits;
    for (unsigned i = 0; i < names.size(); ++i) {
      if ((flags >> (first_bit + i) & 1) != 0) set_bits.push_back(names[i]);
    }
    return fmt::format("{}", fmt::join(set_bits, "+"));
  };
  if (flags == 0) return "";
  return fmt::format("{}, {} inputs, {} accumulator", words(kOperations, 0), words(kInputs, 16),
                     words(kAccumulators, 8));
}

std::string cublas_version_text(std::size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

CublasLtLibrary cublaslt_library() {
  // Looked up by name: in a program that is not position-independent &cublasLtGetVersion is an
  // address inside the program itself.
  Dl_info info{};
  const bool known = dladdr(dlsym(RTLD_DEFAULT, "cublasLtGetVersion"), &info) != 0;
  return {known ? info.dli_fname : "unknown", cublasLtGetVersion(), CUBLAS_VERSION};
}

std::optional<std::string> cublaslt_mismatch(const CublasLtLibrary& library) {
  if (library.loaded / 10000 == library.header / 10000) return std::nullopt;
  return fmt::format(
      "cuBLASLt {} is loaded, from {}; this build needs {}: take the other from LD_LIBRARY_PATH or "
      "LD_PRELOAD, or build with its toolkit",
      cublas_version_text(library.loaded), library.path, cublas_version_text(library.header));
}

}  // namespace bench
