// The table of a run: printed by the benchmark when it ends, and by `roofline report` from the
// files.
#pragma once

#include <span>

#include "roofline/record.h"
#include "roofline/table.h"

namespace roofline {

/// One row a record: what, by whom, how fast, how near to which roof; notes say why a row has no
/// numbers, or what is odd about them.
Table report(std::span<const Record> records);

}  // namespace roofline
