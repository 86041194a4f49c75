// Who gets how much of a run's time.
#include "bench/budget.h"

#include <gtest/gtest.h>

#include <vector>

namespace bench {
namespace {

/// Of seconds that each group takes, those that are begun: 'R' a roof's, 'r' another's, '.' none.
std::string begun(double total_s, bool hard, std::size_t roofs, std::size_t rows, double each_s) {
  std::vector<Group> groups(roofs, Group{.name = "", .cases = {}, .measures_roof = true});
  groups.resize(roofs + rows);
  Budget budget(total_s, hard, 100);
  double now_s = 100;
  std::string which;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto later = std::span(groups).subspan(i + 1);
    if (budget.refuses(now_s, each_s, budget.due_s(groups[i], later, now_s))) {
      which += '.';
    } else {
      which += groups[i].measures_roof ? 'R' : 'r';
      now_s += each_s;
    }
  }
  return which;
}

TEST(Budget, IsSharedByRoofsAndRows) {
  const struct {
    const char* name;
    double total_s;
    bool hard;
    std::size_t roofs, rows;
    double each_s;
    const char* begun;
  } rows[] = {
      {"enough for all", 20, true, 4, 6, 1, "RRRRrrrrrr"},
      {"soft", 1, false, 4, 6, 1, "RRRRrrrrrr"},
      {"half for the roofs", 6, true, 4, 6, 1, ".RRR.r.r.r"},  // 3 s for 4, then 3 s for 6
      {"what roofs leave", 6, true, 1, 10, 1, "R.r.r.r.r.r"},  // 5 s for 10 rows
      {"roofs alone have all", 4, true, 4, 0, 1, "RRRR"},
      {"none fits", 1, true, 2, 3, 2, "....."},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(begun(row.total_s, row.hard, row.roofs, row.rows, row.each_s), row.begun) << row.name;
  }
}

TEST(Budget, LeavesTimeForLaterVisits) {
  const std::vector<Group> groups(4);
  const auto later = std::span(groups).subspan(1);
  for (const bool hard : {true, false}) {
    // Of two parts and one for each later visit the first visits have two: 80 of 120 or 160 s.
    EXPECT_EQ(Budget(80, hard, 100, 1).due_s(groups[0], later, 100), 120) << "a quarter of 80";
    EXPECT_EQ(Budget(120, hard, 100, 2).due_s(groups[0], later, 100), 120);
    EXPECT_EQ(Budget(160, hard, 100, 3).due_s(groups[0], later, 100), 120);
    EXPECT_EQ(Budget(160, hard, 100, 1000).due_s(groups[0], later, 100), 120) << "at least half";
  }
}

TEST(Budget, SaysWhy) {
  const Budget budget(6, true, 100);
  EXPECT_EQ(budget.refuses(106, 0, 106), "the time budget of 6 s was used up");
  EXPECT_EQ(budget.refuses(101, 2, 102.5),
            "1.5 s of the time budget of 6 s are left for it, it takes about 2.0 s");
  EXPECT_FALSE(budget.refuses(101, 1, 102.5));
}

}  // namespace
}  // namespace bench
