#include "roofline/arguments.h"

#include <CLI/CLI.hpp>

namespace roofline {

Argument Argument::capture_default_str() const { return Argument(option_->capture_default_str()); }

Argument Argument::delimiter(char between) const { return Argument(option_->delimiter(between)); }

Argument Argument::excludes(const std::string& name) const {
  return Argument(option_->excludes(name));
}

Argument Argument::expected(int least, int most) const {
  return Argument(option_->expected(least, most));
}

Argument Argument::group(const std::string& title) const { return Argument(option_->group(title)); }

Argument Argument::one_of(const std::vector<std::string>& values) const {
  return Argument(option_->check(CLI::IsMember(values)));
}

Argument Argument::required() const { return Argument(option_->required()); }

Argument Argument::type_name(const std::string& name) const {
  return Argument(option_->type_name(name));
}

Arguments Arguments::add_subcommand(const std::string& name, const std::string& help) const {
  return Arguments(app_->add_subcommand(name, help));
}

void Arguments::require_subcommand() const { app_->require_subcommand(1); }

Arguments Arguments::add_alternatives(const std::string& title) const {
  CLI::Option_group* const group = app_->add_option_group(title);
  group->require_option(0, 1);
  return Arguments(group);
}

Argument Arguments::add_option(const std::string& name, std::string& to,
                               const std::string& help) const {
  return Argument(app_->add_option(name, to, help));
}

Argument Arguments::add_option(const std::string& name, std::vector<std::string>& to,
                               const std::string& help) const {
  return Argument(app_->add_option(name, to, help));
}

Argument Arguments::add_option(const std::string& name,
                               const std::function<void(const std::string&)>& read,
                               const std::string& help) const {
  return Argument(app_->add_option_function<std::string>(name, read, help));
}

Argument Arguments::add_flag(const std::string& name, bool& to, const std::string& help) const {
  return Argument(app_->add_flag(name, to, help));
}

bool Arguments::parsed() const { return app_->parsed(); }

}  // namespace roofline
