// What `roofline compare` says of runs that agree, drift, fail or stand apart.
#include "roofline/compare.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "roofline/command.h"
#include "roofline/csv.h"

namespace roofline {
namespace {

/// A row of `time_us` whose interval is `spread` of it to either side, at 1 us of roof time.
Record row(Op op, double time_us, double spread = 0.01) {
  const double time_s = time_us * 1e-6;
  return {.host = "node1",
          .device = "Device",
          .what = make_case(op, Dtype::bf16, 1, 4096, 1),
          .implementation = "ours",
          .cache = "cold",
          .time_median_s = time_s,
          .time_ci_low_s = time_s * (1 - spread),
          .time_ci_high_s = time_s * (1 + spread),
          .fraction_of_roof = 1 / time_us};
}

std::string notes(const Comparison& c) {
  std::string all;
  for (const std::string& note : c.table.notes) all += note + '\n';
  return all;
}

Cell cell(const Comparison& c, std::size_t line, const std::string& column) {
  const auto at = std::find(c.table.columns.begin(), c.table.columns.end(), column);
  return c.table.rows.at(line).at(static_cast<std::size_t>(at - c.table.columns.begin()));
}

struct Pair {
  const char* name;
  double before_us, now_us;  // each +-1 %
  const char* verdict;
  bool agrees;
  bool worse_than_5_percent;
};

// Slower from 1.0202 up (0.99 r > 1.01), faster below 0.9802; past 5 % from 1.0712 (0.99 r > 1.01 x
// 1.05). Fractions agree while their intervals touch: the same bounds.
const Pair kPairs[] = {
    {"equal", 2, 2, "same", true, false},
    {"within both", 2, 2.03, "same", true, false},
    {"slower", 2, 2.05, "slower", false, false},
    {"faster", 2, 1.95, "faster", false, false},
    {"maybe past", 2, 2.13, "slower", false, false},
    {"past", 2, 2.15, "slower", false, true},
};

TEST(Compare, JudgesByBothIntervals) {
  for (const Pair& p : kPairs) {
    const ComparedRun runs[] = {{"a", {row(Op::relu, p.before_us)}, {}},
                                {"b", {row(Op::relu, p.now_us)}, {}}};
    const Comparison c = compare(runs, 0.05);
    ASSERT_EQ(c.table.rows.size(), 1U) << p.name;
    EXPECT_EQ(cell(c, 0, "verdict"), Cell(std::string(p.verdict))) << p.name;
    EXPECT_EQ(cell(c, 0, "agrees"), Cell(p.agrees)) << p.name;
    EXPECT_DOUBLE_EQ(std::get<double>(cell(c, 0, "ratio")), p.now_us / p.before_us) << p.name;
    EXPECT_EQ(c.worse.empty(), !p.worse_than_5_percent) << p.name;
  }
}

TEST(Compare, JudgesNothingWithoutAnInterval) {
  Record short_one = row(Op::relu, 4);
  short_one.time_ci_low_s.reset();
  short_one.time_ci_high_s.reset();
  const ComparedRun runs[] = {{"a", {row(Op::relu, 2)}, {}}, {"b", {short_one}, {}}};
  const Comparison c = compare(runs, 0.05);
  EXPECT_EQ(cell(c, 0, "verdict"), Cell(std::string("unknown")));
  EXPECT_EQ(cell(c, 0, "ratio_low"), Cell());
  EXPECT_EQ(cell(c, 0, "agrees"), Cell());
  EXPECT_TRUE(c.worse.empty());
}

TEST(Compare, CountsTheRowsWhoseFractionsAgreeInAllRuns) {
  const auto run = [](const char* name, double relu_us, double dot_us) {
    return ComparedRun{name, {row(Op::relu, relu_us), row(Op::dot, dot_us)}, {}};
  };
  const ComparedRun runs[] = {run("a", 2, 3), run("b", 2.01, 3.3), run("c", 1.99, 3)};
  EXPECT_NE(notes(compare(runs, {})).find("fraction of roof: 1 of 2 rows (50 %) agree"),
            std::string::npos)
      << notes(compare(runs, {}));
}

TEST(Compare, ThePairedFractionOutlivesADriftOfTheMemory) {
  Record before = row(Op::relu, 2), now = row(Op::relu, 3);
  for (Record* r : {&before, &now}) {
    r->fraction_of_measured_roof = 0.9;
    r->fraction_of_measured_roof_low = 0.89;
    r->fraction_of_measured_roof_high = 0.91;
  }
  const ComparedRun runs[] = {{"a", {before}, {}}, {"b", {now}, {}}};
  EXPECT_EQ(cell(compare(runs, {}), 0, "agrees"), Cell(true));
}

TEST(Compare, NamesTheOutlier) {
  std::vector<ComparedRun> runs;
  for (const double time_us : {2.0, 2.01, 2.2, 1.99}) {
    Record r = row(Op::relu, time_us);
    r.host = "node" + std::to_string(runs.size());
    runs.push_back({"run" + std::to_string(runs.size()), {r}, {}});
  }
  const std::string all = notes(compare(runs, {}));
  EXPECT_NE(all.find("run2: node2 +9.73 % of the median run's time in its typical row; OUTLIER"),
            std::string::npos)  // 2.2 over the median, 2.005
      << all;
  EXPECT_EQ(all.find("OUTLIER"), all.rfind("OUTLIER")) << all;
  runs.erase(runs.begin(), runs.begin() + 2);  // of two, nobody knows which is off
  const std::string of_two = notes(compare(runs, {}));
  EXPECT_EQ(of_two.find("OUTLIER"), std::string::npos);
  EXPECT_NE(of_two.find("run3: node3 -9.55 % of the first run's time"), std::string::npos)
      << of_two;  // 1.99 / 2.2
  EXPECT_EQ(of_two.find("run2: node2"), std::string::npos) << of_two;
}

TEST(Compare, SaysWhatBecameOfTheRoofs) {
  const auto roof = [](const char* name, double per_s) {
    return Roof{.name = name, .kind = Kind::measured, .per_s = per_s};
  };
  const std::vector<Record> rows = {row(Op::relu, 2)};
  const Roof sheet{.name = "hbm", .kind = Kind::datasheet, .per_s = 100};
  const ComparedRun runs[] = {
      {"a", rows, {}, {sheet, roof("copy", 30), roof("copy", 40), roof("fma_fp32", 400)}},
      {"b", rows, {}, {sheet, roof("copy", 30), roof("copy", 32)}},  // the last is the best
      {"c", rows, {}, {sheet, roof("copy", 40), roof("fma_fp32", 420)}}};
  const std::string all = notes(compare(runs, {}));
  for (const char* line :
       {"\nroof copy: b -20.00 %, c +0.00 % beside a\n", "\nroof fma_fp32: c +5.00 % beside a\n"}) {
    EXPECT_NE(all.find(line), std::string::npos) << all;
  }
  EXPECT_EQ(all.find("hbm"), std::string::npos) << all;
}

TEST(Compare, ListsWhatDoesNotMatchAndWorksOnTheRest) {
  Record failed = row(Op::gelu, 2);
  failed.time_median_s.reset();
  failed.status = Status::failed;
  failed.note = "wrong output";
  Record skipped = row(Op::gemv, 2);
  skipped.time_median_s.reset();
  const ComparedRun runs[] = {{"a", {row(Op::relu, 2), row(Op::dot, 3), row(Op::gelu, 2)}, {}},
                              {"b", {failed, row(Op::relu, 2), row(Op::copy, 3), skipped}, {}}};
  const Comparison c = compare(runs, 0.05);
  EXPECT_EQ(c.table.rows.size(), 1U);
  for (const char* part :
       {"only in b: copy/bf16/4096", "not in b: dot/bf16/4096", "failed in b: gelu/bf16/4096"}) {
    EXPECT_NE(notes(c).find(part), std::string::npos) << notes(c);
  }
  EXPECT_EQ(notes(c).find("gemv"), std::string::npos) << "nobody measured it";
  ASSERT_EQ(c.worse.size(), 1U);
  EXPECT_NE(c.worse[0].find("wrong output"), std::string::npos);
}

TEST(Compare, MatchesRowsAlikeInTheirOrder) {
  const ComparedRun runs[] = {{"a", {row(Op::relu, 2), row(Op::relu, 4)}, {}},
                              {"b", {row(Op::relu, 2), row(Op::relu, 8)}, {}}};
  EXPECT_EQ(std::get<double>(cell(compare(runs, {}), 1, "ratio")), 2);
}

TEST(Compare, SaysWhatDiffersBetweenTheEnvironments) {
  const char* const before = R"({"run_id": "x", "device": {"driver": "550.54", "ecc": true}})";
  const char* const now = R"({"run_id": "y", "device": {"driver": "580.65", "ecc": true, "t": 1}})";
  const ComparedRun runs[] = {{"a", {row(Op::relu, 2)}, flat_environment(before, "a")},
                              {"b", {row(Op::relu, 2)}, flat_environment(now, "b")}};
  const std::string all = notes(compare(runs, {}));
  EXPECT_NE(all.find("differs: device/driver: 550.54 | 580.65\n"), std::string::npos) << all;
  EXPECT_NE(all.find("differs: device/t: - | 1\n"), std::string::npos) << all;
  EXPECT_EQ(all.find("ecc"), std::string::npos) << all;
  EXPECT_EQ(all.find("run_id"), std::string::npos) << all;
  EXPECT_TRUE(flat_environment("{}", "environment.json").empty());
}

TEST(Compare, NeedsTwoRunsWithARowInCommon) {
  const ComparedRun one[] = {{"a", {row(Op::relu, 2)}, {}}};
  EXPECT_THROW(compare(one, {}), std::invalid_argument);
  const ComparedRun strangers[] = {{"a", {row(Op::relu, 2)}, {}}, {"b", {row(Op::dot, 2)}, {}}};
  EXPECT_THROW(compare(strangers, {}), std::runtime_error);
}

TEST(CompareCommand, ExitsWith1OnlyWhereTheLimitIsExceeded) {
  const auto root =
      std::filesystem::path(testing::TempDir()) / ("roofline_compare_" + std::to_string(getpid()));
  const auto write = [&](const char* name, double time_us) {
    const auto folder = root / name;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "roofs.csv") << csv_line(roof_columns());
    std::ofstream(folder / "measurements.csv")
        << csv_line(measurement_columns()) << csv_line(to_fields(row(Op::relu, time_us)));
    return folder.string();
  };
  const std::string a = write("a", 2), b = write("b", 3);
  const auto run = [](std::vector<std::string> arguments, Output& out) {
    arguments.insert(arguments.begin(), "compare");
    return run_command_line(std::move(arguments), out);
  };
  Output quiet, loud, alone;
  EXPECT_EQ(run({a, b}, quiet), 0) << quiet.notes;
  EXPECT_NE(quiet.text.find("slower"), std::string::npos) << quiet.text;
  EXPECT_EQ(run({a, b, "--max-slowdown=60", "--format=csv"}, quiet), 0) << quiet.notes;
  EXPECT_EQ(run({a, b, "--max-slowdown=5"}, loud), 1);
  EXPECT_NE(loud.notes.find("slower in " + b), std::string::npos) << loud.notes;
  EXPECT_EQ(run({a}, alone), 2) << alone.notes;
  for (const char* const percent : {"nan", "-1", "-0", "inf", "1e400", "5%"}) {
    Output refused;
    EXPECT_EQ(run({a, b, std::string("--max-slowdown=") + percent}, refused), 2) << percent;
    EXPECT_EQ(refused.notes, std::string("roofline: --max-slowdown: expected a number such as ") +
                                 "0.5, got \"" + percent + "\"\n");
  }
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace roofline
