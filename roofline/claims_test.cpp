// The arithmetic against hand calculation, and the verdicts of runs that were made up for it.
#include "roofline/claims.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>

#include "roofline/command.h"
#include "roofline/csv.h"
#include "roofline/spec.h"

namespace roofline {
namespace {

using Measured = Run;  // testing::Test has a Run of its own

/// The only finding of a claim, or that of one type.
Finding pick(const std::vector<Finding>& findings, std::string_view id, Basis basis,
             std::optional<Dtype> dtype = std::nullopt) {
  for (const Finding& f : findings) {
    if (f.id == id && f.basis == basis && (!dtype || f.dtype == dtype)) return f;
  }
  ADD_FAILURE() << "no finding " << id;
  return {};
}

TEST(Claims, ArithmeticIsThatOfTheHand) {
  struct Row {
    std::string_view id;
    double value, tolerance;
    Verdict verdict;
  };
  const Row rows[] = {
      {"ridge", 295.3731343, 1e-7, Verdict::holds},        // 989.5 / 3.35
      {"ridge-at-boost", 319.5614, 1e-4, Verdict::holds},  // 132 4096 1.98e9 / 3.35e12
      {"intensity-relu", 0.25, 0, Verdict::holds},
      {"intensity-gelu", 5, 0, Verdict::holds},
      {"intensity-dot", 0.49999952316, 1e-11, Verdict::holds},  // 2097151 / 4194306
      {"intensity-gemv", 0.99756335, 1e-8, Verdict::holds},     // 2096128 / 2101248
      {"intensity-gemm", 341.1666667, 1e-7, Verdict::holds},    // 2047 / 6
      {"ideal-mfu-relu", 8.4639e-4, 1e-8, Verdict::holds},
      {"ideal-mfu-gelu", 1.69277e-2, 1e-7, Verdict::holds},
      {"ideal-mfu-dot", 1.69277e-3, 1e-8, Verdict::holds},
      {"ideal-mfu-gemv", 3.37730e-3, 1e-8, Verdict::holds},
      {"ideal-mfu-gemm", 1, 0, Verdict::holds},
      {"mfu-0.79", 0.7911111, 1e-7, Verdict::holds},
      {"fp32-peak", 66.90816e12, 1, Verdict::fails},  // 132 256 1.98e9
      {"backward", 2, 0, Verdict::holds},
      {"forward-flops", 134217728, 0, Verdict::holds},  // 2 1024 256 256
      {"6nd", 0, 0, Verdict::holds},
      {"training-flops", 6.3e24, 1e10, Verdict::holds},
      {"flops-a-day", 4.37723136e22, 1e13, Verdict::holds},
      {"training-days", 143.92659381842682, 1e-9, Verdict::holds},
      {"bytes-small", 128, 0, Verdict::holds},
      {"bytes-gpt3", 2415919104, 0, Verdict::fails},
      {"bytes-adam", 12, 0, Verdict::holds},
      {"bytes-adagrad", 8, 0, Verdict::holds},
      {"largest-model", 53333333333, 0, Verdict::holds},
      {"activations", 2097152, 0, Verdict::holds},
      {"activations-micro", 524288, 0, Verdict::holds},
      {"checkpoint-none", 16, 0, Verdict::holds},
      {"checkpoint-all", 120, 0, Verdict::holds},
      {"checkpoint-sqrt", 8, 0, Verdict::holds},
      {"fp16-underflow", 0, 0, Verdict::holds},
      {"bf16-keeps", 1.0011717677e-8, 1e-17, Verdict::holds},
      {"bf16-range", 0.99609381, 1e-8, Verdict::holds},  // (2 - 2^-7) / (2 - 2^-23)
      {"e4m3-max", 448, 0, Verdict::holds},
      {"e5m2-max", 57344, 0, Verdict::holds},
      {"nvfp4-values", 8, 0, Verdict::holds},
  };
  const std::vector<Finding> findings = judge_arithmetic();
  EXPECT_EQ(findings.size(), std::size(rows) + 2);  // and two citations
  for (const Row& row : rows) {
    const Finding f = pick(findings, row.id, Basis::arithmetic);
    ASSERT_TRUE(f.model) << row.id;
    EXPECT_NEAR(*f.model, row.value, row.tolerance) << row.id;
    EXPECT_EQ(f.verdict, row.verdict) << row.id;
    EXPECT_EQ(f.expected, row.verdict) << row.id;
  }
  EXPECT_EQ(pick(findings, "flops-gpt3", Basis::arithmetic).verdict, Verdict::not_applicable);
}

TEST(Claims, EachIsThereOnceOnEachBasisAndForEachType) {
  std::set<std::tuple<std::string_view, Basis, std::optional<Dtype>>> seen;
  for (const Finding& f : judge(Measured{}, {})) {
    EXPECT_TRUE(seen.insert({f.id, f.basis, f.dtype}).second) << f.id << " " << name(f.basis);
  }
}

/// A run on a device with the roofs of a data sheet, and nothing measured but what a test adds.
Measured run_on(std::string_view spec, const std::string& backend = "cuda") {
  Measured run;
  if (!spec.empty()) run.roofs = roofs_of(spec_named(spec));
  run.records = {{.backend = backend, .status = Status::skipped}};
  run.round_medians_s = {{{}}};
  return run;
}

/// A row whose rounds scatter by `noise` around `time_s`.
Record& add_row(Measured& run, const Case& c, double time_s, double noise = 0.001) {
  std::vector<double> rounds;
  for (const double at : {-1.0, -0.5, 0.0, 0.0, 0.5, 1.0})
    rounds.push_back(time_s * (1 + noise * at));
  run.records.push_back({.backend = run.records.front().backend,
                         .what = c,
                         .implementation = c.op == Op::gemm ? "cublaslt" : "ours",
                         .cache = "cold",
                         .data = "normal",
                         .time_median_s = time_s,
                         .time_ci_low_s = time_s * (1 - noise),
                         .time_ci_high_s = time_s * (1 + noise),
                         .achieved_flops_per_s = cost(c).flops.value / time_s,
                         .achieved_bytes_per_s = cost(c).bytes().value / time_s});
  run.round_medians_s.push_back({rounds});
  return run.records.back();
}

Case big(Op op, Dtype t = Dtype::bf16) { return make_case(op, t, 1, 1 << 28, 1); }

TEST(Claims, TheDeviceIsKnownByItsDataSheet) {
  EXPECT_EQ(device_class(run_on("h100-sxm")), DeviceClass::h100_sxm);
  for (const std::string_view other : {"h100-pcie", "h200-sxm", "h800", "gh200-96gb", "b200", ""}) {
    EXPECT_EQ(device_class(run_on(other)), DeviceClass::other_gpu) << other;
  }
  EXPECT_EQ(device_class(run_on("", "cpu")), DeviceClass::cpu);
  EXPECT_EQ(device_class(Measured{}), DeviceClass::cpu);
}

TEST(Claims, EachDeviceHasARidgeOfItsOwn) {
  struct Row {
    std::string_view spec;
    Dtype dtype;
    std::optional<double> ridge;
    Verdict verdict;
  };
  const Row rows[] = {
      {"h100-sxm", Dtype::bf16, 295.373, Verdict::holds},
      {"h100-sxm", Dtype::fp8_e4m3, 590.746, Verdict::holds},        // 1979 / 3.35
      {"h100-sxm", Dtype::tf32, 147.612, Verdict::holds},            // 494.5 / 3.35
      {"h100-sxm", Dtype::fp32, 20, Verdict::holds},                 // 67 / 3.35
      {"h200-sxm", Dtype::bf16, 206.146, Verdict::not_applicable},   // 989.5 / 4.8
      {"h800", Dtype::bf16, std::nullopt, Verdict::not_applicable},  // nothing there is verified
      {"", Dtype::bf16, std::nullopt, Verdict::not_applicable},
  };
  for (const Row& row : rows) {
    const Finding f = pick(judge(run_on(row.spec), {}), "ridge", Basis::device, row.dtype);
    EXPECT_EQ(f.verdict, row.verdict) << row.spec;
    EXPECT_FALSE(is_unexpected(f)) << row.spec;
    ASSERT_EQ(f.measured.has_value(), row.ridge.has_value()) << row.spec;
    EXPECT_NEAR(f.measured.value_or(0), row.ridge.value_or(0), 1e-3) << row.spec;
  }
}

TEST(Claims, OfTheLecturesOpsOnlyTheGemmIsRightOfTheRidge) {
  const std::vector<Finding> findings = judge(run_on("h100-sxm"), {});
  // FP8 GeLU is the nearest: 10 of the CUDA cores' 20 FLOP/byte.
  const Finding gelu = pick(findings, "memory-bound-gelu", Basis::device, Dtype::fp8_e4m3);
  EXPECT_NEAR(gelu.measured.value_or(0), 0.5, 1e-3);
  EXPECT_EQ(gelu.verdict, Verdict::holds);
  // 341.17 / 295.37
  const Finding gemm = pick(findings, "compute-bound-1024", Basis::device, Dtype::bf16);
  EXPECT_NEAR(gemm.measured.value_or(0), 1.15504, 1e-4);
  // 1024^2 2047 / (3 4 1024^2) = 170.58 FLOP/byte, of 20 in fp32 and 147.61 in tf32.
  for (const auto& [dtype, ridges] : {std::pair{Dtype::fp32, 8.5292}, {Dtype::tf32, 1.15562}}) {
    const Finding f = pick(findings, "compute-bound-1024", Basis::device, dtype);
    EXPECT_NEAR(f.measured.value_or(0), ridges, 1e-4) << name(dtype);
    EXPECT_EQ(f.verdict, Verdict::holds) << name(dtype);
  }
}

/// The ratio of GeLU to ReLU in bf16, of rows that a test made.
Finding gelu_over_relu(const Measured& run) {
  return pick(judge(run, {}), "gelu-as-relu", Basis::measured, Dtype::bf16);
}

TEST(Verdicts, HoldsInsideTheLimitsAndFailsOutside) {
  struct Row {
    double ratio, noise;
    Verdict verdict;
    std::string_view reason;
  };
  const Row rows[] = {
      {1.01, 0.001, Verdict::holds, ""},
      {1.10, 0.001, Verdict::fails, ""},
      {0.90, 0.001, Verdict::fails, ""},
      {1.01, 0.05, Verdict::unknown, "its interval crosses the limit"},  // noisy rows
  };
  for (const Row& row : rows) {
    Measured run = run_on("h100-sxm");
    add_row(run, big(Op::relu), 1e-3, 0);
    add_row(run, big(Op::gelu), row.ratio * 1e-3, row.noise);
    const Finding f = gelu_over_relu(run);
    EXPECT_EQ(f.verdict, row.verdict) << row.ratio;
    EXPECT_EQ(f.reason, row.reason);
    EXPECT_NEAR(f.measured.value_or(0), row.ratio, 1e-9);
    EXPECT_EQ(is_unexpected(f), row.verdict == Verdict::fails);
    EXPECT_EQ(f.rows, "gelu/bf16/268435456 ours, relu/bf16/268435456 ours");
  }
}

TEST(Verdicts, ARowSampledInTurnsWithItsRoofHasThePairsInterval) {
  Measured run = run_on("", "cpu");
  Record& r = add_row(run, big(Op::relu), 1e-3, 0.2);  // the memory's speed drifts by 20 %
  r.fraction_of_measured_roof = 0.99;
  EXPECT_EQ(pick(judge(run, {}), "memory-bound-relu", Basis::measured, Dtype::bf16).verdict,
            Verdict::unknown);
  r.fraction_of_measured_roof_low = 0.98;
  r.fraction_of_measured_roof_high = 1.01;
  const Finding f = pick(judge(run, {}), "memory-bound-relu", Basis::measured, Dtype::bf16);
  EXPECT_EQ(f.verdict, Verdict::holds);
  ASSERT_TRUE(f.interval);
  EXPECT_EQ(f.interval->low, 0.98);
}

TEST(Verdicts, WhatDriftsForBothRowsCancels) {
  Measured run = run_on("h100-sxm");
  add_row(run, big(Op::relu), 1e-3, 0.2);
  add_row(run, big(Op::gelu), 1e-3, 0.2);
  EXPECT_EQ(gelu_over_relu(run).verdict, Verdict::holds);
}

TEST(Verdicts, UnknownSaysWhatIsLacking) {
  const std::string lacks =
      "lacks rows: no measured relu and gelu in bf16; roofline_bench --suite=quick";
  EXPECT_EQ(gelu_over_relu(run_on("h100-sxm")).reason, lacks);
  struct Row {
    std::string name;
    void (*change)(Measured&);
    std::string reason;
  };
  const Row rows[] = {
      {"wrong type", [](Measured& run) { run.records.back().what = big(Op::gelu, Dtype::fp16); },
       lacks},
      {"failed", [](Measured& run) { run.records.back().status = Status::failed; }, lacks},
      {"held up", [](Measured& run) { run.records.back().throttle_reasons = kOtherWork; }, lacks},
      {"hot", [](Measured& run) { run.records.back().cache = "hot"; }, lacks},
      {"zeros", [](Measured& run) { run.records.back().data = "zeros"; }, lacks},
      {"a peer's", [](Measured& run) { run.records.back().implementation = "cub"; }, lacks},
      {"another size", [](Measured& run) { run.records.back().what.n *= 2; },
       "lacks rows: no measured relu and gelu of one size; roofline_bench --suite=quick"},
      {"no samples", [](Measured& run) { run.round_medians_s.back().clear(); },
       "their samples are not in samples.csv"},
      {"5 rounds", [](Measured& run) { run.round_medians_s.back()[0].pop_back(); },
       "fewer than 6 rounds, so no interval"},
      {"above its roof", [](Measured& run) { run.records.back().status = Status::above_roof; },
       "gelu/bf16/268435456 is above_roof: nothing rests on it"},
  };
  for (const Row& row : rows) {
    Measured run = run_on("h100-sxm");
    add_row(run, big(Op::relu), 1e-3);
    add_row(run, big(Op::gelu), 1e-3);
    ASSERT_EQ(gelu_over_relu(run).verdict, Verdict::holds);
    row.change(run);
    const Finding f = gelu_over_relu(run);
    EXPECT_EQ(f.verdict, Verdict::unknown) << row.name;
    EXPECT_EQ(f.reason, row.reason) << row.name;
    EXPECT_FALSE(is_unexpected(f)) << row.name;
  }
}

TEST(Verdicts, WithoutARecordedOneNothingIsUnexpected) {
  for (const auto& [spec, backend] : {std::pair{"h200-sxm", "cuda"}, std::pair{"", "cpu"}}) {
    Measured run = run_on(spec, backend);
    add_row(run, big(Op::relu), 1e-3);
    add_row(run, big(Op::gelu), 2e-3);
    const Finding f = gelu_over_relu(run);
    EXPECT_EQ(f.verdict, Verdict::fails);
    EXPECT_FALSE(is_unexpected(f));
  }
}

TEST(Verdicts, RightOnPaperAndNotInPracticeIsOnPaperOnly) {
  for (const auto& [share, verdict] :
       {std::pair{0.18, Verdict::on_paper_only}, std::pair{0.8, Verdict::holds}}) {
    Measured run = run_on("h100-sxm");
    add_row(run, make_case(Op::gemm, Dtype::bf16, 1024, 1024, 1024), 1e-5).fraction_of_roof = share;
    const Finding f = pick(judge(run, {}), "compute-bound-1024", Basis::measured);
    EXPECT_EQ(f.verdict, verdict);
    EXPECT_EQ(is_unexpected(f), verdict == Verdict::holds);
  }
}

TEST(Verdicts, ARowIsNotJudgedByARoofThatItIsItself) {
  Measured run = run_on("h100-sxm");
  run.roofs.clear();
  const Case c = make_case(Op::gemm, Dtype::bf16, 1024, 1024, 1024);
  const double rate = add_row(run, c, 1e-5).achieved_flops_per_s.value_or(0);
  for (const auto& [source, verdict] :
       {std::pair{"best GEMM of this run: " + name(c) + " onednn", Verdict::unknown},
        {std::string("best GEMM of this run: gemm/bf16/2048x2048x2048 onednn"), Verdict::holds}}) {
    run.roofs = {{.name = "hbm", .kind = Kind::datasheet, .level = Level::memory, .per_s = 3.35e12},
                 {.name = "gemm_bf16",
                  .kind = Kind::measured,
                  .pipe = Pipe::matrix,
                  .dtype = Dtype::bf16,
                  .per_s = rate,
                  .source = source}};
    EXPECT_EQ(pick(judge(run, {}), "compute-bound-1024", Basis::measured).verdict, verdict);
  }
}

TEST(Verdicts, ANumberOfTheH100sIsNotApplicableElsewhere) {
  // 2 16384 8192 32768 = 8796093022208 FLOPs; at 0.79 of 67.5e12 they take 0.16495 s.
  for (const auto& [spec, verdict] :
       {std::pair{"h100-sxm", Verdict::holds}, std::pair{"h200-sxm", Verdict::not_applicable}}) {
    Measured run = run_on(spec);
    add_row(run, make_case(Op::gemm, Dtype::fp32, 16384, 8192, 32768), 0.16495).data = "ones";
    const Finding f = pick(judge(run, {}), "mfu-0.79", Basis::measured);
    EXPECT_EQ(f.verdict, verdict) << spec;
    EXPECT_NEAR(f.measured.value_or(0), 0.79, 1e-4);
    EXPECT_NE(f.reason.find("0.797 of 132 SM"), std::string::npos)
        << f.reason;  // 0.79 67.5 / 66.908
  }
}

TEST(Claims, BackwardTakesTheTimeOfBothGradients) {
  Measured run = run_on("h100-sxm");
  Case c = make_case(Op::gemm, Dtype::bf16, 4096, 4096, 4096);
  add_row(run, c, 1e-3);
  c.layout = Layout::nn;
  add_row(run, c, 1.1e-3);
  c.layout = Layout::nt;
  add_row(run, c, 1e-3);
  const Finding f = pick(judge(run, {}), "backward", Basis::measured);
  EXPECT_NEAR(f.measured.value_or(0), 2.1, 1e-9);
  EXPECT_EQ(f.verdict, Verdict::holds);
}

TEST(Claims, TheMeasuredRidgeCarriesBothIntervals) {
  Measured run = run_on("h100-sxm");
  // 2 4096^3 FLOPs in 0.2 ms are 6.8719e14 a second; 2^30 bytes in 0.35 ms 3.0678e12.
  add_row(run, make_case(Op::gemm, Dtype::bf16, 4096, 4096, 4096), 0.2e-3, 0.01);
  add_row(run, make_case(Op::read, Dtype::fp32, 1, 1 << 28, 1), 0.35e-3, 0.01);
  add_row(run, make_case(Op::mma, Dtype::bf16, 8192, 16384, 16), 1e-9);  // no GEMM, however fast
  const Finding f = pick(judge(run, {}), "ridge-measured", Basis::measured, Dtype::bf16);
  EXPECT_EQ(f.verdict, Verdict::not_applicable);
  EXPECT_NEAR(f.measured.value_or(0), 224, 1e-9);
  ASSERT_TRUE(f.interval);
  EXPECT_NEAR(f.interval->low, 224 * 0.99 / 1.01, 1e-9);
  EXPECT_NEAR(f.interval->high, 224 * 1.01 / 0.99, 1e-9);
  EXPECT_NE(f.reason.find("75.8 % of the 295.4 on paper"), std::string::npos) << f.reason;
}

TEST(Claims, DecodingReachesAtMostTheBandwidthOfItsRoof) {
  // 2 FLOP a weight: MFU / (intensity / ridge) is the bandwidth over the roof's, 3.35e12.
  const Case c = make_case(Op::gemm, Dtype::bf16, 1, 16896, 16384);
  const double seconds = cost(c).bytes().value / 3.35e12;
  for (const auto& [share, verdict] :
       {std::pair{0.9, Verdict::holds}, std::pair{1.2, Verdict::fails}}) {
    Measured run = run_on("h100-sxm");
    Record& r = add_row(run, c, seconds / share);
    r.mfu = *r.achieved_flops_per_s / 989.5e12;
    r.peak_bytes_per_s = 3.35e12;
    const Finding f = pick(judge(run, {}), "decode", Basis::measured, Dtype::bf16);
    EXPECT_EQ(f.verdict, verdict) << share;
    EXPECT_NEAR(f.measured.value_or(0), share, 1e-9);
    EXPECT_NEAR(*r.mfu / (cost(c).intensity().value / (989.5 / 3.35)), share, 1e-9);
  }
}

TEST(Verdicts, WhatTheDeviceDoesNotHaveIsNotApplicable) {
  Measured run = run_on("", "cpu");
  add_row(run, make_case(Op::gemm, Dtype::bf16, 1024, 1024, 1024), 1e-3);  // no peak, so no MFU
  Record& tf32 = add_row(run, make_case(Op::gemm, Dtype::tf32, 1024, 1024, 1024), 1);
  tf32.status = Status::unsupported;
  tf32.note = "tf32 is a type of NVIDIA's tensor cores";
  const std::vector<Finding> findings = judge(run, {});
  struct Row {
    Dtype dtype;
    Verdict verdict;
    std::string_view reason;
  };
  const Row rows[] = {
      {Dtype::bf16, Verdict::not_applicable, "no data sheet says its peak, and so it has no MFU"},
      {Dtype::tf32, Verdict::not_applicable,
       "gemm/tf32 is unsupported here: tf32 is a type of NVIDIA's tensor cores"},
      {Dtype::fp16, Verdict::unknown,
       "lacks rows: no measured gemm/fp16; roofline_bench --suite=default"},
  };
  for (const Row& row : rows) {
    const Finding f = pick(findings, "mfu-good", Basis::measured, row.dtype);
    EXPECT_EQ(f.verdict, row.verdict) << name(row.dtype);
    EXPECT_EQ(f.reason, row.reason);
  }
}

TEST(Verdicts, ARowWithoutARoofIsHeldAgainstWhatTheRunMeasuredInTheEnd) {
  Measured run = run_on("", "cpu");
  add_row(run, make_case(Op::gemm, Dtype::bf16, 1024, 1024, 1024), 1e-3);  // 2^31 FLOPs
  run.roofs = {{.name = "read",
                .kind = Kind::measured,
                .level = Level::memory,
                .access = Access::read,
                .per_s = 1e12},
               {.name = "gemm_bf16",
                .kind = Kind::measured,
                .pipe = Pipe::matrix,
                .dtype = Dtype::bf16,
                .per_s = 4.294967296e12}};  // 2^32 a ms
  const Finding f = pick(judge(run, {}), "compute-bound-1024", Basis::measured);
  EXPECT_NEAR(f.measured.value_or(0), 0.5, 1e-9);
  EXPECT_NE(f.reason.find("of the measured gemm_bf16"), std::string::npos) << f.reason;
}

TEST(Claims, MfuIsListedBySize) {
  Measured run = run_on("h100-sxm");
  for (const auto& [n, mfu] : {std::pair{1024, 0.18}, std::pair{8192, 0.75}}) {
    add_row(run, make_case(Op::gemm, Dtype::bf16, n, n, n), 1e-3).mfu = mfu;
  }
  const Finding f = pick(judge(run, {}), "mfu-good", Basis::measured, Dtype::bf16);
  EXPECT_EQ(f.verdict, Verdict::holds);
  EXPECT_EQ(f.reason, "by size: 1024x1024x1024 0.18, 8192x8192x8192 0.75");
}

TEST(Claims, FormatsAreThoseOfTheDevicesConversions) {
  struct Row {
    std::string_view id, key, right, wrong;
  };
  const Row rows[] = {
      {"fp16-underflow", "fp16(1e-8)", "0.0", "5.9604645e-08"},
      {"bf16-keeps", "bf16(1e-8)", "1.0011717677116394e-08", "0.0"},
      {"e4m3-max", "fp8_e4m3(1e6)", "448.0", "240.0"},
      {"e5m2-max", "fp8_e5m2(1e6)", "57344.0", "49152.0"},
  };
  for (const Row& row : rows) {
    for (const auto& [value, verdict] :
         {std::pair{row.right, Verdict::holds}, std::pair{row.wrong, Verdict::fails},
          std::pair{std::string_view("null"), Verdict::unknown}}) {
      Measured run = run_on("", "cpu");
      run.environment[fmt::format("conversions/{}", row.key)] = value;
      const Finding f = pick(judge(run, {}), row.id, Basis::measured);
      EXPECT_EQ(f.verdict, verdict) << row.id << " " << value;
      EXPECT_EQ(is_unexpected(f), verdict == Verdict::fails) << row.id << " " << value;
    }
  }
  // Software converts where no instruction does, and the finding says so.
  Measured run = run_on("");
  run.environment = {{"conversions/fp8_e4m3(1e6)", "448.0"}, {"device/compute_capability", "8.0"}};
  EXPECT_EQ(pick(judge(run, {}), "e4m3-max", Basis::measured).reason,
            "in software: 8.9 converts fp8_e4m3, this device is 8.0");
}

TEST(Claims, ACardsMemoryIsWhatItReports) {
  for (const auto& [spec, verdict] :
       {std::pair{"h100-sxm", Verdict::holds}, std::pair{"h200-sxm", Verdict::not_applicable}}) {
    Measured run = run_on(spec);
    run.environment["device/memory_bytes"] = "85.2e9";
    const Finding f = pick(judge(run, {}), "card-memory", Basis::device);
    EXPECT_EQ(f.verdict, verdict) << spec;
    EXPECT_EQ(f.measured, 85.2e9);
    EXPECT_NE(f.reason.find("8 of it hold 5.68e+10 parameters"), std::string::npos) << f.reason;
    EXPECT_FALSE(is_unexpected(f));
  }
  EXPECT_EQ(pick(judge(run_on("h100-sxm"), {}), "card-memory", Basis::device).verdict,
            Verdict::unknown);
}

/// Writes a run into a new folder, with the samples of its rounds.
std::filesystem::path write_run(const Measured& run, const std::string& name) {
  const auto folder = std::filesystem::path(testing::TempDir()) /
                      ("validate_" + name + "_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::string measurements = csv_line(measurement_columns()), roofs = csv_line(roof_columns());
  std::string samples = "schema,run_id,row,round,sample,time_s,visit\n";
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    measurements += csv_line(to_fields(run.records[i]));
    std::size_t round = 0;
    for (std::size_t visit = 0; visit < run.round_medians_s[i].size(); ++visit) {
      for (const double time_s : run.round_medians_s[i][visit]) {
        samples += "1,r," + std::to_string(i + 1) + "," + std::to_string(round++) + ",0," +
                   std::to_string(time_s) + "," + std::to_string(visit) + "\n";
      }
    }
  }
  for (const Roof& r : run.roofs) roofs += csv_line(to_fields(r, "r"));
  std::ofstream(folder / "measurements.csv") << measurements;
  std::ofstream(folder / "roofs.csv") << roofs;
  std::ofstream(folder / "samples.csv") << samples;
  return folder;
}

int validate(std::vector<std::string> arguments, Output& out) {
  arguments.insert(arguments.begin(), "validate");
  return run_command_line(std::move(arguments), out);
}

TEST(Validate, ExitsWith1OnlyForTheUnexpectedAndStrictlyForTheUnknown) {
  Output out;
  EXPECT_EQ(validate({}, out), 0) << out.text;
  EXPECT_EQ(validate({"--strict"}, out), 0) << "the arithmetic knows all";

  Measured good = run_on("h100-sxm");
  add_row(good, big(Op::relu), 1);
  add_row(good, big(Op::gelu), 1);
  const auto folder = write_run(good, "good");
  EXPECT_EQ(validate({folder.string()}, out), 0);
  EXPECT_EQ(validate({folder.string(), "--strict"}, out), 1);
  EXPECT_EQ(validate({(folder / "measurements.csv").string()}, out), 0);

  Measured bad = run_on("h100-sxm");
  add_row(bad, big(Op::relu), 1);
  add_row(bad, big(Op::gelu), 2);
  EXPECT_EQ(validate({write_run(bad, "bad").string()}, out), 1);
  EXPECT_EQ(validate({(folder / "nothing").string()}, out), 1);
}

TEST(Validate, WritesAllClaimsIntoTheRun) {
  Measured run = run_on("h100-sxm");
  add_row(run, big(Op::relu), 1);
  add_row(run, big(Op::gelu), 1.01);
  const auto folder = write_run(run, "files");
  Output out;
  ASSERT_EQ(validate({folder.string()}, out), 0) << out.text;
  const CsvTable csv = parse_csv(read_file(folder / "claims.csv"), "claims.csv");
  EXPECT_EQ(csv.rows.size(), judge(run, {}).size());
  const std::string page = read_file(folder / "claims.md");
  EXPECT_NE(
      page.find(
          "| ReLU is no faster than GeLU | bf16 | 1 | t(GeLU) / t(ReLU) | 1 | 1.01 [1.01, 1.01] |"),
      std::string::npos)
      << page;
  EXPECT_TRUE(std::filesystem::exists(folder / "ridge.csv"));
}

TEST(Validate, RefusesSamplesOfAnotherRun) {
  Measured run = run_on("h100-sxm");
  const auto folder = write_run(run, "samples");
  const std::string header = "schema,run_id,row,round,sample,time_s\n";
  struct Row {
    std::string text, message;
  };
  const Row rows[] = {
      {header + "1,r,2,0,0,1\n", "row is 2, measurements.csv has rows 1 to 1"},
      {"row,round,time_s,visit\n1,0,1,second\n", ":2: visit is \"second\", expected a number"},
      {header + "1,r,1,0,0,soon\n", ":2: time_s is \"soon\", expected a number"},
      {"row,round\n", ":1: expected a column time_s"},
  };
  for (const Row& row : rows) {
    std::ofstream(folder / "samples.csv") << row.text;
    Output out;
    EXPECT_EQ(validate({folder.string()}, out), 1);
    EXPECT_NE(out.notes.find(row.message), std::string::npos) << out.notes;
  }
}

}  // namespace
}  // namespace roofline
