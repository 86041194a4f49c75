// environment.json: all that a maintainer would ask about a run.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "bench/device.h"

namespace bench {

/// Keyed by run_id. `outcome`: "running" while it does, then "complete", "interrupted" or
/// what ended it.
nlohmann::json environment(Device& device, const std::string& run_id,
                           const std::string& command_line, const std::string& outcome);

/// Indented. A byte that is no UTF-8, as a path of another locale holds, becomes U+FFFD.
std::string to_text(const nlohmann::json& environment);

/// How many processors' time the control groups of this process leave it, of either version: the
/// least of its own and those above. Nothing where they set no limit. `root`: "/", or a test's.
std::optional<double> cpu_limit(const std::filesystem::path& root);

/// The environment variable by which a profiler shows itself, or that would load one; empty for
/// none. Its runs are slower, and may hold the clocks down.
std::string profiler_variable();

}  // namespace bench
