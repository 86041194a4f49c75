// The files of a run: rows appended one write at a time, so that a killed run still parses.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/sampler.h"
#include "roofline/record.h"
#include "roofline/roof.h"

namespace bench {

/// A file could not be made or written; what() has path and system reason (exit code 1).
struct WriteError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A CSV file that grows by whole rows.
class RowFile {
 public:
  /// Creates the file, which must not exist, and writes the header.
  RowFile(std::filesystem::path path, const std::vector<std::string>& header);
  ~RowFile();
  RowFile(RowFile&& other) noexcept;
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;
  RowFile& operator=(RowFile&&) = delete;

  /// Appends text of whole lines by one write. On a short write cuts the file back to what was
  /// whole before, and throws WriteError.
  void append(const std::string& lines);
  /// Takes the place of another file. Throws WriteError.
  void rename(const std::filesystem::path& path);

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

class RunFolder {
 public:
  /// Makes `out`, or results/<device>/<UTC time>-<host>-<pid> where none is given. Throws
  /// WriteError where it cannot be made, and leaves nothing, or already holds a run.
  RunFolder(const std::optional<std::filesystem::path>& out, const std::string& device);

  const std::filesystem::path& path() const { return path_; }
  const std::string& run_id() const { return run_id_; }
  const std::string& host() const { return host_; }

  /// Appends the row to measurements.csv, then its samples to samples.csv under the row's number.
  void write(const roofline::Record& record, std::span<const Sample> samples);
  /// Replaces all rows and roofs by what `write_all` writes. Until that is done the files of now
  /// stay; where it throws, for good.
  void replace(const std::function<void()>& write_all);
  void write(const roofline::Roof& roof);
  /// Replaces environment.json as a whole, on a full disk, too.
  void write(const nlohmann::json& environment);
  /// Of a run that could not begin: what has only headers is no run.
  void remove();

 private:
  std::string host_, run_id_;
  std::filesystem::path path_;
  bool is_new_ = false;
  /// The files that grow by rows.
  struct Tables {
    Tables(const std::filesystem::path& measurements_csv, const std::filesystem::path& samples_csv,
           const std::filesystem::path& roofs_csv);
    RowFile measurements, samples, roofs;
    std::int64_t rows = 0;
  };
  std::unique_ptr<Tables> tables_;
};

/// "2026-01-31T12:00:00Z" of now.
std::string timestamp_utc();

/// Lower-case letters and digits with single dashes between: a device's name as a folder.
std::string slug(const std::string& name);

}  // namespace bench
