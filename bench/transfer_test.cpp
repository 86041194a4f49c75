// Copies over the link: right in both directions, from both kinds of host memory, under its roof.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "bench/fake_device.h"
#include "bench/runner.h"

namespace bench {
namespace {

using roofline::Dtype;
using roofline::make_case;
using roofline::Op;
using roofline::Record;
using roofline::Status;

constexpr double kPcie5x16 = 32e9 * 16 / 8 * 128 / 130;  // 63.0 GB/s

/// A device across a link whose copies may be planted with a fault.
class Remote : public FakeDevice {
 public:
  explicit Remote(const char* backend = "fake")
      : FakeDevice({.backend = backend,
                    .name = "Fake",
                    .cache_bytes = 1 << 14,
                    .pcie_generation = 5,
                    .pcie_lanes = 16}) {}
  bool faulty = false;
  int timed_by_host = 0;

  void copy(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, faulty ? bytes - 1 : bytes);  // the last byte stays behind
  }
  Timed timed_with_host(const std::function<void(int)>& launch, int copies, int launches) override {
    ++timed_by_host;
    return timed(launch, copies, launches);
  }
};

class Transfer : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_.path()); }
  std::vector<Record> run(Device& device) {
    Runner runner(device, folder_, {}, interrupted_);
    return runner.run({"transfer", {kUp, kDown}, true});
  }
  static constexpr std::int64_t kN = 25'000;  // 100 kB
  const roofline::Case kUp = make_case(Op::h2d, Dtype::fp32, 1, kN, 1);
  const roofline::Case kDown = make_case(Op::d2h, Dtype::fp32, 1, kN, 1);
  std::atomic<bool> interrupted_ = false;
  RunFolder folder_{
      std::filesystem::path(testing::TempDir()) / ("transfer_test" + std::to_string(getpid())),
      "test"};
};

/// Theoretical roofs are of the backend "cuda" alone.
TEST_F(Transfer, HasARowForEachWayAndKindOfMemoryUnderTheLinksRate) {
  Remote device("cuda");
  device.time_s = [](int) { return 4 * kN / (0.8 * kPcie5x16); };
  const std::vector<Record> rows = run(device);
  ASSERT_EQ(rows.size(), 4U);
  const char* const variants[] = {"pinned", "pageable", "pinned", "pageable"};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Record& r = rows[i];
    EXPECT_EQ(r.status, Status::ok) << r.note;
    EXPECT_EQ(r.what.op, i < 2 ? Op::h2d : Op::d2h);
    EXPECT_EQ(r.implementation, "memcpy");
    EXPECT_EQ(r.variant, variants[i]);
    EXPECT_EQ(r.verified, true);
    EXPECT_EQ(r.roof_name, "pcie");
    EXPECT_NEAR(*r.fraction_of_roof, 0.8, 1e-9);
    EXPECT_FALSE(r.mfu);
  }
  EXPECT_FALSE(rows[0].fraction_of_measured_roof) << "pinned memory measures the link";
  EXPECT_DOUBLE_EQ(rows[1].fraction_of_measured_roof.value_or(0), 1);
  EXPECT_EQ(device.timed_by_host, 8) << "a launch and the samples of each: a graph holds none";
}

TEST_F(Transfer, FasterThanTheLinkIsAboveRoof) {
  Remote device("cuda");
  device.time_s = [](int) { return 4 * kN / (1.1 * kPcie5x16); };
  const Record r = run(device).at(0);
  EXPECT_EQ(r.status, Status::above_roof);
  EXPECT_NE(r.note.find("the pins of pcie carry"), std::string::npos) << r.note;
}

TEST_F(Transfer, UnderAnUnknownLinkTheMeasuredRateIsTheRoof) {
  Remote device;
  const std::vector<Record> rows = run(device);
  EXPECT_EQ(rows.at(0).roof_name, "");
  EXPECT_EQ(rows.at(1).roof_name, "h2d");
  EXPECT_EQ(rows.at(1).roof_kind, roofline::Kind::measured);
}

TEST_F(Transfer, AByteThatStaysBehindIsCaughtBothWays) {
  Remote device;
  device.faulty = true;
  for (const Record& r : run(device)) {
    EXPECT_EQ(r.status, Status::failed);
    EXPECT_NE(r.note.find("wrong output of "), std::string::npos) << r.note;
  }
}

TEST_F(Transfer, ACpuHasNoLinkAndSaysSo) {
  Remote device("cpu");
  for (const Record& r : run(device)) {
    EXPECT_EQ(r.status, Status::unsupported);
    EXPECT_EQ(r.note, "a cpu's memory is the host's: there is no link to cross");
  }
}

}  // namespace
}  // namespace bench
