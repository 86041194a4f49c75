// The `roofline_bench` executable on the cpu: exit codes, files, signals, pipes.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "roofline/run.h"
#include "roofline/test_shell.h"

namespace {

namespace fs = std::filesystem;

class Bench : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_); }
  void TearDown() override { fs::remove_all(root_); }

  /// Runs a shell command in the test's own folder, in which "bench" is ours.
  ShellResult shell(const std::string& command) const {
    return run_shell("bench", ROOFLINE_BENCH_EXECUTABLE, "cd '" + root_.string() + "'; " + command);
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::recursive_directory_iterator(root_), fs::recursive_directory_iterator()));
  }

  const fs::path root_ =
      fs::path(testing::TempDir()) / ("bench_main_test" + std::to_string(getpid()));
};

// One small group, without those that measure the roofs, content with any noise.
constexpr const char* kSmall =
    " --device=cpu --op=relu --dtype=bf16 --shape=4096 --cache=hot --max-noise=100 --time-budget=5 "
    "--benchmark_filter=relu ";

TEST_F(Bench, PrintsIntoNoFileOfARunWhereItsOutputIsClosed) {
  for (const std::string closed : {">&-", "2>&-", "<&- >&- 2>&-"}) {
    const ShellResult r = shell(std::string("bench") + kSmall + "--out=run " + closed);
    EXPECT_EQ(r.code, 0) << closed;
    EXPECT_EQ(roofline::read_run(root_ / "run").records.size(), 1U) << closed;
    fs::remove_all(root_ / "run");
  }
}

TEST_F(Bench, ATuningRunWithoutRowsIsRefused) {
  const std::string bench = std::string("bench") + kSmall;
  const ShellResult r = shell("{ " + bench +
                              "--out=run; cp -r run empty; head -1 run/measurements.csv "
                              ">empty/measurements.csv; } >/dev/null 2>&1; " +
                              bench + "--tuning=empty --out=next 2>&1");
  EXPECT_EQ(r.code, 1) << r.text;
  EXPECT_NE(r.text.find("--tuning=empty: expected a run with rows, got none"), r.text.npos);
  EXPECT_FALSE(fs::exists(root_ / "next"));
}

TEST_F(Bench, ATuningRunIsNamedByNoOtherOfItsFiles) {
  const ShellResult r = shell(std::string("mkdir run; touch run/samples.csv; bench") + kSmall +
                              "--tuning=run/samples.csv --out=next 2>&1");
  EXPECT_EQ(r.code, 2) << r.text;
  EXPECT_EQ(r.text,
            "roofline_bench: --tuning=run/samples.csv: expected the folder of a run, or its "
            "measurements.csv, got another file\n");
  EXPECT_FALSE(fs::exists(root_ / "next"));
}

TEST_F(Bench, APeerThatDoesNotComputeTheOpSaysSo) {
  const ShellResult r = shell(std::string("bench") + kSmall + "--impl=onednn --out=run 2>&1");
  EXPECT_EQ(r.code, 3) << r.text;
  EXPECT_NE(r.text.find("nothing that --impl names computes it"), std::string::npos) << r.text;
}

TEST_F(Bench, WritesARunThatReadsBack) {
  const ShellResult r = shell(std::string("bench") + kSmall + "--out=run 2>&1");
  EXPECT_EQ(r.code, 0) << r.text;
  EXPECT_NE(r.text.find("results: run\n"), std::string::npos) << r.text;
  const roofline::Run run = roofline::read_run(root_ / "run");
  ASSERT_EQ(run.records.size(), 1U);
  EXPECT_EQ(run.records[0].verified, true);
  EXPECT_GT(run.records[0].time_median_s, 0);
  const auto environment =
      nlohmann::json::parse(roofline::read_file(root_ / "run" / "environment.json"));
  EXPECT_EQ(environment["outcome"], "complete");
  EXPECT_EQ(environment["run_id"], run.records[0].run_id);
}

TEST_F(Bench, MoreThreadsThanProcessorsAreRefused) {
  const ShellResult r = shell("OMP_NUM_THREADS=100000 bench --device=cpu --out=run 2>&1");
  EXPECT_EQ(r.code, 3) << r.text;
  EXPECT_NE(r.text.find("OMP_NUM_THREADS: expected at most the "), r.text.npos) << r.text;
  EXPECT_NE(r.text.find("got 100000 threads; unset it"), r.text.npos) << r.text;
  EXPECT_EQ(std::count(r.text.begin(), r.text.end(), '\n'), 1) << r.text;
  EXPECT_EQ(files(), 0U);
}

struct UsageRow {
  const char* arguments;
  int code;
  const char* part;  // of the one line on stderr
};

const UsageRow kUsage[] = {
    {"--op=reluu", 2, "--op=reluu: expected"},
    {"--device=cuda:abc", 2, "--device=cuda:abc: expected auto, cuda, cuda:N"},
    {"--device=cuda:-1", 2, "expected auto, cuda, cuda:N"},
    {"--device=", 2, "--device"},
    {"--device=cpu --suite=fast", 2, "--suite=fast: expected quick"},
    {"--device=cpu --op=relu --shape=8x8", 2, "--shape=8x8: relu takes N"},
    {"--device=cpu --shape=8", 2, "say of which op"},
    {"--device=cpu --op=dot --dtype=tf32", 2, "nothing in any suite"},
    {"--device=cpu --op=h2d", 2, "nothing in this suite is of that op and dtype; --suite=transfer"},
    {"--device=cpu --op=mma", 2,
     "nothing in any suite of a cpu is of that op and dtype; --device="},
    {"--device=cpu --op=gelu_erf --dtype=fp32", 2, "nothing in any suite"},
#ifndef ROOFLINE_HAS_CUDA
    {"--impl=cublaslt", 3, "--impl=cublaslt: not in this build; configure it with -DROOFLINE_CUDA"},
    {"--impl=cub", 3, "--impl=cub: not in this build; configure it with -DROOFLINE_CUB=ON"},
#endif
    {"--device=cpu --benchmark_filter=nosuch", 2, "no group of suite quick matches"},
    {"--device=cpu --benchmark_filter='('", 2, "--benchmark_filter=("},
    {"--benchmark_repetitions=3", 2, "use --max-noise"},
    {"--device=cuda:7777", 3, "--device=cpu"},
};

TEST_F(Bench, SaysInOneLineWhatIsWrongAndLeavesNothingBehind) {
  for (const UsageRow& row : kUsage) {
    const ShellResult r = shell(std::string("bench ") + row.arguments + " 2>&1");
    EXPECT_EQ(r.code, row.code) << row.arguments << "\n" << r.text;
    EXPECT_NE(r.text.find(row.part), std::string::npos) << row.arguments << "\n" << r.text;
    EXPECT_EQ(std::count(r.text.begin(), r.text.end(), '\n'), 1) << r.text;
    EXPECT_EQ(files(), 0U) << row.arguments;
  }
}

#ifndef ROOFLINE_HAS_CUDA
TEST_F(Bench, WithADriverABuildWithoutCudaMeasuresNoCpuUnasked) {
  const auto on = [&](const std::string& driver, const std::string& more) {
    return shell("LD_LIBRARY_PATH='" + driver + "' bench --dry-run --op=relu " + more + " 2>&1");
  };
  const ShellResult r = on(FAKE_DRIVER_NO_DEVICE, "");
  EXPECT_EQ(r.code, 3) << r.text;
  EXPECT_NE(r.text.find("this build has no CUDA"), std::string::npos) << r.text;
  EXPECT_NE(r.text.find("--device=cpu"), std::string::npos) << r.text;
  EXPECT_EQ(on(FAKE_DRIVER_NO_DEVICE, "--device=cpu").code, 0);
  const ShellResult stub = on(FAKE_DRIVER_STUB_LIBRARY, "");
  EXPECT_EQ(stub.code, 0) << stub.text;
  EXPECT_NE(stub.text.find("no NVIDIA driver, and no CUDA in this build: measuring the cpu"),
            std::string::npos)
      << stub.text;
  const ShellResult hidden = shell("CUDA_VISIBLE_DEVICES= LD_LIBRARY_PATH='" FAKE_DRIVER_NO_DEVICE
                                   "' bench --dry-run --op=relu 2>&1");
  EXPECT_EQ(hidden.code, 0) << hidden.text;
}
#endif

TEST_F(Bench, HelpListAndDryRunMeasureNothing) {
  EXPECT_EQ(shell("bench --help").code, 0);
  const ShellResult list = shell("bench --device=cpu --benchmark_list_tests 2>&1");
  EXPECT_EQ(list.code, 0);
  EXPECT_NE(list.text.find("gemv/fp32/8192x8192\n"), std::string::npos) << list.text;
  const ShellResult dry = shell("bench --device=cpu --dry-run 2>&1");
  EXPECT_EQ(dry.code, 0);
  EXPECT_NE(dry.text.find("\"affinity\""), std::string::npos) << dry.text;
  EXPECT_EQ(shell("bench --device=cpu --dry-run --op=gemm --shape=4611686018427387904x8x8").code,
            0);
  EXPECT_EQ(files(), 0U);
}

TEST_F(Bench, AFolderThatCannotBeMadeIsSaidBeforeMeasuring) {
  const ShellResult r = shell(std::string("touch file; bench") + kSmall + "--out=file/run 2>&1");
  EXPECT_EQ(r.code, 1);
  EXPECT_EQ(r.text, "roofline_bench: file/run: Not a directory\n");
  const std::string twice = std::string("bench") + kSmall + "--out=run";
  const ShellResult again = shell(twice + " >/dev/null 2>&1; " + twice + " 2>&1");
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.text.find("a run never overwrites another"), std::string::npos) << again.text;
}

TEST_F(Bench, AnExplicitRequestThatNobodyCanFulfilIsExit3WithItsRow) {
  const ShellResult r = shell(
      "bench --device=cpu --op=gemm --dtype=tf32 --shape=8x8x8 --benchmark_filter=gemm "
      "--out=run 2>&1");
  EXPECT_EQ(r.code, 3) << r.text;
  const roofline::Run run = roofline::read_run(root_ / "run");
  ASSERT_EQ(run.records.size(), 1U);
  EXPECT_EQ(run.records[0].status, roofline::Status::unsupported);
  EXPECT_FALSE(run.records[0].note.empty());
}

TEST_F(Bench, ASuiteOfWhichNoRowCanRunIsExit3) {
  const ShellResult r = shell("bench --device=cpu --suite=transfer --out=run 2>&1");
  EXPECT_EQ(r.code, 3) << r.text;
  const roofline::Run run = roofline::read_run(root_ / "run");
  EXPECT_EQ(run.records.size(), 16U) << "8 sizes, both ways";
  for (const roofline::Record& row : run.records) {
    EXPECT_EQ(row.status, roofline::Status::unsupported);
    EXPECT_NE(row.note.find("no link"), std::string::npos) << row.note;
  }
}

TEST_F(Bench, MoreThanTheMemoryIsSkippedWithAskedAndFreeBeforeAnyRoof) {
  const struct {
    const char *arguments, *asked;
  } rows[] = {
      {"--op=relu --shape=9000000000000", "needs 72000000000000 bytes"},
      {"--op=relu --shape=9000000000000000000", "needs 72000000000000000000 bytes"},  // past 2^64
      {"--op=gemm --shape=4000000000x4000000000x4000000000", "needs 192000000000000000000 bytes"},
      {"--op=dot --shape=9000000000000 --cache=hot", "needs 72000000000004 bytes"},
      // 2 x 2^62 x 8 elements of 4 bytes, and 2 x 2^63 x 8: oneDNN is not asked, whose sizes
      // overflow.
      {"--op=gemm --shape=4611686018427387904x8x8", "needs 295147905179352825856 bytes"},
      {"--op=gemm --shape=8x9223372036854775807x8x8", "needs 590295810358705651712 bytes"},
  };
  for (const auto& [arguments, asked] : rows) {
    const ShellResult r =
        shell(std::string("bench --device=cpu --dtype=fp32 --out=run ") + arguments + " 2>&1");
    EXPECT_EQ(r.code, 3) << r.text;
    const roofline::Run run = roofline::read_run(root_ / "run");
    ASSERT_EQ(run.records.size(), 1U) << "no roof is measured for it";
    EXPECT_NE(run.records[0].note.find(asked), std::string::npos) << run.records[0].note;
    EXPECT_NE(run.records[0].note.find(" of memory, "), std::string::npos) << run.records[0].note;
    fs::remove_all(root_ / "run");
  }
}

TEST_F(Bench, JsonOnStdoutIsJsonAndNothingElse) {
  const ShellResult r = shell(
      "bench --device=cpu --op=gemm --shape=16x16x16 --benchmark_filter=gemm --cache=hot "
      "--max-noise=100 --out=run --benchmark_format=json 2>/dev/null");
  EXPECT_EQ(nlohmann::json::parse(r.text)["benchmarks"].size(), 6U) << r.text;
}

TEST_F(Bench, AReaderThatStopsEarlyLosesNothing) {
  const ShellResult r =
      shell(std::string("{ bench") + kSmall +
            "--out=run 2>/dev/null; echo $? >code; } | head -0; sleep 0.1; cat code");
  EXPECT_EQ(r.text, "0\n");
  EXPECT_EQ(roofline::read_run(root_ / "run").records.size(), 1U);
  const ShellResult dry =
      shell("{ bench --device=cpu --dry-run; echo $? >code; } 2>&1 | head -1; sleep 0.1; cat code");
  EXPECT_TRUE(dry.text.starts_with("group ")) << dry.text;
  EXPECT_TRUE(dry.text.ends_with("\n0\n")) << dry.text;
  EXPECT_EQ(std::count(dry.text.begin(), dry.text.end(), '\n'), 2) << dry.text;
}

TEST_F(Bench, AFullDiskEndsTheRunAndLeavesWholeRows) {
  // 16 KiB a file (8 where a block is 512 bytes): room for the environment, not for 30 rows.
  const ShellResult r = shell(
      "trap '' XFSZ; ulimit -f 16; export OMP_NUM_THREADS=1; bench --device=cpu "
      "--op=relu,gelu,dot --shape=4096 --cache=both --max-noise=100 "
      "--benchmark_filter='relu|gelu|dot' --out=run 2>&1");
  EXPECT_EQ(r.code, 1) << r.text;
  EXPECT_NE(r.text.find("roofline_bench: run/"), std::string::npos) << r.text;
  EXPECT_NE(r.text.find(".csv: "), std::string::npos) << r.text;
  EXPECT_GE(roofline::read_run(root_ / "run").records.size(), 1U);
}

TEST_F(Bench, WhateverADiskHasRoomForParsesAndSaysHowTheRunEnded) {
  // A file system of its own, filled up to so many KiB: nothing fits, then headers, then rows.
  const auto run_with = [&](int kib) {
    return shell(
        "export BENCH='" ROOFLINE_BENCH_EXECUTABLE
        "'; unshare -rm sh -c 'mkdir disk; mount -t tmpfs -o size=128k none disk || exit 77; "
        "dd if=/dev/zero of=disk/other bs=1k count=" +
        std::to_string(128 - kib) +
        " 2>/dev/null; \"$BENCH\" --device=cpu --op=relu,gelu,dot --shape=4096 --cache=hot "
        "--max-noise=100 --benchmark_filter=\"relu|gelu|dot\" --out=disk/run >/dev/null; "
        "code=$?; cp -r disk/run . 2>/dev/null; exit $code' 2>&1");
  };
  for (const int kib : {0, 4, 8, 12, 16, 20}) {
    const ShellResult r = run_with(kib);
    if (r.code == 77 || r.text.find("unshare") != r.text.npos) GTEST_SKIP() << r.text;
    EXPECT_EQ(r.code, 1) << kib << r.text;
    EXPECT_NE(r.text.find("No space left on device"), r.text.npos) << kib << r.text;
    if (fs::exists(root_ / "run")) {
      EXPECT_GE(roofline::read_run(root_ / "run").records.size(), 1U) << kib;
      const auto environment =
          nlohmann::json::parse(roofline::read_file(root_ / "run" / "environment.json"));
      EXPECT_NE(std::string(environment["outcome"]).find("No space left"), std::string::npos)
          << kib << environment["outcome"];
    }
    EXPECT_EQ(fs::exists(root_ / "run"), kib > 12) << kib << ": four files of a page each";
    fs::remove_all(root_ / "run");
    fs::remove_all(root_ / "disk");
  }
}

TEST_F(Bench, OutputThatCannotBeWrittenIsOneLineAndTheFilesAreComplete) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const std::string small = std::string("bench") + kSmall;
  for (const std::string& command :
       {small + "--out=run", small + "--out=run --benchmark_format=json", small + "--dry-run",
        small + "--benchmark_list_tests", std::string("bench --help")}) {
    const ShellResult r = shell(command + " 2>&1 >/dev/full");
    EXPECT_EQ(r.code, 1) << command << r.text;
    const std::string line = "roofline_bench: cannot write to stdout: No space left on device\n";
    EXPECT_TRUE(r.text.ends_with(line)) << command << r.text;
    EXPECT_EQ(r.text.find("cannot write"), r.text.rfind("cannot write")) << r.text;
    if (command.find("--out") == command.npos) continue;
    EXPECT_EQ(roofline::read_run(root_ / "run").records.size(), 1U);
    EXPECT_NE(roofline::read_file(root_ / "run" / "environment.json").find("\"complete\""),
              std::string::npos);
    fs::remove_all(root_ / "run");
  }
  EXPECT_EQ(shell(small + "--out=run >/dev/null 2>/dev/full").code, 0);
}

TEST_F(Bench, ABenchmarkOutThatCannotBeOpenedEndsTheRunBeforeItMeasures) {
  const std::string small = std::string("bench") + kSmall + "--out=run --benchmark_out=";
  for (const std::string out : {"none/x.json: No such file or directory", ".: Is a directory"}) {
    const ShellResult r = shell(small + out.substr(0, out.find(':')) + " 2>&1");
    EXPECT_EQ(r.code, 1) << r.text;
    EXPECT_EQ(r.text, "roofline_bench: --benchmark_out=" + out + "\n");
    EXPECT_EQ(files(), 0U) << out;
  }
  EXPECT_EQ(shell(small + "run/x.json >/dev/null 2>&1").code, 0) << "in the run's own folder";
  const auto json = nlohmann::json::parse(roofline::read_file(root_ / "run" / "x.json"));
  EXPECT_EQ(json["benchmarks"].size(), 1U);
}

TEST_F(Bench, ABenchmarkOutThatCannotBeWrittenIsExit1AndTheRunIsComplete) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const ShellResult r =
      shell(std::string("bench") + kSmall + "--out=run --benchmark_out=/dev/full 2>&1");
  EXPECT_EQ(r.code, 1) << r.text;
  EXPECT_TRUE(r.text.ends_with("--benchmark_out=/dev/full: could not be written as a whole\n"))
      << r.text;
  const roofline::Run run = roofline::read_run(root_ / "run");
  EXPECT_EQ(run.records.size(), 1U);
  EXPECT_EQ(run.environment.at("outcome"), "complete");
}

TEST_F(Bench, NoVariableOfGoogleBenchmarkChangesARun) {
  const ShellResult r =
      shell(std::string("export BENCHMARK_REPETITIONS=3 BENCHMARK_FILTER=dot BENCHMARK_OUT=x.json; "
                        "bench") +
            kSmall + "--out=run 2>&1");
  EXPECT_EQ(r.code, 0) << r.text;
  EXPECT_EQ(roofline::read_run(root_ / "run").records.size(), 1U) << r.text;
  EXPECT_FALSE(fs::exists(root_ / "x.json"));
}

TEST_F(Bench, WritesTheSameNumbersWhereTheCommaIsDecimal) {
  const ShellResult r =
      shell(std::string("localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 >/dev/null 2>&1 || exit 77; "
                        "export LOCPATH=$PWD LC_ALL=de_DE.UTF-8; bench") +
            kSmall + "--out=run 2>&1");
  if (r.code == 77) GTEST_SKIP() << "no de_DE.UTF-8: localedef or its sources are missing";
  EXPECT_EQ(r.code, 0) << r.text;
  const roofline::Run run = roofline::read_run(root_ / "run");
  EXPECT_GT(run.records.at(0).time_median_s, 0);
  EXPECT_EQ(run.records[0].flops, 4096);
  EXPECT_FALSE(
      nlohmann::json::parse(roofline::read_file(root_ / "run" / "environment.json")).empty());
}

TEST_F(Bench, InterruptedItSavesWhatWasMeasured) {
  // Sizes that take a while, so that the signal comes between the third row and the last. It comes
  // twice, as from `timeout` and from a script that passes it on.
  const ShellResult r = shell(
      "'" ROOFLINE_BENCH_EXECUTABLE
      "' --device=cpu --op=relu,dot,gelu --shape=4000000 --cache=hot "
      "--benchmark_filter='relu|dot|gelu' --max-noise=0.001 --time-budget=15 --out=run "
      ">/dev/null 2>&1 & pid=$!; for i in $(seq 600); do "
      "[ \"$(cat run/measurements.csv 2>/dev/null | wc -l)\" -ge 4 ] && break; sleep 0.05; done; "
      "kill -INT $pid; sleep 0; kill -INT $pid; wait $pid; echo $?");
  EXPECT_EQ(r.text, "130\n");
  const roofline::Run run = roofline::read_run(root_ / "run");
  EXPECT_GE(run.records.size(), 3U);
  EXPECT_LT(run.records.size(), 15U);
  EXPECT_EQ(
      nlohmann::json::parse(roofline::read_file(root_ / "run" / "environment.json"))["outcome"],
      "interrupted");
}

TEST_F(Bench, UnderNohupItGoesOn) {
  const ShellResult r =
      shell("trap '' HUP; '" ROOFLINE_BENCH_EXECUTABLE "'" + std::string(kSmall) +
            "--out=run >/dev/null 2>&1 & pid=$!; until [ -e run/environment.json ]; do sleep "
            "0.01; done; kill -HUP $pid; wait $pid; echo $?");
  EXPECT_EQ(r.text, "0\n");
}

TEST_F(Bench, EndsWithTheNumberOfTheSignal) {
  struct Row {
    const char *signal, *code;
  };
  for (const Row& row : {Row{"TERM", "143\n"}, Row{"HUP", "129\n"}}) {
    const ShellResult r = shell(fmt::format(
        "'{}' --device=cpu --op=relu --shape=4096 --cache=hot --max-noise=0.001 --time-budget=15 "
        "--out={} >/dev/null 2>&1 & pid=$!; "
        "for i in $(seq 600); do [ -s {}/measurements.csv ] && break; sleep 0.05; done; "
        "kill -{} $pid; wait $pid; echo $?",
        ROOFLINE_BENCH_EXECUTABLE, row.signal, row.signal, row.signal));
    EXPECT_EQ(r.text, row.code) << row.signal;
    EXPECT_EQ(roofline::read_run(root_ / row.signal).environment.at("outcome"), "interrupted");
  }
}

TEST_F(Bench, AKilledRunParses) {
  // In its first visits, and in its later ones: the rows of the first are there.
  for (const std::string visits : {"1", "1000"}) {
    shell("'" ROOFLINE_BENCH_EXECUTABLE
          "' --device=cpu --op=relu --shape=4000000 --cache=hot --benchmark_filter=relu "
          "--max-noise=0.001 --time-budget=5 --visits=" +
          visits + " --out=" + visits +
          " >/dev/null 2>&1 & pid=$!; for i in $(seq 600); do [ \"$(cat " + visits +
          "/measurements.csv 2>/dev/null | wc -l)\" -ge 2 ] && break; sleep 0.05; done; "
          "kill -KILL $pid; wait $pid");
    EXPECT_GE(roofline::read_run(root_ / visits).records.size(), 1U) << visits;
    EXPECT_EQ(
        nlohmann::json::parse(roofline::read_file(root_ / visits / "environment.json"))["outcome"],
        "running");
  }
}

TEST_F(Bench, ARowHasTheSamplesOfAllVisits) {
  EXPECT_EQ(shell(std::string("bench") + kSmall + "--visits=3 --out=run").code, 0);
  roofline::Run run = roofline::read_run(root_ / "run");
  read_rounds(run);
  ASSERT_EQ(run.records.size(), 1U);
  EXPECT_EQ(run.round_medians_s[0].size(), 3U);
  EXPECT_EQ(run.environment.at("outcome"), "complete");
  EXPECT_EQ(files(), 5U) << "the folder and its four files";
}

}  // namespace
