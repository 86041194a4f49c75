// Who takes part when, and whether the libraries of a cpu compute what is asked of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bench/fake_device.h"
#include "bench/implementation.h"
#include "bench/verify.h"

namespace bench {
namespace {

using roofline::Case;
using roofline::Dtype;
using roofline::Layout;
using roofline::make_case;
using roofline::Op;

TEST(Implementations, HaveUniqueNames) {
  std::set<std::string_view> seen;
  for (const Implementation& i : implementations()) {
    EXPECT_TRUE(seen.insert(i.name).second) << i.name;
  }
}

TEST(Implementations, ArePeersOnlyWhereNamed) {
  const FakeDevice device;
  Implementation i = kOurs;
  const std::vector<std::string> nobody, itself = {"ours"}, another = {"onednn"};
  for (const bool peer : {false, true}) {
    i.peer = peer;
    EXPECT_EQ(takes_part(i, nobody, Op::relu, device), !peer);
    EXPECT_TRUE(takes_part(i, itself, Op::relu, device));
    EXPECT_FALSE(takes_part(i, another, Op::relu, device));
    EXPECT_FALSE(takes_part(i, itself, Op::gemm, device)) << "not its trade";
  }
}

/// With policies of the names that a CUDA kernel has, of which small shapes are suited by the last.
struct FakeGpu : FakeDevice {
  using FakeDevice::FakeDevice;
  std::span<const kernels::Kernel> kernels() const override {
    static constexpr kernels::Policy kPolicies[] = {
        {.name = "t256v4"}, {.name = "t128v1"}, {.name = "t64v4"}};
    static const kernels::Kernel kRelu = [] {
      kernels::Kernel relu = *std::ranges::find_if(kernels::cpu_kernels(), [](const auto& k) {
        return std::string_view(k.op) == "relu" && std::string_view(k.dtype) == "bf16";
      });
      relu.policies = kPolicies;
      relu.suited = [](const kernels::Operands& x, const kernels::Queue&) -> const auto& {
        return kPolicies[x.n < 100 ? 2 : 0];
      };
      return relu;
    }();
    return {&kRelu, 1};
  }
};

TEST(Ours, TakesFirstWhatWasTunedForTheComputeCapabilityElseWhatSuitsTheShape) {
  struct Row {
    int major, minor;
    std::int64_t n;
    const char *first, *note;
  };
  constexpr const char* kUntuned =
      "untuned for compute capability 8.6: see --candidates and --tuning";
  for (const Row& row : {Row{9, 0, 1000, "t128v1", "tuned on an NVIDIA H200"},
                         {9, 0, 99, "t128v1", "tuned on an NVIDIA H200"},
                         {0, 0, 1000, "t256v4", ""},
                         {8, 6, 1000, "t256v4", kUntuned},
                         {8, 6, 99, "t64v4", kUntuned}}) {
    FakeGpu device({.backend = "fake",
                    .name = "Fake",
                    .compute_major = row.major,
                    .compute_minor = row.minor});
    const Case c = make_case(Op::relu, Dtype::bf16, 1, row.n, 1);
    const Alternatives names = kOurs.variants(c, device).front();
    EXPECT_EQ(names.front(), row.first);
    EXPECT_EQ(names.size(), 3U);
    const Operands operands(c, 1, {}, device);
    EXPECT_EQ(kOurs.prepare(c, names.front(), operands, device).note, row.note);
  }
}

TEST(Ours, HalvesTheThreadsOnlyWhereThereAreTwo) {
  struct Cpu : FakeDevice {
    int processors = 1;
    kernels::Queue queue() const override { return {.processors = processors}; }
  } device;
  const Case c = make_case(Op::fma, Dtype::fp32, 2, 1000, 1);
  EXPECT_EQ(kOurs.variants(c, device).front(), (Alternatives{"plain"}));
  device.processors = 2;
  EXPECT_EQ(kOurs.variants(c, device).front(), (Alternatives{"plain", "plain-half"}));
}

Case gemm(Layout layout) {
  Case c = make_case(Op::gemm, Dtype::fp32, 65, 129, 33);
  c.layout = layout;
  c.batch = 3;
  return c;
}

TEST(Implementations, OfTheCpuAreRightInEveryLayout) {
  const Case cases[] = {make_case(Op::dot, Dtype::fp32, 1, 10007, 1),
                        make_case(Op::gemv, Dtype::fp32, 67, 1009, 1), gemm(Layout::tn),
                        gemm(Layout::nn), gemm(Layout::nt)};
  const auto device = make_cpu_device();
  for (const Implementation& i : implementations()) {
    for (const Case& c : cases) {
      const std::string one[] = {std::string(i.name)};
      if (!takes_part(i, one, c.op, *device) || i.refuses(c, *device)) continue;
      const Operands operands(c, 1, {}, *device);
      for (const Alternatives& names : i.variants(c, *device)) {
        for (const std::string& variant : names) {
          const Work work = i.prepare(c, variant, operands, *device);
          const Verification v = verify(c, work, operands, *device);
          EXPECT_TRUE(v.passed()) << i.name << " " << name(c) << " " << name(c.layout) << ": "
                                  << v.max_error << " " << v.metric << ", " << v.where;
        }
      }
    }
  }
}

}  // namespace
}  // namespace bench
