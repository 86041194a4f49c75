// For the tests of our executables: runs a shell command and keeps what it prints.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

struct ShellResult {
  int code;
  std::string text;  // stdout, and stderr where the command joins them
};

/// `name` stands for `executable` in `command`.
inline ShellResult run_shell(const std::string& name, const std::string& executable,
                             const std::string& command) {
  const std::string line = name + "() { '" + executable + "' \"$@\"; }; " + command;
  std::FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return {-1, "popen failed"};
  ShellResult result{0, ""};
  std::array<char, 4096> buffer;
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    result.text.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}
