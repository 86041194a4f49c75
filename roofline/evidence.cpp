#include "roofline/evidence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "roofline/spec.h"

namespace roofline {
namespace {

using Rows = std::vector<const Record*>;

/// Not where other work took its processors.
bool is_timed(const Record& r) { return is_measured(r) && r.time_median_s && !is_disturbed(r); }

std::string names(const Rows& rows) {
  std::vector<std::string> all;
  for (const Record* r : rows) {
    const std::string variant = r->variant.empty() ? "" : " " + r->variant;
    all.push_back(fmt::format("{} {}{}", name(r->what), r->implementation, variant));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

Evidence lacks(std::string_view what, std::string_view suite) {
  return {.remark = fmt::format("lacks rows: no measured {}; roofline_bench {}", what, suite)};
}

/// Why there is no row of it: this device does not compute it, or nobody asked.
Evidence lacks(const Run& run, Op op, Dtype dtype, std::string_view what, std::string_view suite) {
  for (const Record& r : run.records) {
    if (r.status == Status::unsupported && r.what.op == op && dtype_label(r.what) == name(dtype)) {
      return {.remark = fmt::format("{}/{} is unsupported here: {}", name(op), name(dtype), r.note),
              .applies = false};
    }
  }
  return lacks(fmt::format("{}/{}{}", name(op), name(dtype), what), suite);
}

Evidence poisoned(const Record& r) {
  return {.rows = names({&r}),
          .remark = fmt::format("{} is above_roof: nothing rests on it", name(r.what))};
}

/// The cold rows in turns that `fits` picks, timed or above_roof.
Rows pick(const Run& run, auto&& fits, std::string_view data = "normal") {
  Rows rows;
  for (const Record& r : run.records) {
    const bool counts = (is_timed(r) || r.status == Status::above_roof) && !is_sustained(r);
    if (counts && r.cache == "cold" && r.data == data && fits(r)) rows.push_back(&r);
  }
  return rows;
}

const Record* above_roof(const Rows& rows) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [](const Record* r) { return r->status == Status::above_roof; });
  return found == rows.end() ? nullptr : *found;
}

bool is_of(const Record& r, Op op, Dtype dtype) {
  return r.what.op == op && dtype_label(r.what) == name(dtype);
}

bool is_linear_layer(const Record& r, Dtype dtype) {
  return is_of(r, Op::gemm, dtype) && r.what.layout == Layout::tn;
}

const Record* fastest(const Rows& rows) {
  return *std::min_element(rows.begin(), rows.end(), [](const Record* a, const Record* b) {
    return *a->time_median_s < *b->time_median_s;
  });
}

const Record* largest(const Rows& rows) {
  return *std::max_element(rows.begin(), rows.end(), [](const Record* a, const Record* b) {
    return cost(a->what).bytes() < cost(b->what).bytes();
  });
}

std::optional<Interval> time_interval(const Record& r) {
  if (!r.time_ci_low_s || !r.time_ci_high_s) return std::nullopt;
  return Interval{*r.time_ci_low_s, *r.time_ci_high_s};
}

/// Of a value that is inversely proportional to the row's time.
std::optional<Interval> rate_interval(const Record& r, double value) {
  const auto time = time_interval(r);
  if (!time) return std::nullopt;
  return Interval{value * *r.time_median_s / time->high, value * *r.time_median_s / time->low};
}

Evidence rate(const Record& r, std::optional<double> value, std::string_view unknown) {
  if (!value) return {.rows = names({&r}), .remark = std::string(unknown)};
  return {.value = value, .interval = rate_interval(r, *value), .rows = names({&r})};
}

Evidence exactly(double value) { return {.value = value, .interval = Interval{value, value}}; }

std::vector<Roof> verified(std::span<const Roof> roofs, auto&& fits) {
  std::vector<Roof> kept;
  for (const Roof& r : roofs) {
    if (!r.source.starts_with(kUnverified) && fits(r)) kept.push_back(r);
  }
  return kept;
}

/// Round by round, of those that both have.
Visits sum(Visits a, const Visits& b) {
  a.resize(std::min(a.size(), b.size()));
  for (std::size_t v = 0; v < a.size(); ++v) {
    a[v].resize(std::min(a[v].size(), b[v].size()));
    for (std::size_t i = 0; i < a[v].size(); ++i) a[v][i] += b[v][i];
  }
  return a;
}

/// Sum of the numerator's times over the denominator's, round by round, so that what drifts,
/// drifts for both.
Evidence paired(const Run& run, const Rows& numerator, const Record& denominator) {
  const auto medians = [&](const Record* r) -> const Visits& {
    return run.round_medians_s[static_cast<std::size_t>(r - run.records.data())];
  };
  Rows rows = numerator;
  rows.push_back(&denominator);
  if (std::ranges::any_of(rows, [&](const Record* r) { return medians(r).empty(); })) {
    return {.rows = names(rows), .remark = "their samples are not in samples.csv"};
  }
  Visits above = medians(numerator.front());
  for (std::size_t i = 1; i < numerator.size(); ++i) above = sum(above, medians(numerator[i]));
  const Estimate ratio = paired_ratio(above, medians(&denominator));
  return {.value = ratio.value, .interval = ratio.interval, .rows = names(rows)};
}

}  // namespace

Evidence paper_ridge(std::span<const Roof> roofs, Dtype dtype) {
  const std::vector<Roof> sheet =
      verified(roofs, [](const Roof& r) { return r.kind == Kind::datasheet; });
  const Placing p = place(make_case(Op::gemm, dtype, 1, 1, 1), Level::memory, sheet);
  if (p.memory == nullptr || p.compute == nullptr) {
    return {.remark = fmt::format("no verified data-sheet peak of {} and bandwidth", name(dtype))};
  }
  Evidence evidence = exactly(ridge(p.compute->flops_per_s(), p.memory->bytes_per_s()).value);
  evidence.rows = fmt::format("{} / {} of the data sheet", p.compute->name, p.memory->name);
  return evidence;
}

Evidence over_ridge(const Run& run, const Case& c, double intensity_flops_per_byte) {
  const std::vector<Roof> roofs = verified(run.roofs, [](const Roof&) { return true; });
  const Placing p = place(c, Level::memory, roofs);
  if (p.memory == nullptr || p.compute == nullptr) {
    Evidence none = lacks(run, c.op, input_dtype(c), "", "");
    if (none.applies) none.remark = "no verified roof of its pipe and of memory";
    return none;
  }
  const Intensity corner = ridge(p.compute->flops_per_s(), p.memory->bytes_per_s());
  Evidence evidence = exactly(intensity_flops_per_byte / corner.value);
  evidence.rows = fmt::format("{} {} / {} {}", name(p.compute->kind), p.compute->name,
                              name(p.memory->kind), p.memory->name);
  evidence.remark = fmt::format("its ridge here: {:.4g} FLOP/byte", corner.value);
  return evidence;
}

Evidence measured_ridge(const Run& run, Dtype dtype) {
  const Rows gemms = pick(run, [&](const Record& r) { return is_of(r, Op::gemm, dtype); });
  const Rows streams = pick(run, [](const Record& r) {
    return r.what.op == Op::read || r.what.op == Op::copy || r.what.op == Op::triad;
  });
  for (const Rows& rows : {gemms, streams}) {
    if (const Record* wrong = above_roof(rows)) return poisoned(*wrong);
  }
  if (gemms.empty() || streams.empty()) {
    return lacks(fmt::format("gemm/{} or stream", name(dtype)), "--suite=quick");
  }
  const auto best = [](const Rows& rows, std::optional<double> Record::*per_s) {
    return *std::max_element(rows.begin(), rows.end(), [&](const Record* a, const Record* b) {
      return (a->*per_s).value_or(0) < (b->*per_s).value_or(0);
    });
  };
  const Record& gemm = *best(gemms, &Record::achieved_flops_per_s);
  const Record& stream = *best(streams, &Record::achieved_bytes_per_s);
  const double flops_per_s = gemm.achieved_flops_per_s.value_or(0);
  const double bytes_per_s = stream.achieved_bytes_per_s.value_or(0);
  Evidence evidence{.value = flops_per_s / bytes_per_s, .rows = names({&gemm, &stream})};
  const auto top = rate_interval(gemm, flops_per_s), bottom = rate_interval(stream, bytes_per_s);
  if (top && bottom) evidence.interval = Interval{top->low / bottom->high, top->high / bottom->low};
  return evidence;
}

Evidence beside_stream(const Run& run, Op op, Dtype dtype) {
  const Rows rows =
      pick(run, [&](const Record& r) { return is_of(r, op, dtype) && r.implementation == "ours"; });
  if (const Record* wrong = above_roof(rows)) return poisoned(*wrong);
  if (rows.empty())
    return lacks(fmt::format("{}/{} of ours", name(op), name(dtype)), "--suite=quick");
  const Record& r = *largest(rows);
  Evidence evidence = rate(r, r.fraction_of_measured_roof, "its stream was not measured");
  if (r.fraction_of_measured_roof_low && r.fraction_of_measured_roof_high) {  // paired by round
    evidence.interval = {*r.fraction_of_measured_roof_low, *r.fraction_of_measured_roof_high};
  }
  return evidence;
}

Evidence gelu_over_relu(const Run& run, Dtype dtype) {
  const auto ours = [&](Op op) {
    return pick(run,
                [&](const Record& r) { return is_of(r, op, dtype) && r.implementation == "ours"; });
  };
  const Rows gelus = ours(Op::gelu), relus = ours(Op::relu);
  for (const Rows& rows : {gelus, relus}) {
    if (const Record* wrong = above_roof(rows)) return poisoned(*wrong);
    if (rows.empty())
      return lacks(fmt::format("relu and gelu in {}", name(dtype)), "--suite=quick");
  }
  const Record &gelu = *largest(gelus), &relu = *largest(relus);
  if (gelu.what.n != relu.what.n) return lacks("relu and gelu of one size", "--suite=quick");
  return paired(run, {&gelu}, relu);
}

Evidence backward_over_forward(const Run& run, Dtype dtype) {
  const auto of_layout = [&](Layout layout, double flops) {
    return pick(run, [&](const Record& r) {
      return is_of(r, Op::gemm, dtype) && r.what.layout == layout &&
             (flops == 0 || cost(r.what).flops.value == flops);
    });
  };
  const Rows backward = of_layout(Layout::nt, 0);
  if (backward.empty()) {
    return lacks(fmt::format("gemm/{} in the layouts tn, nn, nt", name(dtype)), "--suite=default");
  }
  const double flops = cost(largest(backward)->what).flops.value;
  Rows trio;
  for (const Layout layout : {Layout::nn, Layout::nt, Layout::tn}) {
    const Rows rows = of_layout(layout, flops);
    if (const Record* wrong = above_roof(rows)) return poisoned(*wrong);
    if (rows.empty()) {
      return lacks(fmt::format("gemm/{} in layout {}", name(dtype), name(layout)),
                   "--suite=default");
    }
    trio.push_back(fastest(rows));
  }
  return paired(run, {trio[0], trio[1]}, *trio[2]);
}

Evidence best_mfu(const Run& run, Dtype dtype) {
  Rows rows = pick(run, [&](const Record& r) { return is_linear_layer(r, dtype); });
  if (const Record* wrong = above_roof(rows)) return poisoned(*wrong);
  if (rows.empty()) return lacks(run, Op::gemm, dtype, "", "--suite=default");
  std::erase_if(rows, [](const Record* r) { return !r->mfu; });
  if (rows.empty()) {
    return {.remark = "no data sheet says its peak, and so it has no MFU", .applies = false};
  }
  const auto less = [](const Record* a, const Record* b) { return *a->mfu < *b->mfu; };
  std::map<double, const Record*> by_size;
  for (const Record* r : rows) {
    const Record*& best = by_size[cost(r->what).flops.value];
    if (best == nullptr || less(best, r)) best = r;
  }
  std::vector<std::string> sizes;
  for (const auto& [flops, r] : by_size) {
    sizes.push_back(fmt::format("{} {:.3g}", shape_label(r->what), *r->mfu));
  }
  const Record& best = **std::max_element(rows.begin(), rows.end(), less);
  Evidence evidence = rate(best, best.mfu, "");
  evidence.remark = fmt::format("by size: {}", fmt::join(sizes, ", "));
  return evidence;
}

Evidence share_of_peak(const Run& run, const Case& c, std::string_view data, FlopsPerS peak) {
  const Rows rows = pick(
      run, [&](const Record& r) { return r.what == c; }, data);
  if (const Record* wrong = above_roof(rows)) return poisoned(*wrong);
  if (rows.empty()) {
    return lacks(fmt::format("{} with data {}", name(c), data),
                 fmt::format("--op={} --dtype={} --shape={} --data={}", name(c.op), dtype_label(c),
                             shape_label(c), data));
  }
  const Record& r = *fastest(rows);
  return rate(r, cost(c).flops.value / *r.time_median_s / peak.value, "");
}

Evidence share_of_roof(const Run& run, const Case& c) {
  const Rows rows = pick(run, [&](const Record& r) { return r.what == c; });
  if (const Record* wrong = above_roof(rows)) return poisoned(*wrong);
  if (rows.empty()) {
    return lacks(name(c), fmt::format("--op={} --dtype={} --shape={}", name(c.op), dtype_label(c),
                                      shape_label(c)));
  }
  const Record& r = *fastest(rows);
  if (r.fraction_of_roof) return rate(r, r.fraction_of_roof, "");
  const Placing p = place(c, Level::memory, run.roofs);
  if (!p.roof_time) return rate(r, std::nullopt, "no roof is known above it");
  if (p.roof->source.find(name(c)) != std::string::npos) {
    return rate(r, std::nullopt,
                fmt::format("the only roof above it, {}, is this row", p.roof->name));
  }
  Evidence evidence = rate(r, p.roof_time->value / *r.time_median_s, "");
  evidence.remark = fmt::format("of the {} {}", name(p.roof->kind), p.roof->name);
  return evidence;
}

Evidence conversion(const Run& run, Dtype dtype, std::string_view what) {
  const auto value = run.environment_number(fmt::format("conversions/{}", what));
  if (!value) return {.remark = fmt::format("environment.json has no conversion {}", what)};
  Evidence evidence = exactly(*value);
  evidence.rows = fmt::format("{}, environment.json", what);
  const double since = dtype == Dtype::bf16 ? 8.0 : bytes_per_element(dtype) == 1 ? 8.9 : 0;
  const auto capability = run.environment_number("device/compute_capability");
  if (capability && *capability < since) {
    evidence.remark = fmt::format("in software: {:.1f} converts {}, this device is {:.1f}", since,
                                  name(dtype), *capability);
  }
  return evidence;
}

Evidence device_memory(const Run& run) {
  const auto bytes = run.environment_number("device/memory_bytes");
  if (!bytes) return {.remark = "environment.json has no memory_bytes"};
  Evidence evidence = exactly(*bytes);
  evidence.rows = "memory_bytes, environment.json";
  return evidence;
}

Evidence decode_share(const Run& run, Dtype dtype) {
  const Rows rows =
      pick(run, [&](const Record& r) { return is_linear_layer(r, dtype) && r.what.m == 1; });
  if (const Record* wrong = above_roof(rows)) return poisoned(*wrong);
  if (rows.empty()) return lacks(run, Op::gemm, dtype, " with M = 1", "--suite=default");
  const Record& r = *largest(rows);
  if (!r.peak_bytes_per_s) return rate(r, std::nullopt, "no bandwidth is known above it");
  return rate(r, r.achieved_bytes_per_s.value_or(0) / *r.peak_bytes_per_s, "");
}

}  // namespace roofline
