#include "roofline/einsum.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace roofline {
namespace {

struct Row {
  const char* expression;
  std::vector<std::string> sizes;
  double flops, output_elements;
  const char* op;  // name(Case) in bf16; "": neither gemm, gemv nor dot
};

const Row kRows[] = {
    // 2 x 8 x 2048 x 2048 x 4096.
    {"batch seq1 hidden, batch seq2 hidden -> batch seq1 seq2",
     {"batch=8", "seq1=2048", "seq2=2048", "hidden=4096"},
     274877906944,
     33554432,
     "gemm/bf16/8x2048x2048x4096"},
    {"m k, k n -> m n", {"m=2", "k=3", "n=5"}, 60, 10, "gemm/bf16/2x5x3"},
    {"m k,k n->m n", {"m=2", "k=3", "n=5"}, 60, 10, "gemm/bf16/2x5x3"},
    // Leading dimensions are rows of a linear layer: 2 x (8 x 12) x 16 x 32.
    {"... hidden, hidden out -> ... out",
     {"...=8x12", "hidden=16", "out=32"},
     98304,
     3072,
     "gemm/bf16/96x32x16"},
    {"b h s d, b h t d -> b h s t",
     {"b=2", "h=3", "s=4", "t=5", "d=6"},
     1440,
     120,
     "gemm/bf16/6x4x5x6"},
    {"m n, n -> m", {"m=4", "n=8"}, 64, 4, "gemv/bf16/4x8"},
    {"n, m n -> m", {"m=4", "n=8"}, 64, 4, "gemv/bf16/4x8"},
    {"b m n, b n -> b m", {"b=2", "m=4", "n=8"}, 128, 8, "gemm/bf16/2x4x1x8"},
    {"n, n ->", {"n=8"}, 16, 1, "dot/bf16/8"},
    {"b n, b n -> b", {"b=2", "n=8"}, 32, 2, ""},
    {"m, n -> m n", {"m=4", "n=8"}, 32, 32, ""},            // outer product: one multiply each
    {"m n, m n -> m n", {"m=4", "n=8"}, 32, 32, ""},        // elementwise
    {"m n -> n m", {"m=4", "n=8"}, 0, 32, ""},              // a transposition
    {"m n -> m", {"m=4", "n=8"}, 32, 4, ""},                // a sum: one add each
    {"m k, n -> m n", {"m=4", "k=2", "n=8"}, 128, 32, ""},  // k is summed in one input alone
    {"a, b, c -> a", {"a=2", "b=3", "c=4"}, 72, 2, ""},     // two multiplies and an add
};

TEST(Einsum, CountsAsByHandAndNamesTheOp) {
  for (const Row& row : kRows) {
    const EinsumCost c = cost(parse_einsum(row.expression), parse_sizes(row.sizes), Dtype::bf16);
    EXPECT_EQ(c.flops.value, row.flops) << row.expression;
    EXPECT_EQ(c.output_elements, row.output_elements) << row.expression;
    EXPECT_EQ(c.op ? name(*c.op) : "", row.op) << row.expression;
  }
}

TEST(Einsum, AnOpCostsWhatTheEinsumDoes) {
  for (const Row& row : kRows) {
    const EinsumCost e = cost(parse_einsum(row.expression), parse_sizes(row.sizes), Dtype::bf16);
    if (!e.op) continue;
    const Cost c = cost(*e.op);
    EXPECT_EQ(c.flops, e.flops) << row.expression;
    EXPECT_EQ(c.read.value, 2 * (e.input_elements[0] + e.input_elements[1])) << row.expression;
    EXPECT_EQ(c.written.value, e.output_elements * bytes_per_element(e.op->out)) << row.expression;
  }
}

TEST(Einsum, NamesWhatIsSummed) {
  const EinsumCost c =
      cost(parse_einsum("a b c, c d -> d"),
           parse_sizes(std::vector<std::string>{"a=1", "b=2", "c=3", "d=4"}), Dtype::fp32);
  EXPECT_EQ(c.summed, (Dimensions{"a", "b", "c"}));
}

struct Bad {
  const char* expression;
  std::vector<std::string> sizes;
  const char* message;
};

const Bad kBad[] = {
    {"m k, k n", {}, "expected one \"->\""},
    {"m -> m -> m", {}, "expected one \"->\""},
    {"", {}, "expected one \"->\""},
    {"-> m", {}, "input 1 has no dimensions"},
    {"m, -> m", {}, "input 2 has no dimensions"},
    {"m k, k n -> m z", {}, "output dimension z stands in no input"},
    {"m k, k n -> m m", {}, "the output: dimension m stands in it twice"},
    {"m m -> m", {}, "input 1: dimension m stands in it twice"},
    {"m ... -> m", {}, "... stands only in front"},
    {"m 2k -> m", {}, "got \"2k\""},
    {"m-k -> m", {}, "got \"m-k\""},
    {"m k, k n -> m n", {"m=2", "k=3"}, "dimension n has no size: add n=SIZE"},
    {"m k, k n -> m n", {"m=2", "m=3"}, "dimension m has two sizes, 2 and 3"},
    {"m k -> m", {"m=2", "k=3", "z=4"}, "z=4: no such dimension; the inputs have m, k"},
    {"m -> m", {"m=0"}, "dimension m: expected a size of at least 1, got 0"},
    {"m -> m", {"m=-1"}, "m"},
    {"m -> m", {"m"}, "expected NAME=SIZE, got \"m\""},
    {"m -> m", {"=4"}, "expected NAME=SIZE, got \"=4\""},
    {"m -> m", {"m=4x4"}, "m"},
    {"... -> ...", {"...=4000000000x4000000000"}, "dimension ...: expected a size below 2^63"},
    {"m n -> m", {"m=100000000", "n=100000000"}, "expected at most 2^53"},
};

TEST(Einsum, ErrorsNameTheDimension) {
  for (const Bad& row : kBad) {
    try {
      cost(parse_einsum(row.expression), parse_sizes(row.sizes), Dtype::bf16);
      ADD_FAILURE() << row.expression;
    } catch (const std::invalid_argument& e) {
      EXPECT_NE(std::string(e.what()).find(row.message), std::string::npos) << e.what();
    }
  }
}

TEST(Einsum, AnyTextIsParsedOrRefused) {
  std::mt19937 random(1);
  const std::string_view alphabet = "ab1_ .,->x=\xFF\n\"";
  std::uniform_int_distribution<std::size_t> letter(0, alphabet.size() - 1), length(0, 24);
  for (int i = 0; i < 200000; ++i) {
    std::string text(length(random), ' ');
    for (char& c : text) c = alphabet[letter(random)];
    try {
      const Einsum e = parse_einsum(text);
      Sizes sizes;
      for (const Dimensions& d : e.inputs) {
        for (const std::string& name : d) sizes.emplace(name, 3);
      }
      ASSERT_GE(cost(e, sizes, Dtype::bf16).output_elements, 1) << text;
    } catch (const std::invalid_argument&) {
    }
    try {
      parse_sizes(std::vector<std::string>{text});
    } catch (const std::invalid_argument&) {
    }
  }
}

}  // namespace
}  // namespace roofline
