// Files that a reader can trust: whole rows, whatever happens to the disk.
#include "bench/run_folder.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "roofline/run.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

class RunFolderTest : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(root_); }
  void TearDown() override { fs::remove_all(root_); }
  const fs::path root_ =
      fs::path(testing::TempDir()) /
      (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) +
       std::to_string(getpid()));
};

roofline::Record record() {
  roofline::Record r;
  r.run_id = "id";
  r.what = make_case(roofline::Op::relu, roofline::Dtype::bf16, 1, 8, 1);
  return r;
}

TEST_F(RunFolderTest, ReadsBackWhatWasWritten) {
  RunFolder folder(root_ / "a" / "b", "Fake");
  const Sample samples[] = {{0, 0, 1e-6}, {1, 1, 2e-6}};
  folder.write(record(), samples);
  folder.write(roofline::Roof{.name = "read", .level = roofline::Level::memory, .per_s = 1e9});
  folder.write(nlohmann::json{{"run_id", "id"}});
  const roofline::Run run = roofline::read_run(root_ / "a" / "b");
  EXPECT_EQ(run.records.size(), 1U);
  EXPECT_EQ(run.roofs.size(), 1U);
  EXPECT_EQ(roofline::read_file(folder.path() / "samples.csv"),
            "schema,run_id,row,round,sample,time_s,visit\n1," + folder.run_id() +
                ",1,0,0,1e-06,0\n1," + folder.run_id() + ",1,1,1,2e-06,1\n");
  EXPECT_EQ(
      nlohmann::json::parse(roofline::read_file(folder.path() / "environment.json"))["run_id"],
      "id");
}

TEST_F(RunFolderTest, NeverOverwritesAnotherRun) {
  const RunFolder first(root_, "Fake");
  EXPECT_THROW(RunFolder(root_, "Fake"), WriteError);
}

TEST_F(RunFolderTest, NamesPathAndReasonOfAFolderThatCannotBeMade) {
  const RunFolder first(root_, "Fake");
  const fs::path inside_a_file = root_ / "roofs.csv" / "run";
  try {
    const RunFolder folder(inside_a_file, "Fake");
    ADD_FAILURE();
  } catch (const WriteError& e) {
    EXPECT_EQ(std::string(e.what()), inside_a_file.string() + ": Not a directory");
  }
}

TEST_F(RunFolderTest, AFullDiskLeavesWholeRows) {
  RunFolder folder(root_, "Fake");
  folder.write(record(), {});
  const auto size = fs::file_size(root_ / "measurements.csv");

  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old = {};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit tight{.rlim_cur = size + 20, .rlim_max = old.rlim_max};  // not another whole row
  setrlimit(RLIMIT_FSIZE, &tight);
  std::string what;
  try {
    folder.write(record(), {});
  } catch (const WriteError& e) {
    what = e.what();
  }
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_TRUE(what.starts_with((root_ / "measurements.csv").string() + ": ")) << what;
  EXPECT_EQ(fs::file_size(root_ / "measurements.csv"), size);
  EXPECT_EQ(roofline::read_run(root_).records.size(), 1U);
}

TEST_F(RunFolderTest, IsReplacedAsAWholeOrNotAtAll) {
  RunFolder folder(root_, "Fake");
  folder.write(record(), {});
  const auto rows = [&] { return roofline::read_run(root_).records.size(); };
  const auto write_two = [&] {
    folder.write(record(), {});
    folder.write(record(), {});
    EXPECT_EQ(rows(), 1U) << "until all is written the old ones stay";
  };
  EXPECT_THROW(folder.replace([&] {
    write_two();
    throw WriteError("full");
  }),
               WriteError);
  EXPECT_EQ(rows(), 1U);
  folder.write(record(), {});
  EXPECT_EQ(rows(), 2U) << "and go on";
  folder.replace([&] { folder.write(record(), {}); });
  EXPECT_EQ(rows(), 1U);
  const Sample samples[] = {{0, 0, 1e-6}};
  folder.write(record(), samples);
  EXPECT_EQ(rows(), 2U) << "as do the new";
  EXPECT_NE(roofline::read_file(root_ / "samples.csv").find(",2,0,0,1e-06,0\n"), std::string::npos)
      << "a sample of row 2";
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), {}), 3) << "and nothing else is left";
  RowFile file(root_ / "a", {"x"});
  file.rename(root_ / "b");
  file.rename(root_ / "c");
  EXPECT_TRUE(fs::exists(root_ / "c"));
  try {
    file.rename(root_ / "d" / "e");
    ADD_FAILURE();
  } catch (const WriteError& e) {
    EXPECT_EQ(std::string(e.what()), (root_ / "d" / "e").string() + ": No such file or directory");
  }
}

TEST_F(RunFolderTest, AFullDeviceIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  fs::create_directories(root_);
  fs::create_symlink("/dev/full", root_ / "rows.csv");
  EXPECT_THROW(RowFile(root_ / "rows.csv", {"x"}), WriteError) << "a link is not followed";
}

TEST(Slug, MakesAFolderNameOfAnyDevice) {
  EXPECT_EQ(slug("NVIDIA H100 80GB HBM3"), "nvidia-h100-80gb-hbm3");
  EXPECT_EQ(slug("Intel(R) Xeon(R) Processor"), "intel-r-xeon-r-processor");
  EXPECT_EQ(slug("../../etc"), "etc");
  EXPECT_EQ(slug(" \n\0"), "device");
  EXPECT_EQ(slug(""), "device");
}

}  // namespace
}  // namespace bench
