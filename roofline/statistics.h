// What the samples of a measurement say: medians, quantiles, and an interval that keeps its word.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace roofline {

/// The q-quantile by linear interpolation between order statistics (R's type 7); q in [0, 1].
/// Throws std::invalid_argument for an empty sample.
double quantile(std::span<const double> values, double q);
double median(std::span<const double> values);
double mean(std::span<const double> values);
/// Standard deviation (n - 1) over mean; nothing for fewer than two values.
std::optional<double> coefficient_of_variation(std::span<const double> values);

struct Interval {
  double low, high;
  /// Half of its width, relative to `center`.
  double relative_half_width(double center) const { return (high - low) / 2 / center; }
};

/// Distribution-free interval for the median: the narrowest pair of order statistics, counted from
/// both ends alike, that covers it with at least `confidence` if the values are independent.
/// Nothing where all of them do not reach that: 5 values cover 93.75 %, 6 cover 96.88 %. Source:
/// Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2.
std::optional<Interval> median_interval(std::span<const double> values, double confidence = 0.95);

struct Estimate {
  double value;
  std::optional<Interval> interval;
};

/// What rounds say, visit by visit: a run comes back to a row after minutes.
using Visits = std::vector<std::vector<double>>;

/// The median of the visits' medians, a noisy visit having many rounds and no more weight, with the
/// interval that holds the intervals of all visits: of rounds that follow one another a machine's
/// drift from minute to minute is hidden, between visits it shows. Visits too short for an interval
/// count where all are. Throws std::invalid_argument where there is no round.
Estimate estimate(const Visits& visits);

/// The estimate of a[v][i] / b[v][i]. For the round medians of two rows that were sampled in turns:
/// what drifts, drifts for both, and cancels. Rounds without a partner are left out. Throws
/// std::invalid_argument where there is no pair.
Estimate paired_ratio(const Visits& a, const Visits& b);

}  // namespace roofline
