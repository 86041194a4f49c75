#include "bench/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

#include "roofline/number.h"

namespace bench {
namespace {

/// What Google Benchmark's flags would change and this project's protocol owns.
struct OwnedFlag {
  std::string_view flag, instead;
};
constexpr OwnedFlag kOwned[] = {
    {"--benchmark_min_time", "--time-budget=SECONDS"},
    {"--benchmark_min_warmup_time", "--time-budget=SECONDS"},
    {"--benchmark_repetitions", "--max-noise=PERCENT, or several runs"},
    {"--benchmark_report_aggregates_only", "measurements.csv, which has every statistic"},
    {"--benchmark_display_aggregates_only", "measurements.csv, which has every statistic"},
    {"--benchmark_enable_random_interleaving", "nothing: the rows of a group always take turns"},
    {"--benchmark_out_format=csv", "measurements.csv in --out=DIR"},
    {"--benchmark_format=csv", "measurements.csv in --out=DIR"},
    {"--benchmark_perf_counters", "nothing: no hardware counters are read"},
};
constexpr std::string_view kHonoured[] = {
    "--benchmark_filter",          "--benchmark_list_tests",      "--benchmark_color",
    "--benchmark_format=json",     "--benchmark_format=console",  "--benchmark_out",
    "--benchmark_out_format=json", "--benchmark_counters_tabular"};

/// "--x=1" is "--x" or starts with it up to the "=".
bool is_flag(std::string_view argument, std::string_view flag) {
  return argument == flag || (argument.starts_with(flag) && argument[flag.size()] == '=');
}

void check_benchmark_flag(std::string_view argument) {
  for (const auto& [flag, instead] : kOwned) {
    if (is_flag(argument, flag)) {
      throw UsageError(
          fmt::format("{}: the sampling protocol decides that; use {}", argument, instead));
    }
  }
  for (const std::string_view flag : kHonoured) {
    if (is_flag(argument, flag)) return;
  }
  throw UsageError(fmt::format("{}: expected one of {}", argument, fmt::join(kHonoured, ", ")));
}

template <typename T>
std::vector<T> parse_list(const std::vector<std::string>& names, const char* flag,
                          std::optional<T> (*parse)(std::string_view), std::string_view known) {
  std::vector<T> values;
  for (const std::string& name : names) {
    const std::optional<T> value = parse(name);
    if (!value) throw UsageError(fmt::format("{}={}: expected {}", flag, name, known));
    // Said twice it is meant once: two rows of one name would be told apart by nobody.
    if (std::find(values.begin(), values.end(), *value) == values.end()) values.push_back(*value);
  }
  return values;
}

/// A whole number from `least` up. CLI11 would take -1 for 2^64 - 1, and what is too large for the
/// largest number.
std::int64_t parse_count(const std::string& text, const char* flag, std::int64_t least,
                         std::string_view more = "") {
  std::int64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc{} || stop != end || count < least) {
    throw UsageError(fmt::format("{}={}: expected a whole number from {} up, below 2^63{}", flag,
                                 text, least, more));
  }
  return count;
}

constexpr std::int64_t kLeastBytes = 1 << 16;  // below it no size of a suite is left

std::string known_input_kinds() { return fmt::format("{}", fmt::join(input_kinds(), ", ")); }

std::string known_ops() {
  std::vector<std::string_view> names;
  for (const roofline::OpInfo& o : roofline::ops()) names.push_back(o.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::optional<roofline::Dtype> parse_benchmark_dtype(std::string_view name) {
  const auto dtype = roofline::parse_dtype(name);
  const bool measured = dtype != roofline::Dtype::fp64 && dtype != roofline::Dtype::nvfp4;
  return measured ? dtype : std::nullopt;
}

}  // namespace

std::vector<std::string> caches(std::string_view choice) {
  if (choice == "both") return {"cold", "hot"};
  return {std::string(choice)};
}

std::optional<Options> parse_options(int argc, const char* const* argv) {
  Options options;
  std::vector<std::string> rest;
  for (int i = argc - 1; i > 0; --i) {  // CLI11 takes them last first
    const std::string argument = argv[i];
    // CLI11 would take the next argument for the value, a folder named --dry-run.
    if (const std::size_t value = argument.find('=') + 1;
        value > 0 && argument.find_first_not_of(',', value) == std::string::npos) {
      throw UsageError(fmt::format("{}: expected a value after =, got none", argument));
    }
    if (argument.starts_with("--benchmark_")) {
      check_benchmark_flag(argument);
      options.benchmark_flags.insert(options.benchmark_flags.begin(), argument);
    } else {
      rest.push_back(argument);
    }
  }

  std::vector<std::string> ops, dtypes, implementations;
  std::vector<std::string> data = {"normal"};
  std::string bytes, cache = "cold", candidates = "1", seed = "1", visits;
  double max_noise_percent = 0;
  CLI::App app("Measures this machine's kernels and GEMMs and places them under its roofline.",
               "roofline_bench");
  app.set_version_flag("--version", ROOFLINE_VERSION);
  app.add_option("--device", options.device, "auto, cuda, cuda:N or cpu")->capture_default_str();
  app.add_option("--suite", options.suite, fmt::format("{}", fmt::join(suite_names(), ", ")))
      ->capture_default_str();
  app.add_option("--op", ops, known_ops())->delimiter(',');
  app.add_option("--dtype", dtypes, "fp32, tf32, fp16, bf16, fp8_e4m3, fp8_e5m2")->delimiter(',');
  app.add_option("--impl", implementations, "ours, names from the table, or all: with the peers")
      ->delimiter(',');
  app.add_option("--shape", options.request.shape, "N, MxN, MxNxK or BxMxNxK, with --op");
  app.add_option(
      "--bytes", bytes,
      "that a launch of a suite's bandwidth rows moves, as 64MiB [1GiB on cuda, 256MiB]");
  auto* const cached = app.add_option("--cache", cache, "cold, hot or both [cold; both in ramp]");
  auto* const inputs =
      app.add_option("--data", data,
                     fmt::format("{}: each has rows of its own [normal; in full all for GEMMs]",
                                 known_input_kinds()))
          ->delimiter(',');
  app.add_flag("--sustained", options.settings.sustained,
               "each row once more, without pause for 2 s: its clock and power under load");
  app.add_option("--seed", seed, "of the inputs")->capture_default_str();
  app.add_option("--candidates", candidates,
                 "variants to try, a number or all: the first and the fastest are measured")
      ->capture_default_str();
  app.add_option("--tuning", options.tuning,
                 "a run: what was fastest there, by op, type and size, is tried first")
      ->check(CLI::ExistingPath);
  auto* const noise = app.add_option(
      "--max-noise", max_noise_percent,
      "stop when the interval's half-width is within PERCENT [0.5 on cuda, 2 on a cpu]");
  app.add_option(
      "--visits", visits,
      "times that each group is measured, the others between [3 on a cpu; 1 in quick, on "
      "cuda, and with --time-budget]");
  auto* const budget = app.add_option("--time-budget", options.settings.budget_s,
                                      "seconds for the whole run [by suite]");
  app.add_option("--out", options.out,
                 "folder for the files [results/<device>/<time>-<host>-<pid>]");
  app.add_flag("--dry-run", options.dry_run, "list what would be measured, and where");
  app.footer(
      "Also honoured: --benchmark_filter=REGEX --benchmark_list_tests --benchmark_format=json\n"
      "--benchmark_out=FILE --benchmark_color=yes|no");
  try {
    app.parse(rest);
  } catch (const CLI::Success& e) {
    app.exit(e);
    return std::nullopt;
  } catch (const CLI::ParseError& e) {
    throw UsageError(fmt::format("{}; see roofline_bench --help", e.what()));
  }

  try {
    if (!bytes.empty()) options.moved_bytes = roofline::parse_bytes(bytes, "--bytes");
  } catch (const std::invalid_argument& e) {
    throw UsageError(e.what());
  }
  if (options.moved_bytes.value_or(kLeastBytes) < kLeastBytes) {
    throw UsageError(fmt::format("--bytes={}: expected at least {}", bytes, kLeastBytes));
  }
  options.request.ops = parse_list<roofline::Op>(ops, "--op", &roofline::parse_op, known_ops());
  options.request.dtypes = parse_list<roofline::Dtype>(
      dtypes, "--dtype", &parse_benchmark_dtype, "fp32, tf32, fp16, bf16, fp8_e4m3 or fp8_e5m2");
  for (const std::string& name : implementations) {
    std::vector<std::string_view> known = {"all"};
    for (const Implementation& i : bench::implementations()) known.push_back(i.name);
    const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
    if (const auto cure = cure_without(name); cure && !is_known) {
      throw Unavailable(
          fmt::format("--impl={}: not in this build; configure it with {}", name, *cure));
    }
    if (!is_known) {
      throw UsageError(fmt::format("--impl={}: expected {}", name, fmt::join(known, ", ")));
    }
    for (const Implementation& i : bench::implementations()) {
      if (name == "all" || name == i.name) options.settings.implementations.emplace_back(i.name);
    }
  }
  if (cache != "cold" && cache != "hot" && cache != "both") {
    throw UsageError(fmt::format("--cache={}: expected cold, hot or both", cache));
  }
  options.cache_given = cached->count() > 0;
  options.settings.caches = caches(cache);
  options.data_given = inputs->count() > 0;
  options.settings.data =
      parse_list<kernels::InputKind>(data, "--data", &parse_input_kind, known_input_kinds());
  options.settings.seed = static_cast<std::uint64_t>(parse_count(seed, "--seed", 0));
  options.settings.candidates =
      candidates == "all"
          ? static_cast<std::size_t>(-1)
          : static_cast<std::size_t>(parse_count(candidates, "--candidates", 1, ", or all"));
  options.max_noise_given = noise->count() > 0;
  if (options.max_noise_given) {
    if (!(max_noise_percent > 0 && max_noise_percent <= 100)) {
      throw UsageError(fmt::format("--max-noise={}: expected percent, above 0 and up to 100",
                                   max_noise_percent));
    }
    options.settings.protocol.max_noise = max_noise_percent / 100;
  }
  if (!visits.empty()) {
    const std::int64_t count = parse_count(visits, "--visits", 1), most = 1000;
    if (count > most) throw UsageError(fmt::format("--visits={}: at most {}", visits, most));
    options.visits = static_cast<int>(count);
  }
  options.settings.hard_budget = budget->count() > 0;
  if (!(options.settings.budget_s > 0 && std::isfinite(options.settings.budget_s))) {
    throw UsageError(fmt::format("--time-budget={}: expected a number of seconds above 0",
                                 options.settings.budget_s));
  }
  return options;
}

}  // namespace bench
