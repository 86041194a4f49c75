// For main() alone.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

/// Puts /dev/null where stdin, stdout or stderr are closed: the next file opened would take their
/// place, and what is printed would go into it.
inline void occupy_closed_standard_streams() {
  int file = 0;
  do {
    file = open("/dev/null", O_RDWR);
  } while (file >= 0 && file <= STDERR_FILENO);
  if (file > STDERR_FILENO) close(file);
}

/// 0, or 1 where what was printed could not be written. A reader that has seen enough (`| head -1`)
/// is no error.
inline int flush_stdout(const char* program) {
  if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && errno != EPIPE) {
    std::fprintf(stderr, "%s: cannot write to stdout: %s\n", program, std::strerror(errno));
    return 1;
  }
  return 0;
}
