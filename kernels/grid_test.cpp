#include "kernels/grid.h"

#include <gtest/gtest.h>

namespace kernels {
namespace {

struct Row {
  const char* name;
  std::int64_t items, items_per_thread;
  int threads, blocks_per_processor, processors;
  unsigned blocks;
};

constexpr std::int64_t k2to31 = std::int64_t{1} << 31, k2to32 = std::int64_t{1} << 32;

const Row kRows[] = {
    {"nothing", 0, 4, 256, 0, 1, 1},
    {"one", 1, 4, 256, 0, 1, 1},
    {"one_block", 1024, 4, 256, 0, 1, 1},
    {"one_more", 1025, 4, 256, 0, 1, 2},
    // 2^31 / (4 * 256) = 2^21, and one block for what is left over.
    {"below_2_31", k2to31 - 1, 4, 256, 0, 1, 1 << 21},
    {"at_2_31", k2to31, 4, 256, 0, 1, 1 << 21},
    {"above_2_31", k2to31 + 1, 4, 256, 0, 1, (1 << 21) + 1},
    {"at_2_32", k2to32, 4, 256, 0, 1, 1 << 22},
    {"above_2_32", k2to32 + 1, 4, 256, 0, 1, (1 << 22) + 1},
    // 2^40 / 32 blocks are more than CUDA takes: the grid strides.
    {"capped_by_cuda", std::int64_t{1} << 40, 1, 32, 0, 1, 0x7fffffff},
    {"strided_small", 1025, 4, 256, 8, 132, 2},
    {"strided_capped", k2to32, 4, 256, 8, 132, 1056},
};

class GridTest : public testing::TestWithParam<Row> {};

TEST_P(GridTest, CoversTheItemsAsFarAsItMay) {
  const Row& row = GetParam();
  const Policy policy{.threads = row.threads, .blocks_per_processor = row.blocks_per_processor};
  const LaunchConfig grid =
      grid_for(row.items, row.items_per_thread, policy, {.processors = row.processors});
  EXPECT_EQ(grid.blocks, row.blocks);
  EXPECT_EQ(grid.threads, static_cast<unsigned>(row.threads));
}

INSTANTIATE_TEST_SUITE_P(Sizes, GridTest, testing::ValuesIn(kRows),
                         [](const auto& test) { return std::string(test.param.name); });

struct Split {
  const char* name;
  std::int64_t blocks, turns;
  int splits;
};

// 132 SMs, each of which holds 2 * 512 / 128 = 8 blocks: 1056, and twice that is 2112.
const Split kSplits[] = {
    {"rows_fill_the_sms", 1056, 1000, 1},
    {"a_row_too_few", 1055, 1000, 4},  // 2 * 1055 = 2110
    {"half_of_them", 528, 1000, 4},
    {"few_rows", 128, 1000, 32},  // 16 * 128 = 2048
    {"few_rows_of_few_turns", 128, 15, 8},
    {"one_row", 1, 1 << 20, 64},
    {"one_turn", 1, 1, 1},
    {"less_than_a_turn", 1, 0, 1},
    {"nothing", 0, 0, 1},
};

TEST(GemvSplits, FillTheSmsTwiceWhereRowsAreFew) {
  const std::int64_t resident = resident_blocks({.threads = 128}, {.processors = 132});
  EXPECT_EQ(resident, 1056);
  for (const Split& row : kSplits) {
    EXPECT_EQ(gemv_splits(row.blocks, row.turns, resident), row.splits) << row.name;
  }
}

}  // namespace
}  // namespace kernels
