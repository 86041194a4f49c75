#include "bench/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "roofline/statistics.h"

namespace bench {
namespace {

using roofline::Kind;
using roofline::Level;
using roofline::Record;
using roofline::Roof;
using roofline::Status;

std::optional<double> median_of(const std::vector<Telemetry>& blocks,
                                std::optional<double> Telemetry::*field) {
  std::vector<double> values;
  for (const Telemetry& t : blocks) {
    if (t.*field) values.push_back(*(t.*field));
  }
  if (values.empty()) return std::nullopt;
  return roofline::median(values);
}

void set_statistics(Record& r, const Series& series) {
  const std::vector<double> times = series.times();
  const roofline::Estimate time = roofline::estimate(series.round_medians());
  r.launches_per_sample = series.timed.launches;
  r.samples = static_cast<std::int64_t>(times.size());
  r.rounds = series.samples.back().round + 1;
  r.time_median_s = time.value;
  if (time.interval) {
    r.time_ci_low_s = time.interval->low;
    r.time_ci_high_s = time.interval->high;
  }
  r.time_p10_s = roofline::quantile(times, 0.1);
  r.time_p90_s = roofline::quantile(times, 0.9);
  r.time_min_s = roofline::quantile(times, 0);
  r.time_mean_s = roofline::mean(times);
  r.time_cv = roofline::coefficient_of_variation(times);
}

void set_telemetry(Record& r, const Series& series) {
  r.sm_clock_mhz = median_of(series.blocks, &Telemetry::sm_clock_mhz);
  r.memory_clock_mhz = median_of(series.blocks, &Telemetry::memory_clock_mhz);
  r.power_w = median_of(series.blocks, &Telemetry::power_w);
  r.temperature_c = median_of(series.blocks, &Telemetry::temperature_c);
  const auto reasons = [&](const Sample& s) {
    const auto block = static_cast<std::size_t>(s.round);
    return block < series.blocks.size() ? series.blocks[block].throttle_reasons : std::string();
  };
  std::int64_t throttled = 0;
  for (const Sample& s : series.samples) {
    if (reasons(s).empty()) continue;
    r.throttle_reasons = reasons(s);
    ++throttled;
  }
  if (r.sm_clock_mhz) r.throttled_samples = throttled;
}

/// What is to be said of a row that slowed down while it was sampled: throttling, as a rule.
std::string trend(const Series& series) {
  constexpr double kWorthSaying = 0.02;
  const auto slower = slowdown(series);
  if (!slower || *slower < kWorthSaying) return "";
  const auto before = series.blocks.front().sm_clock_mhz, after = series.blocks.back().sm_clock_mhz;
  const bool one_visit = series.samples.back().visit == 0;
  return fmt::format("slowed down by {:.1f} % from {} first rounds to its last{}", 100 * *slower,
                     one_visit ? "its" : "a visit's",
                     before && after && one_visit
                         ? fmt::format(" (SM clock {:.0f} to {:.0f} MHz)", *before, *after)
                         : "");
}

/// Whether two readings of the SM clock contradict each other. NVML's, in steps of 15 MHz and of
/// one moment, is seldom off by 2 % on a steady clock.
std::string clock_contradiction(const Series& series) {
  constexpr double kMargin = 0.05;
  const auto mean = median_of(series.blocks, &Telemetry::sm_clock_mhz),
             momentary = median_of(series.blocks, &Telemetry::momentary_sm_clock_mhz);
  if (!mean || !momentary || std::fabs(*mean - *momentary) <= kMargin * *momentary) return "";
  return fmt::format(
      "the SM clock is {:.0f} MHz by stamps in these runs, {:.0f} MHz by NVML after them", *mean,
      *momentary);
}

/// Without a valid time there is no row: it failed, or is an interval of nothing, which two events
/// may not resolve.
bool has_valid_time(Row& row) {
  Record& r = row.record;
  const double time_s = *r.time_median_s;
  if (time_s > 0 && std::isfinite(time_s)) return true;
  if (time_s == 0 && row.work.launches == 1) {
    r.status = Status::noisy;
    row.add_note("shorter than the timer resolves");
    return false;
  }
  r.time_median_s.reset();
  row.end(Status::failed,
          fmt::format("no valid time: the median of {} samples is {} s; the kernel did not run, or "
                      "the timer failed",
                      *r.samples, time_s));
  return false;
}

/// Whether other work held up the row, or what it is held against, in words: its numbers may then
/// be those of the scheduler, which repeats them to 0.2 %.
std::string disturbance(const Row& row, const Row* roof, double max_held_up) {
  const auto said = [&](const Series& series, std::string_view whose) -> std::string {
    const double share = held_up(series);
    if (!(share > max_held_up)) return "";
    return fmt::format("other work held up {:.0f} % of {} samples{}", 100 * share, whose,
                       series.samples.back().visit > 0 ? " in a visit" : "");
  };
  if (std::string own = said(*row.series, "its"); !own.empty()) return own;
  return roof == nullptr ? "" : said(*roof->series, "its roof kernel's");
}

void set_noise(Row& row, const Row* roof, const Standards& standards) {
  const std::string disturbed = disturbance(row, roof, standards.max_held_up);
  if (!disturbed.empty()) row.record.throttle_reasons = roofline::kOtherWork;
  if (!(noise(row.series->round_medians()) <= standards.max_noise) || !disturbed.empty()) {
    row.record.status = Status::noisy;
  }
  row.add_note(disturbed);
  row.add_note(trend(*row.series));
  row.add_note(clock_contradiction(*row.series));
}

void set_place(Record& r, const roofline::Placing& placing, std::optional<double> launch_s) {
  const auto cost = roofline::cost(r.what);
  const double time_s = *r.time_median_s;
  if (cost.flops.value > 0) r.achieved_flops_per_s = cost.flops.value / time_s;
  if (cost.bytes().value > 0) r.achieved_bytes_per_s = cost.bytes().value / time_s;
  if (placing.memory != nullptr) r.peak_bytes_per_s = placing.memory->per_s;
  if (placing.compute != nullptr) r.peak_flops_per_s = placing.compute->per_s;
  if (placing.memory != nullptr && placing.compute != nullptr) {
    r.attainable_flops_per_s =
        attainable(cost.intensity(), placing.compute->flops_per_s(), placing.memory->bytes_per_s())
            .value;
  }
  if (placing.roof != nullptr) {
    r.roof_name = placing.roof->name;
    r.roof_kind = placing.roof->kind;
    r.fraction_of_roof = placing.roof_time->value / time_s;
    r.bound = placing.bound;
  }
  if (launch_s && time_s < 2 * *launch_s) r.bound = roofline::Bound::launch;
}

/// The row's work over that of its roof kernel.
double relative_work(const Row& row, const Row& beside) {
  const auto cost = roofline::cost(row.what), roof = roofline::cost(beside.what);
  return (roof.flops.value > 0 ? cost.flops / roof.flops : cost.bytes() / roof.bytes()).value;
}

/// How much faster than its roof kernel the row is at least, in the visit where that is most.
double least_in_any_visit(const Row& row, const Row& beside) {
  const roofline::Visits roof = beside.series->round_medians(), own = row.series->round_medians();
  double most = 0;
  for (std::size_t v = 0; v < std::min(roof.size(), own.size()); ++v) {
    const auto interval = roofline::paired_ratio({roof[v]}, {own[v]}).interval;
    if (interval) most = std::max(most, interval->low);
  }
  return relative_work(row, beside) * most;
}

/// Of what was sampled in turns with the row, else of what this run measured before.
void set_fraction_of_measured_roof(Row& row, const roofline::Placing& placing, const Row* beside) {
  Record& r = row.record;
  if (beside == nullptr) {
    if (placing.measured_roof_time && placing.measured_roof_time->value > 0) {
      r.fraction_of_measured_roof = placing.measured_roof_time->value / *r.time_median_s;
    }
    return;
  }
  const double work = relative_work(row, *beside);
  const roofline::Estimate ratio =
      roofline::paired_ratio(beside->series->round_medians(), row.series->round_medians());
  r.fraction_of_measured_roof = work * ratio.value;
  if (ratio.interval) {
    r.fraction_of_measured_roof_low = work * ratio.interval->low;
    r.fraction_of_measured_roof_high = work * ratio.interval->high;
  }
}

/// What keeps a row from its roof: the loop itself, or that it waits for memory. Nothing where the
/// loop was slower in the cache: it was disturbed there.
std::string limit_note(const Row& row, const Row& loop) {
  const bool gemm = row.what.op == roofline::Op::gemm;
  // In the first visit they took turns; the loop has no other.
  const auto rate = [&](const Row& r) {
    const roofline::Cost work = cost(r.what);
    return (gemm ? work.flops.value : work.bytes().value) /
           roofline::median(r.series->round_medians().front());
  };
  const double in_cache = rate(loop), share = rate(row) / in_cache;
  if (share > 1.2) return "";
  const char* const by_itself = gemm ? "that loop limits it" : "arithmetic and conversion limit it";
  return fmt::format("{:.0f} % of the {:.3g} {} that its loop reaches in the cache: {}",
                     100 * share, in_cache / 1e9, gemm ? "GFLOP/s" : "GB/s",
                     share >= 0.9 ? by_itself : "it waits for memory as well");
}

void set_mfu(Row& row, std::span<const Roof> roofs) {
  Record& r = row.record;
  const Roof* const peak = mfu_peak(row.what, roofs);
  if (peak == nullptr || !r.achieved_flops_per_s) return;
  r.mfu = *r.achieved_flops_per_s / peak->per_s;
  if (!r.sm_clock_mhz || !peak->clock_mhz) return;
  r.mfu_at_measured_clock = *r.mfu * *peak->clock_mhz / *r.sm_clock_mhz;
  if (*r.mfu_at_measured_clock > 1) {
    row.add_note("mfu_at_measured_clock is above 1: the clock is not that of these samples");
  }
}

const Roof* find_derived(std::span<const Roof> roofs, auto&& fits) {
  const auto at = std::find_if(roofs.begin(), roofs.end(),
                               [&](const Roof& r) { return r.kind == Kind::derived && fits(r); });
  return at == roofs.end() ? nullptr : &*at;
}

/// The limits that no row passes: of a device, what its attributes say; of a cpu, its roof kernel.
void gate(Row& row, const Row* beside, const roofline::Placing& placing,
          const Standards& standards) {
  Record& r = row.record;
  const bool past_cache = row.operands->shapes().bytes() >= 4 * standards.cache_bytes;
  const bool reads = *r.bytes_read > 0;
  const bool gated = row.level == Level::link || (r.cache == "cold" && past_cache && reads);
  const Roof* pins =
      find_derived(standards.roofs, [&](const Roof& f) { return f.level == row.level; });
  const Roof* fastest = find_derived(standards.roofs, [&](const Roof& f) {
    return placing.compute != nullptr && f.pipe == placing.compute->pipe &&
           f.dtype == placing.compute->dtype;
  });
  if (const auto cause = faster_than_light(r, gated ? pins : nullptr, fastest)) {
    r.status = Status::above_roof;
    row.add_note(*cause);
  }
  // A cpu's roofs are measured: a row is past one only where no part of a visit's paired interval
  // is below, and by more than a better loop than the roof's own gains.
  constexpr double kCpuMargin = 1.1;
  const double least = beside == nullptr ? 0 : least_in_any_visit(row, *beside);
  if (!roofline::is_disturbed(r) && least > kCpuMargin) {
    r.status = Status::above_roof;
    row.add_note(
        fmt::format("{:.2f} times its roof kernel, at least {:.2f}: work was elided, data "
                    "came from the cache, or the roof kernel is slow",
                    *r.fraction_of_measured_roof, least));
  }
}

}  // namespace

void judge(Row& row, const Row* roof, const Row* loop, const Standards& standards) {
  Record& r = row.record;
  set_statistics(r, *row.series);
  set_telemetry(r, *row.series);
  if (!has_valid_time(row)) return;
  set_noise(row, roof, standards);
  const roofline::Placing placing = place(row.what, row.level, standards.roofs);
  set_place(r, placing, standards.launch_s);
  set_fraction_of_measured_roof(row, placing, roof);
  if (loop != nullptr && row.level == Level::memory && !roofline::is_disturbed(r) &&
      r.fraction_of_measured_roof.value_or(1) < 0.9) {
    row.add_note(limit_note(row, *loop));
  }
  set_mfu(row, standards.roofs);
  gate(row, roof, placing, standards);
}

std::string ratio_note(const Series& best, const Series& first) {
  const auto ratio = roofline::paired_ratio(best.round_medians(), first.round_medians());
  const auto interval =
      ratio.interval ? fmt::format(" ({:.4f} to {:.4f})", ratio.interval->low, ratio.interval->high)
                     : std::string();
  return fmt::format("{:.4f}{} of the first variant's time", ratio.value, interval);
}

std::optional<std::string> faster_than_light(const Record& r, const Roof* memory_limit,
                                             const Roof* compute_limit) {
  constexpr double kMargin = 1.02;
  if (memory_limit != nullptr && r.achieved_bytes_per_s &&
      *r.achieved_bytes_per_s > kMargin * memory_limit->per_s) {
    return fmt::format(
        "{:.4g} bytes/s, the pins of {} carry {:.4g}: data came from a cache, work was elided, or "
        "the byte count is wrong",
        *r.achieved_bytes_per_s, memory_limit->name, memory_limit->per_s);
  }
  if (compute_limit != nullptr && r.achieved_flops_per_s &&
      *r.achieved_flops_per_s > kMargin * compute_limit->per_s) {
    return fmt::format(
        "{:.4g} FLOP/s, the pipe reaches {:.4g} at its highest clock: work was elided, another "
        "pipe "
        "or type did it, or the timer is wrong",
        *r.achieved_flops_per_s, compute_limit->per_s);
  }
  return std::nullopt;
}

}  // namespace bench
