// The table of a run: printed by the benchmark when it ends, and by `roofline report` from the
// files.
#pragma once

#include <span>

#include "roofline/record.h"
#include "roofline/run.h"
#include "roofline/table.h"

namespace roofline {

/// One row for each case that was measured by ours and by another, or by two libraries: the fastest
/// of the first implementation against the fastest of the others, as a ratio of speeds, paired by
/// round: below 1 the peer is ahead. `run` has its rounds; empty where nothing has a peer.
Table peers(const Run& run);

/// One row a record: what, by whom, how fast, how near to which roof; notes say why a row has no
/// numbers, or what is odd about them.
Table report(std::span<const Record> records);

}  // namespace roofline
