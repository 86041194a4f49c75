#include "bench/run_folder.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/environment.h"
#include "roofline/csv.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

constexpr const char *kMeasurements = "measurements.csv", *kSamples = "samples.csv",
                     *kRoofs = "roofs.csv", *kEnvironment = "environment.json";

/// Where what is to replace the file is written first.
fs::path beside(fs::path file) { return file += ".new"; }

[[noreturn]] void fail(const fs::path& path, int error) {
  throw WriteError(fmt::format("{}: {}", path.string(), std::strerror(error)));
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

std::string utc(const char* form) {
  return fmt::format(fmt::runtime(fmt::format("{{:{}}}", form)), fmt::gmtime(std::time(nullptr)));
}

/// Fails unless `folder` is new or an empty one; returns whether it is new.
bool make_folder(const fs::path& folder) {
  std::error_code error;
  const bool is_new = fs::create_directories(folder, error);
  if (error) fail(folder, error.value());
  if (!fs::is_empty(folder, error) || error) {
    throw WriteError(
        fmt::format("{}: expected a new or an empty folder, it holds files; a run never "
                    "overwrites another",
                    folder.string()));
  }
  return is_new;
}

/// Writes the whole of a file, new or as `flags` say; returns 0 or the system's error.
int write_file(const fs::path& path, const std::string& text, int flags = O_CREAT | O_TRUNC) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0644);
  if (descriptor < 0) return errno;
  const ssize_t written = ::write(descriptor, text.data(), text.size());
  const int error = written == static_cast<ssize_t>(text.size()) ? 0 : written < 0 ? errno : ENOSPC;
  return close(descriptor) == 0 ? error : errno;
}

}  // namespace

RowFile::RowFile(fs::path path, const std::vector<std::string>& header)
    : path_(std::move(path)),
      descriptor_(open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) fail(path_, errno);
  append(roofline::csv_line(header));
}

RowFile::~RowFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

RowFile::RowFile(RowFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

void RowFile::append(const std::string& lines) {
  const off_t before = lseek(descriptor_, 0, SEEK_END);
  const ssize_t written = ::write(descriptor_, lines.data(), lines.size());
  if (written == static_cast<ssize_t>(lines.size())) return;
  const int error = written < 0 ? errno : ENOSPC;  // a short write to a file is a full disk
  if (before >= 0 && ftruncate(descriptor_, before) != 0) fail(path_, errno);
  fail(path_, error);
}

void RowFile::rename(const fs::path& path) {
  std::error_code error;
  fs::rename(path_, path, error);
  if (error) fail(path, error.value());
  path_ = path;
}

RunFolder::RunFolder(const std::optional<fs::path>& out, const std::string& device)
    : host_(host_name()),
      run_id_(fmt::format("{}-{}-{}", utc("%Y%m%dT%H%M%SZ"), host_, getpid())),
      path_(out.value_or(fs::path("results") / slug(device) / run_id_)) {
  is_new_ = make_folder(path_);
  try {
    tables_ = std::make_unique<Tables>(path_ / kMeasurements, path_ / kSamples, path_ / kRoofs);
  } catch (const WriteError&) {
    remove();
    throw;
  }
}

RunFolder::Tables::Tables(const fs::path& measurements_csv, const fs::path& samples_csv,
                          const fs::path& roofs_csv)
    : measurements(measurements_csv, roofline::measurement_columns()),
      samples(samples_csv, {"schema", "run_id", "row", "round", "sample", "time_s", "visit"}),
      roofs(roofs_csv, roofline::roof_columns()) {}

void RunFolder::replace(const std::function<void()>& write_all) {
  const fs::path files[] = {path_ / kMeasurements, path_ / kSamples, path_ / kRoofs};
  std::unique_ptr<Tables> old = std::move(tables_);
  try {
    tables_ = std::make_unique<Tables>(beside(files[0]), beside(files[1]), beside(files[2]));
    write_all();
    tables_->measurements.rename(files[0]);
    tables_->samples.rename(files[1]);
    tables_->roofs.rename(files[2]);
  } catch (...) {
    std::error_code ignored;  // what failed before is the error to tell
    for (const fs::path& file : files) fs::remove(beside(file), ignored);
    tables_ = std::move(old);
    throw;
  }
}

void RunFolder::remove() {
  std::error_code ignored;  // what failed before is the error to tell
  for (const char* file : {kMeasurements, kSamples, kRoofs, kEnvironment}) {
    fs::remove(path_ / file, ignored);
  }
  if (is_new_) fs::remove(path_, ignored);
}

void RunFolder::write(const roofline::Record& record, std::span<const Sample> samples) {
  tables_->measurements.append(roofline::csv_line(to_fields(record)));
  ++tables_->rows;
  std::string lines;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    lines += fmt::format("{},{},{},{},{},{},{}\n", roofline::kSchema, run_id_, tables_->rows,
                         samples[i].round, i, samples[i].time_s, samples[i].visit);
  }
  tables_->samples.append(lines);
}

void RunFolder::write(const roofline::Roof& roof) {
  tables_->roofs.append(roofline::csv_line(to_fields(roof, run_id_)));
}

void RunFolder::write(const nlohmann::json& environment) {
  // Written beside and renamed: whoever reads it sees the old text or the new one, never a half.
  const fs::path path = path_ / kEnvironment, next = beside(path);
  const bool first = !fs::exists(path);
  // Room to say how the run ended, where later there is none.
  const std::string text = to_text(environment) + std::string(first ? 512 : 0, ' ') + "\n";
  int error = write_file(next, text);
  std::error_code failed;
  if (error == 0) {
    fs::rename(next, path, failed);
    error = failed.value();
  } else if (fs::remove(next, failed); !first && text.size() <= fs::file_size(path)) {
    // Into the old one, of the same size: its blocks are there.
    error = write_file(path, text + std::string(fs::file_size(path) - text.size(), ' '), 0);
  }
  if (error != 0) fail(path, error);
}

std::string timestamp_utc() { return utc("%Y-%m-%dT%H:%M:%SZ"); }

std::string slug(const std::string& name) {
  std::string result;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!result.empty() && result.back() != '-') {
      result += '-';
    }
  }
  while (result.ends_with('-')) result.pop_back();
  return result.empty() ? "device" : result;
}

}  // namespace bench
