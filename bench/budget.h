// How the time of a run is shared out among its groups. Knows no clock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "bench/suite.h"

namespace bench {

/// A soft budget hurries its groups, a hard one skips those that it leaves no time for. Of a hard
/// one the roofs have at most half, where anything stands under them, and the rest what is left:
/// each group an equal share. What it leaves is for the next, so that those that fit are spread.
class Budget {
 public:
  /// `visits`: to each group.
  Budget(double total_s, bool hard, double started_s, int visits = 1)
      : total_s_(total_s), hard_(hard), started_s_(started_s), visits_(visits) {}

  bool hard() const { return hard_; }
  double end_s() const { return started_s_ + total_s_; }
  /// When the first visits are to be done. They verify and choose, too, and take about as long as
  /// two later ones, and of many visits they are those that count.
  double first_end_s() const { return started_s_ + total_s_ * std::max(0.5, 2.0 / (visits_ + 1)); }
  /// When the group's first visit is to be done, if it begins now and the others follow.
  double due_s(const Group& group, std::span<const Group> later, double now_s);
  /// Why what takes `needed_s` from now on, about, is not begun: it would not be done when it is
  /// due.
  std::optional<std::string> refuses(double now_s, double needed_s, double due_s) const;

 private:
  double total_s_;
  bool hard_;
  double started_s_;
  int visits_;
  struct Phase {
    bool roofs;
    double began_s;
    std::size_t groups;
  };
  std::optional<Phase> phase_;  // that of the roofs, then that of the rest
};

}  // namespace bench
