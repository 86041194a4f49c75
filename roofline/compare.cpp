#include "roofline/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include "roofline/statistics.h"

namespace roofline {
namespace {

/// The columns that say what a row measured, and not when, where or how fast.
constexpr std::string_view kIdentity[] = {"op",
                                          "implementation",
                                          "variant",
                                          "dtype_a",
                                          "dtype_b",
                                          "dtype_out",
                                          "compute_type",
                                          "layout",
                                          "m",
                                          "n",
                                          "k",
                                          "batch",
                                          "cache",
                                          "data",
                                          "scale_mode",
                                          "fast_accumulation"};

/// Facts of one run, which two runs never share.
constexpr std::string_view kOfOneRun[] = {"run_id", "written_utc"};

std::string identity(const Record& r) {
  static const std::vector<std::string> columns = measurement_columns();
  const std::vector<std::string> fields = to_fields(r);
  std::string key;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (std::find(std::begin(kIdentity), std::end(kIdentity), columns[i]) != std::end(kIdentity)) {
      key += fields[i] + '\n';
    }
  }
  return key;
}

std::string label(const Record& r) {
  return fmt::format("{} {} {} {}", name(r.what), r.implementation, r.variant, r.cache);
}

bool measured(const Record& r) { return r.time_median_s && *r.time_median_s > 0; }

/// Its rows by identity, the number among several alike, in order of the file.
using Rows = std::map<std::pair<std::string, int>, const Record*>;

Rows index(const ComparedRun& run) {
  Rows rows;
  std::map<std::string, int> seen;
  for (const Record& r : run.records) {
    const std::string key = identity(r);
    rows[{key, seen[key]++}] = &r;
  }
  return rows;
}

/// The time of `r` over that of `first`, at least and at most; empty where one has no interval.
std::optional<Interval> time_ratio(const Record& r, const Record& first) {
  if (!r.time_ci_low_s || !r.time_ci_high_s || !first.time_ci_low_s || !first.time_ci_high_s) {
    return std::nullopt;
  }
  return Interval{*r.time_ci_low_s / *first.time_ci_high_s,
                  *r.time_ci_high_s / *first.time_ci_low_s};
}

/// How much of its roof a row reached. The paired one where there is one, for a cpu's memory
/// changes speed between the measurement of a roof and that of a row; else the time's interval
/// carries over.
std::optional<Estimate> fraction(const Record& r) {
  if (r.fraction_of_measured_roof && r.fraction_of_measured_roof_low &&
      r.fraction_of_measured_roof_high) {
    return Estimate{*r.fraction_of_measured_roof,
                    Interval{*r.fraction_of_measured_roof_low, *r.fraction_of_measured_roof_high}};
  }
  if (!r.fraction_of_roof || !r.time_ci_low_s || !r.time_ci_high_s) return std::nullopt;
  const double at_one_second = *r.fraction_of_roof * *r.time_median_s;
  return Estimate{*r.fraction_of_roof,
                  Interval{at_one_second / *r.time_ci_high_s, at_one_second / *r.time_ci_low_s}};
}

/// Whether all intervals share a point; nothing where a fraction is unknown.
std::optional<bool> agree(std::span<const Record* const> row) {
  double low = 0, high = INFINITY;
  for (const Record* r : row) {
    const std::optional<Estimate> f = fraction(*r);
    if (!f) return std::nullopt;
    low = std::max(low, f->interval->low);
    high = std::min(high, f->interval->high);
  }
  return low <= high;
}

std::string percent(double ratio) { return fmt::format("{:+.2f} %", 100 * (ratio - 1)); }

/// "run2: host +3.20 % of the median run's time in its typical row", and who stands apart; of two,
/// whose median is nobody's, the second beside the first.
std::vector<std::string> typical_times(std::span<const ComparedRun> runs,
                                       std::span<const std::vector<const Record*>> rows) {
  const bool two = runs.size() == 2;
  std::vector<std::vector<double>> relative(runs.size());  // to the median of all runs, by row
  for (const auto& row : rows) {
    std::vector<double> times;
    for (const Record* r : row) times.push_back(*r->time_median_s);
    const double center = two ? times.front() : median(times);
    for (std::size_t i = 0; i < runs.size(); ++i) relative[i].push_back(times[i] / center);
  }
  std::vector<double> typical, distances;
  for (const auto& of_run : relative) typical.push_back(median(of_run));
  const double center = median(typical);
  for (const double t : typical) distances.push_back(std::abs(t - center));
  // Three deviations of the runs, as their median distance estimates it (x 1.4826 for a normal
  // one), and no less than 2 %: runs of one healthy machine differ by 1.
  const double apart = std::max(0.02, 3 * 1.4826 * median(distances));

  std::vector<std::string> notes;
  for (std::size_t i = two ? 1 : 0; i < runs.size(); ++i) {
    const Record& r = *rows.front()[i];
    const bool outlier = !two && distances[i] > apart;
    notes.push_back(
        fmt::format("{}: {} {} of the {} run's time in its typical row{}", runs[i].name, r.host,
                    percent(typical[i]), two ? "first" : "median",
                    outlier ? fmt::format("; OUTLIER: {} {}", r.device, r.device_uuid) : ""));
  }
  return notes;
}

/// The roof of that name that the run measured, the last where it corrected itself.
const Roof* measured_roof(const ComparedRun& run, std::string_view name) {
  const auto at = std::find_if(run.roofs.rbegin(), run.roofs.rend(), [&](const Roof& r) {
    return r.kind == Kind::measured && r.name == name;
  });
  return at == run.roofs.rend() ? nullptr : &*at;
}

/// "roof copy: run2 +0.20 %, run3 -8.10 % beside run1": what became of the machine. Where its roofs
/// moved apart, the fractions of rows that more than one of them limits moved, too.
std::vector<std::string> roof_rates(std::span<const ComparedRun> runs) {
  std::vector<std::string> notes;
  for (const Roof& first : runs[0].roofs) {
    if (&first != measured_roof(runs[0], first.name)) continue;
    std::vector<std::string> others;
    for (const ComparedRun& run : runs.subspan(1)) {
      if (const Roof* const r = measured_roof(run, first.name)) {
        others.push_back(fmt::format("{} {}", run.name, percent(r->per_s / first.per_s)));
      }
    }
    if (others.empty()) continue;
    notes.push_back(
        fmt::format("roof {}: {} beside {}", first.name, fmt::join(others, ", "), runs[0].name));
  }
  return notes;
}

std::vector<std::string> differing_environment(std::span<const ComparedRun> runs) {
  std::set<std::string> keys;
  for (const ComparedRun& run : runs) {
    for (const auto& [key, value] : run.environment) keys.insert(key);
  }
  std::vector<std::string> notes;
  for (const std::string& key : keys) {
    if (std::find(std::begin(kOfOneRun), std::end(kOfOneRun), key) != std::end(kOfOneRun)) continue;
    std::vector<std::string> values;
    for (const ComparedRun& run : runs) {
      const auto at = run.environment.find(key);
      values.push_back(at == run.environment.end() ? "-" : at->second);
    }
    if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) != values.end()) {
      notes.push_back(fmt::format("differs: {}: {}", key, fmt::join(values, " | ")));
    }
  }
  return notes;
}

std::vector<Cell> line(const ComparedRun& run, const Record& first, const Record& r) {
  const std::optional<Interval> ratio = time_ratio(r, first);
  const std::string_view verdict = !ratio            ? "unknown"
                                   : ratio->low > 1  ? "slower"
                                   : ratio->high < 1 ? "faster"
                                                     : "same";
  const std::optional<Estimate> before = fraction(first), now = fraction(r);
  const Record* const pair[] = {&first, &r};
  const std::optional<bool> agrees = agree(pair);
  return {std::string(name(r.what.op)),
          dtype_label(r.what),
          shape_label(r.what),
          text_cell(r.implementation),
          text_cell(r.variant),
          text_cell(r.cache),
          run.name,
          *first.time_median_s / 1e-6,
          *r.time_median_s / 1e-6,
          *r.time_median_s / *first.time_median_s,
          ratio ? Cell(ratio->low) : Cell(),
          ratio ? Cell(ratio->high) : Cell(),
          std::string(verdict),
          before ? cell(before->value, 0.01) : Cell(),
          now ? cell(now->value, 0.01) : Cell(),
          agrees ? Cell(*agrees) : Cell()};
}

}  // namespace

Comparison compare(std::span<const ComparedRun> runs, std::optional<double> max_slowdown) {
  if (runs.size() < 2) throw std::invalid_argument("compare: expected two runs or more");
  Comparison result{
      .table = {.columns = {"op", "dtype", "shape", "by", "variant", "cache", "run",
                            "first_time_us", "time_us", "ratio", "ratio_low", "ratio_high",
                            "verdict", "first_percent_of_roof", "percent_of_roof", "agrees"},
                .digits = 4},
      .worse = {}};
  std::vector<Rows> rows_of;
  for (const ComparedRun& run : runs) rows_of.push_back(index(run));
  std::vector<std::string> missing;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    for (const auto& [key, record] : rows_of[i]) {
      if (measured(*record) && !rows_of[0].contains(key)) {
        missing.push_back(fmt::format("only in {}: {}", runs[i].name, label(*record)));
      }
    }
  }

  std::vector<std::vector<const Record*>> matched;  // a record of each run
  std::map<std::string, int> seen;
  for (const Record& first : runs[0].records) {  // in the order of the first run
    const std::string key = identity(first);
    const std::pair<std::string, int> numbered{key, seen[key]++};
    if (!measured(first)) continue;
    std::vector<const Record*> row = {&first};
    for (std::size_t i = 1; i < runs.size(); ++i) {
      const auto at = rows_of[i].find(numbered);
      if (at == rows_of[i].end()) {
        missing.push_back(fmt::format("not in {}: {}", runs[i].name, label(first)));
      } else if (const Record& r = *at->second; measured(r)) {
        row.push_back(&r);
      } else {
        missing.push_back(
            fmt::format("{} in {}: {}: {}", name(r.status), runs[i].name, label(r), r.note));
        if (r.status == Status::failed) result.worse.push_back(missing.back());
      }
    }
    if (row.size() == runs.size()) matched.push_back(std::move(row));
  }
  if (matched.empty()) {
    throw std::runtime_error(
        fmt::format("compare: no row of {} was measured in every other run", runs[0].name));
  }

  int known = 0, agreeing = 0;
  for (const auto& row : matched) {
    const std::optional<bool> agrees = agree(row);
    known += agrees.has_value() ? 1 : 0;
    agreeing += agrees.value_or(false) ? 1 : 0;
    for (std::size_t i = 1; i < runs.size(); ++i) {
      result.table.rows.push_back(line(runs[i], *row[0], *row[i]));
      const std::optional<Interval> ratio = time_ratio(*row[i], *row[0]);
      if (max_slowdown && ratio && ratio->low > 1 + *max_slowdown) {
        result.worse.push_back(fmt::format(
            "slower in {}: {}: {}, at least {}", runs[i].name, label(*row[i]),
            percent(*row[i]->time_median_s / *row[0]->time_median_s), percent(ratio->low)));
      }
    }
  }
  std::vector<std::string>& notes = result.table.notes;
  if (known > 0) {
    notes.push_back(fmt::format(
        "fraction of roof: {} of {} rows ({:.0f} %) agree within their combined intervals",
        agreeing, known, 100.0 * agreeing / known));
  }
  for (const auto& more :
       {typical_times(runs, matched), roof_rates(runs), differing_environment(runs), missing}) {
    notes.insert(notes.end(), more.begin(), more.end());
  }
  return result;
}

}  // namespace roofline
