#include "bench/tuning.h"

#include <algorithm>
#include <bit>

namespace bench {
namespace {

using roofline::Case;
using roofline::Record;

bool same_size(std::int64_t a, std::int64_t b) {
  return std::bit_width(static_cast<std::uint64_t>(a)) ==
         std::bit_width(static_cast<std::uint64_t>(b));
}

/// Whether what is best for one case is worth trying for the other.
bool alike(const Case& a, Case b) {
  if (!same_size(a.m, b.m) || !same_size(a.n, b.n) || !same_size(a.k, b.k) ||
      !same_size(a.batch, b.batch)) {
    return false;
  }
  b.m = a.m;
  b.n = a.n;
  b.k = a.k;
  b.batch = a.batch;
  return a == b;
}

double rate(const Record& r) {
  return r.achieved_flops_per_s.value_or(r.achieved_bytes_per_s.value_or(0));
}

}  // namespace

std::optional<std::string> tuned_variant(std::span<const Record> tuning, const Record& row,
                                         std::span<const std::string> variants) {
  const Record* best = nullptr;
  for (const Record& r : tuning) {
    if (r.status == roofline::Status::ok && r.implementation == row.implementation &&
        r.cache == row.cache && alike(row.what, r.what) &&
        std::ranges::find(variants, r.variant) != variants.end() &&
        (best == nullptr || rate(*best) < rate(r))) {
      best = &r;
    }
  }
  if (best == nullptr) return std::nullopt;
  return best->variant;
}

}  // namespace bench
