// roofline validate [RUN]
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "roofline/claims.h"
#include "roofline/commands.h"
#include "roofline/roof_options.h"

namespace roofline {
namespace {

/// What fits a line; claims.csv and claims.md have the sentences, formulas, rows and reasons.
Table summary(const std::vector<Finding>& findings) {
  Table table{.columns = {"claim", "basis", "dtype", "said", "model", "measured", "measured_low",
                          "measured_high", "verdict", "expected"},
              .digits = 8};
  std::size_t unexpected = 0;
  for (const Finding& f : findings) {
    table.rows.push_back(
        {text_cell(f.id), text_cell(name(f.basis)), f.dtype ? text_cell(name(*f.dtype)) : Cell(),
         text_cell(f.said), cell(f.model), cell(f.measured),
         f.interval ? Cell(f.interval->low) : Cell(), f.interval ? Cell(f.interval->high) : Cell(),
         text_cell(name(f.verdict)), f.expected ? text_cell(name(*f.expected)) : Cell()});
    unexpected += is_unexpected(f) ? 1 : 0;
    if ((is_unexpected(f) || f.verdict == Verdict::fails) && !f.reason.empty()) {
      const std::string type = f.dtype ? fmt::format(" {}", name(*f.dtype)) : "";
      table.notes.push_back(fmt::format("{}{}: {}", f.id, type, f.reason));
    }
  }
  std::string counts;
  for (const Verdict v : {Verdict::holds, Verdict::fails, Verdict::on_paper_only,
                          Verdict::not_applicable, Verdict::unknown}) {
    counts += fmt::format("{} {}, ", name(v),
                          std::count_if(findings.begin(), findings.end(),
                                        [v](const Finding& f) { return f.verdict == v; }));
  }
  table.notes.push_back(fmt::format("{}other than expected {}", counts, unexpected));
  return table;
}

}  // namespace

Command add_validate_command(Arguments app) {
  struct Options {
    std::string run;
    bool strict = false;
  };
  const auto options = std::make_shared<Options>();
  const Arguments command = app.add_subcommand(
      "validate", "judges the lecture's claims; exit 1 where a verdict is not the expected one");
  command.add_option(
      "RUN", options->run,
      "a run's folder, into which claims.csv, claims.md and ridge.csv go; none: the arithmetic");
  command.add_flag("--strict", options->strict, "exit 1 where a verdict is unknown, too");
  return {command, [options](Output& out) {
            std::vector<Finding> findings;
            if (options->run.empty()) {
              findings = judge_arithmetic();
            } else {
              Run run = read_run(options->run);
              read_rounds(run);
              out.notes += run.caveat();
              const RidgeFits ridges = fit_ridges(run);
              findings = judge(run, ridges);
              write_file(run.folder / "claims.csv", claims_csv(findings));
              write_file(run.folder / "claims.md", claims_markdown(findings, run));
              write_file(run.folder / "ridge.csv", ridge_csv(ridges.fits));
            }
            out.print(summary(findings));
            const bool bad = std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
              return is_unexpected(f) || (options->strict && f.verdict == Verdict::unknown);
            });
            return bad ? 1 : 0;
          }};
}

}  // namespace roofline
