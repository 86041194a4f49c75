// How a case is described to cuBLASLt: layouts and types by hand, no GPU needed.
#include "bench/cublaslt_gemm.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace bench {
namespace {

using roofline::Case;
using roofline::Dtype;
using roofline::Layout;

template <typename Value>
Value attribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t which) {
  Value value{};
  EXPECT_EQ(cublasLtMatrixLayoutGetAttribute(layout, which, &value, sizeof value, nullptr),
            CUBLAS_STATUS_SUCCESS);
  return value;
}

template <typename Value>
Value attribute(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t which) {
  Value value{};
  EXPECT_EQ(cublasLtMatmulDescGetAttribute(operation, which, &value, sizeof value, nullptr),
            CUBLAS_STATUS_SUCCESS);
  return value;
}

struct Matrix {
  std::uint64_t rows, columns;
};

void expect_matrix(cublasLtMatrixLayout_t layout, Matrix expected, cudaDataType_t type) {
  EXPECT_EQ(attribute<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_ROWS), expected.rows);
  EXPECT_EQ(attribute<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_COLS), expected.columns);
  EXPECT_EQ(attribute<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_LD), expected.rows);
  EXPECT_EQ(attribute<std::int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT), 5);
  EXPECT_EQ(attribute<std::int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET),
            static_cast<std::int64_t>(expected.rows * expected.columns));
  EXPECT_EQ(attribute<std::uint32_t>(layout, CUBLASLT_MATRIX_LAYOUT_TYPE), type);
}

// Y [2, 3] = X [2, 4] W [4, 3]. What is row-major [r, c] is column-major c x r to cuBLASLt.
struct Row {
  Layout layout;
  Matrix w, x;
  cublasOperation_t transpose_w, transpose_x;
};

const Row kRows[] = {
    {Layout::tn, {4, 3}, {4, 2}, CUBLAS_OP_T, CUBLAS_OP_N},  // W [3, 4], X [2, 4]
    {Layout::nn, {3, 4}, {4, 2}, CUBLAS_OP_N, CUBLAS_OP_N},  // W [4, 3], X [2, 4]
    {Layout::nt, {3, 4}, {2, 4}, CUBLAS_OP_N, CUBLAS_OP_T},  // W [4, 3], X [4, 2]
};

class GemmLayouts : public testing::TestWithParam<Row> {};

TEST_P(GemmLayouts, AreTheTransposeInColumnMajorOrder) {
  const Row& row = GetParam();
  Case c = make_case(roofline::Op::gemm, Dtype::bf16, 2, 3, 4);
  c.out = Dtype::fp32;
  c.layout = row.layout;
  c.batch = 5;
  const GemmDescriptors gemm(c, false, nullptr);
  expect_matrix(gemm.w(), row.w, CUDA_R_16BF);
  expect_matrix(gemm.x(), row.x, CUDA_R_16BF);
  expect_matrix(gemm.y(), {3, 2}, CUDA_R_32F);
  using enum cublasLtMatmulDescAttributes_t;
  EXPECT_EQ(attribute<std::int32_t>(gemm.operation(), CUBLASLT_MATMUL_DESC_TRANSA),
            row.transpose_w);
  EXPECT_EQ(attribute<std::int32_t>(gemm.operation(), CUBLASLT_MATMUL_DESC_TRANSB),
            row.transpose_x);
}

INSTANTIATE_TEST_SUITE_P(All, GemmLayouts, testing::ValuesIn(kRows),
                         [](const auto& test) { return std::string(name(test.param.layout)); });

std::int32_t compute_type(Dtype dtype) {
  const GemmDescriptors gemm(make_case(roofline::Op::gemm, dtype, 16, 16, 16), false, nullptr);
  return attribute<std::int32_t>(gemm.operation(), CUBLASLT_MATMUL_DESC_COMPUTE_TYPE);
}

TEST(GemmDescriptors, ComputeInTf32OnlyWhereAsked) {
  EXPECT_EQ(compute_type(Dtype::fp32), CUBLAS_COMPUTE_32F);
  EXPECT_EQ(compute_type(Dtype::tf32), CUBLAS_COMPUTE_32F_FAST_TF32);
  EXPECT_EQ(compute_type(Dtype::bf16), CUBLAS_COMPUTE_32F);
}

TEST(GemmDescriptors, CarryScalesAndFastAccumulationOfFp8) {
  Case c = make_case(roofline::Op::gemm, Dtype::fp8_e4m3, 16, 16, 16);
  c.b = Dtype::fp8_e5m2;
  const float scale = 1;
  const GemmDescriptors gemm(c, true, &scale);
  EXPECT_EQ(attribute<std::uint32_t>(gemm.x(), CUBLASLT_MATRIX_LAYOUT_TYPE), CUDA_R_8F_E4M3);
  EXPECT_EQ(attribute<std::uint32_t>(gemm.w(), CUBLASLT_MATRIX_LAYOUT_TYPE), CUDA_R_8F_E5M2);
  const auto read = [&]<typename Value>(cublasLtMatmulDescAttributes_t which, Value) {
    return attribute<Value>(gemm.operation(), which);
  };
  EXPECT_EQ(read(CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{}), 1);
  EXPECT_EQ(read(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &scale), &scale);
  EXPECT_EQ(read(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &scale), &scale);
}

TEST(GemmDescriptors, KeepSizesPastThirtyTwoBits) {
  const std::int64_t n = (std::int64_t{1} << 32) + 16;
  const GemmDescriptors gemm(make_case(roofline::Op::gemm, Dtype::fp16, 1, n, 16), false, nullptr);
  EXPECT_EQ(attribute<std::int64_t>(gemm.w(), CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET), 16 * n);
  EXPECT_EQ(attribute<std::uint64_t>(gemm.y(), CUBLASLT_MATRIX_LAYOUT_ROWS), n);
}

TEST(AlgorithmWords, NameSizesNotIds) {
  EXPECT_EQ(tile_words(CUBLASLT_MATMUL_TILE_128x256, 1), "tile 128x256, split-K 1");
  EXPECT_EQ(tile_words(CUBLASLT_MATMUL_TILE_64x64, 0), "tile 64x64, split-K 1");
  EXPECT_EQ(tile_words(CUBLASLT_MATMUL_TILE_UNDEFINED, 4), "tile id 0, split-K 4");
  EXPECT_EQ(tile_words(CUBLASLT_MATMUL_TILE_END, 1).substr(0, 8), "tile id ");
  EXPECT_EQ(stages_words(CUBLASLT_MATMUL_STAGES_64x4), "64x4");
  EXPECT_EQ(stages_words(CUBLASLT_MATMUL_STAGES_128xAUTO), "128xAUTO");
  EXPECT_EQ(stages_words(CUBLASLT_MATMUL_STAGES_UNDEFINED), "id 0");
}

TEST(NumericalImpl, IsSpeltInWords) {
  EXPECT_EQ(numerical_impl_words(0), "");
  EXPECT_EQ(numerical_impl_words(CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA |
                                 CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F |
                                 CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F),
            "fma, fp32 inputs, fp32 accumulator");
  EXPECT_EQ(numerical_impl_words(CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA |
                                 CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F |
                                 CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8F_E4M3 |
                                 CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8F_E5M2),
            "hmma, fp8_e4m3+fp8_e5m2 inputs, fp32 accumulator");
}

TEST(CublasLtLibrary, IsTheOneOfTheHeader) {
  const CublasLtLibrary library = cublaslt_library();
  EXPECT_EQ(cublaslt_mismatch(library), std::nullopt);
  EXPECT_NE(library.path.find("cublasLt"), std::string::npos) << library.path;
}

TEST(CublasLtLibrary, OfAnotherMajorVersionIsRefusedByName) {
  EXPECT_EQ(cublaslt_mismatch({"/opt/libcublasLt.so.13", 130400, 130100}), std::nullopt);
  const auto reason = cublaslt_mismatch({"/opt/libcublasLt.so.12", 120406, 130100});
  ASSERT_TRUE(reason);
  EXPECT_EQ(reason->substr(0, reason->find(':')),
            "cuBLASLt 12.4.6 is loaded, from /opt/libcublasLt.so.12; this build needs 13.1.0");
}

}  // namespace
}  // namespace bench
