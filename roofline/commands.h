// The list of subcommands. A new one is a function in a file of its own and a line in each list.
#pragma once

#include "roofline/command.h"

namespace roofline {

Command add_dtype_command(CLI::App& app);

inline constexpr Command (*kCommands[])(CLI::App&) = {
    add_dtype_command,
};

}  // namespace roofline
