// Which GEMMs are refused, and whether the message tells what to do. Expected from the types table
// and the FP8 notes of cublasLtMatmul() in the cuBLAS documentation.
#include "bench/cublaslt_rules.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench {
namespace {

using roofline::Case;
using roofline::Dtype;
using roofline::Layout;
using enum Dtype;

Case gemm(Dtype a, Dtype b, Dtype out, std::int64_t m, std::int64_t n, std::int64_t k,
          Layout layout = Layout::tn, Dtype compute = fp32) {
  return {.op = roofline::Op::gemm,
          .a = a,
          .b = b,
          .out = out,
          .compute = compute,
          .layout = layout,
          .m = m,
          .n = n,
          .k = k};
}

roofline::DeviceFacts gpu(int major, int minor) {
  return {.backend = "cuda", .compute_major = major, .compute_minor = minor};
}

struct Row {
  const char* name;
  Case c;
  int major, minor;
  std::vector<std::string> reason;  // what the message must contain; empty for a legal GEMM
};

const Row kRows[] = {
    {"fp32", gemm(fp32, fp32, fp32, 63, 65, 67), 9, 0, {}},
    {"tf32", gemm(fp32, fp32, fp32, 63, 65, 67, Layout::tn, tf32), 9, 0, {}},
    {"fp16_any_shape", gemm(fp16, fp16, fp16, 63, 65, 67), 7, 5, {}},
    {"bf16_to_fp32", gemm(bf16, bf16, fp32, 63, 65, 67, Layout::nt), 8, 0, {}},
    {"e4m3_e4m3", gemm(fp8_e4m3, fp8_e4m3, bf16, 1024, 1024, 1024), 9, 0, {}},
    {"e4m3_e5m2", gemm(fp8_e4m3, fp8_e5m2, bf16, 1024, 1024, 1024), 9, 0, {}},
    {"e5m2_e4m3", gemm(fp8_e5m2, fp8_e4m3, bf16, 1024, 1024, 1024), 8, 9, {}},
    // M is free, so that decoding one token is legal; K = 1008 is 63 x 16.
    {"fp8_decode", gemm(fp8_e4m3, fp8_e4m3, bf16, 1, 64, 1008), 9, 0, {}},
    {"fp8_odd_m", gemm(fp8_e4m3, fp8_e4m3, bf16, 63, 64, 1008), 9, 0, {}},
    {"fp8_all_layouts_on_blackwell",
     gemm(fp8_e4m3, fp8_e4m3, bf16, 64, 64, 64, Layout::nn),
     10,
     0,
     {}},

    {"e5m2_e5m2",
     gemm(fp8_e5m2, fp8_e5m2, bf16, 1024, 1024, 1024),
     9,
     0,
     {"does not multiply E5M2 by E5M2", "one operand must be fp8_e4m3"}},
    {"mixed_types", gemm(fp16, bf16, fp16, 64, 64, 64), 9, 0, {"fp16 by bf16 in fp32"}},
    {"output_of_another_type",
     gemm(fp16, fp16, bf16, 64, 64, 64),
     9,
     0,
     {"output in bf16", "expected fp16, fp32"}},
    {"tf32_before_ampere",
     gemm(fp32, fp32, fp32, 64, 64, 64, Layout::tn, tf32),
     7,
     5,
     {"needs compute capability 8.0", "this GPU has 7.5"}},
    {"bf16_before_ampere", gemm(bf16, bf16, bf16, 64, 64, 64), 7, 5, {"8.0", "7.5"}},
    {"fp8_before_ada", gemm(fp8_e4m3, fp8_e4m3, bf16, 64, 64, 64), 8, 0, {"8.9", "8.0"}},
    {"fp8_nn",
     gemm(fp8_e4m3, fp8_e4m3, bf16, 64, 64, 64, Layout::nn),
     9,
     0,
     {"layout nn", "needs layout tn", "K-contiguous", "9.0"}},
    // A row of 63 bf16 outputs has 126 bytes, of 64 has 128 = 8 x 16.
    {"fp8_odd_n",
     gemm(fp8_e4m3, fp8_e4m3, bf16, 1024, 63, 1024),
     9,
     0,
     {"fp8_e4m3*fp8_e4m3 -> bf16, layout tn, M=1024 N=63 K=1024 batch=1: N = 63 (cuBLAS m) must be "
      "a multiple of 8; the next legal shape is M=1024 N=64 K=1024"}},
    {"fp8_k_1000",
     gemm(fp8_e4m3, fp8_e4m3, bf16, 64, 64, 1000),
     9,
     0,
     {"K = 1000 (cuBLAS k) must be a multiple of 16; the next legal shape is M=64 N=64 K=1008"}},
    {"fp8_both",
     gemm(fp8_e4m3, fp8_e4m3, bf16, 64, 1, 1),
     9,
     0,
     {"N = 1 (cuBLAS m) must be a multiple of 8, K = 1 (cuBLAS k) must be a multiple of 16",
      "M=64 N=8 K=16"}},
    {"fp8_fp32_output",
     gemm(fp8_e4m3, fp8_e4m3, fp32, 64, 6, 64),
     9,
     0,
     {"N = 6 (cuBLAS m) must be a multiple of 4"}},
    // X is [K, M] and W [K, N] in nt: their rows are M and N bytes long.
    {"fp8_nt_on_blackwell",
     gemm(fp8_e4m3, fp8_e4m3, bf16, 8, 8, 1, Layout::nt),
     10,
     0,
     {"M = 8 (cuBLAS n) must be a multiple of 16, N = 8 (cuBLAS m) must be a multiple of 16",
      "M=16 N=16 K=1"}},
    {"another_op", {.op = roofline::Op::relu}, 9, 0, {"GEMM only"}},
};

class CublasLtRules : public testing::TestWithParam<Row> {};

TEST_P(CublasLtRules, RefuseWithTheReasonAndTheCure) {
  const Row& row = GetParam();
  const auto reason = gemm_refusal(row.c, gpu(row.major, row.minor));
  ASSERT_EQ(reason.has_value(), !row.reason.empty()) << reason.value_or("no reason");
  for (const std::string& part : row.reason) {
    EXPECT_NE(reason->find(part), std::string::npos) << *reason << "\nhas no: " << part;
  }
}

INSTANTIATE_TEST_SUITE_P(Gemms, CublasLtRules, testing::ValuesIn(kRows),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace bench
