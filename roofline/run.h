// A run's folder, read back.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "roofline/record.h"
#include "roofline/roof.h"

namespace roofline {

struct Run {
  std::filesystem::path folder;
  std::vector<Record> records;
  std::vector<Roof> roofs;
};

/// Reads measurements.csv and roofs.csv. `path` is a run's folder or its measurements.csv. Throws
/// std::runtime_error with path and reason.
Run read_run(const std::filesystem::path& path);

/// The whole of a file. Throws std::runtime_error with path and system reason.
std::string read_file(const std::filesystem::path& path);

}  // namespace roofline
