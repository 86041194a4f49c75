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

Estimate estimate(const Visits& visits) {
  std::vector<double> all, whole;  // medians
  std::optional<Interval> hull;
  for (const std::vector<double>& rounds : visits) {
    if (rounds.empty()) continue;
    all.push_back(median(rounds));
    const std::optional<Interval> own = median_interval(rounds);
    if (!own) continue;
    whole.push_back(all.back());
    hull = hull ? Interval{std::min(hull->low, own->low), std::max(hull->high, own->high)} : *own;
  }
  return {median(hull ? whole : all), hull};
}

Estimate paired_ratio(const Visits& a, const Visits& b) {
  Visits ratios(std::min(a.size(), b.size()));
  for (std::size_t v = 0; v < ratios.size(); ++v) {
    for (std::size_t i = 0; i < std::min(a[v].size(), b[v].size()); ++i) {
      ratios[v].push_back(a[v][i] / b[v][i]);
    }
  }
  return estimate(ratios);
}

}  // namespace roofline
