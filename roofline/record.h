// One row of measurements.csv. One table of columns serves its writer and its reader.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/case.h"
#include "roofline/roof.h"

namespace roofline {

/// Raised by 1 when a column is added, renamed or means something else.
inline constexpr std::int64_t kSchema = 1;

enum class Status {
  ok,
  noisy,        // measured, its interval wider than asked for
  unsupported,  // this implementation does not compute the case here: the note says why
  skipped,      // it could, but memory or time did not allow
  failed,       // wrong output, no valid time, or an error
  above_roof,   // faster than the hardware can be
};
std::string_view name(Status status);
std::optional<Status> parse_status(std::string_view name);

/// case x implementation x variant x cache x data. What is unknown is empty, never 0.
struct Record {
  std::int64_t schema = kSchema;
  std::string run_id, timestamp_utc, host, backend, device, device_uuid;
  std::int64_t repetition = 1;
  Case what;
  std::string implementation, variant;
  std::string scale_mode;
  std::optional<bool> fast_accumulation;
  std::string cache, data;  // cold | hot; normal | uniform | integers | ones | zeros
  std::optional<std::int64_t> seed;

  std::optional<double> flops, bytes_read, bytes_written, intensity_flops_per_byte;

  std::optional<std::int64_t> launches_per_sample, copies, samples, rounds;
  std::optional<double> time_median_s, time_ci_low_s, time_ci_high_s;
  std::optional<double> time_p10_s, time_p90_s, time_min_s, time_mean_s, time_cv;

  std::optional<double> achieved_flops_per_s, achieved_bytes_per_s;
  std::string roof_name;
  std::optional<Kind> roof_kind;
  std::optional<double> peak_flops_per_s, peak_bytes_per_s, attainable_flops_per_s;
  std::optional<double> fraction_of_roof, fraction_of_measured_roof;
  // Of fraction_of_measured_roof, where the roof was sampled in turns with the row.
  std::optional<double> fraction_of_measured_roof_low, fraction_of_measured_roof_high;
  std::optional<double> mfu, mfu_at_measured_clock;
  std::optional<Bound> bound;

  std::optional<double> sm_clock_mhz, memory_clock_mhz, power_w, temperature_c;
  std::string throttle_reasons;
  std::optional<std::int64_t> throttled_samples;

  std::optional<std::int64_t> workspace_bytes;
  std::string numerical_impl;
  std::optional<bool> verified;
  std::string error_metric;
  std::optional<double> max_error, tolerance;
  Status status = Status::ok;
  std::string note;
};

/// Whether it has a time to stand by: an `above_roof` one has a wrong one.
inline bool is_measured(const Record& r) {
  return r.status == Status::ok || r.status == Status::noisy;
}

/// In throttle_reasons: other processes took the processors of a cpu row, or of its roof kernel.
/// What it says is then the scheduler's.
inline constexpr std::string_view kOtherWork = "other_work";
inline bool is_disturbed(const Record& r) { return r.throttle_reasons == kOtherWork; }

/// What the variant of a row ends in that was measured alone and without pause, in no turns with
/// its group: no ratio of its rounds to those of another is a paired one.
inline constexpr std::string_view kSustained = "-sustained";
inline bool is_sustained(const Record& r) { return r.variant.ends_with(kSustained); }

/// The header of measurements.csv, in order.
std::vector<std::string> measurement_columns();

/// One field a column, in the order of measurement_columns().
std::vector<std::string> to_fields(const Record& record);

/// Reads a whole measurements.csv. Throws std::runtime_error "<source>:<line>: ..." where a column
/// is missing or a value does not parse; columns that this version does not know are passed over.
std::vector<Record> parse_measurements(std::string_view text, std::string_view source);

/// The same for roofs.csv.
std::vector<std::string> roof_columns();
std::vector<std::string> to_fields(const Roof& roof, std::string_view run_id);
std::vector<Roof> parse_roofs(std::string_view text, std::string_view source);

}  // namespace roofline
