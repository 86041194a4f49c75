// The `roofline` command. Subcommands gather their output; here it is written, once and checked.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "roofline/command.h"
#include "roofline/standard_streams.h"

namespace {

/// 0, or 1 where it could not be written. A reader that has seen enough (`| head -1`) is no error.
int write_text(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && errno != EPIPE) {
    std::fprintf(stderr, "roofline: cannot write to stdout: %s\n", std::strerror(errno));
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  occupy_closed_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // so that a closed pipe is an error code, not our death
  roofline::Output out;
  const char* no_color = std::getenv("NO_COLOR");  // no-color.org: present and not empty
  out.color = isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
  const int code = roofline::run_command_line({argv + 1, argv + argc}, out);
  const int written = write_text(out.text);
  std::fputs(out.notes.c_str(), stderr);
  return code != 0 ? code : written;
}
