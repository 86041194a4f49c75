#include "roofline/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <stdexcept>

#include "roofline/commands.h"

namespace roofline {
namespace {

std::string one_line(std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  return "roofline: " + message + '\n';
}

}  // namespace

int run_command_line(std::vector<std::string> arguments, Output& out) {
  CLI::App app("The roofline model: devices, types, ops, plans and runs; no GPU needed.",
               "roofline");
  app.fallthrough();  // --format may stand after the subcommand
  std::string format = "table";
  app.add_option("--format", format, "table, csv or json; the same keys in each")
      ->check(CLI::IsMember({"table", "csv", "json"}))
      ->capture_default_str();

  std::vector<Command> commands;
  for (const auto add : kCommands) commands.push_back(add(Arguments(&app)));

  try {
    for (const std::string& argument : arguments) {
      // CLI11 would take the next argument for the value.
      if (argument.starts_with("--") && argument.ends_with('=')) {
        throw std::invalid_argument(argument + ": expected a value after =, got none");
      }
    }
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    app.parse(std::move(arguments));
    out.format = *parse_output_format(format);
    const auto chosen = std::find_if(commands.begin(), commands.end(),
                                     [](const Command& c) { return c.arguments.parsed(); });
    if (chosen == commands.end()) {
      throw std::invalid_argument("expected a subcommand; see roofline --help");
    }
    return chosen->run(out);
  } catch (const CLI::CallForHelp&) {
    out.text += app.help();  // of the subcommand, where there was one
    return 0;
  } catch (const CLI::ParseError& e) {
    out.notes += one_line(std::string(e.what()) + "; see roofline --help");
    return 2;
  } catch (const std::invalid_argument& e) {
    out.notes += one_line(e.what());
    return 2;
  } catch (const std::exception& e) {
    out.notes += one_line(e.what());
    return 1;
  }
}

}  // namespace roofline
