// A run's folder, read back.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/record.h"
#include "roofline/roof.h"

namespace roofline {

struct Run {
  std::filesystem::path folder;
  std::vector<Record> records;
  std::vector<Roof> roofs;
  std::vector<std::vector<double>> round_medians_s;  // of each record; see read_rounds()
};

/// Reads measurements.csv and roofs.csv. `path` is a run's folder or its measurements.csv. Throws
/// std::runtime_error with path and reason.
Run read_run(const std::filesystem::path& path);

/// Fills round_medians_s from samples.csv; they stay empty where it has no samples of a row, or
/// where there is no such file. Throws std::runtime_error "<path>:<line>: ..." for a bad row.
void read_rounds(Run& run);

/// Writes a file anew. Throws std::runtime_error with path and system reason.
void write_file(const std::filesystem::path& path, std::string_view text);

/// The whole of a file. Throws std::runtime_error with path and system reason.
std::string read_file(const std::filesystem::path& path);

}  // namespace roofline
