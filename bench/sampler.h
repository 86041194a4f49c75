// Takes samples in turns until they say enough. Knows no op: it sees runs that return seconds.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "bench/device.h"
#include "roofline/statistics.h"

namespace bench {

/// When to stop, and how long a sample is.
struct Protocol {
  int min_rounds = 6;  // order statistics of 5 medians cannot reach 95 %
  int max_rounds = 200;
  double sample_s = 200e-6;   // event resolution is 0.5 us: 0.25 % of a sample
  double block_s = 5e-3;      // samples of a row in one round take about so long, at least one
  double max_noise = 0.005;   // half-width of the interval over round medians, relative
  double max_held_up = 0.25;  // of a row's samples by other work; medians bear as many
  double settle_s = 0.5;      // at most, before the first round
  double cap_s = 5;           // of a group's sampling, settling included
};

struct Sample {
  int visit, round;  // rounds are counted through all visits
  double time_s;     // of one launch
};

/// One row of a group: what to run, and what came of it.
struct Series {
  Timed timed;
  std::vector<Sample> samples;
  std::vector<Telemetry> blocks;  // read after each block
  std::exception_ptr error;       // what its run threw, but for DeviceLost; it has no more turns

  std::vector<double> times() const;
  /// The median of each round.
  roofline::Visits round_medians() const;
  /// The median of those.
  double median_s() const;
};

/// Half-width of the interval for the median, over round medians, relative to it: of the visit
/// where it is widest. Infinite where one has too few rounds, or a time is not a positive finite
/// number.
double noise(const roofline::Visits& round_medians);

/// The share of samples that other work held up, taking processors from them; 0 where it is not
/// known. Above max_held_up the medians may be those of the scheduler's slices. Of a series: that
/// of the visit where it is largest.
double held_up(std::span<const Telemetry> blocks);
double held_up(const Series& series);

/// By what share the last third of a visit's rounds is slower than the first, comparing medians,
/// where every round of the last is slower than every one of the first; the most of all visits, or
/// nothing.
std::optional<double> slowdown(const Series& series);

/// How many launches make a sample of at least `sample_s`, if one takes `launch_s`.
int launches_for(double sample_s, double launch_s);

/// Runs each series until its last three runs agree within 2 %, or `settle_s` is over.
void settle(std::span<Series> group, const Protocol& protocol, const Device& device,
            const std::atomic<bool>& interrupted);

/// A visit: rounds over the group. In each, every series gets a block of samples, so that what
/// drifts, drifts for all. In shuffled order: on a core that another process shares, the
/// scheduler's slices fall into step with a fixed one, and always the same row waits (1.6 times its
/// roof kernel, on a busy 2-core machine). Ends when all are quieter than max_noise in this visit
/// and were not held up, at the caps, or when interrupted.
void sample(std::span<Series> group, const Protocol& protocol, Device& device,
            const std::atomic<bool>& interrupted);

}  // namespace bench
