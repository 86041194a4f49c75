// What becomes of a group on a device that is slow, hot, lost, full or faster than light.
#include "bench/runner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <random>
#include <stdexcept>

#include "bench/fake_device.h"
#include "roofline/run.h"

namespace bench {
namespace {

using roofline::Bound;
using roofline::Case;
using roofline::Dtype;
using roofline::Kind;
using roofline::make_case;
using roofline::Op;
using roofline::Record;
using roofline::Status;

constexpr std::int64_t kN = 1 << 16;
const Case kRelu = make_case(Op::relu, Dtype::fp32, 1, kN, 1);
const Case kCopy = make_case(Op::copy, Dtype::fp32, 1, kN, 1);

/// A card with an entry in the table of specs, and a cache small enough for small tests to be cold.
roofline::DeviceFacts h100() {
  return {.backend = "cuda",
          .name = "NVIDIA H100 80GB HBM3",
          .uuid = "GPU-test",
          .compute_major = 9,
          .processors = 132,
          .memory_bytes = 85.0e9,
          .cache_bytes = 1 << 14,
          .bus_bits = 5120,
          .memory_clock_mhz = 2619,
          .max_clock_mhz = 1980};
}

class RunnerTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_.path()); }

  std::vector<Record> run(const std::vector<Case>& cases) {
    return runner_.run({name(cases.front()), cases}, 0);
  }
  Record run_one(const Case& c) { return run({c}).at(0); }

  FakeDevice device_{h100()};
  std::atomic<bool> interrupted_ = false;
  RunFolder folder_{
      std::filesystem::path(testing::TempDir()) / ("runner_test" + std::to_string(getpid())),
      "test"};
  Runner runner_{device_, folder_, {}, interrupted_};
};

/// The time at which `c` runs at `fraction` of 3.35 TB/s.
double at_fraction_of_hbm(const Case& c, double fraction) {
  return cost(c).bytes().value / (fraction * 3.35e12);
}

TEST_F(RunnerTest, PlacesARowUnderItsRoof) {
  device_.time_s = [](int) { return at_fraction_of_hbm(kRelu, 0.9); };
  const Record r = run_one(kRelu);
  EXPECT_EQ(r.status, Status::ok) << r.note;
  EXPECT_EQ(r.verified, true);
  EXPECT_NEAR(*r.achieved_bytes_per_s, 0.9 * 3.35e12, 1e3);
  EXPECT_EQ(r.roof_name, "hbm");
  EXPECT_EQ(r.roof_kind, Kind::datasheet);
  EXPECT_EQ(r.bound, Bound::memory);
  EXPECT_NEAR(*r.fraction_of_roof, 0.9, 1e-9);
  EXPECT_NEAR(*r.mfu, 0.9 * 3.35e12 / 8 / 67e12, 1e-6);  // 1 FLOP per 8 bytes; the sheet says 67
  EXPECT_FALSE(r.fraction_of_measured_roof) << "nothing was measured yet";
  EXPECT_EQ(r.rounds, 6);
  EXPECT_EQ(r.time_ci_low_s, r.time_ci_high_s);
}

TEST_F(RunnerTest, MeasuresARoofAndHoldsLaterRowsAgainstIt) {
  device_.time_s = [](int) { return at_fraction_of_hbm(kCopy, 0.8); };
  run_one(kCopy);
  device_.time_s = [](int) { return at_fraction_of_hbm(kRelu, 0.6); };
  EXPECT_FALSE(run_one(kRelu).fraction_of_measured_roof) << "the measured compute roof is unknown";
  device_.time_s = [](int) { return 2.0 * 4096 * 4096 / 60e12; };
  run_one(make_case(Op::fma, Dtype::fp32, 4096, 4096, 1));
  device_.time_s = [](int) { return at_fraction_of_hbm(kRelu, 0.6); };
  EXPECT_NEAR(*run_one(kRelu).fraction_of_measured_roof, 0.75, 1e-9);
  const roofline::Run read = roofline::read_run(folder_.path());
  EXPECT_EQ(read.roofs.back().name, "fma_fp32");
}

TEST_F(RunnerTest, FasterThanThePinsIsAboveRoofWithACause) {
  device_.time_s = [](int) { return at_fraction_of_hbm(kRelu, 1.2); };
  const Record r = run_one(kRelu);
  EXPECT_EQ(r.status, Status::above_roof);
  EXPECT_NE(r.note.find("the pins carry"), std::string::npos) << r.note;
  EXPECT_TRUE(r.time_median_s) << "nothing is clipped";
}

TEST_F(RunnerTest, AboveTheSheetButWithinThePinsIsOk) {
  device_.time_s = [](int) { return at_fraction_of_hbm(kRelu, 1.01); };
  EXPECT_EQ(run_one(kRelu).status, Status::ok);
}

TEST_F(RunnerTest, WriteOnlyRowsAreNotGated) {
  const Case c = make_case(Op::write, Dtype::fp32, 1, kN, 1);
  device_.time_s = [&](int) { return at_fraction_of_hbm(c, 1.2); };
  EXPECT_EQ(run_one(c).status, Status::ok);
}

TEST_F(RunnerTest, NoiseIsSaid) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal(1, 0.3);
  device_.time_s = [&](int) { return 1e-3 * std::max(normal(random), 0.1); };
  Settings settings;
  settings.protocol.cap_s = 0.5;
  Runner runner(device_, folder_, settings, interrupted_);
  const Record r = runner.run({"relu", {kRelu}}, 0).at(0);
  EXPECT_EQ(r.status, Status::noisy);
  EXPECT_TRUE(r.fraction_of_roof);
}

TEST_F(RunnerTest, AnInvalidTimeIsAFailure) {
  for (const double bad : {0.0, std::nan("")}) {
    device_.time_s = [bad](int) { return bad; };
    const Record r = run_one(kRelu);
    EXPECT_EQ(r.status, Status::failed);
    EXPECT_FALSE(r.time_median_s);
    EXPECT_FALSE(r.achieved_bytes_per_s);
    EXPECT_NE(r.note.find("no valid time"), std::string::npos) << r.note;
  }
}

TEST_F(RunnerTest, ALaunchThatFailsIsThatRowsStatus) {
  device_.time_s = [](int) -> double { throw std::runtime_error("no kernel image"); };
  const Record r = run_one(kRelu);
  EXPECT_EQ(r.status, Status::failed);
  EXPECT_EQ(r.note, "no kernel image");
  device_.time_s = [](int) { return 1e-3; };
  EXPECT_EQ(run_one(kRelu).status, Status::ok) << "and the run goes on";
}

TEST_F(RunnerTest, ALostDeviceEndsTheRunAndItsRowsAreSaved) {
  device_.time_s = [](int i) {
    if (i > 3) throw DeviceLost("the device is lost");
    return 1e-3;
  };
  EXPECT_THROW(run({kRelu, kCopy}), DeviceLost);
  const roofline::Run saved = roofline::read_run(folder_.path());
  ASSERT_EQ(saved.records.size(), 2U);
  for (const Record& r : saved.records) {
    EXPECT_EQ(r.status, Status::failed);
    EXPECT_EQ(r.note, "the device is lost");
  }
}

TEST_F(RunnerTest, WhatDoesNotFitInMemoryIsSkippedWithBothNumbers) {
  const Record r = run_one(make_case(Op::relu, Dtype::fp32, 1, std::int64_t{1} << 32, 1));
  EXPECT_EQ(r.status, Status::skipped);
  EXPECT_EQ(r.note, "needs 32.00 GiB of memory, 0.93 GiB are free");
}

TEST_F(RunnerTest, WhatNobodyComputesIsARowWithAReason) {
  const Record r = run_one(make_case(Op::relu, Dtype::nvfp4, 1, 64, 1));
  EXPECT_EQ(r.status, Status::unsupported);
  EXPECT_FALSE(r.note.empty());
  EXPECT_FALSE(r.time_median_s);
}

TEST_F(RunnerTest, ThrottledSamplesAreCountedAndKept) {
  device_.says = {.sm_clock_mhz = 990, .throttle_reasons = "sw_power_cap"};
  const Record r = run_one(kRelu);
  EXPECT_EQ(r.status, Status::ok);
  EXPECT_EQ(r.throttle_reasons, "sw_power_cap");
  EXPECT_EQ(r.throttled_samples, r.samples);
  // Half of the 1980 MHz that the sheet's fp32 peak assumes: twice the share of what was possible.
  EXPECT_NEAR(*r.mfu_at_measured_clock / *r.mfu, 2, 1e-9);
}

TEST_F(RunnerTest, WithoutTelemetryTheCellsAreEmpty) {
  const Record r = run_one(kRelu);
  EXPECT_FALSE(r.sm_clock_mhz);
  EXPECT_FALSE(r.throttled_samples);
  EXPECT_FALSE(r.mfu_at_measured_clock);
}

TEST_F(RunnerTest, InterruptedItWritesOnlyWhatWasMeasured) {
  interrupted_ = true;
  EXPECT_TRUE(run({kRelu, kCopy}).empty());
  EXPECT_TRUE(roofline::read_run(folder_.path()).records.empty());
}

TEST_F(RunnerTest, AUsedUpBudgetSkips) {
  Settings settings;
  settings.budget_s = 1;
  settings.hard_budget = true;
  device_.time_s = [](int) { return 2.0; };
  Runner runner(device_, folder_, settings, interrupted_);
  EXPECT_NE(runner.run({"relu", {kRelu}}, 1).at(0).status, Status::skipped);
  EXPECT_EQ(runner.run({"copy", {kCopy}}, 0).at(0).status, Status::skipped);
}

TEST_F(RunnerTest, AMigSliceHasNoSheetAndNoMfu) {
  roofline::DeviceFacts slice = h100();
  slice.partition = true;
  slice.processors = 16;
  FakeDevice device(slice);
  Runner runner(device, folder_, {}, interrupted_);
  const Record r = runner.run({"relu", {kRelu}}, 0).at(0);
  EXPECT_FALSE(r.mfu);
  EXPECT_NE(r.roof_kind, Kind::datasheet);
}

TEST(RoofCompanion, HasTheSameAccessAndTraffic) {
  for (const Op op : {Op::relu, Op::gelu, Op::dot, Op::gemv}) {
    const Case c = make_case(op, Dtype::bf16, 512, 4096, 1);
    const Case beside = roof_companion(c).value();
    EXPECT_EQ(info(beside.op).access, info(op).access);
    EXPECT_NEAR(cost(beside).bytes().value, cost(c).bytes().value, 8) << name(c);
  }
  EXPECT_EQ(roof_companion(make_case(Op::gemm, Dtype::fp32, 8, 8, 8))->op, Op::fma);
  EXPECT_FALSE(roof_companion(make_case(Op::gemm, Dtype::bf16, 8, 8, 8)));
  EXPECT_FALSE(roof_companion(kCopy));
}

}  // namespace
}  // namespace bench
