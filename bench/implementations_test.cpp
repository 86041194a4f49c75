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
