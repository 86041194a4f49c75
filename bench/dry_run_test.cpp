// What is said before and while a run measures.
#include "bench/dry_run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bench/fake_device.h"

namespace bench {
namespace {

using roofline::Cell;
using roofline::Dtype;
using roofline::make_case;
using roofline::Op;

const Group kGroups[] = {{"relu", {make_case(Op::relu, Dtype::fp32, 1, 1 << 20, 1)}},
                         {"nvfp4", {make_case(Op::relu, Dtype::nvfp4, 1, 64, 1)}}};

Cell cell(const roofline::Table& table, std::size_t row, const std::string& column) {
  const auto at = std::find(table.columns.begin(), table.columns.end(), column);
  return table.rows.at(row).at(static_cast<std::size_t>(at - table.columns.begin()));
}

TEST(DryRun, PredictsByTheSheetOfAKnownDevice) {
  FakeDevice device({.backend = "cuda",
                     .name = "NVIDIA H100 80GB HBM3",
                     .compute_major = 9,
                     .processors = 132,
                     .memory_bytes = 85.0e9});
  const roofline::Table table = dry_run(kGroups, {.caches = {"cold", "hot"}}, device);
  ASSERT_EQ(table.rows.size(), 4U);
  // 8 MiB over 3.35 TB/s.
  EXPECT_NEAR(std::get<double>(cell(table, 0, "predicted_us")), 8 * (1 << 20) / 3.35e6, 1e-9);
  EXPECT_EQ(cell(table, 0, "from"), Cell(std::string("datasheet hbm")));
  EXPECT_EQ(cell(table, 1, "cache"), Cell(std::string("hot")));
  EXPECT_EQ(cell(table, 2, "predicted_us"), Cell());
  EXPECT_TRUE(std::get<std::string>(cell(table, 2, "from")).starts_with("unsupported: no cuda"));
}

TEST(DryRun, HasARowForEachKindOfInputs) {
  FakeDevice device({.backend = "cpu", .name = "CPU"});
  const Group group{
      "relu", kGroups[0].cases, false, {kernels::InputKind::ones, kernels::InputKind::zeros}};
  const roofline::Table table = dry_run({&group, 1}, {}, device);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(cell(table, 1, "data"), Cell(std::string("zeros")));
}

TEST(DryRun, GuessesForADeviceWithoutRoofs) {
  FakeDevice device({.backend = "cpu", .name = "CPU", .processors = 2});
  const roofline::Table table = dry_run(kGroups, {}, device);
  // 8 MiB over 2 x 10 GB/s.
  EXPECT_NEAR(std::get<double>(cell(table, 0, "predicted_us")), 8 * (1 << 20) / 2e4, 1e-9);
  EXPECT_EQ(cell(table, 0, "from"), Cell(std::string("guess")));
}

TEST(StatusLine, SaysWhereItIsAndWhatIsLeft) {
  EXPECT_EQ(status_line(1, 4, "relu", 0, 40, ""), "[1/4] relu, 40 s left");
  EXPECT_EQ(status_line(3, 4, "dot", 10, 40, "91 % of hbm"),
            "[3/4] dot, 10 s left; last: 91 % of hbm");  // 5 s a group, two to go
  EXPECT_EQ(status_line(2, 4, "dot", 39, 40, ""), "[2/4] dot, 1 s left");
}

}  // namespace
}  // namespace bench
