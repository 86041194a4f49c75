#include "roofline/run.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace roofline {

std::string read_file(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) {  // which an ifstream opens, and reads as empty
    throw std::runtime_error(fmt::format("{}: {}", path.string(), std::strerror(EISDIR)));
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad()) {
    throw std::runtime_error(fmt::format("{}: {}", path.string(), std::strerror(errno)));
  }
  return text;
}

Run read_run(const std::filesystem::path& path) {
  Run run;
  run.folder = path.extension() == ".csv" ? path.parent_path() : path;
  const std::filesystem::path measurements = run.folder / "measurements.csv";
  const std::filesystem::path roofs = run.folder / "roofs.csv";
  run.records = parse_measurements(read_file(measurements), measurements.string());
  run.roofs = parse_roofs(read_file(roofs), roofs.string());
  return run;
}

}  // namespace roofline
