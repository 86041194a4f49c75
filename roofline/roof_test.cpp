// Where a point stands: min(peak, intensity x bandwidth), the kinds in order, nothing borrowed.
#include "roofline/roof.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace roofline {
namespace {

constexpr FlopsPerS kPeak = 989.5 * kTflopsPerS;
constexpr BytesPerS kBandwidth = 3.35 * kTBPerS;

TEST(Attainable, LiesUnderBothRoofsAndMeetsThemAtTheRidge) {
  const Intensity at_ridge = ridge(kPeak, kBandwidth);
  EXPECT_NEAR(attainable(at_ridge, kPeak, kBandwidth).value, kPeak.value, kPeak.value * 1e-15);
  for (double x = 1e-3; x < 1e6; x *= 1.7) {
    const FlopsPerS reached = attainable({x}, kPeak, kBandwidth);
    EXPECT_LE(reached, kPeak);
    EXPECT_LE(reached, Intensity{x} * kBandwidth);
    EXPECT_TRUE(reached == kPeak || reached == Intensity{x} * kBandwidth);
  }
}

std::vector<Roof> h100() {
  const auto memory = [](const char* name, Kind kind, Access access, double per_s) {
    return Roof{
        .name = name, .kind = kind, .level = Level::memory, .access = access, .per_s = per_s};
  };
  const auto compute = [](const char* name, Kind kind, Pipe pipe, Dtype dtype, double per_s) {
    return Roof{.name = name, .kind = kind, .pipe = pipe, .dtype = dtype, .per_s = per_s};
  };
  return {
      memory("read", Kind::measured, Access::read, 3.2e12),
      memory("copy", Kind::measured, Access::copy, 3.0e12),
      memory("pins", Kind::derived, Access::none, 3.3523e12),
      memory("hbm", Kind::datasheet, Access::none, 3.35e12),
      {.name = "l2_read", .level = Level::cache, .access = Access::read, .per_s = 7e12},
      compute("cuda_core_fp32", Kind::datasheet, Pipe::vector, Dtype::fp32, 67e12),
      compute("tensor_bf16", Kind::datasheet, Pipe::matrix, Dtype::bf16, 989.5e12),
      compute("tensor_bf16", Kind::derived, Pipe::matrix, Dtype::bf16, 1070.5e12),
      compute("mma_bf16", Kind::measured, Pipe::matrix, Dtype::bf16, 950e12),
      compute("tensor_tf32", Kind::derived, Pipe::matrix, Dtype::tf32, 535e12),
  };
}

struct Row {
  const char* what;
  Case c;
  Level level;
  const char* roof;  // "" for none
  Kind kind;
  std::optional<Bound> bound;
  double roof_time_s;
};

const Row kRows[] = {
    // 4 n bytes at 3.35 TB/s.
    {"relu", make_case(Op::relu, Dtype::bf16, 1, 1000000, 1), Level::memory, "hbm", Kind::datasheet,
     Bound::memory, 4e6 / 3.35e12},
    // 2 n^3 FLOPs at 989.5 TFLOP/s: intensity 4096 / 3 is right of the ridge.
    {"gemm", make_case(Op::gemm, Dtype::bf16, 4096, 4096, 4096), Level::memory, "tensor_bf16",
     Kind::datasheet, Bound::compute, 2 * 4096.0 * 4096 * 4096 / 989.5e12},
    // M = 1: (1 + K + K) x ... bytes; left of the ridge, so the memory roof binds.
    {"decode", make_case(Op::gemm, Dtype::bf16, 1, 1024, 1024), Level::memory, "hbm",
     Kind::datasheet, Bound::memory, 2.0 * (1024 + 1024 * 1024 + 1024) / 3.35e12},
    // No TF32 entry in the sheet: the derived one, never bf16's.
    {"tf32", make_case(Op::gemm, Dtype::tf32, 4096, 4096, 4096), Level::memory, "tensor_tf32",
     Kind::derived, Bound::compute, 2 * 4096.0 * 4096 * 4096 / 535e12},
    // 4 n bytes are nothing beside 2 m n k FLOPs; tf32 is a type of its own here, too.
    {"mma", make_case(Op::mma, Dtype::bf16, 8192, 16384, 16), Level::memory, "tensor_bf16",
     Kind::datasheet, Bound::compute, 2 * 8192.0 * 16384 * 16 / 989.5e12},
    {"mma_tf32", make_case(Op::mma, Dtype::tf32, 8192, 16384, 8), Level::memory, "tensor_tf32",
     Kind::derived, Bound::compute, 2 * 8192.0 * 16384 * 8 / 535e12},
    // An fp32 GEMM stands under the CUDA cores.
    {"sgemm", make_case(Op::gemm, Dtype::fp32, 4096, 4096, 4096), Level::memory, "cuda_core_fp32",
     Kind::datasheet, Bound::compute, 2 * 4096.0 * 4096 * 4096 / 67e12},
    // In the cache only the measured roof of the same access is known, and none for a copy.
    {"hot_dot", make_case(Op::dot, Dtype::bf16, 1, 1000, 1), Level::cache, "l2_read",
     Kind::measured, Bound::memory, 4004 / 7e12},
    // An op that computes has no roof where its peak is unknown, however good the memory roof.
    {"fp8_without_a_peak", make_case(Op::gemm, Dtype::fp8_e4m3, 64, 64, 64), Level::memory, "",
     Kind::measured, std::nullopt, 0},
    {"hot_copy", make_case(Op::copy, Dtype::bf16, 1, 1000, 1), Level::cache, "", Kind::measured,
     std::nullopt, 0},
};

TEST(Place, FindsTheBestKnownRoof) {
  const std::vector<Roof> roofs = h100();
  for (const Row& row : kRows) {
    const Placing p = place(row.c, row.level, roofs);
    EXPECT_EQ(p.bound, row.bound) << row.what;
    ASSERT_EQ(p.roof != nullptr, row.roof[0] != '\0') << row.what;
    if (p.roof == nullptr) continue;
    EXPECT_EQ(p.roof->name, row.roof) << row.what;
    EXPECT_EQ(p.roof->kind, row.kind) << row.what;
    EXPECT_NEAR(p.roof_time->value, row.roof_time_s, row.roof_time_s * 1e-12) << row.what;
  }
}

TEST(Place, MeasuredRoofHasTheSameAccessMix) {
  const std::vector<Roof> roofs = h100();
  const auto measured = [&](Op op) {
    return place(make_case(op, Dtype::bf16, 64, 64, 64), Level::memory, roofs).measured_memory;
  };
  EXPECT_EQ(measured(Op::relu)->name, "copy");
  EXPECT_EQ(measured(Op::dot)->name, "read");
  EXPECT_EQ(measured(Op::gemv)->name, "read");
  EXPECT_EQ(measured(Op::triad), nullptr);
}

TEST(Place, TheMatrixPipeIsTheMeasuredRoofOfAGemm) {
  const std::vector<Roof> roofs = h100();
  const Case gemm = make_case(Op::gemm, Dtype::bf16, 4096, 4096, 4096);
  const Placing p = place(gemm, Level::memory, roofs);
  ASSERT_NE(p.measured_compute, nullptr);
  EXPECT_EQ(p.measured_compute->name, "mma_bf16");
  EXPECT_DOUBLE_EQ(p.measured_roof_time->value, 2 * 4096.0 * 4096 * 4096 / 950e12);
}

TEST(MfuPeak, IsTheSheetOfTheFastestGemmPipeOrUnknown) {
  const std::vector<Roof> roofs = h100();
  const auto peak = [&](Op op, Dtype t) { return mfu_peak(make_case(op, t, 64, 64, 64), roofs); };
  EXPECT_EQ(peak(Op::gemm, Dtype::bf16)->per_s, 989.5e12);
  EXPECT_EQ(peak(Op::dot, Dtype::bf16)->per_s, 989.5e12);
  EXPECT_EQ(peak(Op::mma, Dtype::bf16)->per_s, 989.5e12);
  EXPECT_EQ(peak(Op::mma, Dtype::tf32), nullptr) << "not that of fp32, as which it is stored";
  EXPECT_EQ(peak(Op::relu, Dtype::fp32)->per_s, 67e12);
  EXPECT_EQ(peak(Op::gemm, Dtype::tf32), nullptr) << "only derived: no MFU";
  EXPECT_EQ(peak(Op::gemm, Dtype::fp8_e4m3), nullptr) << "never another dtype's";
  EXPECT_EQ(peak(Op::gelu, Dtype::bf16), nullptr) << "20 FLOPs are a decree";
  EXPECT_EQ(peak(Op::copy, Dtype::bf16), nullptr);
}

TEST(Roof, EachNameLeadsBack) {
  for (const Kind k : {Kind::datasheet, Kind::derived, Kind::measured}) {
    EXPECT_EQ(parse_kind(name(k)), k);
  }
  for (const Bound b : {Bound::memory, Bound::compute, Bound::launch}) {
    EXPECT_EQ(parse_bound(name(b)), b);
  }
  EXPECT_FALSE(parse_kind("sheet"));
}

}  // namespace
}  // namespace roofline
