// One test body for every kernel, on every executor: the cpu's loops, the CUDA kernels on fibers,
// the CUDA kernels on a GPU. References are fp64, from the definition, on what the kernel saw; the
// codec between the two is the model's, which is written from the formats' definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>

#include "kernels/executor.h"
#include "kernels/input.h"
#include "kernels/tuned.h"
#include "roofline/dtype.h"

namespace kernels {
namespace {

using roofline::Dtype;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// ---- formats, values

Dtype dtype_of(const Kernel& kernel) { return *roofline::parse_dtype(kernel.dtype); }

std::int64_t size_of(Dtype dtype) {
  return static_cast<std::int64_t>(roofline::bytes_per_element(dtype));
}

bool is_fp8(Dtype dtype) { return size_of(dtype) == 1; }

/// As a kernel stores a computed value: FP8 saturates.
std::uint64_t stored(Dtype dtype, double value) {
  return roofline::encode(
      dtype, value, is_fp8(dtype) ? roofline::Overflow::saturate : roofline::Overflow::to_infinity);
}

double rounded(Dtype dtype, double value) { return decode(dtype, stored(dtype, value)); }

/// The gap between the values of the format around `value`.
double ulp(Dtype dtype, double value) {
  const double magnitude = std::min(std::fabs(value), roofline::max_finite(dtype));
  const double least = roofline::smallest_normal(dtype);
  return std::ldexp(roofline::epsilon(dtype), std::ilogb(std::max(magnitude, least)));
}

/// n elements: what tends to go wrong first, then ordinary numbers.
std::vector<std::uint64_t> awkward_codes(Dtype dtype, std::int64_t n, std::uint64_t seed) {
  const double values[] = {0.0,
                           -0.0,
                           kInfinity,
                           -kInfinity,
                           kNan,
                           1.0,
                           -1.0,
                           roofline::max_finite(dtype),
                           -roofline::max_finite(dtype),
                           roofline::smallest_subnormal(dtype),
                           -roofline::smallest_subnormal(dtype),
                           roofline::smallest_normal(dtype),
                           -0.75,
                           3.0,
                           -3.0,
                           -8.0,
                           10.0};
  std::vector<std::uint64_t> codes;
  for (std::int64_t i = 0; i < n; ++i) {
    // Rotated by the seed, so that two operands pair each with each in time.
    const auto at = static_cast<std::size_t>(i) + seed * 5;
    codes.push_back(static_cast<std::size_t>(i) < std::size(values)
                        ? roofline::encode(dtype, values[at % std::size(values)])
                        : stored(dtype, input(InputKind::normal, seed, i)));
  }
  return codes;
}

std::vector<std::uint64_t> plain_codes(Dtype dtype, std::int64_t n, std::uint64_t seed) {
  std::vector<std::uint64_t> codes;
  for (std::int64_t i = 0; i < n; ++i) {
    codes.push_back(stored(dtype, input(InputKind::normal, seed, i)));
  }
  return codes;
}

/// Every code of an 8- or 16-bit format; of fp32 2^16, spread evenly over all.
std::vector<std::uint64_t> all_codes(Dtype dtype) {
  std::vector<std::uint64_t> codes;
  const std::uint64_t count = is_fp8(dtype) ? 1 << 8 : 1 << 16;
  const std::uint64_t step = size_of(dtype) == 4 ? (1 << 16) + 1 : 1;
  for (std::uint64_t i = 0; i < count; ++i) codes.push_back(i * step);
  return codes;
}

// ---- memory of an executor

/// Elements of `dtype` in the memory of the executor, with a guard behind them.
class Array {
 public:
  Array(const Executor& on, Dtype dtype, const std::vector<std::uint64_t>& codes)
      : Array(on, dtype, static_cast<std::int64_t>(codes.size())) {
    std::vector<std::byte> bytes(codes.size() * size_of(dtype));
    for (std::size_t i = 0; i < codes.size(); ++i) {
      std::memcpy(&bytes[i * size_of(dtype)], &codes[i], size_of(dtype));  // little-endian
    }
    on_.copy(memory_.get(), bytes.data(), bytes.size());
  }
  /// Poisoned: 0xff is a NaN in every format.
  Array(const Executor& on, Dtype dtype, std::int64_t n) : on_(on), dtype_(dtype), n_(n) {
    const std::vector<std::byte> poison(n * size_of(dtype) + kGuard, std::byte{0xff});
    memory_ = on.allocate(poison.size());
    on_.copy(memory_.get(), poison.data(), poison.size());
  }

  void* data() const { return memory_.get(); }
  std::vector<std::uint64_t> codes() const {
    const std::vector<std::byte> bytes = download();
    std::vector<std::uint64_t> codes(n_);
    for (std::int64_t i = 0; i < n_; ++i) {
      std::memcpy(&codes[i], &bytes[i * size_of(dtype_)], size_of(dtype_));
    }
    return codes;
  }
  std::vector<double> values() const {
    std::vector<double> values;
    for (const std::uint64_t code : codes()) values.push_back(decode(dtype_, code));
    return values;
  }
  bool guard_is_intact() const {
    const std::vector<std::byte> bytes = download();
    return std::all_of(bytes.end() - kGuard, bytes.end(),
                       [](std::byte b) { return b == std::byte{0xff}; });
  }

 private:
  static constexpr std::int64_t kGuard = 64;
  std::vector<std::byte> download() const {
    std::vector<std::byte> bytes(n_ * size_of(dtype_) + kGuard);
    on_.copy(bytes.data(), memory_.get(), bytes.size());
    return bytes;
  }
  const Executor& on_;
  Dtype dtype_;
  std::int64_t n_;
  std::shared_ptr<std::byte> memory_;
};

/// Launches with a workspace of the size that the kernel asks for, and waits. Its words.
std::vector<std::uint32_t> launch(const Executor& on, const Kernel& kernel, Operands operands,
                                  const Policy& policy) {
  std::vector<std::uint32_t> words(kernel.workspace_bytes(operands, policy, on.queue) / 4);
  const auto workspace = on.allocate(words.size() * 4);
  operands.workspace = words.empty() ? nullptr : workspace.get();
  kernel.launch(operands, policy, on.queue);
  on.copy(words.data(), workspace.get(), words.size() * 4);
  return words;
}

// ---- what is expected

/// 0.5 (1 + tanh(u)) = 1 / (1 + e^-2u), which does not cancel.
double gelu(double x) {
  const double u = std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x);
  return x / (1.0 + std::exp(-2.0 * u));
}

/// What comes out is to be the rounding of a value within tolerance() of the reference.
struct Elementwise {
  const char* op;
  std::function<double(double a, double b)> reference;
  /// `unit` is one fp32 ulp of the reference.
  std::function<double(Dtype, double a, double b, double unit)> tolerance;
  std::int64_t m = 1;
};

double exact(Dtype, double, double, double) { return 0.0; }

const Elementwise kElementwise[] = {
    {"relu", [](double a, double) { return std::isnan(a) ? a : std::max(a, 0.0); }, exact},
    {"copy", [](double a, double) { return a; }, exact},
    {"write", [](double, double) { return 1.0; }, exact},
    // The product's rounding, where it is not fused, and the sum's.
    {"triad", [](double a, double b) { return a + 3.0 * b; },
     [](Dtype, double, double b, double unit) { return unit + std::fabs(3.0 * b) * 0x1p-24; }},
    // e^-2u errs by the six roundings of its argument, each 2^-24 of |2 u|, and by some of its own;
    // where it overflows, the result is 0. In FP8, of what tanh.approx errs, 2^-10.987, 0.5 |x| is
    // left; the rounding of the result to fp16 is 2^-11 of it, those before it less. All values of
    // both formats come to 0.89 of the bound.
    {"gelu", [](double a, double) { return gelu(a); },
     [](Dtype t, double a, double, double unit) {
       if (is_fp8(t)) return std::fabs(a) * 0x1p-10;
       const double u = std::min(std::fabs(0.8 * a + 0.036 * a * a * a), 100.0);
       return (4.0 + 6.0 * u) * unit + 0x1p-120 * std::min(std::fabs(a), 1.0);
     }},
    // 1 + erf cancels below 0: our own erf errs by 5e-7, of which 0.5 |x| is left; from x = -5.7 on
    // it is -1 exactly. In FP8, as above, and 2.6e-5 of the polynomial.
    {"gelu_erf", [](double a, double) { return 0.5 * a * std::erfc(-a / std::sqrt(2.0)); },
     [](Dtype t, double a, double, double unit) {
       if (is_fp8(t)) return std::fabs(a) * 0x1p-10;
       return 4.0 * unit + 2.5e-7 * std::min(std::fabs(a), 6.0);
     }},
    // A step rounds 1 - a to the dtype; after the first two they are exact, or as good as.
    {"fma", [](double a, double) { return a; },
     [](Dtype t, double a, double, double) { return 1.5 * ulp(t, 1.0 + std::fabs(a)); }, 34},
    {"fma", [](double a, double) { return 1.0 - a; },
     [](Dtype t, double a, double, double) { return 1.5 * ulp(t, 1.0 + std::fabs(a)); }, 3},
};

testing::AssertionResult is_right(const Elementwise& row, Dtype dtype, double a, double b,
                                  double got) {
  const double reference = row.reference(a, b);
  const double tolerance = row.tolerance(dtype, a, b, ulp(Dtype::fp32, reference));
  double least = reference, most = reference;
  // An infinity that only passes through is not rounded, and so does not saturate.
  if (!(std::isinf(reference) && reference == a && tolerance == 0.0)) {
    const bool finite = std::isfinite(reference);
    least = rounded(dtype, finite ? reference - tolerance : reference);
    most = rounded(dtype, finite ? reference + tolerance : reference);
  }
  if (std::isnan(reference) ? std::isnan(got) : least <= got && got <= most) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << row.op << " of " << a << ", " << b << " is " << got
                                     << ", expected " << least << " to " << most;
}

/// Sums in fp32 of terms that are exact in fp64.
struct Sum {
  double value = 0.0, magnitudes = 0.0;
  void add(double term) {
    value += term;
    magnitudes += std::fabs(term);
  }
  /// Some dozens of additions in a chain, each rounding at most half an ulp of what is there.
  double tolerance() const { return 16.0 * 0x1p-24 * magnitudes; }
};

// ---- the tests

struct Subject {
  Executor on;
  Kernel kernel;
};

class KernelTest : public testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    if (const std::string reason = unusable(); !reason.empty()) GTEST_SKIP() << reason;
    if (kernel_.refuses == nullptr || on_.compute_capability == nullptr) return;
    const std::string reason = kernel_.refuses(on_.compute_capability());
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
  const Executor& on_ = GetParam().on;
  const Kernel& kernel_ = GetParam().kernel;
  const std::string op_ = kernel_.op;
  const Dtype dtype_ = dtype_of(kernel_);

  /// None, one, around a 16-byte access, a prime, and past what the grid does in one go.
  std::vector<std::int64_t> sizes(const Policy& policy) const {
    const std::int64_t lanes = 16 / size_of(dtype_);
    const std::int64_t blocks = std::max(2, policy.blocks_per_processor * on_.queue.processors);
    return {0,
            1,
            lanes - 1,
            lanes,
            lanes + 1,
            9973,
            blocks * policy.threads * policy.vectors * lanes + 137};
  }

  void check_elementwise(const Elementwise& row, const Policy& policy,
                         const std::vector<std::uint64_t>& codes_a,
                         const std::vector<std::uint64_t>& codes_b) {
    const auto n = static_cast<std::int64_t>(codes_a.size());
    const Array a(on_, dtype_, codes_a), b(on_, dtype_, codes_b), out(on_, dtype_, n);
    launch(on_, kernel_, {.a = a.data(), .b = b.data(), .out = out.data(), .m = row.m, .n = n},
           policy);
    const std::vector<double> x = a.values(), y = b.values(), got = out.values();
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_TRUE(is_right(row, dtype_, x[i], y[i], got[i])) << "element " << i;
    }
    EXPECT_TRUE(out.guard_is_intact());
  }

  void check_read(const Policy& policy, std::int64_t n) {
    const auto codes = awkward_codes(dtype_, n, 1);
    const Array a(on_, dtype_, codes);
    std::uint32_t sum = 0;
    for (const std::uint32_t word : launch(on_, kernel_, {.a = a.data(), .n = n}, policy)) {
      sum ^= word;
    }
    std::uint64_t expected = 0;
    for (std::int64_t i = 0; i < n; ++i) expected ^= codes[i] << (i * size_of(dtype_) % 4 * 8);
    EXPECT_EQ(sum, expected);
  }

  void check_dot(const Policy& policy, std::int64_t n) {
    const Array a(on_, dtype_, plain_codes(dtype_, n, 1)),
        b(on_, dtype_, plain_codes(dtype_, n, 2));
    const Array out(on_, Dtype::fp32, 1), again(on_, Dtype::fp32, 1);
    Sum sum;
    const auto x = a.values(), y = b.values();
    for (std::int64_t i = 0; i < n; ++i) sum.add(x[i] * y[i]);
    launch(on_, kernel_, {.a = a.data(), .b = b.data(), .out = out.data(), .n = n}, policy);
    EXPECT_LE(std::fabs(out.values()[0] - sum.value), sum.tolerance())
        << out.values()[0] << ", expected " << sum.value;
    EXPECT_TRUE(out.guard_is_intact());
    launch(on_, kernel_, {.a = a.data(), .b = b.data(), .out = again.data(), .n = n}, policy);
    EXPECT_EQ(out.codes(), again.codes()) << "not the same bits again";
  }

  /// Every sum of every tile, in as many steps as leave none of them out.
  void check_mma(const Policy& policy, std::int64_t m, std::int64_t n) {
    const Array out(on_, Dtype::fp32, n);
    launch(on_, kernel_, {.out = out.data(), .m = m, .n = n, .k = 32 / size_of(dtype_)}, policy);
    EXPECT_EQ(out.values(), std::vector<double>(n, static_cast<double>(m) / 4));
    EXPECT_TRUE(out.guard_is_intact());
  }

  void check_gemv(const Policy& policy, std::int64_t m, std::int64_t n) {
    const std::int64_t lanes = 16 / size_of(dtype_), lda = (n + lanes - 1) / lanes * lanes + lanes;
    std::vector<std::uint64_t> codes = plain_codes(dtype_, m * lda, 1);
    for (std::int64_t i = 0; i < m * lda; ++i) {
      if (i % lda >= n) codes[i] = roofline::encode(dtype_, kNan);  // between rows: not to be read
    }
    const Array a(on_, dtype_, codes), b(on_, dtype_, plain_codes(dtype_, n, 2));
    const Dtype out_dtype = is_fp8(dtype_) ? Dtype::bf16 : dtype_;
    const Array out(on_, out_dtype, m);
    launch(on_, kernel_,
           {.a = a.data(), .b = b.data(), .out = out.data(), .m = m, .n = n, .lda = lda}, policy);
    const auto matrix = a.values(), x = b.values(), y = out.values();
    for (std::int64_t row = 0; row < m; ++row) {
      Sum sum;
      for (std::int64_t i = 0; i < n; ++i) sum.add(matrix[row * lda + i] * x[i]);
      EXPECT_LE(std::fabs(y[row] - sum.value), sum.tolerance() + 0.501 * ulp(out_dtype, sum.value))
          << "y[" << row << "] is " << y[row] << ", expected " << sum.value;
    }
    EXPECT_TRUE(out.guard_is_intact());
  }
};

TEST_P(KernelTest, ComputesItsDefinitionForEachPolicyAndSize) {
  for (const Policy& policy : kernel_.policies) {
    for (const std::int64_t n : sizes(policy)) {
      SCOPED_TRACE(std::string(policy.name) + ", n = " + std::to_string(n));
      for (const Elementwise& row : kElementwise) {
        if (row.op != op_) continue;
        check_elementwise(row, policy, awkward_codes(dtype_, n, 1), awkward_codes(dtype_, n, 2));
      }
      if (op_ == "read") check_read(policy, n);
      if (op_ == "dot") check_dot(policy, n);
      if (op_ == "gemv") check_gemv(policy, n > 10000 ? 3 : 9, n);
      if (HasFailure()) return;
    }
    if (op_ == "gemv") check_gemv(policy, 0, 100);
    if (op_ == "gemv") check_gemv(policy, 1, 1000);
    if (op_ == "gemv") check_gemv(policy, 2, 20011);  // few rows, which threads of a cpu share
    if (op_ == "empty") launch(on_, kernel_, {}, policy);
    if (op_ == "mma") {
      for (const auto& [m, n] : {std::pair{0, 16384}, {4, 0}, {4, 16384}, {24, 3 * 16384}}) {
        check_mma(policy, m, n);
      }
    }
  }
}

TEST_P(KernelTest, IsRightForEveryInputOfItsDtype) {
  for (const Elementwise& row : kElementwise) {
    if (row.op != op_) continue;
    auto reversed = all_codes(dtype_);
    std::reverse(reversed.begin(), reversed.end());
    check_elementwise(row, kernel_.policies[0], all_codes(dtype_), reversed);
  }
}

TEST_P(KernelTest, IsRightAtTheMostThatTheHardwareMayErr) {
  for (const Elementwise& row : kElementwise) {
    if (row.op != op_) continue;
    for (const auto set_error : on_.errors) {
      set_error();
      check_elementwise(row, kernel_.policies[0], all_codes(dtype_), all_codes(dtype_));
    }
  }
}

TEST_P(KernelTest, SumsNanAndInfinityAsFp32Does) {
  if (op_ != "dot" && op_ != "gemv") return;
  for (const double value : {kNan, kInfinity}) {
    const std::int64_t n = 300;
    auto codes = plain_codes(dtype_, n, 1);
    for (auto& code : codes) code &= ~(std::uint64_t{1} << (size_of(dtype_) * 8 - 1));  // positive
    const Array ones(on_, dtype_, std::vector<std::uint64_t>(n, stored(dtype_, 1.0)));
    codes[17] = roofline::encode(dtype_, value);
    const double held = decode(dtype_, codes[17]);  // E4M3 has no infinity: NaN
    const Array a(on_, dtype_, codes);
    const Dtype out_dtype = op_ == "dot" ? Dtype::fp32 : is_fp8(dtype_) ? Dtype::bf16 : dtype_;
    const Array out(on_, out_dtype, 1);
    launch(on_, kernel_, {.a = a.data(), .b = ones.data(), .out = out.data(), .n = n},
           kernel_.policies[0]);
    const double got = out.values()[0];
    EXPECT_TRUE(std::isnan(held) ? std::isnan(got) : got == held) << got << " for " << held;
  }
}

TEST_P(KernelTest, SharesTheColumnsOfFewRows) {
  struct Row {
    std::int64_t m, row_bytes;
    int processors;
    const char* policy;
  };
  // A turn of 128 threads with 2 loads of 16 bytes each along a row is 4 KiB of it; 132 SMs hold
  // 1056 blocks of 2 rows.
  const Row rows[] = {
      {4096, 8 << 10, 132, "t128r2"},
      {2111, 1 << 20, 132, "t128r2"},
      {2110, 1 << 20, 132, "t128r2s4"},   // 1055 blocks, of which 2112 are wanted
      {1024, 16 << 10, 132, "t128r2s4"},  // 512 blocks want 8, 4 turns allow 4
      {256, 56 << 10, 132, "t128r2s8"},   // 128 blocks want 32, 14 turns allow 8
      {1, 1 << 20, 132, "t128r2s64"},
      {1, 4 << 10, 132, "t128r2"},
      {0, 0, 132, "t128r2"},
      {16, 1 << 20, 1, "t128r2"},  // 8 blocks, all that an SM holds
  };
  EXPECT_EQ(kernel_.suited != nullptr, op_ == "gemv" && on_.runs_cuda());
  if (kernel_.suited == nullptr) return;
  for (const Row& row : rows) {
    const Policy& policy = kernel_.suited({.m = row.m, .n = row.row_bytes / size_of(dtype_)},
                                          {.processors = row.processors});
    EXPECT_STREQ(policy.name, row.policy) << row.m << " rows of " << row.row_bytes << " bytes";
  }
}

/// What launch() throws, or "".
std::string refusal(const Executor& on, const Kernel& kernel, const Operands& operands,
                    const Policy& policy) {
  try {
    kernel.launch(operands, policy, on.queue);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST_P(KernelTest, RefusesShapesThatAreNotWholeTilesAndTurns) {
  if (op_ != "mma") return;
  const Array out(on_, Dtype::fp32, 16384);
  const Operands good{.out = out.data(), .m = 4, .n = 16384, .k = 32 / size_of(dtype_)};
  const auto refused = [&](std::int64_t Operands::*size, std::int64_t value) {
    Operands bad = good;
    bad.*size = value;
    return refusal(on_, kernel_, bad, kernel_.policies[0]);
  };
  ASSERT_EQ(refused(&Operands::m, 4), "");
  for (const std::int64_t m : {-4, 6, 8196}) {
    EXPECT_EQ(refused(&Operands::m, m),
              "mma: m is " + std::to_string(m) + ", expected a multiple of 4 from 0 to 8192");
  }
  for (const std::int64_t n : {-16384, 16383}) {
    EXPECT_EQ(refused(&Operands::n, n),
              "mma: n is " + std::to_string(n) + ", expected a multiple of 16384");
  }
  EXPECT_EQ(refused(&Operands::k, 1), "mma: k is 1, expected " + std::to_string(good.k));
  Operands bad = good;
  bad.out = nullptr;
  EXPECT_EQ(refusal(on_, kernel_, bad, kernel_.policies[0]),
            "mma: out is null, expected 65536 bytes of memory");
}

TEST_P(KernelTest, SaysWhichGpusAreNoneForIt) {
  struct Row {
    const char* dtype;
    int capability;
    const char* refusal;
  };
  const Row rows[] = {
      {"fp16", 75, ""},
      {"bf16", 75, "tensor cores multiply bf16 from compute capability 8.0 on; this GPU has 7.5"},
      {"tf32", 80, ""},
      {"fp8_e4m3", 86,
       "tensor cores multiply fp8_e4m3 from compute capability 8.9 on; this GPU has 8.6"},
      {"fp8_e5m2", 89, ""},
      {"bf16", 90, ""},
      {"bf16", 103,
       "no kernel for the tensor cores of compute capability 10.3, whose peak takes tcgen05"},
      {"fp8_e4m3", 120, ""},
  };
  EXPECT_EQ(kernel_.refuses != nullptr, op_ == "mma");
  for (const Row& row : rows) {
    if (op_ != "mma" || kernel_.dtype != std::string(row.dtype)) continue;
    EXPECT_EQ(kernel_.refuses(row.capability), row.refusal) << row.capability;
  }
}

/// Operands of 64 elements, good for every op but empty and mma.
struct Small {
  Small(const Executor& on, Dtype dtype)
      : a(on, dtype, 64), b(on, dtype, 64), out(on, dtype, 64), workspace(on.allocate(1 << 20)) {}
  Array a, b, out;
  std::shared_ptr<std::byte> workspace;
  Operands operands{a.data(), b.data(), out.data(), workspace.get(), 1, 64};
};

TEST_P(KernelTest, RefusesBadOperandsWithTheirNumbers) {
  if (op_ == "empty" || op_ == "mma") return;
  const Small small(on_, dtype_);
  const Policy& policy = kernel_.policies[0];
  const auto refused = [&](const std::function<void(Operands&)>& spoil) {
    Operands operands = small.operands;
    spoil(operands);
    return refusal(on_, kernel_, operands, policy);
  };
  const auto past = [](void* pointer, int distance) {
    return static_cast<char*>(pointer) + distance;
  };
  void *const a = small.a.data(), *const out = small.out.data();
  ASSERT_EQ(refused([](Operands&) {}), "");
  EXPECT_EQ(refused([](Operands& x) { x.n = -1; }), op_ + ": n is -1, below 0");
  if (op_ != "write") {
    EXPECT_EQ(
        refused([](Operands& x) { x.a = nullptr; }),
        op_ + ": a is null, expected " + std::to_string(64 * size_of(dtype_)) + " bytes of memory");
    EXPECT_EQ(refused([&](Operands& x) { x.a = past(a, 4); }),
              op_ + ": a starts 4 bytes past a 16-byte boundary; it must start on one");
  }
  if (op_ != "read") {
    EXPECT_NE(refused([](Operands& x) { x.out = nullptr; }).find("out is null"), std::string::npos);
    EXPECT_EQ(refused([&](Operands& x) { x.out = past(out, 8); }),
              op_ + ": out starts 8 bytes past a 16-byte boundary; it must start on one");
  }
  if (op_ != "read" && op_ != "write") {
    EXPECT_NE(refused([&](Operands& x) { x.out = past(a, 16); }).find("overlaps a"),
              std::string::npos);
  }
  if (kernel_.workspace_bytes(small.operands, policy, on_.queue) > 0) {
    EXPECT_EQ(refused([&](Operands& x) { x.workspace = past(x.workspace, 16); }),
              op_ + ": workspace starts 16 bytes past a 256-byte boundary; it must start on one");
  }
}

TEST_P(KernelTest, RefusesRowsThatAreNarrowOrOffTheirAlignment) {
  if (op_ != "gemv") return;
  const Small small(on_, dtype_);
  Operands bad = small.operands;
  bad.lda = 63;
  EXPECT_EQ(refusal(on_, kernel_, bad, kernel_.policies[0]),
            "gemv: lda is 63, below the 64 columns of a");
  bad.m = 2;
  bad.lda = 65;
  EXPECT_EQ(
      refusal(on_, kernel_, bad, kernel_.policies[0]),
      "gemv: lda is 65, which leaves the rows of a off their 16-byte alignment; pad them to " +
          std::to_string(64 + 16 / size_of(dtype_)) + " elements");
}

TEST_P(KernelTest, RefusesPoliciesThatItCannotRun) {
  if (op_ == "empty" || op_ == "mma") return;
  const Small small(on_, dtype_);
  const auto refused = [&](const std::function<void(Policy&)>& spoil) {
    Policy policy = kernel_.policies[0];
    spoil(policy);
    return refusal(on_, kernel_, small.operands, policy);
  };
  if (on_.runs_cuda()) {
    const std::string listed = "; the table of kernels lists its policies";
    const auto three = [](Caching caching) {
      return [caching](Policy& p) {
        p.vectors = 3;
        p.caching = caching;
      };
    };
    EXPECT_EQ(refused(three(Caching::usual)),
              op_ + ": not compiled for 3 vectors a thread" + listed);
    EXPECT_EQ(refused(three(Caching::loads_once)),
              op_ + ": not compiled for 3 vectors a thread that are loaded once" + listed);
    EXPECT_EQ(refused([](Policy& p) { p.threads = 100; }),
              op_ + ": 100 threads a block; expected a multiple of 32 up to 512");
    EXPECT_EQ(refused([](Policy& p) { p.blocks_per_processor = -1; }),
              op_ + ": -1 blocks per processor, below 0");
    EXPECT_EQ(refused([](Policy& p) { p.splits = 0; }), op_ + ": 0 splits, below 1");
  } else if (op_ != "fma" && op_ != "read" && op_ != "dot" && op_ != "gemv") {
    EXPECT_EQ(refused([](Policy& p) { p.stretch_bytes = 300; }),
              op_ + ": stretch_bytes is 300, expected a multiple of 256 up to 2048");
  }
}

TEST_P(KernelTest, DoesNotDependOnTheOrderOfItsThreads) {
  for (const auto set_order : on_.orders) {
    set_order();
    if (op_ == "read") check_read(kernel_.policies[0], 9973);
    if (op_ == "dot") check_dot(kernel_.policies[0], 9973);
    if (op_ == "gemv") check_gemv(kernel_.policies[0], 9, 997);
  }
}

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const Executor& on : executors()) {
    for (const Kernel& kernel : on.table) all.push_back({on, kernel});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, KernelTest, testing::ValuesIn(subjects()), [](const auto& test) {
  return test.param.on.name + "_" + test.param.kernel.op + "_" + test.param.kernel.dtype;
});

/// A name that no kernel knows would silently leave the default in place.
TEST(TunedTable, NamesPoliciesThatTheKernelsHave) {
  for (const Executor& on : executors()) {
    if (!on.runs_cuda()) continue;
    for (const TunedDevice& device : kTunedDevices) {
      for (const Tuned& t : device.policies) {
        bool found = false;
        for (const Kernel& k : on.table) {
          if (t.op != k.op || !(t.dtype.empty() || t.dtype == k.dtype)) continue;
          found = true;
          EXPECT_EQ(tuned_policy(device, k.op, k.dtype), t.policy) << k.op << " has two rows";
          EXPECT_TRUE(
              std::ranges::any_of(k.policies, [&](const Policy& p) { return t.policy == p.name; }))
              << k.op << " " << k.dtype << " " << t.policy;
        }
        EXPECT_TRUE(found) << t.op << " " << t.dtype;
        EXPECT_GT(t.gain, 1);
      }
    }
  }
}

/// It is all that a row of measurements.csv tells of the policy.
TEST(Policies, AreNamedForWhatTheyAre) {
  const auto part = [](const char* letter, int number, int unsaid) {
    return number == unsaid ? "" : std::string(letter).append(std::to_string(number));
  };
  constexpr const char* kCaching[] = {"", "-loads-once", "-once"};
  for (const Executor& on : executors()) {
    for (const Kernel& k : on.table) {
      const std::string op = k.op;
      if (op == "empty" || op == "mma") continue;  // of one policy each
      for (const Policy& p : k.policies) {
        const std::string on_gpu = part("t", p.threads, 0) +
                                   part(op == "gemv" ? "r" : "v", p.vectors, 0) +
                                   part("g", p.blocks_per_processor, 0) + part("s", p.splits, 1) +
                                   kCaching[static_cast<int>(p.caching)];
        const std::string on_cpu =
            (p.stretch_bytes == 0 ? "plain" : "nontemporal" + part("-s", p.stretch_bytes, 512)) +
            part("-p", p.ahead_bytes, 1024) + (p.one_thread_in == 1 ? "" : "-half");
        EXPECT_EQ(p.name, on.runs_cuda() ? on_gpu : on_cpu) << op << " " << k.dtype;
      }
    }
  }
}

TEST(Policies, OfHalfTakeOneThreadInTwo) {
  // A dot on a cpu keeps a sum of 8 bytes for each thread.
  for (const Executor& on : executors()) {
    if (on.runs_cuda()) continue;
    for (const Kernel& dot : on.table) {
      if (dot.op != std::string("dot")) continue;
      for (const Policy& p : dot.policies) {
        const bool half = std::string(p.name).ends_with("-half");
        EXPECT_EQ(dot.workspace_bytes({}, p, {.processors = 8}), half ? 32U : 64U)
            << dot.dtype << " " << p.name;
        EXPECT_EQ(dot.workspace_bytes({}, p, {.processors = 1}), 8U);
      }
    }
  }
}

class ExecutorTest : public testing::TestWithParam<Executor> {
 protected:
  void SetUp() override {
    if (const std::string reason = unusable(); !reason.empty()) GTEST_SKIP() << reason;
  }
};

TEST_P(ExecutorTest, FillsWithTheRoundedInputs) {
  const Executor& on = GetParam();
  for (const char* name : {"fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"}) {
    const Dtype dtype = *roofline::parse_dtype(name);
    for (const auto kind : {InputKind::normal, InputKind::uniform, InputKind::integers,
                            InputKind::ones, InputKind::zeros, InputKind::edges}) {
      for (const std::int64_t n : {0, 1, 3, 4, 5, 9973}) {
        const Array data(on, dtype, n);
        on.fill(data.data(), name, kind, 42, n, on.queue);
        std::vector<std::uint64_t> expected;
        for (std::int64_t i = 0; i < n; ++i) expected.push_back(stored(dtype, input(kind, 42, i)));
        EXPECT_EQ(data.codes(), expected) << name << ", kind " << static_cast<int>(kind);
        EXPECT_TRUE(data.guard_is_intact());
      }
    }
  }
}

TEST_P(ExecutorTest, RefusesToFillWhatItCannot) {
  const Executor& on = GetParam();
  const Array data(on, Dtype::fp32, 8);
  const auto fill = [&](const char* dtype, int past, std::int64_t n) -> std::string {
    try {
      on.fill(static_cast<char*>(data.data()) + past, dtype, InputKind::ones, 1, n, on.queue);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(fill("fp31", 0, 4), "dtype \"fp31\": expected fp32, fp16, bf16, fp8_e4m3 or fp8_e5m2");
  EXPECT_EQ(fill("fp32", 4, 4),
            "fill: data starts 4 bytes past a 16-byte boundary; it must start on one");
  EXPECT_EQ(fill("fp32", 0, -4), "fill: n is -4, below 0");
}

TEST_P(ExecutorTest, StampsMomentsOnBothClocks) {
  Executor on = GetParam();
  if (!on.runs_cuda()) return;
  on.queue.processors = 256;  // enough blocks to meet SM 0 of any GPU
  const auto memory = on.allocate(3 * sizeof(ClockStamp));
  ClockStamp stamps[3];
  std::memset(stamps, 0xff, sizeof(stamps));
  on.copy(memory.get(), stamps, sizeof(stamps));
  auto* const device = reinterpret_cast<ClockStamp*>(memory.get());
  on.stamp(device, on.queue);
  on.stamp(device + 1, on.queue);
  on.copy(stamps, memory.get(), sizeof(stamps));
  constexpr std::uint64_t kPoison = ~std::uint64_t{0};
  EXPECT_NE(stamps[0].cycles, kPoison);  // how they advance, cuda_device_test measures
  EXPECT_NE(stamps[1].cycles, kPoison);
  EXPECT_LE(stamps[0].nanoseconds, stamps[1].nanoseconds);
  EXPECT_NE(stamps[1].nanoseconds, kPoison);
  EXPECT_EQ(stamps[2].cycles, kPoison) << "written past its end";
}

INSTANTIATE_TEST_SUITE_P(All, ExecutorTest, testing::ValuesIn(executors()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace kernels
