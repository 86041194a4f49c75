#include "bench/operands.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "bench/fake_device.h"

namespace bench {
namespace {

using roofline::Case;
using roofline::Dtype;
using roofline::Layout;
using roofline::make_case;
using roofline::Op;

TEST(OperandShapes, HoldWhatTheCostCounts) {
  // Where rows need no padding, the operands are the traffic: each input read, each output written
  // once.
  for (const roofline::OpInfo& o : roofline::ops()) {
    for (const Dtype t : {Dtype::fp32, Dtype::bf16, Dtype::fp8_e4m3}) {
      const Case c = make_case(o.op, t, 16, 64, 32);
      EXPECT_EQ(static_cast<double>(operand_shapes(c).bytes()), cost(c).bytes().value) << name(c);
    }
  }
}

TEST(OperandShapes, PadGemvRowsToSixteenBytes) {
  const Matrix a = operand_shapes(make_case(Op::gemv, Dtype::bf16, 3, 9, 1)).a;
  EXPECT_EQ(a.stride, 16);  // 9 elements of 2 bytes: 32
  EXPECT_EQ(a.bytes(), 96U);
}

TEST(OperandShapes, KeepGemmOperandsAsTheLayoutSays) {
  Case c = make_case(Op::gemm, Dtype::bf16, 2, 3, 5);
  c.batch = 7;
  const auto sizes = [&](Layout layout) {
    c.layout = layout;
    const OperandShapes s = operand_shapes(c);
    return std::vector<std::int64_t>{s.a.rows,    s.a.columns, s.b.rows,
                                     s.b.columns, s.out.rows,  s.out.columns};
  };
  EXPECT_EQ(sizes(Layout::tn), (std::vector<std::int64_t>{14, 5, 21, 5, 14, 3}));
  EXPECT_EQ(sizes(Layout::nn), (std::vector<std::int64_t>{14, 5, 35, 3, 14, 3}));
  EXPECT_EQ(sizes(Layout::nt), (std::vector<std::int64_t>{35, 2, 35, 3, 14, 3}));
}

TEST(OperandShapes, OfNoMemoryAreNotNegative) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto gemm = [](std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
    Case c = make_case(Op::gemm, Dtype::fp32, m, n, k);
    c.batch = batch;
    return c;
  };
  // At least the 4 bytes of each element of the largest operand.
  const struct {
    Case c;
    double at_least;
  } rows[] = {
      {make_case(Op::gemv, Dtype::fp32, 8, kMost, 1), 4 * 8 * 9.2e18},
      {make_case(Op::gemv, Dtype::fp32, 1, kMost - 2, 1), 4 * 9.2e18},
      {make_case(Op::gemv, Dtype::fp32, kMost, kMost, 1), 4 * 9.2e18 * 9.2e18},
      {gemm(3, 3, 3, kMost), 4 * 9 * 9.2e18 / 3},  // its rows: the most
      {gemm(4'000'000'000, 4'000'000'000, 1, 1), 4 * 9.2e18},
      {make_case(Op::dot, Dtype::fp32, 1, kMost, 1), 4 * 9.2e18},
  };
  for (const auto& [c, at_least] : rows) EXPECT_GE(operand_shapes(c).bytes(), at_least) << name(c);
}

TEST(ColdCopies, TogetherExceedTheCacheThreefold) {
  constexpr double kMi = 1 << 20;
  EXPECT_EQ(cold_copies(1024 * kMi, 50 * kMi), 1);  // past 8 caches
  EXPECT_EQ(cold_copies(400 * kMi, 50 * kMi), 2);   // exactly 8
  EXPECT_EQ(cold_copies(75 * kMi, 50 * kMi), 2);
  EXPECT_EQ(cold_copies(50 * kMi, 50 * kMi), 3);
  EXPECT_EQ(cold_copies(4 * kMi, 50 * kMi), 38);  // 37.5
  EXPECT_EQ(cold_copies(4, 50 * kMi), 4096);
  EXPECT_EQ(cold_copies(0, 50 * kMi), 1);
}

TEST(Operands, SayWhatTheyNeedAndWhatIsFree) {
  FakeDevice device;
  device.memory_bytes = 1 << 30;
  try {
    const Operands operands(make_case(Op::relu, Dtype::fp32, 1, 1 << 28, 1), 2, {}, device);
    ADD_FAILURE();
  } catch (const OutOfMemory& e) {
    EXPECT_STREQ(e.what(), "needs 4294967296 bytes of memory, 1073741824 are free");
  }
  EXPECT_EQ(device.free_bytes(), 1 << 30);
}

TEST(Operands, OfARoofKernelAreTheLargestInputsOfItsRow) {
  const auto addresses = [](const Operands& operands, Memory Operands::Copy::*operand) {
    std::vector<const void*> all;
    for (int i = 0; i < operands.copies(); ++i) all.push_back((operands[i].*operand).get());
    return all;
  };
  using Copy = Operands::Copy;
  FakeDevice device;
  const auto in = [&](const Case& roof, const Case& c) {
    const auto owner = std::make_shared<Operands>(c, 2, Data{}, device);
    const Operands& of = *owner;
    const double before = device.free_bytes();
    Operands view(roof, owner);
    EXPECT_EQ(device.free_bytes(), before) << name(c);
    view.release();
    owner->release();
    EXPECT_EQ(device.free_bytes(), device.memory_bytes) << name(c);
    view.refill(device);
    EXPECT_EQ(device.free_bytes(), before) << name(c);
    const auto a = addresses(of, &Copy::a), b = addresses(of, &Copy::b);
    if (c.op == Op::dot) {  // both, which are as large
      EXPECT_EQ(addresses(view, &Copy::a), (std::vector{a[0], b[0], a[1], b[1]}));
    } else {
      EXPECT_EQ(addresses(view, &Copy::a), c.op == Op::gemm ? b : a) << name(c);
    }
    if (roof.op == Op::copy) {
      EXPECT_EQ(addresses(view, &Copy::out), addresses(of, &Copy::out));
    }
    // What is read is what the seed makes, so that it can be verified.
    const auto at = static_cast<std::uint64_t>(roof.n) - 1;
    EXPECT_EQ(static_cast<const float*>(view[0].a.get())[at],
              kernels::input(view.data().kind, seed_of_a(view.data()), at))
        << name(c);
  };
  const auto read = [](std::int64_t n) { return make_case(Op::read, Dtype::fp32, 1, n, 1); };
  in(make_case(Op::copy, Dtype::fp32, 1, 1000, 1), make_case(Op::relu, Dtype::fp32, 1, 1000, 1));
  in(read(1000), make_case(Op::dot, Dtype::fp32, 1, 1000, 1));
  in(read(3 * 12), make_case(Op::gemv, Dtype::fp32, 3, 9, 1));  // 9 elements, padded
  in(read(32 * 64), make_case(Op::gemm, Dtype::fp32, 1, 32, 64));
}

TEST(Operands, AreFilledWholeOrNotAtAll) {
  class Failing : public FakeDevice {
   public:
    int fills_left = 1 << 20;
    void fill(void* data, Dtype dtype, kernels::InputKind kind, std::uint64_t seed,
              std::int64_t n) override {
      if (--fills_left < 0) throw OutOfMemory(1, 0);
      FakeDevice::fill(data, dtype, kind, seed, n);
    }
  };
  Failing device;
  const auto owner =
      std::make_shared<Operands>(make_case(Op::relu, Dtype::fp32, 1, 1000, 1), 3, Data{}, device);
  Operands view(make_case(Op::copy, Dtype::fp32, 1, 1000, 1), owner);
  view.release();
  owner->release();
  device.fills_left = 2;  // of three
  EXPECT_THROW(owner->refill(device), OutOfMemory);
  EXPECT_EQ(device.free_bytes(), device.memory_bytes);
  EXPECT_THROW(view.refill(device), OutOfMemory) << "and not the two that there were";
  device.fills_left = 3;
  view.refill(device);
  EXPECT_NE(view[2].a, nullptr);
}

TEST(Operands, GiveTheirMemoryBack) {
  FakeDevice device;
  {
    Operands operands(make_case(Op::dot, Dtype::fp32, 1, 1000, 1), 3, {}, device);
    const double before = device.free_bytes();
    operands.release();
    EXPECT_EQ(device.free_bytes(), device.memory_bytes);
    EXPECT_EQ(operands.copies(), 3) << "it knows what it had";
    operands.refill(device);
    operands.refill(device);
    EXPECT_EQ(device.free_bytes(), before);
    EXPECT_EQ(static_cast<const float*>(operands[2].b.get())[999],
              kernels::input(kernels::InputKind::normal, seed_of_b({}), 999));
  }
  EXPECT_EQ(device.free_bytes(), device.memory_bytes);
}

}  // namespace
}  // namespace bench
