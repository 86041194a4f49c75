// roofline report RUN
#include <memory>

#include "roofline/commands.h"
#include "roofline/report.h"
#include "roofline/run.h"

namespace roofline {

Command add_report_command(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("report", "the table of a run, from its files");
  const auto run = std::make_shared<std::string>();
  command->add_option("RUN", *run, "a run's folder, or its measurements.csv")->required();
  return {command, [run](Output& out) {
            out.print(report(read_run(*run).records));
            return 0;
          }};
}

}  // namespace roofline
