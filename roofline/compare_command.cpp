// roofline compare RUN RUN...
#include <memory>
#include <optional>
#include <utility>

#include "roofline/commands.h"
#include "roofline/compare.h"
#include "roofline/number.h"
#include "roofline/run.h"

namespace roofline {
namespace {

ComparedRun read(const std::string& path) {
  Run run = read_run(path);
  return {path, std::move(run.records), std::move(run.environment), std::move(run.roofs)};
}

}  // namespace

Command add_compare_command(Arguments app) {
  struct Options {
    std::vector<std::string> runs;
    std::optional<double> max_slowdown;
  };
  const Arguments command = app.add_subcommand(
      "compare", "runs beside the first: ratios, agreement, the outlier, what differs");
  const auto options = std::make_shared<Options>();
  command
      .add_option("RUN", options->runs,
                  "run folders, or their measurements.csv; the first is "
                  "the reference")
      .required()
      .expected(2, -1);
  command.add_option(
      "--max-slowdown",
      [options](const std::string& percent) {
        options->max_slowdown = parse_number(percent, "--max-slowdown") / 100;
      },
      "exit 1 where a row is slower than the first run's by more PERCENT, all of its interval, or "
      "failed");
  return {command, [options](Output& out) {
            std::vector<ComparedRun> runs;
            for (const std::string& path : options->runs) runs.push_back(read(path));
            const std::optional<double> limit = options->max_slowdown;
            const Comparison comparison = compare(runs, limit);
            out.print(comparison.table);
            if (out.format != OutputFormat::table) {  // which do not carry the notes
              for (const std::string& note : comparison.table.notes) out.notes += note + '\n';
            }
            if (!limit) return 0;
            for (const std::string& row : comparison.worse) out.notes += row + '\n';
            return comparison.worse.empty() ? 0 : 1;
          }};
}

}  // namespace roofline
