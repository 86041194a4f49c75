// roofline_bench: measures this machine and writes what it found.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "bench/device.h"
#include "bench/dry_run.h"
#include "bench/environment.h"
#include "bench/operands.h"
#include "bench/options.h"
#include "bench/run_folder.h"
#include "bench/runner.h"
#include "bench/suite.h"
#include "roofline/report.h"
#include "roofline/run.h"
#include "roofline/spec.h"
#include "roofline/standard_streams.h"

namespace bench {
namespace {

using roofline::Case;
using roofline::Record;
using roofline::Status;

std::atomic<bool> interrupted = false;
std::atomic<int> interrupting_signal = 0;
std::atomic<std::time_t> interrupted_at = 0;

/// A second one ends the program at once, if it comes later: batch systems and `timeout` send each
/// process what its parent sends it, too.
extern "C" void on_signal(int signal) {
  const std::time_t now = std::time(nullptr);
  if (interrupted && now > interrupted_at + 1) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  } else if (!interrupted) {
    interrupting_signal = signal;
    interrupted_at = now;
    interrupted = true;
  }
}

/// To stderr. fmt::print would throw where that is full.
void say(const std::string& line) {
  std::fputs(("roofline_bench: " + line + "\n").c_str(), stderr);
}

/// Google Benchmark's console, with our device instead of its own context.
class Console : public benchmark::ConsoleReporter {
 public:
  Console(OutputOptions options, std::string context)
      : ConsoleReporter(options), context_(std::move(context)) {}
  bool ReportContext(const Context& context) override {
    std::cerr << context_ << '\n';
    name_field_width_ = context.name_field_width;
    printed_header_ = false;
    return true;
  }

 private:
  std::string context_;
};

/// Google Benchmark's JSON in --benchmark_out, of which it does not say whether it could be
/// written.
class JsonFile : public benchmark::JSONReporter {
 public:
  void Finalize() override {
    JSONReporter::Finalize();
    is_whole_ = static_cast<bool>(GetOutputStream().flush());
  }
  bool is_whole() const { return is_whole_; }

 private:
  bool is_whole_ = false;
};

/// The flag's value, or nothing.
std::optional<std::string> flag_value(const Options& options, const std::string& flag) {
  std::optional<std::string> value;
  for (const std::string& f : options.benchmark_flags) {
    if (f == flag) value = "true";
    if (f.starts_with(flag + "=")) value = f.substr(flag.size() + 1);
  }
  return value;
}

/// Google Benchmark's rule: a regular expression found anywhere in the name; a leading "-" negates.
std::vector<Group> filter(std::vector<Group> groups, std::string pattern) {
  if (pattern == "all") pattern = ".";
  const bool negated = pattern.starts_with('-');
  try {
    const std::regex regex(negated ? pattern.substr(1) : pattern, std::regex::extended);
    std::erase_if(groups,
                  [&](const Group& g) { return std::regex_search(g.name, regex) == negated; });
  } catch (const std::regex_error& e) {
    throw UsageError(fmt::format("--benchmark_filter={}: {}", pattern, e.what()));
  }
  return groups;
}

/// Else Google Benchmark would take them from BENCHMARK_FILTER, BENCHMARK_REPETITIONS and so on.
constexpr const char* kFlags[] = {"--benchmark_filter=.", "--benchmark_repetitions=1",
                                  "--benchmark_enable_random_interleaving=false",
                                  "--benchmark_list_tests=false", "--benchmark_out="};

std::vector<Group> choose_groups(const Options& options, const Device& device) {
  std::vector<Group> groups;
  try {
    const double moved_bytes = options.moved_bytes ? static_cast<double>(*options.moved_bytes)
                                                   : default_moved_bytes(device.facts());
    groups = select(make_suite(options.suite, device.facts(), moved_bytes), options.request,
                    device.facts());
    for (Group& g : groups) {
      if (options.data_given) g.data.clear();
    }
  } catch (const std::invalid_argument& e) {
    throw UsageError(e.what());
  }
  if (const auto pattern = flag_value(options, "--benchmark_filter"))
    groups = filter(groups, *pattern);
  if (groups.empty()) {
    throw UsageError(fmt::format(
        "--benchmark_filter={}: no group of suite {} matches; --benchmark_list_tests lists them",
        *flag_value(options, "--benchmark_filter"), options.suite));
  }
  return groups;
}

/// What nobody could measure is said at once: the roofs that it would stand under are left out.
void drop_roofs_of_what_does_not_fit(std::vector<Group>& groups, const Options& options,
                                     const Device& device) {
  const bool hot = options.settings.caches.back() == "hot";
  const auto fits = [&](const Case& c) {
    const double bytes = operand_shapes(c).bytes();
    return bytes * (hot ? 1 : cold_copies(bytes, device.facts().cache_bytes)) <=
           device.free_bytes();
  };
  const auto asked_for = std::stable_partition(groups.begin(), groups.end(),
                                               [](const Group& g) { return g.measures_roof; });
  if (options.request.is_empty() || asked_for == groups.end()) return;
  const bool any = std::any_of(asked_for, groups.end(), [&](const Group& g) {
    return std::any_of(g.cases.begin(), g.cases.end(), fits);
  });
  if (!any) groups.erase(groups.begin(), asked_for);
}

bool is_json(const Options& options) { return flag_value(options, "--benchmark_format") == "json"; }

std::string context_line(const Device& device, const Options& options, std::size_t groups) {
  const roofline::DeviceFacts& f = device.facts();
  return fmt::format("{} ({}, {} {}, {:.1f} GiB), suite {}: {} groups, at most {:.0f} s", f.name,
                     f.backend, f.processors, f.backend == "cuda" ? "SMs" : "threads",
                     f.memory_bytes / (1 << 30), options.suite, groups, options.settings.budget_s);
}

/// Google Benchmark would find out when all else is done, and end the program. Throws WriteError.
void check_benchmark_out(const Options& options) {
  const auto path = flag_value(options, "--benchmark_out");
  errno = 0;
  if (path && !std::ofstream(*path, std::ios::app)) {
    throw WriteError(fmt::format("--benchmark_out={}: {}", *path, std::strerror(errno)));
  }
}

/// Runs what is registered and prints it as the --benchmark_ flags say. Returns whether
/// --benchmark_out, where given, could be written.
bool run_and_print(const Options& options, const std::string& context) {
  JsonFile file;
  const bool to_file = flag_value(options, "--benchmark_out").has_value();
  benchmark::BenchmarkReporter* const beside = to_file ? &file : nullptr;
  if (is_json(options)) {  // printed as a whole, so that whether it was written is known
    benchmark::JSONReporter reporter;
    std::ostringstream json;
    reporter.SetOutputStream(&json);
    benchmark::RunSpecifiedBenchmarks(&reporter, beside);
    std::fputs(json.str().c_str(), stdout);
  } else {
    const char* no_color = std::getenv("NO_COLOR");  // no-color.org: present and not empty
    const bool plain = no_color != nullptr && *no_color != '\0';
    const auto color = flag_value(options, "--benchmark_color").value_or(plain ? "no" : "auto");
    Console console(isatty(1) != 0 && color != "no" ? benchmark::ConsoleReporter::OO_Color
                                                    : benchmark::ConsoleReporter::OO_None,
                    context);
    benchmark::RunSpecifiedBenchmarks(&console, beside);
  }
  return !to_file || file.is_whole();
}

/// What would be measured, then the environment in which.
void print_dry_run(const Options& options, const std::vector<Group>& groups, Device& device,
                   const std::string& command_line) {
  std::fputs(
      fmt::format("{}\n{}\n",
                  to_text(dry_run(groups, options.settings, device), roofline::OutputFormat::table),
                  to_text(environment(device, "", command_line, "dry run")))
          .c_str(),
      stdout);
}

/// What Google Benchmark prints of a group: its first measured row, and what became of the others.
/// Returns its label.
std::string describe(benchmark::State& state, const std::vector<Record>& records) {
  double time_s = 0;
  std::string label;
  for (const Record& r : records) {
    if (r.status == Status::failed || r.status == Status::above_roof) {
      state.SkipWithError(r.note.c_str());
    }
    if (!r.time_median_s || time_s > 0) continue;
    time_s = *r.time_median_s;
    if (r.achieved_bytes_per_s) state.counters["GB/s"] = *r.achieved_bytes_per_s / 1e9;
    if (r.achieved_flops_per_s) state.counters["GFLOP/s"] = *r.achieved_flops_per_s / 1e9;
    if (r.fraction_of_roof) {
      label = fmt::format("{:.1f} % of {} ({})", 100 * *r.fraction_of_roof, r.roof_name,
                          name(*r.roof_kind));
    }
    if (r.status == Status::noisy) label += label.empty() ? "noisy" : ", noisy";
  }
  if (time_s == 0) {
    const std::string why = interrupted       ? "interrupted"
                            : records.empty() ? "nothing that --impl names computes it"
                                              : fmt::format("{}: {}", name(records.front().status),
                                                            records.front().note);
    state.SkipWithError(why.c_str());
  }
  state.SetLabel(label);
  for (auto _ : state) state.SetIterationTime(time_s);
  return label;
}

int exit_code(const Options& options, const std::vector<Record>& records) {
  if (interrupted) return 128 + interrupting_signal;
  bool any_ran = false, all_unsupported = true;
  for (const Record& r : records) {
    if (r.status == Status::failed || r.status == Status::above_roof) return 1;
    any_ran = any_ran || (is_measured(r) && asks_for(options.request, r.what));
    all_unsupported = all_unsupported && r.status == Status::unsupported;
  }
  const bool asked = !options.request.is_empty() || !options.settings.implementations.empty();
  return (asked && !any_ran) || all_unsupported ? 3 : 0;
}

int measure(const Options& options, const std::vector<Group>& groups, Device& device,
            const std::string& command_line) {
  RunFolder folder(options.out, device.facts().name);
  std::optional<Runner> runner;
  try {
    folder.write(environment(device, folder.run_id(), command_line, "running"));
    check_benchmark_out(options);
    runner.emplace(device, folder, options.settings, interrupted);
  } catch (...) {
    folder.remove();
    throw;
  }

  std::string fatal;  // what ended the run: a full disk, a lost device
  std::string last;   // result
  std::size_t left = groups.size();
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const double started_s = device.now_s();
  const std::size_t visits = groups.size() * static_cast<std::size_t>(options.settings.visits);
  std::size_t visit = 0;
  const auto show_progress = [&](const std::string& group) {
    ++visit;
    if (!terminal) return;  // else back to the line's start, and clear what was there
    std::fputs(("\r\x1b[K" +
                status_line(visit, visits, group, device.now_s() - started_s,
                            options.settings.budget_s, last) +
                "\r")
                   .c_str(),
               stderr);
  };
  for (const Group& g : groups) {
    benchmark::RegisterBenchmark(
        g.name.c_str(),
        [&](benchmark::State& state) {
          show_progress(g.name);
          --left;
          std::vector<Record> records;
          if (fatal.empty() && !interrupted) {
            try {
              records = runner->run(g, std::span(groups).last(left));
            } catch (const std::exception& e) {  // a full disk, a lost device
              fatal = e.what();
            }
          }
          if (terminal) std::fputs("\x1b[K", stderr);
          last = describe(state, records);
        })
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  const bool out_is_whole = run_and_print(options, context_line(device, options, groups.size()));
  try {
    if (fatal.empty()) runner->visit_again(show_progress);
  } catch (const std::exception& e) {
    fatal = e.what();
  }
  if (terminal) std::fputs("\x1b[K", stderr);

  const std::string outcome = !fatal.empty() ? fatal : interrupted ? "interrupted" : "complete";
  try {
    runner->write_gemm_roofs();
    folder.write(environment(device, folder.run_id(), command_line, outcome));
  } catch (const WriteError& e) {
    if (fatal.empty()) fatal = e.what();  // else the first reason is the one to tell
  }
  std::FILE* const table = is_json(options) ? stderr : stdout;
  const std::string report =
      to_text(roofline::report(runner->records()), roofline::OutputFormat::table);
  std::fputs(report.c_str(), table);
  std::fflush(table);
  std::fputs(fmt::format("results: {}\n", folder.path().string()).c_str(), stderr);
  if (!fatal.empty()) say(fatal);
  if (!out_is_whole) {
    say(fmt::format("--benchmark_out={}: could not be written as a whole",
                    *flag_value(options, "--benchmark_out")));
  }
  const int code = fatal.empty() ? exit_code(options, runner->records()) : 1;
  return code == 0 && !out_is_whole ? 1 : code;
}

void apply_defaults(Options& options, const Device& device) {
  const bool cpu = device.facts().backend == "cpu";
  if (!options.max_noise_given) options.settings.protocol.max_noise = cpu ? 0.02 : 0.005;
  if (!options.cache_given) options.settings.caches = caches(default_cache(options.suite));
  if (!options.settings.hard_budget) {
    options.settings.budget_s = default_budget_s(options.suite, cpu);
    options.settings.visits = default_visits(options.suite, cpu);
  }
  if (options.visits) options.settings.visits = *options.visits;
}

int run(int argc, char** argv) {
  auto parsed = parse_options(argc, argv);
  if (!parsed) return 0;
  Options& options = *parsed;

  std::string notice;
  std::unique_ptr<Device> device;
  try {
    device = make_device(options.device, notice);
  } catch (const std::invalid_argument& e) {
    throw UsageError(e.what());
  }
  if (!notice.empty()) say(notice);
  for (const std::string& note : roofline::notes_on(device->facts())) {
    say(note);
  }
  std::vector<Group> groups = choose_groups(options, *device);
  apply_defaults(options, *device);
  drop_roofs_of_what_does_not_fit(groups, options, *device);
  if (options.tuning) {
    try {
      options.settings.tuning = roofline::read_run(*options.tuning).records;
    } catch (const std::invalid_argument& e) {
      throw UsageError(fmt::format("--tuning={}", e.what()));
    }
    if (options.settings.tuning.empty()) {
      throw std::runtime_error(
          fmt::format("--tuning={}: expected a run with rows, got none", options.tuning->string()));
    }
  }
  if (const std::string variable = profiler_variable(); !variable.empty()) {
    options.settings.note = fmt::format("measured under a profiler ({} is set)", variable);
  }
  const std::string command_line =
      fmt::format("{}", fmt::join(std::vector<std::string>(argv, argv + argc), " "));

  std::vector<const char*> flags(std::begin(kFlags), std::end(kFlags));
  flags.insert(flags.begin(), argv[0]);
  for (const std::string& f : options.benchmark_flags) {
    if (!f.starts_with("--benchmark_filter")) flags.push_back(f.c_str());  // applied above
  }
  int count = static_cast<int>(flags.size());
  benchmark::Initialize(&count, const_cast<char**>(flags.data()));

  if (flag_value(options, "--benchmark_list_tests").value_or("false") != "false") {
    for (const Group& g : groups) std::puts(g.name.c_str());
    return 0;
  }
  if (options.dry_run) {
    print_dry_run(options, groups, *device, command_line);
    return 0;
  }
  return measure(options, groups, *device, command_line);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  occupy_closed_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has seen enough must not end a measurement
  std::signal(SIGINT, bench::on_signal);
  std::signal(SIGTERM, bench::on_signal);
  if (std::signal(SIGHUP, bench::on_signal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup
  const auto fail = [](int code, const std::exception& e) {
    bench::say(e.what());
    return code;
  };
  int code = 0;
  try {
    code = bench::run(argc, argv);
  } catch (const bench::UsageError& e) {
    code = fail(2, e);
  } catch (const bench::Unavailable& e) {
    code = fail(3, e);
  } catch (const std::exception& e) {
    code = fail(1, e);
  }
  const int written = flush_stdout("roofline_bench");
  return code != 0 ? code : written;
}
