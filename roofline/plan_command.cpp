// `roofline plan`: training time, memory, activations and decoding by arithmetic.
#include <algorithm>
#include <vector>

#include "roofline/commands.h"
#include "roofline/plan_commands.h"

namespace roofline {

Command add_plan_command(Arguments app) {
  const Arguments plan = app.add_subcommand(
      "plan", "Days, bytes and tokens/s of a model, from a data sheet or from a run of ours");
  plan.require_subcommand();
  const std::vector<Command> plans = {add_plan_time_command(plan), add_plan_memory_command(plan),
                                      add_plan_activations_command(plan),
                                      add_plan_decode_command(plan)};
  const auto run = [plans](Output& out) {
    const auto parsed = [](const Command& c) { return c.arguments.parsed(); };
    return std::find_if(plans.begin(), plans.end(), parsed)->run(out);
  };
  return {plan, run};
}

}  // namespace roofline
