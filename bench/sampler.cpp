#include "bench/sampler.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace bench {
namespace {

bool agree(const std::vector<double>& last_times) {
  if (last_times.size() < 3) return false;
  const auto [low, high] = std::minmax_element(last_times.end() - 3, last_times.end());
  return *high <= 1.02 * *low;
}

/// Seconds of one run; nothing where it fails.
std::optional<double> run_s(Series& series) {
  try {
    return series.timed.run_s();
  } catch (const DeviceLost&) {
    throw;
  } catch (...) {
    series.error = std::current_exception();
    return std::nullopt;
  }
}

}  // namespace

std::vector<double> Series::times() const {
  std::vector<double> all;
  for (const Sample& s : samples) all.push_back(s.time_s);
  return all;
}

roofline::Visits Series::round_medians() const {
  roofline::Visits visits;
  std::vector<double> round;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i == 0 || samples[i].visit != samples[i - 1].visit) visits.emplace_back();
    round.push_back(samples[i].time_s);
    if (i + 1 == samples.size() || samples[i + 1].round != samples[i].round) {
      visits.back().push_back(roofline::median(round));
      round.clear();
    }
  }
  return visits;
}

double Series::median_s() const { return roofline::estimate(round_medians()).value; }

double noise(const roofline::Visits& round_medians) {
  double most = round_medians.empty() ? INFINITY : 0;
  for (const std::vector<double>& visit : round_medians) {
    const auto interval = roofline::median_interval(visit);
    const double relative =
        interval ? interval->relative_half_width(roofline::median(visit)) : INFINITY;
    most = relative >= 0 ? std::max(most, relative) : INFINITY;
  }
  return most;
}

double held_up(std::span<const Telemetry> blocks) {
  std::vector<double> shares;
  for (const Telemetry& block : blocks) shares.push_back(block.held_up.value_or(0));
  return shares.empty() ? 0 : roofline::mean(shares);
}

double held_up(const Series& series) {
  double most = 0;
  std::span<const Telemetry> blocks = series.blocks;
  for (const std::vector<double>& visit : series.round_medians()) {
    const std::size_t rounds = std::min(visit.size(), blocks.size());  // the last may be cut short
    most = std::max(most, held_up(blocks.first(rounds)));
    blocks = blocks.subspan(rounds);
  }
  return most;
}

std::optional<double> slowdown(const Series& series) {
  std::optional<double> most;
  for (const std::vector<double>& medians : series.round_medians()) {
    const std::size_t third = medians.size() / 3;
    const auto first = std::span(medians).first(third), last = std::span(medians).last(third);
    if (third == 0 || !(*std::ranges::max_element(first) < *std::ranges::min_element(last))) {
      continue;
    }
    most = std::max(most.value_or(0), roofline::median(last) / roofline::median(first) - 1);
  }
  return most;
}

int launches_for(double sample_s, double launch_s) {
  constexpr double kMost = 10000;  // of a launch below 20 ns, which is an empty one
  if (!(launch_s > 0)) return 1;
  return static_cast<int>(std::clamp(std::ceil(sample_s / launch_s), 1.0, kMost));
}

void settle(std::span<Series> group, const Protocol& protocol, const Device& device,
            const std::atomic<bool>& interrupted) {
  for (Series& series : group) {
    const double end = device.now_s() + protocol.settle_s / static_cast<double>(group.size());
    std::vector<double> times;
    do {
      const std::optional<double> time_s = run_s(series);
      if (!time_s) break;
      times.push_back(*time_s);
    } while (!interrupted && !agree(times) && device.now_s() < end);
  }
}

void sample(std::span<Series> group, const Protocol& protocol, Device& device,
            const std::atomic<bool>& interrupted) {
  const double end = device.now_s() + protocol.cap_s;
  std::vector<std::reference_wrapper<Series>> order(group.begin(), group.end());
  // What is too short for a sample, as an interval of nothing is, does not fill the file: the three
  // rows of what a launch costs had half of all samples of a run.
  const double most = protocol.block_s / protocol.sample_s;
  (void)device.telemetry();  // what it sums up begins here
  // Who is content with any noise does not wait for a machine to be left alone either; the row is
  // judged all the same.
  const double most_held_up = std::max(protocol.max_held_up, protocol.max_noise);
  int visit = 0, rounds = 0;  // before this one
  if (!group.empty() && !group.front().samples.empty()) {
    visit = group.front().samples.back().visit + 1;
    rounds = group.front().samples.back().round + 1;
  }
  std::minstd_rand random(static_cast<unsigned>(visit + 1));
  for (int round = 0; round < protocol.max_rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (Series& series : order) {
      if (series.error) continue;
      const double block_end = device.now_s() + protocol.block_s;
      int taken = 0;
      do {
        if (interrupted) return;
        const std::optional<double> time_s = run_s(series);
        if (!time_s) break;
        series.samples.push_back({visit, rounds + round, *time_s / series.timed.launches});
      } while (device.now_s() < block_end && ++taken < most);
      series.blocks.push_back(device.telemetry());
    }
    const bool quiet = std::all_of(group.begin(), group.end(), [&](const Series& s) {
      if (s.error) return true;
      const auto blocks = std::span(s.blocks).subspan(static_cast<std::size_t>(rounds));
      return noise({s.round_medians().back()}) <= protocol.max_noise &&
             held_up(blocks) <= most_held_up;
    });
    if ((quiet && round + 1 >= protocol.min_rounds) || device.now_s() >= end) return;
  }
}

}  // namespace bench
