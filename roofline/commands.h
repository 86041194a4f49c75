// The list of subcommands. A new one is a function in a file of its own and a line in each list.
#pragma once

#include "roofline/command.h"

namespace roofline {

Command add_specs_command(Arguments app);
Command add_peaks_command(Arguments app);
Command add_ops_command(Arguments app);
Command add_einsum_command(Arguments app);
Command add_dtype_command(Arguments app);
Command add_plan_command(Arguments app);
Command add_report_command(Arguments app);
Command add_compare_command(Arguments app);
Command add_validate_command(Arguments app);

inline constexpr Command (*kCommands[])(Arguments) = {
    add_specs_command,  add_peaks_command,   add_ops_command,
    add_einsum_command, add_dtype_command,   add_plan_command,
    add_report_command, add_compare_command, add_validate_command,
};

}  // namespace roofline
