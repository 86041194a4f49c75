#include "roofline/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <type_traits>

#include "roofline/csv.h"

namespace roofline {
namespace {

constexpr std::string_view kStatuses[] = {"ok",      "noisy",  "unsupported",
                                          "skipped", "failed", "above_roof"};

// ---- one value <-> one field
// --------------------------------------------------------------------- Numbers are written with as
// many digits as it takes to read the same value back, and read without regard to the locale.

std::string to_field(const std::string& value) { return value; }
std::string to_field(std::int64_t value) { return fmt::format("{}", value); }
std::string to_field(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }
std::string to_field(bool value) { return value ? "true" : "false"; }
template <typename Enum>
requires std::is_enum_v<Enum> std::string to_field(Enum value) { return std::string(name(value)); }
template <typename T>
std::string to_field(const std::optional<T>& value) {
  return value ? to_field(*value) : "";
}

template <typename Number>
bool read_number(std::string_view text, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end;
}

bool from_field(std::string_view text, std::string& value) {
  value = text;
  return true;
}
bool from_field(std::string_view text, std::int64_t& value) { return read_number(text, value); }
bool from_field(std::string_view text, double& value) {
  return read_number(text, value) && std::isfinite(value);
}
bool from_field(std::string_view text, bool& value) {
  value = text == "true";
  return value || text == "false";
}
template <typename Enum>
bool assign(const std::optional<Enum>& parsed, Enum& value) {
  if (parsed) value = *parsed;
  return parsed.has_value();
}
bool from_field(std::string_view t, Op& value) { return assign(parse_op(t), value); }
bool from_field(std::string_view t, Dtype& value) { return assign(parse_dtype(t), value); }
bool from_field(std::string_view t, Layout& value) { return assign(parse_layout(t), value); }
bool from_field(std::string_view t, Kind& value) { return assign(parse_kind(t), value); }
bool from_field(std::string_view t, Level& value) { return assign(parse_level(t), value); }
bool from_field(std::string_view t, Access& value) { return assign(parse_access(t), value); }
bool from_field(std::string_view t, Pipe& value) { return assign(parse_pipe(t), value); }
bool from_field(std::string_view t, Bound& value) { return assign(parse_bound(t), value); }
bool from_field(std::string_view t, Status& value) { return assign(parse_status(t), value); }
template <typename T>
bool from_field(std::string_view text, std::optional<T>& value) {
  value.reset();
  return text.empty() || from_field(text, value.emplace());
}

template <typename T>
constexpr std::string_view expected() {
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>>) {
    return "a number";
  } else if constexpr (std::is_same_v<T, std::int64_t> ||
                       std::is_same_v<T, std::optional<std::int64_t>>) {
    return "a whole number";
  } else if constexpr (std::is_same_v<T, std::optional<bool>>) {
    return "true or false";
  } else {
    return "a known name";
  }
}

// ---- columns
// -------------------------------------------------------------------------------------

template <typename Row>
struct Column {
  std::string_view name, expected;
  std::string (*get)(const Row&);
  bool (*set)(std::string_view, Row&);
};

/// `member` returns a reference to the column's value, so that one accessor writes and reads.
template <typename Row, auto member>
constexpr Column<Row> column(std::string_view name) {
  using Value = std::remove_cvref_t<decltype(member(std::declval<Row&>()))>;
  return {name, expected<Value>(), [](const Row& r) { return to_field(member(r)); },
          [](std::string_view text, Row& r) { return from_field(text, member(r)); }};
}

#define COLUMN(row, name, member)                         \
  column < row, [](auto& r) -> auto& { return r.member; } \
  > (name)
#define MEASUREMENT(member) COLUMN(Record, #member, member)
#define ROOF(member) COLUMN(RoofRow, #member, member)

constexpr Column<Record> kMeasurementColumns[] = {
    MEASUREMENT(schema),
    MEASUREMENT(run_id),
    MEASUREMENT(timestamp_utc),
    MEASUREMENT(host),
    MEASUREMENT(backend),
    MEASUREMENT(device),
    MEASUREMENT(device_uuid),
    MEASUREMENT(repetition),
    COLUMN(Record, "op", what.op),
    MEASUREMENT(implementation),
    MEASUREMENT(variant),
    COLUMN(Record, "dtype_a", what.a),
    COLUMN(Record, "dtype_b", what.b),
    COLUMN(Record, "dtype_out", what.out),
    COLUMN(Record, "compute_type", what.compute),
    COLUMN(Record, "layout", what.layout),
    MEASUREMENT(scale_mode),
    MEASUREMENT(fast_accumulation),
    COLUMN(Record, "m", what.m),
    COLUMN(Record, "n", what.n),
    COLUMN(Record, "k", what.k),
    COLUMN(Record, "batch", what.batch),
    MEASUREMENT(cache),
    MEASUREMENT(data),
    MEASUREMENT(seed),
    MEASUREMENT(flops),
    MEASUREMENT(bytes_read),
    MEASUREMENT(bytes_written),
    MEASUREMENT(intensity_flops_per_byte),
    MEASUREMENT(launches_per_sample),
    MEASUREMENT(copies),
    MEASUREMENT(samples),
    MEASUREMENT(rounds),
    MEASUREMENT(time_median_s),
    MEASUREMENT(time_ci_low_s),
    MEASUREMENT(time_ci_high_s),
    MEASUREMENT(time_p10_s),
    MEASUREMENT(time_p90_s),
    MEASUREMENT(time_min_s),
    MEASUREMENT(time_mean_s),
    MEASUREMENT(time_cv),
    MEASUREMENT(achieved_flops_per_s),
    MEASUREMENT(achieved_bytes_per_s),
    MEASUREMENT(roof_name),
    MEASUREMENT(roof_kind),
    MEASUREMENT(peak_flops_per_s),
    MEASUREMENT(peak_bytes_per_s),
    MEASUREMENT(attainable_flops_per_s),
    MEASUREMENT(fraction_of_roof),
    MEASUREMENT(fraction_of_measured_roof),
    MEASUREMENT(fraction_of_measured_roof_low),
    MEASUREMENT(fraction_of_measured_roof_high),
    MEASUREMENT(mfu),
    MEASUREMENT(mfu_at_measured_clock),
    MEASUREMENT(bound),
    MEASUREMENT(sm_clock_mhz),
    MEASUREMENT(memory_clock_mhz),
    MEASUREMENT(power_w),
    MEASUREMENT(temperature_c),
    MEASUREMENT(throttle_reasons),
    MEASUREMENT(throttled_samples),
    MEASUREMENT(workspace_bytes),
    MEASUREMENT(numerical_impl),
    MEASUREMENT(verified),
    MEASUREMENT(error_metric),
    MEASUREMENT(max_error),
    MEASUREMENT(tolerance),
    MEASUREMENT(status),
    MEASUREMENT(note),
};

/// A roof as it stands in roofs.csv, where FLOP/s and bytes/s have a column each.
struct RoofRow {
  std::int64_t schema = kSchema;
  std::string run_id, name;
  Kind kind = Kind::measured;
  Level level = Level::none;
  Access access = Access::none;
  Pipe pipe = Pipe::none;
  std::optional<Dtype> dtype;
  std::optional<double> flops_per_s, bytes_per_s, clock_mhz;
  std::string source;
};

constexpr Column<RoofRow> kRoofColumns[] = {
    ROOF(schema), ROOF(run_id), ROOF(name),        ROOF(kind),        ROOF(level),     ROOF(access),
    ROOF(pipe),   ROOF(dtype),  ROOF(flops_per_s), ROOF(bytes_per_s), ROOF(clock_mhz), ROOF(source),
};

template <typename Row>
std::vector<std::string> names(std::span<const Column<Row>> columns) {
  std::vector<std::string> all;
  for (const Column<Row>& c : columns) all.emplace_back(c.name);
  return all;
}

template <typename Row>
std::vector<std::string> fields(std::span<const Column<Row>> columns, const Row& row) {
  std::vector<std::string> all;
  for (const Column<Row>& c : columns) all.push_back(c.get(row));
  return all;
}

template <typename Row>
std::vector<Row> parse(std::span<const Column<Row>> columns, std::string_view text,
                       std::string_view source) {
  const CsvTable table = parse_csv(text, source);
  std::vector<std::size_t> at;  // of each column, in the file
  for (const Column<Row>& c : columns) {
    const auto found = std::find(table.header.begin(), table.header.end(), c.name);
    if (found == table.header.end()) {
      throw std::runtime_error(fmt::format(
          "{}:1: expected a column {}, the header has none: not a file of this project, "
          "or of another version",
          source, c.name));
    }
    at.push_back(static_cast<std::size_t>(found - table.header.begin()));
  }
  std::vector<Row> rows;
  for (const CsvRow& line : table.rows) {
    Row row;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string& field = line.fields[at[i]];
      if (!columns[i].set(field, row)) {
        throw std::runtime_error(fmt::format("{}:{}: {} is \"{}\", expected {}", source, line.line,
                                             columns[i].name, field, columns[i].expected));
      }
    }
    if (row.schema != kSchema) {
      throw std::runtime_error(fmt::format("{}:{}: schema is {}, this program reads {}", source,
                                           line.line, row.schema, kSchema));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

constexpr std::span<const Column<Record>> measurements() { return kMeasurementColumns; }
constexpr std::span<const Column<RoofRow>> roofs() { return kRoofColumns; }

}  // namespace

std::string_view name(Status status) { return kStatuses[static_cast<int>(status)]; }

std::optional<Status> parse_status(std::string_view name) {
  const auto* const at = std::find(std::begin(kStatuses), std::end(kStatuses), name);
  if (at == std::end(kStatuses)) return std::nullopt;
  return static_cast<Status>(at - std::begin(kStatuses));
}

std::vector<std::string> measurement_columns() { return names(measurements()); }

std::vector<std::string> to_fields(const Record& record) { return fields(measurements(), record); }

std::vector<Record> parse_measurements(std::string_view text, std::string_view source) {
  return parse(measurements(), text, source);
}

std::vector<std::string> roof_columns() { return names(roofs()); }

std::vector<std::string> to_fields(const Roof& roof, std::string_view run_id) {
  const auto present = [&](bool is) {
    return is ? std::optional<double>(roof.per_s) : std::nullopt;
  };
  return fields(roofs(), RoofRow{.run_id = std::string(run_id),
                                 .name = roof.name,
                                 .kind = roof.kind,
                                 .level = roof.level,
                                 .access = roof.access,
                                 .pipe = roof.pipe,
                                 .dtype = roof.dtype,
                                 .flops_per_s = present(!roof.is_memory()),
                                 .bytes_per_s = present(roof.is_memory()),
                                 .clock_mhz = roof.clock_mhz,
                                 .source = roof.source});
}

std::vector<Roof> parse_roofs(std::string_view text, std::string_view source) {
  std::vector<Roof> all;
  for (RoofRow& row : parse(roofs(), text, source)) {
    const std::optional<double> per_s =
        row.level == Level::none ? row.flops_per_s : row.bytes_per_s;
    all.push_back({.name = std::move(row.name),
                   .kind = row.kind,
                   .level = row.level,
                   .access = row.access,
                   .pipe = row.pipe,
                   .dtype = row.dtype,
                   .per_s = per_s.value_or(0),
                   .clock_mhz = row.clock_mhz,
                   .source = std::move(row.source)});
  }
  return all;
}

}  // namespace roofline
