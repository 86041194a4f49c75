#include "roofline/ridge_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "roofline/csv.h"
#include "roofline/tiling.h"

namespace roofline {
namespace {

constexpr std::size_t kFewest = 5;  // three parameters, and something left to tell their error

/// The 0.975 quantile of Student's t. Source: Abramowitz and Stegun, 26.7.5; 3 % low at 2 degrees.
double student_t(double degrees) {
  const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4 * degrees) + (5 * z5 + 16 * z3 + 3 * z) / (96 * std::pow(degrees, 2)) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * std::pow(degrees, 3));
}

struct Line {
  double plateau, slope, squares;  // the sum of what is left, squared
};

/// The best plateau and slope for a given knee: a straight line over min(x - knee, 0).
Line fit_line(std::span<const double> x, std::span<const double> y, double knee) {
  double u_mean = 0, y_mean = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    u_mean += std::min(x[i] - knee, 0.0) / n;
    y_mean += y[i] / n;
  }
  double uu = 0, uy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double u = std::min(x[i] - knee, 0.0) - u_mean;
    uu += u * u;
    uy += u * (y[i] - y_mean);
  }
  Line line{.slope = uy / uu};
  line.plateau = y_mean - line.slope * u_mean;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double left = y[i] - line.plateau - line.slope * std::min(x[i] - knee, 0.0);
    line.squares += left * left;
  }
  return line;
}

/// Variances of plateau, slope and knee, over that of y: the diagonal of (J^T J)^-1.
std::array<double, 3> variances(std::span<const double> x, const Hinge& hinge) {
  std::array<std::array<double, 3>, 3> a{};
  for (const double at : x) {
    const bool rising = at < hinge.knee;
    const double row[3] = {1, std::min(at - hinge.knee, 0.0), rising ? -hinge.slope : 0};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) a[i][j] += row[i] * row[j];
    }
  }
  const auto minor = [&](int i, int j) { return a[i][i] * a[j][j] - a[i][j] * a[j][i]; };
  const double determinant = a[0][0] * minor(1, 2) -
                             a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
                             a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
  return {minor(1, 2) / determinant, minor(0, 2) / determinant, minor(0, 1) / determinant};
}

Interval around(double center, double half) { return {center - half, center + half}; }

Interval exp(const Interval& log) { return {std::exp(log.low), std::exp(log.high)}; }

/// The M at which a GEMM like `c` has an intensity; infinite past the highest it can have.
double m_at(Case c, double intensity) {
  c.m = 1;
  const Cost one = cost(c);
  c.m = 2;
  const double per_m = (cost(c).bytes() - one.bytes()).value;  // bytes grow linearly with M
  const double left = one.flops.value - intensity * per_m;
  return left > 0 ? intensity * (one.bytes().value - per_m) / left : INFINITY;
}

using Series = std::map<std::int64_t, const Record*>;  // by M

std::string name_of(const Series& series) {
  const Record& r = *series.begin()->second;
  return fmt::format("gemm/{} M x {} x {} by {}", dtype_label(r.what), r.what.n, r.what.k,
                     multiplied_by(r.implementation, r.fast_accumulation));
}

/// Steps in the sweep that the schedule makes, and not the roofs.
std::string waves_text(const Series& series, const Run& run) {
  const auto processors =
      static_cast<std::int64_t>(run.environment_number("device/processors").value_or(0));
  std::string text;
  for (const auto& [m, r] : series) {
    const std::optional<Tiling> tiling = tiling_in(r->note);
    if (!tiling || processors < 1) continue;
    text += fmt::format("{}M {}: {:.2f} of {}x{}", text.empty() ? "" : ", ", m,
                        waves(r->what, *tiling, processors), tiling->along_n, tiling->along_m);
  }
  return text;
}

}  // namespace

std::optional<Hinge> fit_hinge(std::span<const double> x, std::span<const double> y) {
  if (x.size() < kFewest) return std::nullopt;
  std::vector<double> sorted(x.begin(), x.end());
  std::sort(sorted.begin(), sorted.end());
  const double first = sorted[1], last = sorted[sorted.size() - 2];
  // The error has a kink at each x and may have a minimum between any two: a grid finds the
  // deepest, and a finer one around it gives its digits.
  constexpr int kSteps = 1000;
  double from = first, to = last, knee = first;
  for (int pass = 0; pass < 3; ++pass) {
    const double step = (to - from) / kSteps;
    double least = INFINITY;
    for (int i = 0; i <= kSteps; ++i) {
      const double squares = fit_line(x, y, from + i * step).squares;
      if (squares < least) {
        least = squares;
        knee = from + i * step;
      }
    }
    from = std::max(first, knee - step);
    to = std::min(last, knee + step);
  }
  const Line line = fit_line(x, y, knee);
  if (!(line.slope > 0) || !(knee > first) || !(knee < last)) return std::nullopt;

  Hinge hinge{.knee = knee, .plateau = line.plateau, .slope = line.slope};
  const auto degrees = static_cast<double>(x.size()) - 3;
  const auto [plateau, slope, at] = variances(x, hinge);
  const double reach = student_t(degrees) * std::sqrt(line.squares / degrees);
  hinge.knee_interval = around(hinge.knee, reach * std::sqrt(at));
  hinge.plateau_interval = around(hinge.plateau, reach * std::sqrt(plateau));
  return hinge;
}

RidgeFits fit_ridges(const Run& run) {
  using Key = std::tuple<std::string, std::string, std::int64_t, std::int64_t, std::optional<bool>>;
  std::map<Key, Series> sweeps;
  RidgeFits found;
  for (const Record& r : run.records) {
    const bool counts = is_measured(r) && r.achieved_flops_per_s;
    if (r.what.op != Op::gemm || r.what.layout != Layout::tn || r.what.batch != 1 ||
        r.cache != "cold" || r.data != "normal" || !(counts || r.status == Status::above_roof)) {
      continue;
    }
    const Record*& best = sweeps[{dtype_label(r.what), r.implementation, r.what.n, r.what.k,
                                  r.fast_accumulation}][r.what.m];
    // A row that is above_roof stays, to spoil its sweep.
    if (best == nullptr || r.status == Status::above_roof ||
        (best->status != Status::above_roof &&
         *best->achieved_flops_per_s < *r.achieved_flops_per_s)) {
      best = &r;
    }
  }
  for (const auto& [key, series] : sweeps) {
    if (series.size() < kFewest) continue;
    if (std::any_of(series.begin(), series.end(),
                    [](const auto& m) { return m.second->status == Status::above_roof; })) {
      found.notes.push_back(name_of(series) + ": a row is above_roof, not fitted");
      continue;
    }
    std::vector<double> x, y;
    for (const auto& [m, r] : series) {
      x.push_back(std::log(cost(r->what).intensity().value));
      y.push_back(std::log(*r->achieved_flops_per_s));
    }
    const std::optional<Hinge> hinge = fit_hinge(x, y);
    if (!hinge) {
      found.notes.push_back(name_of(series) + ": no knee, its FLOP/s do not rise and then stay");
      continue;
    }
    const Case& c = series.begin()->second->what;
    const Interval intensity = exp(hinge->knee_interval);
    found.fits.push_back({.dtype = dtype_label(c),
                          .implementation = series.begin()->second->implementation,
                          .fast_accumulation = series.begin()->second->fast_accumulation,
                          .n = c.n,
                          .k = c.k,
                          .m_first = series.begin()->first,
                          .m_last = series.rbegin()->first,
                          .points = static_cast<int>(series.size()),
                          .knee_m = m_at(c, std::exp(hinge->knee)),
                          .knee_intensity_flops_per_byte = std::exp(hinge->knee),
                          .plateau_flops_per_s = std::exp(hinge->plateau),
                          .knee_m_interval = {m_at(c, intensity.low), m_at(c, intensity.high)},
                          .knee_intensity_interval = intensity,
                          .plateau_interval = exp(hinge->plateau_interval),
                          .slope = hinge->slope,
                          .waves = waves_text(series, run)});
  }
  return found;
}

std::string multiplied_by(const std::string& implementation,
                          std::optional<bool> fast_accumulation) {
  if (!fast_accumulation) return implementation;
  return implementation + (*fast_accumulation ? ", fast accumulation" : ", full accumulation");
}

std::string ridge_csv(std::span<const RidgeFit> fits) {
  std::string text =
      "dtype,implementation,fast_accumulation,n,k,m_first,m_last,points,knee_m,knee_m_low,knee_m_"
      "high,"
      "knee_intensity_flops_per_byte,knee_intensity_low,knee_intensity_high,"
      "plateau_flops_per_s,plateau_low,plateau_high,slope,waves\n";
  const auto number = [](double v) { return std::isfinite(v) ? fmt::format("{}", v) : ""; };
  for (const RidgeFit& f : fits) {
    const std::string fast = f.fast_accumulation ? fmt::format("{}", *f.fast_accumulation) : "";
    text +=
        csv_line({f.dtype, f.implementation, fast, fmt::format("{}", f.n), fmt::format("{}", f.k),
                  fmt::format("{}", f.m_first), fmt::format("{}", f.m_last),
                  fmt::format("{}", f.points), number(f.knee_m), number(f.knee_m_interval.low),
                  number(f.knee_m_interval.high), number(f.knee_intensity_flops_per_byte),
                  number(f.knee_intensity_interval.low), number(f.knee_intensity_interval.high),
                  number(f.plateau_flops_per_s), number(f.plateau_interval.low),
                  number(f.plateau_interval.high), number(f.slope), f.waves});
  }
  return text;
}

}  // namespace roofline
