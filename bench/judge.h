// What the samples of a row say: its statistics, its place under the roofs, and whether it can be
// true. Runs nothing.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "bench/row.h"
#include "roofline/roof.h"

namespace bench {

/// What all rows of a run are held against.
struct Standards {
  std::span<const roofline::Roof> roofs;
  double cache_bytes;              // of the device's last level
  std::optional<double> launch_s;  // of an empty kernel
  double max_noise, max_held_up;   // see Protocol
};

/// Fills the record of a row that was sampled, and its status: `noisy`, `above_roof`, or `failed`
/// where no time is valid. `roof`, `loop`: what was sampled in turns with it, its roof kernel and
/// itself in the cache; null for neither.
void judge(Row& row, const Row* roof, const Row* loop, const Standards& standards);

/// Time of the best variant over the default's, round by round, for the note.
std::string ratio_note(const Series& best, const Series& first);

/// Whether a row is faster than the hardware can be, and the likely cause.
std::optional<std::string> faster_than_light(const roofline::Record& record,
                                             const roofline::Roof* memory_limit,
                                             const roofline::Roof* compute_limit);

}  // namespace bench
