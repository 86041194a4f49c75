// What a run would measure, and about how long a launch of each row takes.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "bench/runner.h"
#include "bench/suite.h"
#include "roofline/table.h"

namespace bench {

/// A line for each row. The predicted time is that of the roofs that are known before measuring, or
/// of a plain guess, which says so; empty for what is not computed here, with the reason.
roofline::Table dry_run(std::span<const Group> groups, const Settings& settings, Device& device);

/// "[3/20] gemm/bf16/4096x4096x4096, 12 s left; last: 91.2 % of hbm": while a run measures group
/// `number`, from 1. Time left is that of the groups before, carried on, and at most the budget's.
std::string status_line(std::size_t number, std::size_t groups, const std::string& group,
                        double elapsed_s, double budget_s, const std::string& last);

}  // namespace bench
