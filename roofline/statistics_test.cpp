#include "roofline/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace roofline {
namespace {

TEST(Statistics, QuantilesInterpolateBetweenOrderStatistics) {
  // Type 7 on 1, 2, 3, 4: position q (n - 1) = 0.3 for q = 0.1, so 1 + 0.3 (2 - 1).
  const std::vector<double> v = {4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(quantile(v, 0.1), 1.3);
  EXPECT_DOUBLE_EQ(quantile(v, 0.9), 3.7);
  EXPECT_DOUBLE_EQ(median(v), 2.5);
  EXPECT_DOUBLE_EQ(quantile(v, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(v, 1), 4);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{7}), 7);
  EXPECT_THROW(median({}), std::invalid_argument);
}

TEST(Statistics, VariationIsRelativeToTheMean) {
  // 1, 3: mean 2, deviation sqrt(2) with n - 1.
  EXPECT_DOUBLE_EQ(*coefficient_of_variation(std::vector<double>{1, 3}), 0.70710678118654757);
  EXPECT_FALSE(coefficient_of_variation(std::vector<double>{1}));
}

struct Row {
  int n;
  bool exists;
  double low, high;  // of the values 1 .. n
};

// P(Bin(n, 1/2) <= i), doubled, at most 0.05: n = 6: 2/64 = 0.031. n = 8: 2/256 with none dropped,
// 2 * 9/256 = 0.070 with one. n = 9: 2 * 10/512 = 0.039 with one. n = 20: 2 * 21700/2^20 = 0.0414
// with five (C(20, 0..5) = 1 + 20 + 190 + 1140 + 4845 + 15504 = 21700), the textbook's x(6), x(15).
const Row kRows[] = {
    {0, false, 0, 0}, {5, false, 0, 0}, {6, true, 1, 6},
    {8, true, 1, 8},  {9, true, 2, 8},  {20, true, 6, 15},
};

TEST(Statistics, IntervalIsTheNarrowestPairOfOrderStatistics) {
  for (const Row& row : kRows) {
    std::vector<double> v(static_cast<std::size_t>(row.n));
    std::iota(v.rbegin(), v.rend(), 1.0);
    const auto interval = median_interval(v);
    ASSERT_EQ(interval.has_value(), row.exists) << row.n;
    if (!row.exists) continue;
    EXPECT_EQ(interval->low, row.low) << row.n;
    EXPECT_EQ(interval->high, row.high) << row.n;
  }
}

TEST(Statistics, IntervalNarrowsWithManyValues) {
  // n = 10000: half-width about 0.98 sqrt(n) = 98 ranks.
  std::vector<double> v(10000);
  std::iota(v.begin(), v.end(), 1.0);
  const auto interval = median_interval(v);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, 5000.5 - 98, 2);
  EXPECT_NEAR(interval->high, 5000.5 + 98, 2);
}

TEST(Statistics, HalfWidthIsRelative) {
  EXPECT_DOUBLE_EQ((Interval{9, 11}).relative_half_width(10), 0.1);
}

/// Share of 2000 simulated series whose interval over the medians of 8 rounds holds the true
/// median, 0. A round is 10 samples of an AR(1) process; between two rounds it runs on for 30 more,
/// as it does while the other rows of a group have their turn.
double coverage(double autocorrelation) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  int covered = 0;
  constexpr int kSeries = 2000;
  for (int s = 0; s < kSeries; ++s) {
    double x = normal(random);
    const auto next = [&] {
      x = autocorrelation * x + std::sqrt(1 - autocorrelation * autocorrelation) * normal(random);
      return x;
    };
    std::vector<double> medians;
    for (int round = 0; round < 8; ++round) {
      std::vector<double> samples(10);
      std::generate(samples.begin(), samples.end(), next);
      medians.push_back(median(samples));
      for (int i = 0; i < 30; ++i) next();
    }
    const Interval interval = *median_interval(medians);
    covered += interval.low <= 0 && 0 <= interval.high ? 1 : 0;
  }
  return static_cast<double>(covered) / kSeries;
}

TEST(Statistics, IntervalOverRoundMediansKeepsItsWord) {
  EXPECT_GE(coverage(0.0), 0.95);
  EXPECT_GE(coverage(0.5), 0.90);
}

TEST(Estimate, IsTheMedianOfTheVisitsAndHoldsTheIntervalOfEach) {
  struct Visited {
    Visits visits;
    double value;
    std::optional<Interval> interval;
  };
  // Six rounds have an interval, all of them; five have none.
  const Visited rows[] = {
      {{{1, 2, 3, 4, 5, 6}}, 3.5, Interval{1, 6}},
      {{{11, 12, 13, 14, 15, 16}, {1, 2, 3, 4, 5, 6}}, 8.5, Interval{1, 16}},
      {{{1, 2, 3, 4, 5, 6}, {2, 3, 3, 4, 4, 5}}, 3.5, Interval{1, 6}},
      {{{1, 2, 3, 4, 5, 6}, {9, 9, 9, 9, 9}}, 3.5, Interval{1, 6}},
      {{{1, 2, 3}, {4, 5, 6}}, 3.5, std::nullopt},
      {{{1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2}, {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3}},
       2,
       Interval{1, 3}},
  };
  for (const Visited& row : rows) {
    const Estimate e = estimate(row.visits);
    EXPECT_EQ(e.value, row.value);
    ASSERT_EQ(e.interval.has_value(), row.interval.has_value());
    if (!e.interval) continue;
    EXPECT_EQ(e.interval->low, row.interval->low);
    EXPECT_EQ(e.interval->high, row.interval->high);
  }
  EXPECT_THROW(estimate({}), std::invalid_argument);
}

/// A run of a machine that is another at each visit, by 3 % (a deviation); 12 rounds of one visit
/// differ by 1 %.
Estimate drifting_run(int visits, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  Visits rounds(static_cast<std::size_t>(visits), std::vector<double>(12));
  for (std::vector<double>& visit : rounds) {
    const double machine = 1 + 0.03 * normal(random);
    for (double& round : visit) round = machine + 0.01 * normal(random);
  }
  return estimate(rounds);
}

struct Kept {
  double covered;  // share of runs whose interval holds what the machine is in the long run
  double agreed;   // share of triples of runs whose intervals share a point
};
Kept promises(int visits) {
  constexpr int kTriples = 1000;
  std::mt19937_64 random(7);
  int covered = 0, agreed = 0;
  for (int t = 0; t < kTriples; ++t) {
    double low = 0, high = 2;
    for (int run = 0; run < 3; ++run) {
      const Interval interval = *drifting_run(visits, random).interval;
      covered += interval.low <= 1 && 1 <= interval.high ? 1 : 0;
      low = std::max(low, interval.low);
      high = std::min(high, interval.high);
    }
    agreed += low <= high ? 1 : 0;
  }
  return {covered / (3.0 * kTriples), agreed / (1.0 * kTriples)};
}

TEST(Estimate, OfThreeVisitsHoldsADriftThatOneDoesNotSee) {
  const Kept one = promises(1), two = promises(2), three = promises(3);
  EXPECT_NEAR(one.covered, 0.22, 0.03);
  EXPECT_NEAR(one.agreed, 0.10, 0.03);
  EXPECT_NEAR(two.covered, 0.69, 0.03);
  EXPECT_NEAR(two.agreed, 0.68, 0.03);
  EXPECT_NEAR(three.covered, 0.88, 0.03);
  EXPECT_NEAR(three.agreed, 0.93, 0.03);
}

TEST(PairedRatio, LosesTheDriftThatBothShare) {
  // a takes 3/4 of b's time while both slow down by half: each alone has an interval of +-20 %.
  const Visits b = {{1, 1.1, 1.2, 1.3, 1.4, 1.5}}, a = {{0.75, 0.825, 0.9, 0.975, 1.05, 1.125}};
  const Estimate ratio = paired_ratio(a, b);
  EXPECT_NEAR(ratio.value, 0.75, 1e-12);
  EXPECT_NEAR(ratio.interval->low, 0.75, 1e-12);
  EXPECT_NEAR(ratio.interval->high, 0.75, 1e-12);
}

TEST(PairedRatio, PairsRoundsOfTheSameVisit) {
  // 2, 2; 3, 3, 4, 4, 4. One after the other the third round of a would meet the second visit of b.
  EXPECT_EQ(paired_ratio({{2, 2, 2}, {9, 9, 12, 12, 12}}, {{1, 1}, {3, 3, 3, 3, 3}}).value, 3);
  // All of six have an interval; twelve would lose two at each end.
  const Visits ones = {{1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}};
  const Estimate both = paired_ratio({{1, 1, 1, 1, 1, 1}, {2, 3, 4, 5, 6, 7}}, ones);
  EXPECT_EQ(both.interval->low, 1);
  EXPECT_EQ(both.interval->high, 7);
}

TEST(PairedRatio, LeavesOutWhatHasNoPartner) {
  const Visits a = {{2, 4, 100}, {100}}, b = {{1, 1}};
  EXPECT_EQ(paired_ratio(a, b).value, 3);
  EXPECT_FALSE(paired_ratio(a, b).interval);
  EXPECT_THROW(paired_ratio(a, {}), std::invalid_argument);
}

}  // namespace
}  // namespace roofline
