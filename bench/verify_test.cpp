// Faults planted in otherwise right work: each must be caught, wherever it is.
#include "bench/verify.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "bench/fake_device.h"

namespace bench {
namespace {

using roofline::Case;
using roofline::Dtype;
using roofline::make_case;
using roofline::Op;

double value(const void* data, Dtype t, std::int64_t i) {
  const auto size = static_cast<std::size_t>(bytes_per_element(t));
  std::uint64_t code = 0;
  std::memcpy(&code, static_cast<const std::byte*>(data) + i * static_cast<std::int64_t>(size),
              size);
  return decode(t, code);
}

void set(void* data, Dtype t, std::int64_t i, double x) {
  const auto size = static_cast<std::size_t>(bytes_per_element(t));
  const std::uint64_t code = encode(t, x);
  std::memcpy(static_cast<std::byte*>(data) + i * static_cast<std::int64_t>(size), &code, size);
}

/// Runs `work` for the case, then `fault` on the output, and verifies.
Verification verify_with(const Case& c, const std::function<void(const Operands::Copy&)>& work,
                         const std::function<void(const Operands::Copy&)>& fault) {
  FakeDevice device;
  const Operands operands(c, 1, {}, device);
  EXPECT_TRUE(verify_inputs(operands, device).passed());
  const Work planted{.launch = [&](int copy) {
    work(operands[copy]);
    if (fault) fault(operands[copy]);
  }};
  return verify(c, planted, operands, device);
}

/// Y = X W by definition, k from `first_k` on, W read as [k, n] where it is `transposed`.
auto gemm(const Case& c, std::int64_t first_k = 0, bool transposed = false) {
  return [=](const Operands::Copy& copy) {
    for (std::int64_t b = 0; b < c.batch; ++b) {
      for (std::int64_t i = 0; i < c.m; ++i) {
        for (std::int64_t j = 0; j < c.n; ++j) {
          double sum = 0;
          for (std::int64_t k = first_k; k < c.k; ++k) {
            const std::int64_t w = transposed ? k * c.n + j : j * c.k + k;
            sum += value(copy.a.get(), c.a, (b * c.m + i) * c.k + k) *
                   value(copy.b.get(), c.b, b * c.n * c.k + w);
          }
          set(copy.out.get(), c.out, (b * c.m + i) * c.n + j, sum);
        }
      }
    }
  };
}

const Dtype kMultiplied[] = {Dtype::fp32, Dtype::tf32,     Dtype::fp16,
                             Dtype::bf16, Dtype::fp8_e4m3, Dtype::fp8_e5m2};

TEST(VerifyGemm, TakesWhatIsRight) {
  for (const Dtype t : kMultiplied) {
    const Case c = make_case(Op::gemm, t, 140, 136, 96);
    const Verification v = verify_with(c, gemm(c), nullptr);
    EXPECT_TRUE(v.passed()) << name(c) << ": " << v.max_error << " " << v.where;
  }
}

TEST(VerifyGemm, CatchesADroppedSliceOfK) {
  for (const Dtype t : kMultiplied) {
    const Case c = make_case(Op::gemm, t, 140, 136, 4096 / 16);
    EXPECT_FALSE(verify_with(c, gemm(c, 64), nullptr).passed()) << name(c);
  }
}

TEST(VerifyGemm, CatchesATransposedOperand) {
  const Case c = make_case(Op::gemm, Dtype::fp16, 136, 136, 136);
  EXPECT_FALSE(verify_with(c, gemm(c, 0, true), nullptr).passed());
}

TEST(VerifyGemm, CatchesAWrongScale) {
  const Case c = make_case(Op::gemm, Dtype::fp8_e4m3, 64, 64, 64);
  const auto doubled = [&](const Operands::Copy& copy) {
    for (std::int64_t i = 0; i < c.m * c.n; ++i) {
      set(copy.out.get(), c.out, i, 2 * value(copy.out.get(), c.out, i));
    }
  };
  EXPECT_FALSE(verify_with(c, gemm(c), doubled).passed());
}

TEST(VerifyGemm, CatchesAnUnwrittenTileWhereverItIs) {
  const Case c = make_case(Op::gemm, Dtype::bf16, 256, 384, 16);
  for (std::int64_t row = 0; row < c.m; row += 128) {
    for (std::int64_t column = 0; column < c.n; column += 128) {
      const auto unwritten = [&](const Operands::Copy& copy) {
        for (std::int64_t i = row; i < row + 128; ++i) {
          for (std::int64_t j = column; j < column + 128; ++j) {
            set(copy.out.get(), c.out, i * c.n + j, std::nan(""));
          }
        }
      };
      EXPECT_FALSE(verify_with(c, gemm(c), unwritten).passed()) << row << " " << column;
    }
  }
}

TEST(VerifyGemm, CatchesAFaultInTheLastBatchRowAndColumn) {
  Case c = make_case(Op::gemm, Dtype::fp32, 40, 36, 16);
  c.batch = 3;
  const auto last = [&](const Operands::Copy& copy) {
    set(copy.out.get(), c.out, c.batch * c.m * c.n - 1, 1e3);
  };
  EXPECT_TRUE(verify_with(c, gemm(c), nullptr).passed());
  EXPECT_FALSE(verify_with(c, gemm(c), last).passed());
}

void relu(const Case& c, const Operands::Copy& copy) {
  for (std::int64_t i = 0; i < c.n; ++i) {
    set(copy.out.get(), c.out, i, std::max(value(copy.a.get(), c.a, i), 0.0));
  }
}

TEST(VerifyElementwise, CatchesOneWrongElementAtEitherEnd) {
  for (const Dtype t : {Dtype::fp32, Dtype::bf16, Dtype::fp8_e5m2}) {
    for (const std::int64_t n : {1, 1000, 200000}) {
      const Case c = make_case(Op::relu, t, 1, n, 1);
      const auto work = [&](const Operands::Copy& copy) { relu(c, copy); };
      EXPECT_TRUE(verify_with(c, work, nullptr).passed()) << name(c);
      for (const std::int64_t i : {std::int64_t{0}, n - 1}) {
        const auto fault = [&](const Operands::Copy& copy) { set(copy.out.get(), t, i, 0.125); };
        const double right = std::max(double{kernels::input({}, seed_of_a({}), i)}, 0.0);
        EXPECT_EQ(verify_with(c, work, fault).passed(), right == 0.125) << name(c) << " at " << i;
      }
    }
  }
}

TEST(VerifyMma, CatchesAStepOrAFewThatWereLeftOut) {
  // Steps add 2, -1, 1, -1 in turn: 8 of them 2, the last missing 3, the last four missing 1.
  const Case c = make_case(Op::mma, Dtype::fp8_e4m3, 8, 16384, 32);
  const auto all_are = [&](double x) {
    return [&, x](const Operands::Copy& copy) {
      for (std::int64_t i = 0; i < c.n; ++i) set(copy.out.get(), Dtype::fp32, i, x);
    };
  };
  EXPECT_TRUE(verify_with(c, all_are(2), nullptr).passed());
  EXPECT_FALSE(verify_with(c, all_are(3), nullptr).passed());
  EXPECT_FALSE(verify_with(c, all_are(1), nullptr).passed());
  for (const std::int64_t i : {0, 7777, 16383}) {
    const auto one = [&](const Operands::Copy& copy) { set(copy.out.get(), Dtype::fp32, i, 1.5); };
    EXPECT_FALSE(verify_with(c, all_are(2), one).passed()) << i;
  }
}

TEST(VerifyElementwise, CatchesAnyElementThatWasNotWritten) {
  const Case c = make_case(Op::relu, Dtype::fp16, 1, 1 << 20, 1);
  const auto work = [&](const Operands::Copy& copy) { relu(c, copy); };
  for (const std::int64_t i : {5000, 77777, 1000000}) {
    const auto fault = [&](const Operands::Copy& copy) {
      set(copy.out.get(), Dtype::fp16, i, std::nan(""));
    };
    const Verification v = verify_with(c, work, fault);
    EXPECT_FALSE(v.passed());
    EXPECT_TRUE(std::isnan(v.max_error)) << i;
  }
}

TEST(VerifyDot, IsAwareOfTheLength) {
  for (const Dtype t : {Dtype::fp32, Dtype::bf16}) {
    for (const std::int64_t n : {1, 1000, 1 << 22}) {
      const Case c = make_case(Op::dot, t, 1, n, 1);
      double right = 0;
      const auto work = [&](const Operands::Copy& copy) {
        right = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          right += value(copy.a.get(), t, i) * value(copy.b.get(), t, i);
        }
        set(copy.out.get(), Dtype::fp32, 0, right);
      };
      EXPECT_TRUE(verify_with(c, work, nullptr).passed()) << name(c);
      const auto one_percent = [&](const Operands::Copy& copy) {
        set(copy.out.get(), Dtype::fp32, 0, 1.01 * right);
      };
      if (right == 0) continue;
      EXPECT_FALSE(verify_with(c, work, one_percent).passed()) << name(c);
    }
  }
}

TEST(VerifyGemv, CatchesOneWrongRow) {
  const Case c = make_case(Op::gemv, Dtype::bf16, 100, 33, 1);
  const auto work = [&](const Operands::Copy& copy) {
    const std::int64_t stride = operand_shapes(c).a.stride;
    for (std::int64_t i = 0; i < c.m; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < c.n; ++j) {
        sum += value(copy.a.get(), c.a, i * stride + j) * value(copy.b.get(), c.b, j);
      }
      set(copy.out.get(), c.out, i, sum);
    }
  };
  EXPECT_TRUE(verify_with(c, work, nullptr).passed());
  for (const std::int64_t row : {0, 57, 99}) {
    const auto fault = [&](const Operands::Copy& copy) {
      set(copy.out.get(), c.out, row, value(copy.out.get(), c.out, row) + 1);
    };
    EXPECT_FALSE(verify_with(c, work, fault).passed()) << row;
  }
}

TEST(VerifyInputs, CatchesACopyThatDiffers) {
  FakeDevice device;
  const Operands operands(make_case(Op::dot, Dtype::bf16, 1, 100, 1), 3, {}, device);
  EXPECT_TRUE(verify_inputs(operands, device).passed());
  set(operands[2].b.get(), Dtype::bf16, 99, 77);
  const Verification v = verify_inputs(operands, device);
  EXPECT_EQ(v.max_error, 1);
  EXPECT_NE(v.where.find("input 99 is 77"), std::string::npos) << v.where;
}

TEST(Tolerance, IsMetOnlyByNumbers) {
  EXPECT_FALSE((Verification{.max_error = std::nan(""), .tolerance = 1}).passed());
  EXPECT_TRUE((Verification{.max_error = 1, .tolerance = 1}).passed());
}

}  // namespace
}  // namespace bench
