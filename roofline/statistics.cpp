#include "roofline/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace roofline {
namespace {

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

/// Probability of exactly i heads in n fair coins.
double coin_probability(std::size_t n, std::size_t i) {
  const auto log_factorial = [](std::size_t x) { return std::lgamma(static_cast<double>(x) + 1); };
  return std::exp(log_factorial(n) - log_factorial(i) - log_factorial(n - i) -
                  static_cast<double>(n) * std::log(2.0));
}

}  // namespace

double quantile(std::span<const double> values, double q) {
  if (values.empty()) throw std::invalid_argument("quantile of no values");
  const std::vector<double> v = sorted(values);
  const double position = q * static_cast<double>(v.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, v.size() - 1);
  return v[below] + (position - static_cast<double>(below)) * (v[above] - v[below]);
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

double mean(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("mean of no values");
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> coefficient_of_variation(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const double center = mean(values);
  double squares = 0;
  for (const double v : values) squares += (v - center) * (v - center);
  return std::sqrt(squares / static_cast<double>(values.size() - 1)) / center;
}

std::optional<Interval> median_interval(std::span<const double> values, double confidence) {
  // Dropping i values at each end misses the median with twice the probability that at most i of n
  // fair coins fall heads.
  const std::size_t n = values.size();
  double tail = 0;
  std::size_t kept_from = 0;
  for (std::size_t i = 0; 2 * i < n; ++i) {
    tail += coin_probability(n, i);
    if (2 * tail > 1 - confidence) break;
    kept_from = i + 1;
  }
  if (kept_from == 0) return std::nullopt;
  const std::vector<double> v = sorted(values);
  return Interval{v[kept_from - 1], v[n - kept_from]};
}

Estimate paired_ratio(std::span<const double> a, std::span<const double> b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) ratios.push_back(a[i] / b[i]);
  return {median(ratios), median_interval(ratios)};
}

}  // namespace roofline
