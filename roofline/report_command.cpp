// roofline report RUN
#include <memory>

#include "roofline/commands.h"
#include "roofline/report.h"
#include "roofline/run.h"

namespace roofline {

Command add_report_command(Arguments app) {
  const Arguments command = app.add_subcommand("report", "the table of a run, from its files");
  struct Options {
    std::string run;
    bool peers = false;
  };
  const auto options = std::make_shared<Options>();
  command.add_option("RUN", options->run, "a run's folder, or its measurements.csv").required();
  command.add_flag("--peers", options->peers,
                   "only what was measured by several: ours beside the fastest peer");
  return {command, [options](Output& out) {
            Run run = read_run(options->run);
            read_rounds(run);
            out.notes += run.caveat();
            const Table beside = peers(run);
            if (!options->peers) out.print(report(run.records));
            // csv and json have one table
            if (options->peers || (out.format == OutputFormat::table && !beside.rows.empty())) {
              out.print(beside);
            }
            return 0;
          }};
}

}  // namespace roofline
