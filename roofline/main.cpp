// The `roofline` command. Subcommands gather their output; here it is written, once and checked.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "roofline/command.h"
#include "roofline/standard_streams.h"

int main(int argc, char** argv) {
  occupy_closed_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // so that a closed pipe is an error code, not our death
  roofline::Output out;
  const char* no_color = std::getenv("NO_COLOR");  // no-color.org: present and not empty
  out.color = isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
  const int code = roofline::run_command_line({argv + 1, argv + argc}, out);
  std::fwrite(out.text.data(), 1, out.text.size(), stdout);
  const int written = flush_stdout("roofline");
  std::fputs(out.notes.c_str(), stderr);
  return code != 0 ? code : written;
}
