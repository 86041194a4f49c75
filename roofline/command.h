// The `roofline` command: what a subcommand is, and how one is run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "roofline/arguments.h"
#include "roofline/table.h"

namespace roofline {

/// What the subcommands print to: text is gathered here and written once, at the end.
struct Output {
  OutputFormat format = OutputFormat::table;
  bool color = false;
  std::string text;   // for stdout: data
  std::string notes;  // for stderr: messages, one a line

  void print(const Table& table) { text += to_text(table, format, color); }
};

/// A subcommand with its options, as add_*_command() left it. `run` returns the exit
/// code. What it throws becomes one line on stderr, "<what was expected, what came, the cure>":
/// std::invalid_argument means wrong usage (exit 2), any other exception a bad file or result
/// (exit 1).
struct Command {
  Arguments arguments;
  std::function<int(Output&)> run;
};

/// Runs `roofline ARGUMENTS...` (without the program's name) and returns the exit code: 0 good,
/// 1 a bad file or result, 2 wrong usage, 3 what was asked for cannot be had. Writes nothing
/// itself.
int run_command_line(std::vector<std::string> arguments, Output& out);

}  // namespace roofline
