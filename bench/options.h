// The command line of roofline_bench.
#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/runner.h"
#include "bench/suite.h"

namespace bench {

/// Wrong usage (exit code 2): expected, got, cure, in one line.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  std::string device = "auto";
  std::string suite = "quick";
  Request request;
  std::optional<std::int64_t> moved_bytes;  // by one launch of a suite's bandwidth rows
  Settings settings;
  // Else the default of the device or of the suite; likewise settings.hard_budget.
  bool max_noise_given = false, cache_given = false, data_given = false;
  std::optional<int> visits;
  std::optional<std::filesystem::path> tuning;  // another run, for settings.tuning
  std::optional<std::filesystem::path> out;
  bool dry_run = false;
  std::vector<std::string> benchmark_flags;  // honoured --benchmark_* flags, as given
};

/// "both" is cold and hot.
std::vector<std::string> caches(std::string_view choice);

/// Throws UsageError, or Unavailable for an implementation that this build lacks. `--help` and
/// `--version` print and return nothing.
std::optional<Options> parse_options(int argc, const char* const* argv);

}  // namespace bench
