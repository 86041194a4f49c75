// What a subcommand takes: CLI11 without its header, which costs 7 s in each file that includes it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
class Option;
}  // namespace CLI

namespace roofline {

/// An argument that was added, to be described further; each function as CLI11's of that name.
class Argument {
 public:
  explicit Argument(CLI::Option* option) : option_(option) {}
  Argument capture_default_str() const;
  Argument delimiter(char between) const;
  Argument excludes(const std::string& name) const;
  Argument expected(int least, int most) const;  // -1: any number
  Argument group(const std::string& title) const;
  Argument one_of(const std::vector<std::string>& values) const;
  Argument required() const;
  Argument type_name(const std::string& name) const;

 private:
  CLI::Option* option_;
};

/// All arguments of a command. A handle: copies add to the same command.
class Arguments {
 public:
  explicit Arguments(CLI::App* app) : app_(app) {}

  Arguments add_subcommand(const std::string& name, const std::string& help) const;
  void require_subcommand() const;
  /// Of these, a command line has at most one.
  Arguments add_alternatives(const std::string& title) const;

  /// Where it is given, the value is stored in `to`, which has to outlive the parsing.
  Argument add_option(const std::string& name, std::string& to, const std::string& help) const;
  Argument add_option(const std::string& name, std::vector<std::string>& to,
                      const std::string& help) const;
  /// Or is passed to `read`, which throws std::invalid_argument where it is none.
  Argument add_option(const std::string& name, const std::function<void(const std::string&)>& read,
                      const std::string& help) const;
  Argument add_flag(const std::string& name, bool& to, const std::string& help) const;

  /// Whether the command line named this command.
  bool parsed() const;

 private:
  CLI::App* app_;
};

}  // namespace roofline
