// For main() alone.
#pragma once

#include <fcntl.h>
#include <unistd.h>

/// Puts /dev/null where stdin, stdout or stderr are closed: the next file opened would take their
/// place, and what is printed would go into it.
inline void occupy_closed_standard_streams() {
  int file = 0;
  do {
    file = open("/dev/null", O_RDWR);
  } while (file >= 0 && file <= STDERR_FILENO);
  if (file > STDERR_FILENO) close(file);
}
