#include "bench/budget.h"

#include <fmt/format.h>

#include <algorithm>

namespace bench {

double Budget::due_s(const Group& group, std::span<const Group> later, double now_s) {
  if (!hard_) return now_s + (first_end_s() - now_s) / static_cast<double>(later.size() + 1);
  const auto of_other_kind = [&](const Group& g) { return g.measures_roof != group.measures_roof; };
  const auto next = std::find_if(later.begin(), later.end(), of_other_kind);
  const auto same = static_cast<std::size_t>(next - later.begin());
  if (!phase_ || phase_->roofs != group.measures_roof) {
    phase_ = {group.measures_roof, now_s, same + 1};
  }
  const double half_s = (started_s_ + first_end_s()) / 2;
  const double all_s = (next == later.end() ? first_end_s() : half_s) - phase_->began_s;
  const auto groups = static_cast<double>(phase_->groups);
  return phase_->began_s + all_s * (groups - static_cast<double>(same)) / groups;
}

std::optional<std::string> Budget::refuses(double now_s, double needed_s, double due_s) const {
  const double left_s = due_s - now_s;
  if (!hard_ || (left_s > 0 && needed_s <= left_s)) return std::nullopt;
  if (due_s <= end_s() && now_s >= end_s()) {
    return fmt::format("the time budget of {} s was used up", total_s_);
  }
  return fmt::format("{:.1f} s of the time budget of {} s are left for it, it takes about {:.1f} s",
                     std::max(0.0, left_s), total_s_, needed_s);
}

}  // namespace bench
