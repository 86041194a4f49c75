// What becomes of a group on a device that is slow, hot, lost, full or faster than light.
#include "bench/runner.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <map>
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
    return runner_.run({name(cases.front()), cases, true});
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

TEST_F(RunnerTest, AnEmptyLaunchIsTimedInAGraphFromTheHostAndNotAtAll) {
  device_.time_s = [](int) { return 3e-6; };
  const auto rows = run({make_case(Op::empty, Dtype::fp32, 1, 1, 1)});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].launches_per_sample, 67) << "200 us";
  EXPECT_EQ(rows[1].variant, "from_host");
  EXPECT_EQ(rows[1].launches_per_sample, 67);
  EXPECT_EQ(rows[2].variant, "interval");
  EXPECT_EQ(rows[2].launches_per_sample, 1) << "of nothing, a sample holds one";
  EXPECT_EQ(rows[2].status, Status::ok);
  device_.time_s = [](int) { return 0.0; };
  const auto unresolved = run({make_case(Op::empty, Dtype::fp32, 1, 1, 1)});
  EXPECT_EQ(unresolved[0].status, Status::failed);
  EXPECT_EQ(unresolved[2].status, Status::noisy) << "two events may show no time between them";
  EXPECT_EQ(unresolved[2].note, "shorter than the timer resolves");
}

TEST_F(RunnerTest, ALaunchThatWaitedDoesNotMakeSamplesOfOneLaunch) {
  device_.time_s = [](int i) { return i == 0 ? 8e-3 : 3e-6; };
  EXPECT_EQ(run_one(kRelu).launches_per_sample, 67) << "200 us";
}

TEST_F(RunnerTest, ACopyOfAnotherSizeIsNoRoof) {
  device_.time_s = [](int) { return at_fraction_of_hbm(kCopy, 0.8); };
  runner_.run({"copy", {kCopy}});
  for (const roofline::Roof& r : runner_.roofs()) EXPECT_NE(r.kind, Kind::measured) << r.name;
}

TEST_F(RunnerTest, OnACpuTheRoofKernelBesideARowCountsWhereItsRoofBinds) {
  FakeDevice device({.backend = "cpu", .name = "Fake", .cache_bytes = 1 << 14});
  Runner runner(device, folder_, {}, interrupted_);
  runner.run({"copy", {kCopy}, true});
  runner.run({"fma", {make_case(Op::fma, Dtype::fp32, 64, 4096, 1)}, true});
  // All launches take 1 ms. A ReLU moves what the copy beside it moves.
  EXPECT_DOUBLE_EQ(*runner.run({"relu", {kRelu}}).at(0).fraction_of_measured_roof, 1);
  // 20 kN FLOPs at the 2 x 4096 x 2^20 of the multiply-adds beside it: a copy is not its roof.
  const Record gelu = runner.run({"gelu", {make_case(Op::gelu, Dtype::fp32, 1, kN, 1)}}).at(0);
  EXPECT_EQ(gelu.bound, Bound::compute);
  EXPECT_NEAR(*gelu.fraction_of_measured_roof, 20.0 * kN / (2.0 * 4096 * (1 << 20)), 1e-9);
}

TEST_F(RunnerTest, FasterThanThePinsIsAboveRoofWithACause) {
  device_.time_s = [](int) { return at_fraction_of_hbm(kRelu, 1.2); };
  const Record r = run_one(kRelu);
  EXPECT_EQ(r.status, Status::above_roof);
  EXPECT_NE(r.note.find("the pins of hbm carry"), std::string::npos) << r.note;
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
  const Record r = runner.run({"relu", {kRelu}}).at(0);
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

TEST_F(RunnerTest, ALaunchThatFailsWhileItIsSampledIsOneRowsStatus) {
  device_.time_s = [](int i) -> double {
    if (i == 60) throw std::runtime_error("launch failed");
    return 1e-3;
  };
  const auto rows = run({kRelu, kCopy});
  ASSERT_EQ(rows.size(), 2U);
  const bool first = rows[0].status == Status::failed;
  EXPECT_EQ(rows[first ? 0 : 1].note, "launch failed");
  EXPECT_EQ(rows[first ? 1 : 0].status, Status::ok);
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

TEST_F(RunnerTest, WhatWasMeasuredBeforeTheDeviceWasLostStays) {
  const auto run_row = [&] { return run_one(kRelu); };
  EXPECT_EQ(run_row().status, Status::ok);
  EXPECT_EQ(run_row().status, Status::ok);
  device_.time_s = [](int) -> double { throw DeviceLost("an illegal memory access"); };
  EXPECT_THROW(run_row(), DeviceLost);
  const roofline::Run saved = roofline::read_run(folder_.path());
  ASSERT_EQ(saved.records.size(), 3U);
  EXPECT_EQ(saved.records[1].status, Status::ok);
  EXPECT_TRUE(saved.records[1].time_median_s);
  EXPECT_EQ(saved.records[2].status, Status::failed);
  EXPECT_EQ(saved.records[2].note, "an illegal memory access");
}

TEST_F(RunnerTest, AnOddDeviceNameStaysOneLineOfTheFile) {
  roofline::DeviceFacts odd = h100();
  odd.name = std::string("5\" card, \"X\"\n\0\xc3\xa9 ", 17);
  FakeDevice device(odd);
  Runner runner(device, folder_, {}, interrupted_);
  runner.run({"relu", {kRelu}});
  const std::string file = roofline::read_file(folder_.path() / "measurements.csv");
  EXPECT_EQ(std::count(file.begin(), file.end(), '\n'), 2) << "header and row";
  EXPECT_EQ(file.find('\0'), std::string::npos);
  const roofline::Run saved = roofline::read_run(folder_.path());
  EXPECT_EQ(saved.records.at(0).device, "5\" card, \"X\"  \xc3\xa9 ");
}

TEST_F(RunnerTest, ADeviceLostBeforeTheFirstLaunchHasItsRowsToo) {
  device_.lost = true;
  EXPECT_THROW(run({kRelu, kCopy}), DeviceLost);
  const roofline::Run saved = roofline::read_run(folder_.path());
  ASSERT_EQ(saved.records.size(), 2U);
  EXPECT_EQ(saved.records[0].note, "the device is lost");
}

TEST_F(RunnerTest, ADeviceOfWhoseLossALibraryTellsInItsOwnWordsEndsTheRun) {
  device_.time_s = [&](int) -> double {
    device_.lost = true;
    throw std::runtime_error("CUBLAS_STATUS_NOT_INITIALIZED");
  };
  EXPECT_THROW(run({kRelu, kCopy}), DeviceLost);
  EXPECT_EQ(roofline::read_run(folder_.path()).records.at(0).note, "CUBLAS_STATUS_NOT_INITIALIZED");
}

TEST_F(RunnerTest, WhatDoesNotFitInMemoryIsSkippedWithBothNumbers) {
  const Record r = run_one(make_case(Op::relu, Dtype::fp32, 1, std::int64_t{1} << 32, 1));
  EXPECT_EQ(r.status, Status::skipped);
  EXPECT_EQ(r.note, "needs 34359738368 bytes of memory, 1000000000 are free");
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

TEST_F(RunnerTest, ReadingsOfTheClockThatContradictEachOtherAreNoted) {
  device_.says = {.sm_clock_mhz = 1700, .momentary_sm_clock_mhz = 1755};
  EXPECT_EQ(run_one(kRelu).note, "") << "3 %";
  device_.says.sm_clock_mhz = 1410;
  const Record r = run_one(kRelu);
  EXPECT_EQ(r.note,
            "the SM clock is 1410 MHz by stamps in these runs, 1755 MHz by NVML after them");
  EXPECT_EQ(r.status, Status::ok);
  EXPECT_EQ(r.sm_clock_mhz, 1410);
}

TEST_F(RunnerTest, AClockThatTheWorkBeliesIsNoted) {
  // 67 TFLOP/s at 1980 MHz, but 990 were read: twice what that clock allows.
  const Case fma = make_case(Op::fma, Dtype::fp32, 4096, 4096, 1);
  device_.time_s = [&](int) { return cost(fma).flops.value / 66e12; };
  device_.says = {.sm_clock_mhz = 990};
  const Record r = run_one(fma);
  EXPECT_NE(r.note.find("mfu_at_measured_clock is above 1"), std::string::npos) << r.note;
}

TEST_F(RunnerTest, SustainedEachRowIsMeasuredOnceMoreWithoutPause) {
  Settings settings;
  settings.sustained = true;
  device_.time_s = [&](int) { return device_.now_s() < 0.1 ? 1e-3 : 1.1e-3; };  // heat
  Runner runner(device_, folder_, settings, interrupted_);
  const auto rows = runner.run({"relu", {kRelu, kCopy}});
  ASSERT_EQ(rows.size(), 4U);
  for (std::size_t i = 0; i < 2; ++i) {
    const Record &burst = rows[i], &sustained = rows[i + 2];
    EXPECT_EQ(sustained.variant, burst.variant + "-sustained");
    EXPECT_EQ(sustained.what, burst.what);
    EXPECT_EQ(sustained.status, Status::ok);
    EXPECT_GE(*sustained.time_mean_s * static_cast<double>(*sustained.samples), 2);
    EXPECT_NEAR(*sustained.time_median_s, 1.1e-3, 1e-9);
    EXPECT_EQ(sustained.note, "sustained: 1.1000 of the time in turns");
    EXPECT_NEAR(*burst.time_median_s, 1e-3, 1e-9);
  }
}

TEST_F(RunnerTest, WithoutTimeNothingIsSustained) {
  Settings settings;
  settings.sustained = settings.hard_budget = true;
  settings.budget_s = 0.01;
  Runner runner(device_, folder_, settings, interrupted_);
  const auto rows = runner.run({"relu", {kRelu}});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].status, Status::ok);
  EXPECT_EQ(rows[1].status, Status::skipped);
}

TEST_F(RunnerTest, AClockThatDriftsIsInTheNoteOfTheRowItSlows) {
  device_.time_s = [&](int i) {
    device_.says.sm_clock_mhz = 1980 - i;
    return 1e-3 * 1980 / (1980 - i);
  };
  const Record r = run_one(kRelu);
  EXPECT_NE(r.note.find("slowed down by"), std::string::npos) << r.note;
  EXPECT_NE(r.note.find("(SM clock 19"), std::string::npos) << r.note;
}

TEST_F(RunnerTest, WithoutTelemetryTheCellsAreEmpty) {
  const Record r = run_one(kRelu);
  EXPECT_FALSE(r.sm_clock_mhz);
  EXPECT_FALSE(r.throttled_samples);
  EXPECT_FALSE(r.mfu_at_measured_clock);
}

TEST_F(RunnerTest, InterruptedItWritesOnlyWhatWasMeasured) {
  interrupted_ = true;
  device_.fill_s = 1;
  EXPECT_TRUE(run({kRelu, kCopy}).empty());
  EXPECT_EQ(device_.now_s(), 0) << "nothing is filled any more";
  EXPECT_TRUE(roofline::read_run(folder_.path()).records.empty());
}

TEST_F(RunnerTest, AUsedUpBudgetSkips) {
  Settings settings;
  settings.budget_s = 1;
  settings.hard_budget = true;
  device_.time_s = [](int) { return 2.0; };
  Runner runner(device_, folder_, settings, interrupted_);
  EXPECT_NE(runner.run({"relu", {kRelu}}).at(0).status, Status::skipped);
  EXPECT_EQ(runner.run({"copy", {kCopy}}).at(0).status, Status::skipped);
}

TEST_F(RunnerTest, FillingAndSettlingAreOfTheBudget) {
  Settings settings;
  settings.budget_s = 8;
  settings.hard_budget = true;
  device_.fill_s = 0.5;  // of the operand, and again of the small version that is verified
  Runner runner(device_, folder_, settings, interrupted_);
  const std::vector<Group> groups(16, Group{"relu", {kRelu}});
  std::string begun;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Record r = runner.run(groups[i], std::span(groups).subspan(i + 1)).at(0);
    begun += r.status == Status::skipped ? '.' : 'r';
    if (i == 1) {
      EXPECT_EQ(r.note, "0.0 s of the time budget of 8 s are left for it, it takes about 1.0 s");
    }
  }
  // Shares of 0.5 s. The first is not foreseen; each takes 1.035 s, settling and sampling included,
  // so that from then on it is the 5th, 7th ... whose end leaves a second to prepare.
  EXPECT_EQ(begun, "r...r.r.r.r.r.r.");
  EXPECT_LT(device_.now_s(), 8);
}

TEST_F(RunnerTest, EachKindOfInputsHasARowInTheGroup) {
  Settings settings;
  settings.data = {kernels::InputKind::normal, kernels::InputKind::zeros};
  Runner runner(device_, folder_, settings, interrupted_);
  const auto data = [&](const Group& group) {
    std::vector<std::string> kinds;
    for (const Record& r : runner.run(group)) kinds.push_back(r.data + " " + r.cache);
    return kinds;
  };
  EXPECT_EQ(data({"relu", {kRelu}}), (std::vector<std::string>{"normal cold", "zeros cold"}));
  EXPECT_EQ(data({"relu", {kRelu}, false, {kernels::InputKind::ones}}),
            std::vector<std::string>{"ones cold"})
      << "the group's own kinds come first";
}

TEST_F(RunnerTest, OnlyTheRunsOwnInputsMeasureARoof) {
  const auto measured = [&] {
    return std::count_if(runner_.roofs().begin(), runner_.roofs().end(),
                         [](const roofline::Roof& r) { return r.kind == Kind::measured; });
  };
  runner_.run({"copy", {kCopy}, true, {kernels::InputKind::zeros}});
  EXPECT_EQ(measured(), 0) << "zeros draw less power";
  runner_.run({"copy", {kCopy}, true});
  EXPECT_EQ(measured(), 1);
}

TEST_F(RunnerTest, AMigSliceHasNoSheetAndNoMfu) {
  roofline::DeviceFacts slice = h100();
  slice.partition = true;
  slice.processors = 16;
  FakeDevice device(slice);
  Runner runner(device, folder_, {}, interrupted_);
  const Record r = runner.run({"relu", {kRelu}}).at(0);
  EXPECT_FALSE(r.mfu);
  EXPECT_NE(r.roof_kind, Kind::datasheet);
}

// ---- a matrix pipe, which adds 1 in four steps as it should, or leaves some out
// -------------------------------

std::int64_t left_out = 0;  // turns of four steps

std::size_t no_workspace(const kernels::Operands&, const kernels::Policy&, const kernels::Queue&) {
  return 0;
}

class MatrixDevice : public FakeDevice {
 public:
  using FakeDevice::FakeDevice;
  std::span<const kernels::Kernel> kernels() const override {
    static constexpr kernels::Policy kPolicies[] = {{.name = "planted"}};
    static constexpr kernels::Kernel kMma[] = {
        {"mma", "tf32", kPolicies, &no_workspace,
         [](const kernels::Operands& o, const kernels::Policy&, const kernels::Queue&) {
           std::fill_n(static_cast<float*>(o.out), o.n, static_cast<float>(o.m / 4 - left_out));
         },
         [](int capability) { return std::string(capability < 90 ? "too old" : ""); }}};
    return kMma;
  }
};

TEST_F(RunnerTest, MeasuresTheMatrixPipeAndItsHardLimit) {
  const Case mma = make_case(Op::mma, Dtype::tf32, 8192, 16384, 8);
  struct Planted {
    double flops_per_s;
    std::int64_t left_out;
    Status status;
  };
  // An H100's sheet says 494.5 TFLOP/s, at 1830 MHz; at 1980 it is 535.
  for (const auto& [flops_per_s, missing, status] : {Planted{480e12, 0, Status::ok},
                                                     {540e12, 0, Status::ok},
                                                     {560e12, 0, Status::above_roof},
                                                     {480e12, 1, Status::failed}}) {
    MatrixDevice device(h100());
    device.time_s = [&, rate = flops_per_s](int) { return cost(mma).flops.value / rate; };
    left_out = missing;
    Runner runner(device, folder_, {}, interrupted_);
    const Record r = runner.run({"mma", {mma}, true}, {}).at(0);
    EXPECT_EQ(r.status, status) << r.note;
    if (status == Status::failed) {
      EXPECT_NE(r.note.find("wrong output of mma/tf32/64x16384x8"), std::string::npos) << r.note;
      continue;
    }
    EXPECT_EQ(r.copies, 1);
    EXPECT_EQ(r.roof_name, "tensor_tf32");
    EXPECT_EQ(r.bound, Bound::compute);
    EXPECT_NEAR(*r.mfu, flops_per_s / 494.5e12, 1e-6);
    const roofline::Roof roof = runner.roofs().back();
    EXPECT_EQ(roof.name == "mma_tf32", status == Status::ok) << roof.name;
    if (status != Status::ok) continue;
    EXPECT_EQ(roof.pipe, roofline::Pipe::matrix);
    EXPECT_EQ(roof.dtype, Dtype::tf32);
    EXPECT_NEAR(roof.per_s, flops_per_s, 1);
  }
  left_out = 0;
}

TEST_F(RunnerTest, AGpuThatAKernelRefusesHasARowThatSaysWhy) {
  roofline::DeviceFacts a100 = h100();
  a100.compute_major = 8;
  MatrixDevice device(a100);
  Runner runner(device, folder_, {}, interrupted_);
  const Record r =
      runner.run({"mma", {make_case(Op::mma, Dtype::tf32, 4, 16384, 8)}, true}, {}).at(0);
  EXPECT_EQ(r.status, Status::unsupported);
  EXPECT_EQ(r.note, "too old");
}

// ---- variants: a relu whose policies take, or do, what the test says; and the copy beside it ----

const char* launched_policy = "";
std::int64_t launched_n = 0;

const kernels::Kernel& real_kernel(const std::string& op) {
  const auto all = kernels::cpu_kernels();
  return *std::find_if(all.begin(), all.end(), [&](const kernels::Kernel& k) {
    return k.op == op && k.dtype == std::string("fp32");
  });
}

void launch_planted(const char* op, const kernels::Operands& o, const kernels::Policy& policy,
                    const kernels::Queue& queue) {
  launched_policy = policy.name;
  launched_n = o.n;
  if (policy.name == std::string("throws")) throw std::runtime_error("too many registers");
  const kernels::Kernel& real = real_kernel(op);
  real.launch(o, real.policies.front(), queue);
  if (policy.name == std::string("wrong")) static_cast<float*>(o.out)[o.n - 1] = -1;
}

class PlantedDevice : public FakeDevice {
 public:
  using FakeDevice::FakeDevice;
  std::map<std::string, double> policy_s = {
      {"first", 1e-3}, {"slow", 3e-3}, {"best", 8e-4}, {"throws", 1e-6}, {"wrong", 1e-6}};
  std::map<std::string, double> policy_held_up;
  double fresh_best_s = 8e-4;  // of "best", from its second capture on
  double small_s = 0;          // of 32768 elements, if that is another; of "best" small_best_s
  double small_best_s = 1;
  std::vector<kernels::Policy> copy_policies = {{.name = "copy"}};
  std::vector<kernels::Policy> policies = {
      {.name = "first"}, {.name = "throws"}, {.name = "slow"}, {.name = "wrong"}, {.name = "best"}};

  std::span<const kernels::Kernel> kernels() const override {
    if (!table_.empty()) return table_;
    table_ = {{"relu", "fp32", policies, &no_workspace,
               [](const kernels::Operands& o, const kernels::Policy& p, const kernels::Queue& q) {
                 launch_planted("relu", o, p, q);
               }},
              {"copy", "fp32", copy_policies, &no_workspace,
               [](const kernels::Operands& o, const kernels::Policy& p, const kernels::Queue& q) {
                 launch_planted("copy", o, p, q);
               }}};
    return table_;
  }
  Timed timed(const std::function<void(int)>& launch, int copies, int launches) override {
    launch(0);
    const std::string policy = launched_policy;
    const Timed plain = FakeDevice::timed(launch, copies, launches);
    const bool fresh = policy == "best" && ++captures_of_best_ > 2;  // one launch, then a sample
    const bool small = small_s > 0 && launched_n == 32768;
    return {launches, [this, plain, policy, fresh, small] {
              time_s = [&](int) {
                says.held_up = policy_held_up[policy];
                if (small) return policy == "best" ? small_best_s : small_s;
                return fresh ? fresh_best_s : policy_s[policy];
              };
              return plain.run_s();
            }};
  }

 private:
  mutable std::vector<kernels::Kernel> table_;
  int captures_of_best_ = 0;
};

class Variants : public RunnerTest {
 protected:
  std::vector<Record> run_with(const Settings& settings) {
    Runner runner(planted_, folder_, settings, interrupted_);
    return runner.run({"relu", {kRelu}});
  }
  static Settings all_candidates() {
    Settings settings;
    settings.candidates = 1000;
    return settings;
  }
  PlantedDevice planted_{h100()};
};

TEST_F(Variants, TheFirstAndTheFastestThatIsRightAreRows) {
  const auto rows = run_with(all_candidates());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].variant, "first");
  EXPECT_EQ(rows[1].variant, "best");
  EXPECT_EQ(rows[1].status, Status::ok);
  EXPECT_NE(rows[1].note.find("fastest of 5 variants, 3 of which ran"), std::string::npos)
      << rows[1].note;
  EXPECT_NE(rows[1].note.find("0.8000 (0.8000 to 0.8000) of the first"), std::string::npos)
      << rows[1].note;
}

TEST_F(Variants, TheFastestIsReportedFromFreshSamples) {
  planted_.fresh_best_s = 2e-3;  // it was luck
  EXPECT_NEAR(*run_with(all_candidates()).at(1).time_median_s, 2e-3, 1e-12);
}

TEST_F(Variants, OneRowWhereTheFirstIsTheFastest) {
  planted_.policy_s["first"] = 5e-4;
  const auto rows = run_with(all_candidates());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].variant, "first");
  EXPECT_NE(rows[0].note.find("fastest of 5"), std::string::npos) << rows[0].note;
}

TEST_F(Variants, AFirstThatFailsIsARowBesideTheFastest) {
  std::swap(planted_.policies[0], planted_.policies[1]);
  const auto rows = run_with(all_candidates());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].status, Status::failed);
  EXPECT_EQ(rows[0].note, "too many registers");
  EXPECT_EQ(rows[1].variant, "best");
}

TEST_F(Variants, SlowOnesAreTriedForABoundedTime) {
  for (auto& [policy, time_s] : planted_.policy_s) time_s = 100;
  planted_.fresh_best_s = 100;
  run_with(all_candidates());
  // A first launch, a settling and a sample of each of 3, then the same of at most 2: 15 launches.
  EXPECT_LE(planted_.now_s(), 15 * 100);
}

TEST_F(Variants, ATuningRunsFastestComesFirst) {
  Settings settings;
  settings.tuning = {{.what = kRelu,
                      .implementation = "ours",
                      .variant = "best",
                      .cache = "cold",
                      .achieved_bytes_per_s = 1}};
  const auto rows = run_with(settings);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].variant, "best");
  EXPECT_EQ(rows[0].note, "the tuning run's best is taken first");
  settings.tuning[0].variant = "gone";
  EXPECT_EQ(run_with(settings).at(0).variant, "first");
  EXPECT_EQ(run_with(settings).at(0).note,
            "the tuning run measured none of these variants for such a case");
}

TEST_F(Variants, ACpuRowFarPastTheFastestOfItsRoofKernelsIsAboveRoof) {
  const struct {
    const char* cache;
    double cache_bytes;
    double copy_s, plain_s;  // of the roof kernel's two policies; hot, the faster is the roof
    double fraction;
    Status status;
  } rows[] = {
      {"cold", 1 << 14, 1.05e-3, 1.6e-3, 1.05, Status::ok},
      {"cold", 1 << 14, 1.5e-3, 1.6e-3, 1.5, Status::above_roof},
      {"hot", 1 << 20, 1.5e-3, 1.05e-3, 1.05, Status::ok},  // in the cache
      {"hot", 1 << 20, 1.5e-3, 1.4e-3, 1.4, Status::above_roof},
      {"hot", 1 << 14, 1.05e-3, 1.5e-3, 1.05, Status::ok},  // 512 KiB in none
      {"hot", 1 << 14, 1.4e-3, 1.5e-3, 1.4, Status::above_roof},
  };
  for (const auto& row : rows) {
    PlantedDevice device({.backend = "cpu", .name = "CPU", .cache_bytes = row.cache_bytes});
    device.copy_policies = {{.name = "copy"}, {.name = "plain"}};
    device.policy_s["copy"] = row.copy_s;
    device.policy_s["plain"] = row.plain_s;
    Settings settings;
    settings.caches = {row.cache};
    Runner runner(device, folder_, settings, interrupted_);
    const Record r = runner.run({"relu", {kRelu}}).at(0);
    EXPECT_EQ(r.status, row.status) << row.cache << " " << r.note;
    EXPECT_NEAR(*r.fraction_of_measured_roof, row.fraction, 1e-9);
    EXPECT_NEAR(*r.fraction_of_measured_roof_low, row.fraction, 1e-9);
  }
}

TEST_F(Variants, ACpuRowFarPastItsRoofKernelInOneVisitIsAboveRoof) {
  for (const bool first : {true, false}) {
    PlantedDevice device({.backend = "cpu", .name = "CPU", .cache_bytes = 1 << 14});
    Settings settings;
    settings.visits = 3;
    device.policy_s["copy"] = first ? 1.5e-3 : 1e-3;
    Runner runner(device, folder_, settings, interrupted_);
    runner.run({"relu", {kRelu}});
    device.policy_s["copy"] = first ? 1e-3 : 1.5e-3;
    runner.visit_again([](const std::string&) {});
    const Record r = runner.records().at(0);
    EXPECT_NEAR(*r.fraction_of_measured_roof_low, 1, 1e-9);
    EXPECT_EQ(r.status, Status::above_roof) << r.note;
    EXPECT_NE(r.note.find("at least 1.50"), std::string::npos) << r.note;
  }
}

TEST_F(Variants, TheRoofOfACacheIsTheFastestVariant) {
  PlantedDevice device({.backend = "cpu", .name = "CPU", .cache_bytes = 1 << 20});
  device.copy_policies = {{.name = "copy"}, {.name = "plain"}};
  device.policy_s["copy"] = 2e-3;
  device.policy_s["plain"] = 1e-3;
  Settings settings;
  settings.caches = {"hot"};
  Runner runner(device, folder_, settings, interrupted_);
  const auto rows = runner.run({"copy", {kCopy}, true});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].variant, "plain");
  EXPECT_EQ(runner.roofs().back().name, "cache_copy");
  EXPECT_NEAR(runner.roofs().back().per_s, 8.0 * kN / 1e-3, 1);
}

TEST_F(Variants, ARowIsNoisyWhereOtherWorkHeldUpItOrItsRoof) {
  const struct {
    double max_noise;
    double row, beside;  // held up: the row's samples, and those of the roof kernel beside it
    Status status;
    std::string_view note;
  } rows[] = {
      {0.02, 0, 0, Status::ok, ""},
      {0.02, 0.2, 0.2, Status::ok, ""},
      {0.02, 0.48, 0, Status::noisy, "other work held up 48 % of its samples"},
      {0.02, 0.48, 0.48, Status::noisy, "other work held up 48 % of its samples"},
      {0.02, 0, 0.3, Status::noisy, "other work held up 30 % of its roof kernel's samples"},
      {1, 0.48, 0, Status::noisy, "other work held up 48 % of its samples"},  // whatever is asked
  };
  for (const auto& [max_noise, row, beside, status, note] : rows) {
    PlantedDevice device({.backend = "cpu", .name = "CPU", .cache_bytes = 1 << 14});
    Settings settings;
    settings.protocol.cap_s = 0.3;
    settings.protocol.max_noise = max_noise;
    Runner runner(device, folder_, settings, interrupted_);
    device.policy_held_up = {{"first", row}, {"copy", beside}};
    const Record r = runner.run({"relu", {kRelu}}).at(0);
    EXPECT_EQ(r.status, status) << note;
    EXPECT_EQ(r.note, note);
  }
}

TEST_F(RunnerTest, ARoofKernelThatWasHeldUpIsNoRoof) {
  FakeDevice device({.backend = "cpu", .name = "Fake", .cache_bytes = 1 << 14});
  Runner runner(device, folder_, {}, interrupted_);
  for (const double held_up : {0.5, 0.0}) {
    device.says.held_up = held_up;
    const Record copy = runner.run({"copy", {kCopy}, true}).at(0);
    EXPECT_EQ(copy.throttle_reasons, held_up > 0 ? roofline::kOtherWork : "");
    EXPECT_EQ(runner.roofs().size(), held_up > 0 ? 0U : 1U);
  }
}

TEST_F(RunnerTest, AGemmThatWasHeldUpIsNoRoof) {
  FakeDevice device({.backend = "cpu", .name = "Fake", .cache_bytes = 1 << 14});
  for (const double held_up : {0.5, 0.0}) {
    device.says.held_up = held_up;
    Runner runner(device, folder_, {}, interrupted_);
    const auto rows = runner.run({"gemm", {make_case(Op::gemm, Dtype::bf16, 64, 64, 64)}});
    if (rows.at(0).status == Status::unsupported) GTEST_SKIP() << rows[0].note;
    runner.write_gemm_roofs();
    EXPECT_EQ(runner.roofs().size(), held_up > 0 ? 0U : 1U);
  }
}

TEST_F(RunnerTest, MultiplyAddsTooFewToBindAreNoRoof) {
  for (const auto& [steps, is_roof] : {std::pair{2, false}, {1 << 14, true}}) {
    FakeDevice device({.backend = "cuda",
                       .name = "Fake",
                       .compute_major = 9,
                       .processors = 132,
                       .cache_bytes = 1 << 14,
                       .bus_bits = 5120,
                       .memory_clock_mhz = 2619,
                       .max_clock_mhz = 1980});
    Runner runner(device, folder_, {}, interrupted_);
    const std::size_t derived = runner.roofs().size();
    const Record r =
        runner.run({"fma", {make_case(Op::fma, Dtype::fp32, steps, 4096, 1)}, true}).at(0);
    EXPECT_EQ(r.bound, is_roof ? Bound::compute : Bound::memory);
    EXPECT_EQ(runner.roofs().size() - derived, is_roof ? 1U : 0U);
  }
}

TEST_F(Variants, ARowBesideARoofKernelThatIsHeldUpIsNotPastIt) {
  PlantedDevice device({.backend = "cpu", .name = "CPU", .cache_bytes = 1 << 14});
  device.policy_s["copy"] = 3e-3;
  device.policy_held_up["copy"] = 0.66;
  Runner runner(device, folder_, {}, interrupted_);
  EXPECT_EQ(runner.run({"relu", {kRelu}}).at(0).status, Status::noisy);
}

TEST_F(RunnerTest, ASlowingRowAndAProfilerAreNamedInTheNote) {
  Settings settings;
  settings.note = "measured under a profiler";
  device_.time_s = [](int i) { return 1e-3 * (1 + i * 1e-3); };
  Runner runner(device_, folder_, settings, interrupted_);
  const Record r = runner.run({"relu", {kRelu}}).at(0);
  EXPECT_TRUE(r.note.starts_with("measured under a profiler; slowed down by ")) << r.note;
}

TEST_F(Variants, ACpuRowFarFromItsRoofSaysWhatLimitsIt) {
  const Case relu = make_case(Op::relu, Dtype::fp32, 1, 1 << 17, 1);  // in small: 1 << 15
  const struct {
    double copy_s, small_s, small_best_s;
    std::string_view note;
  } rows[] = {
      {1e-3, 0.25e-3, 1, ""},
      {0.5e-3, 2.5e-3, 3, ""},  // slower in the cache than from memory: disturbed
      {0.5e-3, 0.24e-3, 1,
       "96 % of the 1.09 GB/s that its loop reaches in the cache: arithmetic and conversion limit "
       "it"},
      {0.5e-3, 0.24e-3, 0.125e-3,  // what the best policy reaches there
       "50 % of the 2.1 GB/s that its loop reaches in the cache: it waits for memory as well"},
      {0.5e-3, 0.125e-3, 1,
       "50 % of the 2.1 GB/s that its loop reaches in the cache: it waits for memory as well"},
  };
  for (const auto& [copy_s, small_s, small_best_s, note] : rows) {
    PlantedDevice device(
        {.backend = "cpu", .name = "CPU", .processors = 1, .cache_bytes = 1 << 18});
    device.policy_s["copy"] = copy_s;
    device.small_s = small_s;
    device.small_best_s = small_best_s;
    Settings settings;
    settings.visits = 2;
    Runner runner(device, folder_, settings, interrupted_);
    const std::string fewer = runner.run({"relu", {relu}}).at(0).note;
    EXPECT_EQ(fewer, "1 of 2 visits" + (note.empty() ? "" : "; " + std::string(note)));
    if (note.empty()) continue;
    device.policy_s["first"] *= 2;  // in the second, in which the loop takes no turns
    runner.visit_again([](const std::string&) {});
    EXPECT_EQ(runner.records().at(0).note, note);
  }
}

/// Two groups, a roof and what stands under it, in three visits.
class VisitsTest : public RunnerTest {
 protected:
  static Settings thrice() {
    Settings settings;
    settings.visits = 3;
    return settings;
  }
  /// The first visit takes 1 ms a launch; `change` is called before each later one with its number.
  void visit(const std::function<void(int)>& change) {
    device_.time_s = [](int) { return 1e-3; };
    runner_.run({"copy", {kCopy}, true});
    runner_.run({"relu", {kRelu}});
    EXPECT_EQ(device_.free_bytes(), device_.memory_bytes) << "no memory is kept for later visits";
    runner_.visit_again([&](const std::string& group) {
      names_ += group + ' ';
      change(++visits_);
    });
  }
  /// The second later visit, that to relu, was cut short: it and what follows are not there.
  void expect_whole_visits_alone() const {
    EXPECT_EQ(visits_, 2) << "no more are begun";
    const roofline::Run run = written();
    ASSERT_EQ(run.records.size(), 2U);
    EXPECT_EQ(run.round_medians_s[0].size(), 2U);
    EXPECT_EQ(run.round_medians_s[1].size(), 1U);
    EXPECT_EQ(run.records[1].status, Status::ok);
    EXPECT_EQ(run.records[1].time_median_s, 1e-3);
  }
  roofline::Run written() const {
    roofline::Run run = roofline::read_run(folder_.path());
    read_rounds(run);
    return run;
  }

  Runner runner_{device_, folder_, thrice(), interrupted_};
  std::string names_;
  int visits_ = 0;
};

TEST_F(VisitsTest, ShowInTheIntervalsWhatDriftsBetweenThem) {
  // copy and relu, 2 and 3 ms: and again.
  visit([&](int visit) { device_.time_s = [ms = (visit + 1) / 2 + 1](int) { return ms * 1e-3; }; });
  EXPECT_EQ(names_, "copy relu copy relu ");
  const roofline::Run run = written();
  ASSERT_EQ(run.records.size(), 2U) << "a row each, not one a visit";
  for (std::size_t i = 0; i < 2; ++i) {
    const Record& r = run.records[i];
    EXPECT_EQ(r.status, Status::ok) << "each visit was quiet: " << r.note;
    EXPECT_EQ(r.rounds, 18);
    EXPECT_EQ(r.time_median_s, 2e-3);
    EXPECT_EQ(r.time_ci_low_s, 1e-3);
    EXPECT_EQ(r.time_ci_high_s, 3e-3);
    EXPECT_EQ(run.round_medians_s[i].size(), 3U);
  }
  EXPECT_EQ(runner_.records().size(), 2U);
  ASSERT_EQ(run.roofs.back().name, "copy");
  EXPECT_NEAR(run.roofs.back().per_s, cost(kCopy).bytes().value / 2e-3, 1) << "of all visits, too";
}

TEST_F(VisitsTest, OfACpuPairARowWithItsRoofKernelVisitByVisit) {
  FakeDevice device({.backend = "cpu", .name = "Fake", .cache_bytes = 1 << 14});
  Runner runner(device, folder_, thrice(), interrupted_);
  runner.run({"copy", {kCopy}, true});
  runner.run({"fma", {make_case(Op::fma, Dtype::fp32, 64, 4096, 1)}, true});
  runner.run({"relu", {kRelu}});
  device.time_s = [](int) { return 3e-3; };
  const int before = device.launched;
  runner.visit_again([](const std::string&) {});
  // Copy, fma, relu and its roof kernel, without relu in the cache: each three to settle and six
  // blocks of two, 5 ms.
  EXPECT_EQ(device.launched - before, 2 * 4 * (3 + 6 * 2));
  const Record relu = runner.records().back();
  EXPECT_EQ(relu.time_ci_high_s, 3e-3);
  EXPECT_EQ(relu.fraction_of_measured_roof, 1) << "both drifted";
  EXPECT_EQ(relu.fraction_of_measured_roof_low, 1);
  EXPECT_EQ(relu.fraction_of_measured_roof_high, 1);
  EXPECT_EQ(device.free_bytes(), device.memory_bytes);
}

/// What `then` does in the second later visit, that to relu, in the midst of its samples.
std::function<double(int)> in_second_visit(int visit, const std::function<void()>& then) {
  return [visit, then, launch = 0](int) mutable {
    if (visit == 2 && ++launch == 20) then();
    return 2e-3;
  };
}

TEST_F(VisitsTest, InterruptedTheLastWholeOnesCount) {
  visit([&](int visit) { device_.time_s = in_second_visit(visit, [&] { interrupted_ = true; }); });
  expect_whole_visits_alone();
}

TEST_F(VisitsTest, OfALostDeviceEndTheRunWithWhatWasMeasured) {
  const auto lose = [] { throw DeviceLost("the device is lost"); };
  EXPECT_THROW(visit([&](int visit) { device_.time_s = in_second_visit(visit, lose); }),
               DeviceLost);
  expect_whole_visits_alone();
}

TEST_F(VisitsTest, WithoutMemoryAreFewerAndSaySo) {
  visit([&](int visit) { device_.memory_bytes = visit == 2 ? 1000 : 1e9; });
  const Record relu = written().records.at(1);
  EXPECT_EQ(relu.status, Status::ok);
  EXPECT_EQ(relu.rounds, 6) << "nor in the third visit: those of a pair are counted alike";
  EXPECT_EQ(relu.note,
            "not visited again: needs 524288 bytes of memory, 1000 are free; 1 of 3 visits");
}

TEST_F(VisitsTest, OnAFullDiskLeaveWhatWasWrittenBefore) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old = {};
  getrlimit(RLIMIT_FSIZE, &old);
  EXPECT_THROW(visit([&](int visit) {
                 device_.time_s = [](int) { return 2e-3; };
                 if (visit < 4) return;  // room for the headers and not for all rows
                 const auto room = std::filesystem::file_size(folder_.path() / "measurements.csv");
                 const rlimit tight{.rlim_cur = room - 1, .rlim_max = old.rlim_max};
                 setrlimit(RLIMIT_FSIZE, &tight);
               }),
               WriteError);
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, SIG_DFL);
  ASSERT_EQ(written().records.size(), 2U);
  EXPECT_EQ(written().records[1].time_median_s, 1e-3);
  ASSERT_EQ(runner_.records().size(), 2U) << "the table is that of the files";
  EXPECT_EQ(runner_.records()[1].time_median_s, 1e-3);
}

TEST_F(VisitsTest, ThatFailAreTheRowsStatus) {
  visit([&](int visit) {
    device_.time_s = [visit](int) -> double {
      if (visit == 2) throw std::runtime_error("launch failed");
      return 1e-3;
    };
  });
  const roofline::Run run = written();
  EXPECT_EQ(run.records[0].rounds, 18) << "the other goes on";
  EXPECT_EQ(run.records[1].status, Status::failed);
  EXPECT_EQ(run.records[1].note, "launch failed");
}

TEST_F(VisitsTest, TooShortForAnIntervalAreNotKept) {
  visit([&](int visit) {  // ten seconds a launch: one round of relu, once
    device_.time_s = [visit](int) { return visit == 2 ? 10.0 : 2e-3; };
  });
  const roofline::Run run = written();
  EXPECT_EQ(run.round_medians_s[0].size(), 3U);
  EXPECT_EQ(run.round_medians_s[1].size(), 2U);
  EXPECT_EQ(run.records[1].status, Status::ok);
  EXPECT_EQ(run.records[1].time_ci_high_s, 2e-3);
  EXPECT_EQ(run.records[1].note, "2 of 3 visits");
}

TEST_F(VisitsTest, OfARowThatCannotBeTimedDoNotTakeTheOthersWithThem) {
  class Refusing : public FakeDevice {
   public:
    using FakeDevice::FakeDevice;
    int refused = -1, asked = 0;
    Timed timed(const std::function<void(int)>& launch, int copies, int launches) override {
      if (asked++ == refused) throw std::runtime_error("no graph");
      return FakeDevice::timed(launch, copies, launches);
    }
  };
  for (const bool first_visit : {true, false}) {
    Refusing device(h100());
    Runner runner(device, folder_, thrice(), interrupted_);
    if (first_visit) device.refused = 1;  // relu's second, with the launches of a sample
    runner.run({"relu", {kRelu, kCopy}});
    if (!first_visit) device.refused = device.asked;
    runner.visit_again([](const std::string&) {});
    ASSERT_EQ(runner.records().size(), 2U);
    EXPECT_EQ(runner.records()[0].status, Status::failed);
    EXPECT_EQ(runner.records()[0].note, "no graph");
    EXPECT_EQ(runner.records()[1].status, Status::ok) << runner.records()[1].note;
    EXPECT_EQ(runner.records()[1].rounds, 18);
  }
}

TEST_F(VisitsTest, AreNotBegunWhereTheBudgetHasNoTime) {
  const struct {
    bool hard;
    double budget_s;
    int visits;
  } rows[] = {
      {true, 4, 0},   // two seconds are left for two visits of two
      {true, 8, 2},   // six
      {false, 4, 1},  // hurried, while there is any
      {false, 2, 0},
  };
  for (const auto& row : rows) {
    Settings settings = thrice();
    settings.hard_budget = row.hard;
    settings.budget_s = row.budget_s;
    FakeDevice device(h100());
    device.fill_s = 1;  // of the operand, and again of the small version that is verified
    Runner runner(device, folder_, settings, interrupted_);
    runner.run({"relu", {kRelu}});
    int visits = 0;
    runner.visit_again([&](const std::string&) {
      ++visits;
      device.fill_s = 2;
    });
    EXPECT_EQ(visits, row.visits) << row.hard << ' ' << row.budget_s;
  }
}

TEST_F(RunnerTest, CasesOfTheSameOperandsShareThem) {
  double least = device_.memory_bytes;
  device_.time_s = [&](int) {
    least = std::min(least, device_.free_bytes());
    return 1e-3;
  };
  const auto used = [&](const std::vector<Case>& cases, const Settings& settings) {
    least = device_.memory_bytes;
    Runner runner(device_, folder_, settings, interrupted_);
    runner.run({"relu", cases});
    return device_.memory_bytes - least;
  };
  const Case gelu = make_case(Op::gelu, Dtype::fp32, 1, kN, 1);
  const double one = used({kRelu}, {});
  EXPECT_EQ(used({kRelu, gelu}, {}), one);
  EXPECT_EQ(used({kRelu, make_case(Op::gelu, Dtype::bf16, 1, kN, 1)}, {}), 1.5 * one);
  Settings more;
  more.data = {kernels::InputKind::normal, kernels::InputKind::zeros};
  EXPECT_EQ(used({kRelu, gelu}, more), 2 * one);
  more = {};
  more.caches = {"cold", "hot"};
  const Case small = make_case(Op::relu, Dtype::fp32, 1, 4096, 1);  // two copies cold, one hot
  EXPECT_EQ(used({small}, more), 1.5 * used({small}, {}));
}

TEST(InCache, IsTheSameOpInSmall) {
  const struct {
    Case c, small;
  } rows[] = {
      {make_case(Op::relu, Dtype::fp32, 1, 1 << 20, 1),
       make_case(Op::relu, Dtype::fp32, 1, 65536, 1)},
      {make_case(Op::dot, Dtype::fp8_e4m3, 1, 100, 1),
       make_case(Op::dot, Dtype::fp8_e4m3, 1, 100, 1)},
      {make_case(Op::gemv, Dtype::bf16, 8192, 8192, 1),
       make_case(Op::gemv, Dtype::bf16, 255, 1024, 1)},
      {make_case(Op::gemm, Dtype::fp32, 16, 2048, 2048),
       make_case(Op::gemm, Dtype::fp32, 16, 512, 512)},
  };
  for (const auto& [c, small] : rows) EXPECT_EQ(in_cache(c, 2), small) << name(c);
  EXPECT_FALSE(in_cache(kCopy, 2));
  EXPECT_FALSE(in_cache(make_case(Op::gemm, Dtype::bf16, 8, 8, 8), 2));
}

TEST(RoofCompanion, HasTheSameAccessAndTakesTheLargestInput) {
  const struct {
    Op op, beside;
    std::int64_t n;
  } rows[] = {
      {Op::relu, Op::copy, 4096},
      {Op::gelu, Op::copy, 4096},
      {Op::dot, Op::read, 4096},  // of one, then of the other
      {Op::gemv, Op::read, 512 * 4096},
  };
  for (const auto& [op, beside, n] : rows) {
    EXPECT_EQ(roof_companion(make_case(op, Dtype::bf16, 512, 4096, 1), std::nullopt),
              make_case(beside, Dtype::bf16, 1, n, 1))
        << name(op);
  }
  EXPECT_FALSE(roof_companion(kCopy, std::nullopt));
}

TEST(RoofCompanion, IsOfTheRoofThatBinds) {
  const struct {
    Op op;
    Dtype dtype;
    std::optional<Bound> bound;
    std::optional<Op> beside;
  } rows[] = {
      {Op::gemm, Dtype::fp32, std::nullopt, Op::fma},         // its own roof is not measured yet
      {Op::gemm, Dtype::fp32, Bound::compute, Op::fma},       //
      {Op::gemm, Dtype::fp32, Bound::memory, Op::read},       // of few rows
      {Op::gemm, Dtype::bf16, Bound::compute, std::nullopt},  // there is no kernel of that pipe
      {Op::gelu, Dtype::fp8_e4m3, Bound::compute, Op::fma},   // 10 FLOPs a byte
      {Op::gelu, Dtype::fp32, Bound::memory, Op::copy},
      {Op::dot, Dtype::fp32, std::nullopt, Op::read},
  };
  for (const auto& [op, dtype, bound, beside] : rows) {
    const auto got = roof_companion(make_case(op, dtype, 8, 4096, 8), bound);
    ASSERT_EQ(got.has_value(), beside.has_value());
    if (beside) {
      EXPECT_EQ(got->op, *beside);
    }
  }
}

}  // namespace
}  // namespace bench
