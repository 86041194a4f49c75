// A run's folder, read back.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/record.h"
#include "roofline/roof.h"
#include "roofline/statistics.h"

namespace roofline {

/// environment.json as one level of "part/key": "device/driver" -> "580.65".
using Environment = std::map<std::string, std::string>;

struct Run {
  std::filesystem::path folder;
  std::vector<Record> records;
  std::vector<Roof> roofs;
  Environment environment;              // empty where there is no such file
  std::vector<Visits> round_medians_s;  // of each record; see read_rounds()

  /// A number of its environment; nothing where it is not there, or null.
  std::optional<double> environment_number(const std::string& key) const;
  /// One line where the run did not end as it should, or has not yet; else empty.
  std::string caveat() const;
};

/// Reads measurements.csv, roofs.csv and environment.json. `path` is a run's folder or its
/// measurements.csv. Throws std::invalid_argument for another file, std::runtime_error with path
/// and reason for a bad run, also where its rows are of several devices or its environment.json is
/// none.
Run read_run(const std::filesystem::path& path);

/// Fills round_medians_s from samples.csv; they stay empty where it has no samples of a row, or
/// where there is no such file. Without a column `visit` all samples are of one. Throws
/// std::runtime_error "<path>:<line>: ..." for a bad row.
void read_rounds(Run& run);

/// Throws std::runtime_error "<source>: ..." where it is no JSON object.
Environment flat_environment(std::string_view json, std::string_view source);

/// Writes a file anew: it is whole, or as it was. Throws std::runtime_error with path and system
/// reason.
void write_file(const std::filesystem::path& path, std::string_view text);

/// The whole of a file. Throws std::runtime_error with path and system reason.
std::string read_file(const std::filesystem::path& path);

}  // namespace roofline
