// The GPU behind bench::Device: facts, memory, time, and GEMMs of every legal type checked against
// fp64. Skips, with the reason, where there is no GPU.
#include "bench/cuda_device.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bench/implementation.h"
#include "bench/operands.h"
#include "bench/verify.h"
#include "kernels/device_buffer.h"
#include "roofline/statistics.h"

namespace bench {
namespace {

using roofline::Case;
using roofline::Dtype;
using roofline::Layout;
using roofline::Op;

cudaEvent_t make_event() {
  cudaEvent_t event = nullptr;
  CUDA_CHECK(cudaEventCreate(&event));
  return event;
}
void destroy_event(cudaEvent_t event) { (void)cudaEventDestroy(event); }

class CudaDevice : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = make_cuda_device(0);
    } catch (const Unavailable& reason) {
      GTEST_SKIP() << reason.what();
    }
  }
  std::unique_ptr<Device> device_;
};

TEST_F(CudaDevice, KnowsItself) {
  const roofline::DeviceFacts& facts = device_->facts();
  EXPECT_EQ(facts.backend, "cuda");
  EXPECT_EQ(facts.uuid.size(), std::string("GPU-00000000-0000-0000-0000-000000000000").size());
  EXPECT_GE(facts.compute_major, 7);
  EXPECT_GT(facts.processors, 0);
  EXPECT_GT(facts.cache_bytes, 0);
  EXPECT_GE(facts.memory_bytes, device_->free_bytes());
  EXPECT_TRUE(device_->environment().contains("cuda_driver"));
}

TEST_F(CudaDevice, PoisonsWithNaNBits) {
  const Memory memory = device_->allocate(5);
  device_->poison(memory.get(), 5);
  std::vector<std::uint8_t> host(5);
  device_->download(host.data(), memory.get(), 5);
  EXPECT_EQ(host, std::vector<std::uint8_t>(5, 0xFF));
}

TEST_F(CudaDevice, NamesTheBytesAskedForAndFree) {
  try {
    (void)device_->allocate(std::size_t{1} << 44);  // 16384 GiB
    FAIL() << "expected OutOfMemory";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 21), "needs 17592186044416 ") << error.what();
  }
  EXPECT_NE(device_->allocate(1), nullptr) << "an earlier refusal must not stick";
}

TEST_F(CudaDevice, RunsWholeTurnsOverTheCopiesAndTimesThem) {
  const Memory memory = device_->allocate(std::size_t{3} << 20);
  auto* const bytes = static_cast<std::byte*>(memory.get());
  std::vector<int> order;
  const Timed timed = device_->timed(
      [&](int copy) {
        order.push_back(copy);
        device_->poison(bytes + (std::size_t{1} << 20) * static_cast<std::size_t>(copy), 1 << 20);
      },
      3, 4);
  EXPECT_EQ(timed.launches, 6) << "4 rounded up to whole turns of 3";
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 0, 1, 2}));
  EXPECT_GT(timed.run_s(), 0);
  EXPECT_GT(timed.run_s(), 0) << "a graph can be run again";
  EXPECT_EQ(order.size(), 6) << "runs replay what was captured";
}

TEST_F(CudaDevice, TimesLongKernelsAsPlainStreamEventsDo) {
  const Case c = make_case(Op::fma, Dtype::fp32, 2, 1 << 20, 1);
  const Operands operands(c, 1, {}, *device_);
  // Steps of multiply-adds, doubled until a launch takes 5 ms: event resolution, 0.5 us, is 0.01 %.
  for (Case longer = c;; longer.m *= 2) {
    const auto launch =
        kOurs.prepare(longer, kOurs.variants(longer, *device_).front().front(), operands, *device_)
            .launch;
    launch(0);
    const Timed graph = device_->timed(launch, 1, 1);
    if (graph.run_s() < 5e-3) continue;

    const std::unique_ptr<CUevent_st, void (*)(cudaEvent_t)> start(make_event(), &destroy_event),
        end(make_event(), &destroy_event);
    auto* const stream = static_cast<cudaStream_t>(device_->queue().stream);
    std::vector<double> ratios;  // in turns, so that a drifting clock cancels
    for (int i = 0; i < 11; ++i) {
      // Behind a launch that still runs: on an idle stream the first event is over while the host
      // has yet to launch, 10 us or 0.2 % of 5 ms on an H200.
      launch(0);
      CUDA_CHECK(cudaEventRecord(start.get(), stream));
      launch(0);
      CUDA_CHECK(cudaEventRecord(end.get(), stream));
      CUDA_CHECK(cudaEventSynchronize(end.get()));
      float stream_ms = 0;
      CUDA_CHECK(cudaEventElapsedTime(&stream_ms, start.get(), end.get()));
      ratios.push_back(graph.run_s() / (1e-3 * double{stream_ms}));
    }
    EXPECT_NEAR(roofline::median(ratios), 1, 0.002);
    return;
  }
}

TEST_F(CudaDevice, CopiesFromAndToBothKindsOfHostMemory) {
  constexpr std::size_t kBytes = 1'000'003;
  const Memory there = device_->allocate(kBytes);
  for (const bool pinned : {true, false}) {
    const Memory from = device_->allocate_host(kBytes, pinned),
                 to = device_->allocate_host(kBytes, pinned);
    auto* const sent = static_cast<std::uint8_t*>(from.get());
    for (std::size_t i = 0; i < kBytes; ++i) sent[i] = static_cast<std::uint8_t>(i * i);
    const Timed both = device_->timed_with_host(
        [&](int) {
          device_->copy(there.get(), from.get(), kBytes);
          device_->copy(to.get(), there.get(), kBytes);
        },
        1, 2);
    EXPECT_EQ(both.launches, 2);
    EXPECT_GT(both.run_s(), 0);
    EXPECT_EQ(std::memcmp(to.get(), sent, kBytes), 0) << pinned;
  }
}

TEST_F(CudaDevice, ReadsTheSmClockFromItsRuns) {
  const Memory memory = device_->allocate(std::size_t{64} << 20);
  const Timed timed = device_->timed([&](int) { device_->poison(memory.get(), 64 << 20); }, 1, 10);
  (void)timed.run_s();
  const std::optional<double> mhz = device_->telemetry().sm_clock_mhz;
  ASSERT_TRUE(mhz);
  EXPECT_GT(*mhz, 100) << "no GPU idles so low under load";
  EXPECT_LT(*mhz, 1.02 * device_->facts().max_clock_mhz.value_or(5000));
}

TEST_F(CudaDevice, SurvivesALaunchThatThrowsDuringCapture) {
  EXPECT_THROW((void)device_->timed([](int) { throw std::invalid_argument("refused"); }, 1, 1),
               std::invalid_argument);
  const Memory memory = device_->allocate(16);
  const Timed timed = device_->timed([&](int) { device_->poison(memory.get(), 16); }, 1, 1);
  EXPECT_GE(timed.run_s(), 0);
}

TEST_F(CudaDevice, ComputesByThePeersWhatIsRightAndCanBeCaptured) {
  std::vector<Case> cases = {make_case(Op::copy, Dtype::fp32, 1, 10007, 1)};
  for (const Dtype t : {Dtype::fp32, Dtype::fp16, Dtype::bf16, Dtype::fp8_e4m3, Dtype::fp8_e5m2}) {
    for (const Op op : {Op::relu, Op::gelu, Op::dot})
      cases.push_back(make_case(op, t, 1, 10007, 1));
    cases.push_back(make_case(Op::gemv, t, 80, 1024, 1));
  }
  for (const Implementation& i : implementations()) {
    const std::string one[] = {std::string(i.name)};
    for (const Case& c : cases) {
      if (!i.peer || !takes_part(i, one, c.op, *device_) || i.refuses(c, *device_)) continue;
      const Operands operands(c, 2, {}, *device_);
      const Work work = i.prepare(c, i.variants(c, *device_).front().front(), operands, *device_);
      const Verification v = verify(c, work, operands, *device_);
      EXPECT_TRUE(v.passed()) << i.name << " " << name(c) << ": error " << v.max_error
                              << ", at most " << v.tolerance << "; " << v.where;
      EXPECT_GE(device_->timed(work.launch, 2, 2).run_s(), 0) << i.name << " " << name(c);
    }
  }
}

TEST(MakeCudaDevice, NamesTheVisibleGpusForAnOrdinalPastThem) {
  try {
    make_cuda_device(99);
    FAIL() << "there cannot be 100 GPUs";
  } catch (const Unavailable& reason) {
    EXPECT_EQ(std::string(reason.what()).substr(0, 18), "--device=cuda:99: ") << reason.what();
  }
}

Case gemm(Dtype a, Dtype b, std::int64_t m, std::int64_t n, std::int64_t k, Layout layout,
          std::int64_t batch) {
  Case c = make_case(Op::gemm, a, m, n, k);
  if (a != b) c.b = b;
  c.layout = layout;
  c.batch = batch;
  return c;
}

const Case kGemms[] = {
    gemm(Dtype::fp32, Dtype::fp32, 33, 65, 67, Layout::tn, 1),
    gemm(Dtype::fp32, Dtype::fp32, 33, 65, 67, Layout::nn, 1),
    gemm(Dtype::fp32, Dtype::fp32, 33, 65, 67, Layout::nt, 3),
    gemm(Dtype::tf32, Dtype::tf32, 64, 128, 96, Layout::tn, 1),
    gemm(Dtype::fp16, Dtype::fp16, 40, 72, 80, Layout::nn, 2),
    gemm(Dtype::bf16, Dtype::bf16, 130, 257, 128, Layout::tn, 1),
    gemm(Dtype::bf16, Dtype::bf16, 40, 72, 80, Layout::nt, 2),
    gemm(Dtype::fp8_e4m3, Dtype::fp8_e4m3, 1, 64, 128, Layout::tn, 1),
    gemm(Dtype::fp8_e4m3, Dtype::fp8_e5m2, 48, 64, 128, Layout::tn, 1),
    gemm(Dtype::fp8_e5m2, Dtype::fp8_e4m3, 48, 64, 128, Layout::tn, 2),
};

class CublasLtGemm : public CudaDevice, public testing::WithParamInterface<Case> {};

TEST_P(CublasLtGemm, IsRightInEveryVariant) {
  const Case& c = GetParam();
  if (const auto reason = kCublasLt.refuses(c, *device_)) GTEST_SKIP() << *reason;
  const Operands operands(c, 2, {}, *device_);
  std::vector<std::string> variants;
  for (const Alternatives& list : kCublasLt.variants(c, *device_)) {
    variants.insert(variants.end(), list.begin(), list.end());
  }
  ASSERT_FALSE(variants.empty());
  for (const std::string& variant : variants) {
    const Work work = kCublasLt.prepare(c, variant, operands, *device_);
    const Verification v = verify(c, work, operands, *device_);
    EXPECT_TRUE(v.passed()) << variant << ": error " << v.max_error << ", at most " << v.tolerance
                            << "; " << v.where;
    EXPECT_NE(work.note.find("algorithm"), std::string::npos);
    EXPECT_GE(device_->timed(work.launch, 2, 2).run_s(), 0) << "can be captured";
  }
}

INSTANTIATE_TEST_SUITE_P(All, CublasLtGemm, testing::ValuesIn(kGemms), [](const auto& test) {
  std::string text = name(test.param);
  for (char& character : text) {
    if (std::isalnum(static_cast<unsigned char>(character)) == 0) character = '_';
  }
  return text;
});

}  // namespace
}  // namespace bench
