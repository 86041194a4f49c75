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

}  // namespace
}  // namespace kernels
