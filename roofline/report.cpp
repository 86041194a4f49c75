#include "roofline/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "roofline/statistics.h"

namespace roofline {
namespace {

/// Half of the interval's width, in percent of the median.
Cell spread(const Record& r) {
  if (!r.time_median_s || !r.time_ci_low_s || !r.time_ci_high_s) return {};
  return 100 * (*r.time_ci_high_s - *r.time_ci_low_s) / 2 / *r.time_median_s;
}

/// Numbers of the records that computed the same in turns, on the same inputs, from the same place.
using Alike = std::vector<std::size_t>;

std::vector<Alike> alike(std::span<const Record> records) {
  std::vector<Alike> groups;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& r = records[i];
    if (!is_measured(r) || !r.time_median_s || is_sustained(r)) continue;
    const auto same = [&](const Alike& group) {
      const Record& first = records[group.front()];
      return first.what == r.what && first.cache == r.cache && first.data == r.data;
    };
    const auto found = std::find_if(groups.begin(), groups.end(), same);
    if (found == groups.end()) {
      groups.push_back({i});
    } else {
      found->push_back(i);
    }
  }
  return groups;
}

}  // namespace

Table peers(const Run& run) {
  Table table{.title = "beside the fastest peer: the peer's time / the time of `by`",
              .columns = {"op", "dtype", "shape", "cache", "data", "by", "variant", "peer",
                          "peer_variant", "ratio", "ratio_low", "ratio_high"},
              .digits = 4};
  const std::vector<Record>& records = run.records;
  const auto faster = [&](std::size_t a, std::size_t b) {
    return *records[a].time_median_s < *records[b].time_median_s;
  };
  for (const Alike& group : alike(records)) {
    Alike by, others;
    for (const std::size_t i : group) {
      const bool first = records[i].implementation == records[group.front()].implementation;
      (first ? by : others).push_back(i);
    }
    if (others.empty()) continue;
    const std::size_t own = *std::min_element(by.begin(), by.end(), faster);
    const std::size_t peer = *std::min_element(others.begin(), others.end(), faster);
    const Record &r = records[own], &p = records[peer];
    const auto& own_rounds = run.round_medians_s[own];
    const auto& peer_rounds = run.round_medians_s[peer];
    const Estimate ratio = own_rounds.empty() || peer_rounds.empty()
                               ? Estimate{*p.time_median_s / *r.time_median_s, std::nullopt}
                               : paired_ratio(peer_rounds, own_rounds);
    table.rows.push_back({std::string(name(r.what.op)), dtype_label(r.what), shape_label(r.what),
                          text_cell(r.cache), text_cell(r.data), text_cell(r.implementation),
                          text_cell(r.variant), text_cell(p.implementation), text_cell(p.variant),
                          ratio.value, ratio.interval ? Cell(ratio.interval->low) : Cell(),
                          ratio.interval ? Cell(ratio.interval->high) : Cell()});
  }
  return table;
}

Table report(std::span<const Record> records) {
  Table table{.columns = {"op", "dtype", "shape", "by", "variant", "cache", "time_us", "+-_percent",
                          "GB/s", "TFLOP/s", "percent_of_roof", "roof", "kind",
                          "percent_of_measured", "mfu_percent", "bound", "status"},
              .digits = 4};
  const bool compares_data = std::any_of(records.begin(), records.end(), [&](const Record& r) {
    return r.data != records.front().data;
  });
  const auto after_cache =
      std::find(table.columns.begin(), table.columns.end(), "cache") + 1 - table.columns.begin();
  if (compares_data) table.columns.insert(table.columns.begin() + after_cache, "data");
  for (const Record& r : records) {
    table.rows.push_back({std::string(name(r.what.op)), dtype_label(r.what), shape_label(r.what),
                          text_cell(r.implementation), text_cell(r.variant), text_cell(r.cache),
                          cell(r.time_median_s, 1e-6), spread(r), cell(r.achieved_bytes_per_s, 1e9),
                          cell(r.achieved_flops_per_s, 1e12), cell(r.fraction_of_roof, 0.01),
                          text_cell(r.roof_name),
                          r.roof_kind ? text_cell(name(*r.roof_kind)) : Cell(),
                          cell(r.fraction_of_measured_roof, 0.01), cell(r.mfu, 0.01),
                          r.bound ? text_cell(name(*r.bound)) : Cell(), text_cell(name(r.status))});
    if (compares_data) {
      table.rows.back().insert(table.rows.back().begin() + after_cache, text_cell(r.data));
    }
    if (!r.note.empty()) {
      const std::string note = fmt::format("{} {}: {}", name(r.what), r.implementation, r.note);
      if (std::find(table.notes.begin(), table.notes.end(), note) == table.notes.end()) {
        table.notes.push_back(note);
      }
    }
  }
  return table;
}

}  // namespace roofline
