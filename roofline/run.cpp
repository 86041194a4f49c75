#include "roofline/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "roofline/csv.h"
#include "roofline/statistics.h"

namespace roofline {

std::string read_file(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) {  // which an ifstream opens, and reads as empty
    throw std::runtime_error(fmt::format("{}: {}", path.string(), std::strerror(EISDIR)));
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad()) {
    throw std::runtime_error(fmt::format("{}: {}", path.string(), std::strerror(errno)));
  }
  return text;
}

namespace {

/// Throws where the rows are of several: no verdict would be any one's.
void check_one_device(const std::vector<Record>& records, const std::string& source) {
  const auto device = [](const Record& r) {
    return r.device_uuid.empty() ? r.device : r.device + ' ' + r.device_uuid;
  };
  for (const Record& r : records) {
    if (device(r) != device(records.front())) {
      throw std::runtime_error(
          fmt::format("{}: expected one device, got {} and {}: keep the runs of each apart", source,
                      device(records.front()), device(r)));
    }
  }
}

}  // namespace

Run read_run(const std::filesystem::path& path) {
  Run run;
  const bool is_measurements = path.filename() == "measurements.csv";
  if (!is_measurements && std::filesystem::is_regular_file(path)) {
    throw std::invalid_argument(
        fmt::format("{}: expected the folder of a run, or its measurements.csv, got another file",
                    path.string()));
  }
  run.folder = is_measurements ? path.parent_path() : path;
  const std::filesystem::path measurements = run.folder / "measurements.csv";
  const std::filesystem::path roofs = run.folder / "roofs.csv";
  if (!std::filesystem::exists(measurements)) {
    throw std::runtime_error(fmt::format(
        "{}: expected the measurements of a run, found no such file; RUN is a folder that "
        "roofline_bench wrote",
        measurements.string()));
  }
  if (!std::filesystem::exists(roofs)) {
    throw std::runtime_error(fmt::format(
        "{}: expected the roofs of the run beside its measurements, found no such file; copy the "
        "whole folder that roofline_bench wrote",
        roofs.string()));
  }
  run.records = parse_measurements(read_file(measurements), measurements.string());
  check_one_device(run.records, measurements.string());
  run.roofs = parse_roofs(read_file(roofs), roofs.string());
  const std::filesystem::path environment = run.folder / "environment.json";
  if (std::filesystem::exists(environment)) {
    run.environment = flat_environment(read_file(environment), environment.string());
  }
  return run;
}

std::optional<double> Run::environment_number(const std::string& key) const {
  const auto at = environment.find(key);
  if (at == environment.end()) return std::nullopt;
  const std::string& text = at->second;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string Run::caveat() const {
  const auto outcome = environment.find("outcome");
  if (outcome == environment.end() || outcome->second == "complete") return "";
  return fmt::format("{}: not a whole run, its outcome is \"{}\": rows may be missing\n",
                     folder.string(), outcome->second);
}

Environment flat_environment(std::string_view json, std::string_view source) {
  const nlohmann::json object = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    throw std::runtime_error(
        fmt::format("{}: expected a JSON object, found {} bytes that are none; without the file "
                    "the run is read as one of an unknown environment",
                    source, json.size()));
  }
  Environment flat;
  const nlohmann::json pointers = object.flatten();
  for (const auto& [pointer, value] : pointers.items()) {
    if (pointer.empty()) continue;  // of an empty object
    flat[pointer.substr(1)] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return flat;
}

void read_rounds(Run& run) {
  run.round_medians_s.assign(run.records.size(), {});
  const std::filesystem::path path = run.folder / "samples.csv";
  if (!std::filesystem::exists(path)) return;
  const CsvTable table = parse_csv(read_file(path), path.string());
  const auto at = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(table.header.begin(), table.header.end(), name) -
                                    table.header.begin());
  };
  const auto column = [&](std::string_view name) {
    if (at(name) == table.header.size()) {
      throw std::runtime_error(fmt::format("{}:1: expected a column {}", path.string(), name));
    }
    return at(name);
  };
  const std::size_t row = column("row"), round = column("round"), time_s = column("time_s"),
                    visit = at("visit");
  // Of record, visit and round.
  std::map<std::array<std::size_t, 3>, std::vector<double>> times;
  for (const CsvRow& line : table.rows) {
    const auto number = [&]<typename Number>(std::size_t field, Number value) {
      const std::string& text = line.fields[field];
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc{} || end != text.data() + text.size()) {
        throw std::runtime_error(fmt::format("{}:{}: {} is \"{}\", expected a number",
                                             path.string(), line.line, table.header[field], text));
      }
      return value;
    };
    const auto record = number(row, std::size_t{});
    if (record < 1 || record > run.records.size()) {
      throw std::runtime_error(fmt::format("{}:{}: row is {}, measurements.csv has rows 1 to {}",
                                           path.string(), line.line, record, run.records.size()));
    }
    const std::size_t of = visit < line.fields.size() ? number(visit, std::size_t{}) : 0;
    times[{record - 1, of, number(round, std::size_t{})}].push_back(number(time_s, double{}));
  }
  const std::array<std::size_t, 3>* last = nullptr;
  for (const auto& [key, samples] : times) {
    Visits& visits = run.round_medians_s[key[0]];
    if (last == nullptr || key[0] != (*last)[0] || key[1] != (*last)[1]) visits.emplace_back();
    visits.back().push_back(median(samples));
    last = &key;
  }
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  const std::filesystem::path partial = path.string() + ".partial";
  const auto fail = [&](const std::string& reason) {
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    throw std::runtime_error(fmt::format("{}: {}", path.string(), reason));
  };
  errno = 0;
  std::ofstream out(partial, std::ios::binary);
  out << text;
  out.close();
  if (!out) fail(std::strerror(errno));
  std::error_code error;
  std::filesystem::rename(partial, path, error);
  if (error) fail(error.message());
}

}  // namespace roofline
