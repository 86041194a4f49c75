// Ours beside the peers, by hand.
#include "roofline/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace roofline {
namespace {

using Measured = Run;  // testing::Test has a Run of its own

void add(Measured& run, const Case& c, const std::string& by, std::vector<double> rounds_s) {
  run.records.push_back({.what = c,
                         .implementation = by,
                         .cache = "cold",
                         .data = "normal",
                         .time_median_s = rounds_s[2]});
  run.round_medians_s.push_back({std::move(rounds_s)});
}

const Case kRelu = make_case(Op::relu, Dtype::bf16, 1, 4096, 1);

TEST(Peers, AreComparedRoundByRoundWithTheFastest) {
  Measured run;
  add(run, kRelu, "ours", {2, 2, 2, 4, 4, 4});
  add(run, kRelu, "cub", {3, 3, 3, 6, 6, 6});   // drifts as ours does
  add(run, kRelu, "slow", {9, 9, 9, 9, 9, 9});  // is not the fastest
  add(run, kRelu, "ours", {3, 3, 3, 6, 6, 6});  // nor is this variant of ours
  const Table table = peers(run);
  ASSERT_EQ(table.rows.size(), 1U);
  const std::vector<Cell>& row = table.rows[0];
  EXPECT_EQ(std::get<std::string>(row[5]), "ours");
  EXPECT_EQ(std::get<std::string>(row[7]), "cub");
  for (const std::size_t column : {9, 10, 11}) EXPECT_EQ(std::get<double>(row[column]), 1.5);
}

TEST(Peers, ComputeTheSameOnTheSameInputs) {
  Measured run;
  add(run, kRelu, "ours", {2, 2, 2, 2, 2, 2});
  EXPECT_TRUE(peers(run).rows.empty()) << "nothing beside it";
  add(run, make_case(Op::gelu, Dtype::bf16, 1, 4096, 1), "cub", {2, 2, 2, 2, 2, 2});
  add(run, kRelu, "cub", {2, 2, 2, 2, 2, 2});
  EXPECT_EQ(peers(run).rows.size(), 1U);
  run.records.back().cache = "hot";
  EXPECT_TRUE(peers(run).rows.empty());
  run.records.back().cache = "cold";
  run.records.back().data = "ones";
  EXPECT_TRUE(peers(run).rows.empty());
  run.records.back().data = "normal";
  run.records.back().variant = "grid-sustained";
  EXPECT_TRUE(peers(run).rows.empty()) << "in no turns with ours";
  run.records.back().variant = "grid";
  run.records.back().status = Status::above_roof;
  EXPECT_TRUE(peers(run).rows.empty());
}

TEST(Report, ShowsTheInputsWhereTheyDiffer) {
  Measured run;
  add(run, kRelu, "ours", {2, 2, 2, 2, 2, 2});
  add(run, kRelu, "ours", {2, 2, 2, 2, 2, 2});
  const auto data_column = [&] {
    const std::vector<std::string> columns = report(run.records).columns;
    return std::find(columns.begin(), columns.end(), "data") - columns.begin();
  };
  EXPECT_EQ(data_column(), static_cast<std::ptrdiff_t>(report(run.records).columns.size()));
  run.records.back().data = "zeros";
  const std::vector<Cell> last = report(run.records).rows.back();
  EXPECT_EQ(std::get<std::string>(last.at(static_cast<std::size_t>(data_column()))), "zeros");
  EXPECT_EQ(last.size(), report(run.records).columns.size());
}

TEST(Peers, WithoutSamplesHaveARatioAndNoInterval) {
  Measured run;
  add(run, kRelu, "ours", {2, 2, 2, 2, 2, 2});
  add(run, kRelu, "cub", {1, 1, 1, 1, 1, 1});
  run.round_medians_s.back().clear();
  const std::vector<Cell> row = peers(run).rows.at(0);
  EXPECT_EQ(std::get<double>(row[9]), 0.5);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(row[10]));
}

}  // namespace
}  // namespace roofline
