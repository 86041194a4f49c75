// The four plans, each a subcommand of `roofline plan` in a file of its own.
#pragma once

#include "roofline/command.h"

namespace roofline {

Command add_plan_time_command(Arguments plan);
Command add_plan_memory_command(Arguments plan);
Command add_plan_activations_command(Arguments plan);
Command add_plan_decode_command(Arguments plan);

}  // namespace roofline
