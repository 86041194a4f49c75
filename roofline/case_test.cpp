// Costs, worked out by hand, and names that lead back to their case.
#include "roofline/case.h"

#include <gtest/gtest.h>

#include <limits>

namespace roofline {
namespace {

constexpr std::int64_t kMi = 1 << 20;

struct Row {
  Case what;
  double flops, read, written;
  const char* name;
};

const Row kRows[] = {
    // Elementwise: n FLOPs, n elements in and out.
    {make_case(Op::relu, Dtype::bf16, 1, kMi, 1), 1048576, 2097152, 2097152, "relu/bf16/1048576"},
    {make_case(Op::relu, Dtype::fp8_e5m2, 1, 3, 1), 3, 3, 3, "relu/fp8_e5m2/3"},
    {make_case(Op::gelu, Dtype::bf16, 1, kMi, 1), 20971520, 2097152, 2097152, "gelu/bf16/1048576"},
    {make_case(Op::gelu_erf, Dtype::fp32, 1, 5, 1), 100, 20, 20, "gelu_erf/fp32/5"},
    // Stream: read 4 n, write 4 n, copy 8 n, triad 12 n bytes in fp32.
    {make_case(Op::read, Dtype::fp32, 1, 10, 1), 0, 40, 0, "read/fp32/10"},
    {make_case(Op::write, Dtype::fp32, 1, 10, 1), 0, 0, 40, "write/fp32/10"},
    {make_case(Op::copy, Dtype::fp32, 1, 10, 1), 0, 40, 40, "copy/fp32/10"},
    {make_case(Op::triad, Dtype::fp32, 1, 10, 1), 20, 80, 40, "triad/fp32/10"},
    // Over the link once: 2 n bytes in bf16, seen from the device.
    {make_case(Op::h2d, Dtype::bf16, 1, 10, 1), 0, 20, 0, "h2d/bf16/10"},
    {make_case(Op::d2h, Dtype::bf16, 1, 10, 1), 0, 0, 20, "d2h/bf16/10"},
    // n accumulators of m multiply-adds, each loaded and stored once.
    {make_case(Op::fma, Dtype::fp16, 100, 10, 1), 2000, 20, 20, "fma/fp16/100x10"},
    // 16384 accumulators of fp32, 4 steps of 16 multiply-adds each; tf32 is stored as fp32.
    {make_case(Op::mma, Dtype::bf16, 4, 16384, 16), 2097152, 0, 65536, "mma/bf16/4x16384x16"},
    {make_case(Op::mma, Dtype::tf32, 4, 10, 8), 640, 0, 40, "mma/tf32/4x10x8"},
    {make_case(Op::mma, Dtype::fp8_e4m3, 4, 10, 32), 2560, 0, 40, "mma/fp8_e4m3/4x10x32"},
    // Dot: 2 n FLOPs, an fp32 result.
    {make_case(Op::dot, Dtype::bf16, 1, kMi, 1), 2097152, 4194304, 4, "dot/bf16/1048576"},
    // GEMV: 2 m n FLOPs; A and x read, y written, in bf16 where the inputs are FP8.
    {make_case(Op::gemv, Dtype::bf16, 1024, 1024, 1), 2097152, 2099200, 2048,
     "gemv/bf16/1024x1024"},
    {make_case(Op::gemv, Dtype::fp8_e4m3, 2, 3, 1), 12, 9, 4, "gemv/fp8_e4m3/2x3"},
    // GEMM: 2 m n k FLOPs; n = 1024 in bf16 moves 6 n^2 bytes.
    {make_case(Op::gemm, Dtype::bf16, 1024, 1024, 1024), 2147483648, 4194304, 2097152,
     "gemm/bf16/1024x1024x1024"},
    {make_case(Op::gemm, Dtype::fp8_e4m3, 1, 16, 32), 1024, 544, 32, "gemm/fp8_e4m3/1x16x32"},
    {make_case(Op::gemm, Dtype::tf32, 2, 4, 8), 128, 192, 32, "gemm/tf32/2x4x8"},
    // Past 2^31 elements nothing wraps: 2^32 + 1 fp32 elements.
    {make_case(Op::read, Dtype::fp32, 1, 4294967297, 1), 0, 17179869188.0, 0,
     "read/fp32/4294967297"},
};

TEST(Cost, MatchesTheHandCalculation) {
  for (const Row& row : kRows) {
    const Cost c = cost(row.what);
    EXPECT_EQ(c.flops.value, row.flops) << row.name;
    EXPECT_EQ(c.read.value, row.read) << row.name;
    EXPECT_EQ(c.written.value, row.written) << row.name;
    EXPECT_EQ(name(row.what), row.name);
  }
}

TEST(Cost, ScalesWithTheBatch) {
  Case c = make_case(Op::gemm, Dtype::bf16, 64, 64, 64);
  const Cost one = cost(c);
  c.batch = 8;
  EXPECT_EQ(cost(c).flops, 8 * one.flops);
  EXPECT_EQ(cost(c).bytes(), 8 * one.bytes());
  EXPECT_EQ(name(c), "gemm/bf16/8x64x64x64");
}

TEST(Cost, IntensitiesOfTheLecture) {
  // ReLU n / 4n, GeLU 20 n / 4n, GEMM 2 n^3 / 6 n^2 = n / 3 in bf16.
  EXPECT_DOUBLE_EQ(cost(make_case(Op::relu, Dtype::bf16, 1, kMi, 1)).intensity().value, 0.25);
  EXPECT_DOUBLE_EQ(cost(make_case(Op::gelu, Dtype::bf16, 1, kMi, 1)).intensity().value, 5.0);
  EXPECT_DOUBLE_EQ(cost(make_case(Op::gemm, Dtype::bf16, 1024, 1024, 1024)).intensity().value,
                   1024.0 / 3);
}

TEST(Case, BackwardLayoutsAreNamed) {
  Case c = make_case(Op::gemm, Dtype::bf16, 64, 32, 16);
  EXPECT_EQ(c.layout, Layout::tn);
  c.layout = Layout::nt;
  EXPECT_EQ(name(c), "gemm/bf16/64x32x16/nt");
}

TEST(Case, MixedOperandsAreNamed) {
  Case c = make_case(Op::gemm, Dtype::fp8_e4m3, 16, 16, 16);
  c.b = Dtype::fp8_e5m2;
  EXPECT_EQ(dtype_label(c), "fp8_e4m3*fp8_e5m2");
}

TEST(Case, EachNameLeadsBackToItsOp) {
  for (const OpInfo& o : ops()) {
    EXPECT_EQ(&info(o.op), &o) << "rows stand in the order of the enum";
    EXPECT_EQ(parse_op(o.name), o.op);
  }
  EXPECT_FALSE(parse_op("reluu"));
  for (const Format& f : formats()) {
    EXPECT_EQ(&format(f.dtype), &f) << "rows stand in the order of the enum";
    EXPECT_EQ(parse_dtype(f.name), f.dtype);
  }
}

TEST(Case, OfTheProductsOnlyATrueFp32GemmRunsOnTheVectorPipe) {
  EXPECT_EQ(pipe(make_case(Op::mma, Dtype::bf16, 1, 1, 1)), Pipe::matrix);
  EXPECT_EQ(pipe(make_case(Op::gemm, Dtype::fp32, 1, 1, 1)), Pipe::vector);
  EXPECT_EQ(pipe(make_case(Op::gemm, Dtype::tf32, 1, 1, 1)), Pipe::matrix);
  EXPECT_EQ(pipe(make_case(Op::gemm, Dtype::bf16, 1, 1, 1)), Pipe::matrix);
  EXPECT_EQ(pipe(make_case(Op::relu, Dtype::bf16, 1, 1, 1)), Pipe::vector);
  EXPECT_EQ(pipe(make_case(Op::copy, Dtype::bf16, 1, 1, 1)), Pipe::none);
}

}  // namespace
}  // namespace roofline
