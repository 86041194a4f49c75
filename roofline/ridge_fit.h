// The knee of a GEMM that grows from decode to prefill: where its FLOP/s stop to follow the
// bandwidth roof. Fitted here and nowhere else; plots draw what ridge.csv says.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roofline/run.h"
#include "roofline/statistics.h"

namespace roofline {

/// y = plateau + slope min(x - knee, 0): a line that rises, then stays.
struct Hinge {
  double knee, plateau, slope;
  Interval knee_interval, plateau_interval;  // 95 %
};

/// Least squares over all knees from the second x to the last but one. The intervals are Student's
/// t over the linearised errors, so that they hold what the two lines do not explain, wave steps
/// too. Nothing for fewer than 5 points, or where no line that rises before the knee fits best.
std::optional<Hinge> fit_hinge(std::span<const double> x, std::span<const double> y);

/// A fitted sweep: one row of ridge.csv.
struct RidgeFit {
  std::string dtype;  // as dtype_label() has it
  std::string implementation;
  std::optional<bool> fast_accumulation;  // of FP8
  std::int64_t n, k, m_first, m_last;
  int points;
  double knee_m, knee_intensity_flops_per_byte, plateau_flops_per_s;
  Interval knee_m_interval, knee_intensity_interval, plateau_interval;  // 95 %
  /// FLOP/s before the knee: plateau (intensity / knee intensity)^slope.
  double slope;
  /// Of the rows whose note names a tile, on the run's processors: "M 1: 1.00 of 128x64, ...".
  std::string waves;
};

/// What came of the sweeps of a run, fits and why there is none.
struct RidgeFits {
  std::vector<RidgeFit> fits;
  std::vector<std::string> notes;
};

/// Fits each sweep of 5 values of M or more: cold linear layers, N, K, type, implementation and
/// accumulation the same, the fastest row at each M. In log-log space over the intensity rather
/// than over M, for there the bandwidth roof is straight. In the order of the fields above: full
/// accumulation, which computes what the other types do, stands before fast.
RidgeFits fit_ridges(const Run& run);

/// "cublaslt", or "cublaslt, full accumulation": who multiplied, and how.
std::string multiplied_by(const std::string& implementation, std::optional<bool> fast_accumulation);

/// The text of ridge.csv.
std::string ridge_csv(std::span<const RidgeFit> fits);

}  // namespace roofline
