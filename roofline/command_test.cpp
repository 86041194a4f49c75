#include "roofline/command.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace roofline {
namespace {

struct Row {
  std::vector<std::string> arguments;
  int code;
  std::string text, notes;  // what stdout and stderr must contain
};

const Row kRows[] = {
    {{"--help"}, 0, "dtype", ""},
    {{"dtype", "--help"}, 0, "value", ""},
    {{}, 2, "", "expected a subcommand; see roofline --help"},
    {{"nonsense"}, 2, "", "nonsense"},
    {{"dtype", "fp16", "--nonsense"}, 2, "", "--nonsense"},
    {{"dtype", "fp16", "--format=yaml"}, 2, "", "yaml"},
    {{"dtype", "--format=", "fp16"}, 2, "", "--format=: expected a value after =, got none"},
    {{"--format=csv", "dtype", "fp16"}, 0, "dtype,sign,exponent,", ""},
    {{"dtype", "fp16", "--format=csv"}, 0, "dtype,sign,exponent,", ""},
    {{"dtype", "fp12"}, 2, "", "roofline: dtype: expected one of fp64 fp32"},
};

TEST(CommandLine, ReturnsTheExitCodeAndOneLineOfReason) {
  for (const Row& row : kRows) {
    Output out;
    EXPECT_EQ(run_command_line(row.arguments, out), row.code) << out.notes;
    EXPECT_NE(out.text.find(row.text), std::string::npos) << out.text;
    EXPECT_NE(out.notes.find(row.notes), std::string::npos) << out.notes;
    if (row.code != 0) {
      EXPECT_EQ(out.text, "");
      EXPECT_EQ(out.notes.find('\n'), out.notes.size() - 1) << out.notes;
    }
  }
}

}  // namespace
}  // namespace roofline
