// The `roofline` executable: what depends on the terminal, the pipe and the disk;
// and the README, which shows its output.
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "roofline/test_shell.h"

namespace {

/// Runs a shell command in which "roofline" is ours.
ShellResult shell(const std::string& command) {
  return run_shell("roofline", ROOFLINE_EXECUTABLE, command);
}

TEST(Executable, KeepsDataAndMessagesApart) {
  const ShellResult good = shell("roofline dtype fp16 --format=json 2>/dev/null");
  EXPECT_EQ(good.code, 0);
  EXPECT_EQ(good.text.substr(0, 2), "[\n");
  const ShellResult bad = shell("roofline dtype fp12 2>/dev/null");
  EXPECT_EQ(bad.code, 2);
  EXPECT_EQ(bad.text, "");
  EXPECT_NE(shell("roofline dtype fp12 2>&1").text.find("expected one of fp64"), std::string::npos);
}

TEST(Executable, AReaderThatStopsEarlyIsNoError) {
  const std::string text = shell("{ roofline specs --format=csv | head -1; } 2>&1").text;
  EXPECT_EQ(text.substr(0, 5), "spec,");
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  // The reader is gone before anything is written.
  const char* late = "{ { sleep 0.1; roofline specs; echo \"exit $?\" >&3; } | true; } 3>&1 2>&1";
  EXPECT_EQ(shell(late).text, "exit 0\n");
}

TEST(Executable, AFullDiskIsExit1WithTheReason) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  const ShellResult result = shell("roofline specs 2>&1 >/dev/full");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.text, "roofline: cannot write to stdout: No space left on device\n");
}

/// What the executable prints on a terminal; nothing where the system has none to give.
std::optional<std::string> on_terminal(const char* no_color) {
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    unsetenv("NO_COLOR");
    if (no_color != nullptr) setenv("NO_COLOR", no_color, 1);
    execl(ROOFLINE_EXECUTABLE, "roofline", "dtype", "fp16", nullptr);
    _exit(127);
  }
  if (child < 0) return std::nullopt;
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t n; (n = read(terminal, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  close(terminal);
  waitpid(child, nullptr, 0);
  return text;
}

TEST(Executable, IsInColorOnlyOnATerminalAndWithoutNoColor) {
  const auto colored = [](const std::string& text) { return text.find("\x1b[") != text.npos; };
  EXPECT_FALSE(colored(shell("roofline dtype fp16").text));
  const auto plain = on_terminal(nullptr);
  if (!plain) GTEST_SKIP() << "no pseudo-terminal: is /dev/pts mounted?";
  EXPECT_TRUE(colored(*plain));
  EXPECT_TRUE(colored(on_terminal("").value()));
  EXPECT_FALSE(colored(on_terminal("1").value()));
}

TEST(Readme, ShowsWhatTheCommandsPrint) {
  std::ifstream readme(ROOFLINE_README);
  ASSERT_TRUE(readme) << ROOFLINE_README;
  bool console = false;
  std::string command, shown;
  int compared = 0;
  for (std::string line; std::getline(readme, line);) {
    const bool ends_block = console && line == "```";
    if (!command.empty() && (ends_block || line.starts_with("$ "))) {
      EXPECT_EQ(shell("{ " + command + "; } 2>&1").text, shown) << command;
      ++compared;
      command.clear();
    }
    if (line == "```console") {
      console = true;
    } else if (ends_block) {
      console = false;
    } else if (console && line.starts_with("$ ")) {
      command = line.substr(2);
      shown.clear();
    } else if (console) {
      shown += line + '\n';
    }
  }
  EXPECT_GE(compared, 10);
}

}  // namespace
