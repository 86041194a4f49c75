// From a group of cases to rows: verify, settle, sample, place, gate, write.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/budget.h"
#include "bench/device.h"
#include "bench/implementation.h"
#include "bench/row.h"
#include "bench/run_folder.h"
#include "bench/sampler.h"
#include "bench/suite.h"
#include "roofline/record.h"

namespace bench {

struct Settings {
  std::vector<std::string> implementations;  // empty for all
  std::vector<std::string> caches = {"cold"};
  std::vector<kernels::InputKind> data = {kernels::InputKind::normal};  // a row for each
  std::uint64_t seed = 1;
  bool sustained = false;                // each row of every group once more, without pause
  std::size_t candidates = 1;            // variants of each implementation that are tried
  std::vector<roofline::Record> tuning;  // of another run: what was fastest there comes first
  std::string note;                      // of every row that is measured
  Protocol protocol;
  double budget_s = 60;      // of the whole run, shared out among its groups
  bool hard_budget = false;  // groups that it leaves no time for are skipped, not hurried
  int visits = 1;            // to each group, see Runner::visit_again()
};

std::span<const std::string_view> input_kinds();
std::string_view name(kernels::InputKind kind);
std::optional<kernels::InputKind> parse_input_kind(std::string_view name);

class Runner {
 public:
  /// Writes the theoretical roofs of the device at once.
  Runner(Device& device, RunFolder& folder, Settings settings,
         const std::atomic<bool>& interrupted);

  /// Measures a group and writes its rows, ours first. What an implementation throws becomes its
  /// row's status and note. `later`: the groups that the budget is still to be shared with. Throws
  /// WriteError and DeviceLost, when the run must end.
  std::vector<roofline::Record> run(const Group& group, std::span<const Group> later = {});

  /// Comes back to the groups that were run, as often as the settings say and the budget allows,
  /// and writes all rows anew, with the samples of all visits: what drifts from minute to minute is
  /// then in their intervals. `before_each` visit is called with the group's name. A visit that was
  /// interrupted, or that time left too few rounds for an interval, is not kept. Throws WriteError
  /// and DeviceLost, when what was measured before is written.
  void visit_again(const std::function<void(const std::string& group)>& before_each);

  const std::vector<roofline::Record>& records() const { return records_; }
  const std::vector<roofline::Roof>& roofs() const { return roofs_; }

  /// The fastest GEMM of each dtype, as the measured roof of its pipe: written when all is
  /// measured.
  void write_gemm_roofs();

 private:
  /// A group between two visits.
  struct Visited {
    Group group;
    std::vector<Row> rows;       // sampled, not judged
    double preparing_s, took_s;  // of the first visit
  };

  void visit(Visited& visited, double due_s);
  void resume(Row& row);
  void write_all();
  void write_theoretical_roofs();
  void attempt(Row& row, const std::function<void()>& step);
  std::optional<std::string> too_late(double needed_s) const;
  std::vector<Row> prepare_all(const Group& group, const std::optional<std::string>& unfit,
                               double cap_s);
  std::vector<roofline::Record> judge_all(std::vector<Row>& rows, bool measures_roof);
  void add_companions(const Data& data, double cap_s, std::vector<Row>& rows);
  void prepare(const roofline::Case& c, const std::string& cache, const Data& data,
               std::optional<std::size_t> candidates, double cap_s, std::vector<Row>& rows,
               std::shared_ptr<Operands> operands = nullptr);
  std::vector<Row> best_of(Row row, Alternatives names, const Implementation& implementation,
                           std::size_t candidates, double cap_s);
  void take_tuned_first(Row& row, Alternatives& names);
  void choose(std::vector<Row>& candidates, double cap_s);
  double bytes_of(const Group& group) const;
  Row blank_row(const roofline::Case& c, const std::string& cache, const Data& data,
                std::string_view implementation) const;
  std::shared_ptr<Operands> operands_for(const Row& row, const Data& data,
                                         std::span<const Row> rows);
  void make_ready(Row& row, const Implementation& implementation);
  void measure(std::vector<Row>& rows, Protocol protocol);
  void sustain(std::vector<Row>& rows);
  void add_roof(const Row& row);
  bool is_of_run(const roofline::Record& record) const;
  void publish(Row& row, bool measures_roof);

  Device& device_;
  RunFolder& folder_;
  Settings settings_;
  const std::atomic<bool>& interrupted_;
  Budget budget_;
  double preparing_s_per_byte_ = 0;  // of the last group: to fill and verify it
  std::exception_ptr lost_;          // what the device said when it was
  std::set<std::string> settled_;    // the kinds of load that have run hot once
  std::optional<double> launch_s_;   // of an empty kernel
  std::vector<roofline::Roof> roofs_;
  std::vector<roofline::Record> records_;
  std::vector<Visited> visited_;
};

/// The kinds of inputs that the group is measured with.
std::span<const kernels::InputKind> data_of(const Group& group, const Settings& settings);

/// The roof kernel that is sampled beside `c` on a cpu, whose memory changes speed from minute to
/// minute: multiply-adds where `bound` says compute (unknown: of a GEMM), else the same access mix
/// on largest_input(), in place. Nothing for an op that is a roof kernel itself, and for the matrix
/// pipe.
std::optional<roofline::Case> roof_companion(const roofline::Case& c,
                                             std::optional<roofline::Bound> bound);

/// `c` in small, 256 KiB a processor, a GEMM of 512 a side, which is sampled beside it on a cpu to
/// tell what its loop does where memory does not matter. Nothing for a GEMM of the matrix pipe, for
/// whose peak no kernel is here, and for what measures roofs.
std::optional<roofline::Case> in_cache(roofline::Case c, std::int64_t processors);

}  // namespace bench
