// The command line of roofline_bench.
#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
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
  bool max_noise_given = false;  // else the device's default; likewise settings.hard_budget
  std::optional<std::filesystem::path> tuning;  // another run, for settings.tuning
  std::optional<std::filesystem::path> out;
  bool dry_run = false;
  std::vector<std::string> benchmark_flags;  // honoured --benchmark_* flags, as given
};

/// Throws UsageError. `--help` and `--version` print and return nothing.
std::optional<Options> parse_options(int argc, const char* const* argv);

}  // namespace bench
