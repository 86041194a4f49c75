// Tiles in a note, and waves by hand.
#include "roofline/tiling.h"

#include <gtest/gtest.h>

namespace roofline {
namespace {

TEST(Tiling, IsReadBackFromANote) {
  const Tiling tiling{128, 256, 3};
  EXPECT_EQ(to_text(tiling), "tile 128x256, split-K 3");
  EXPECT_EQ(tiling_in("algorithm 66, " + to_text(tiling) + ", stages 64x4; noisy"), tiling);
}

TEST(Tiling, IsNothingWhereANoteNamesNone) {
  for (const char* note : {"", "tile ", "tile 20, stages 16, split-K 1", "tile 0x64, split-K 1",
                           "tile 128x64", "a tile unknown, split-K 1"}) {
    EXPECT_EQ(tiling_in(note), std::nullopt) << note;
  }
}

TEST(Tiling, MakesWavesOfTheTilesOfAGemm) {
  struct Row {
    std::int64_t m, n, batch;
    Tiling tiling;
    double waves;
  };
  const Row rows[] = {
      {1, 16896, 1, {128, 64}, 1},             // 132 x 1 tiles on 132 SMs
      {320, 16896, 1, {128, 128}, 3},          // 132 x 3
      {318, 8192, 1, {256, 128}, 96.0 / 132},  // 32 x 3
      {4096, 16896, 1, {128, 256}, 16},        // 132 x 16
      {1, 16896, 1, {128, 64, 4}, 4},          // each tile by 4 blocks
      {1, 16896, 5, {128, 64}, 5},
  };
  for (const Row& row : rows) {
    Case c = make_case(Op::gemm, Dtype::bf16, row.m, row.n, 16384);
    c.batch = row.batch;
    EXPECT_DOUBLE_EQ(waves(c, row.tiling, 132), row.waves) << row.m;
  }
}

}  // namespace
}  // namespace roofline
