#include "bench/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <limits>
#include <utility>

#include "bench/judge.h"
#include "bench/profiler_range.h"
#include "bench/tuning.h"
#include "bench/verify.h"
#include "roofline/spec.h"

namespace bench {
namespace {

using roofline::Access;
using roofline::Bound;
using roofline::Case;
using roofline::Kind;
using roofline::Level;
using roofline::Op;
using roofline::Pipe;
using roofline::Record;
using roofline::Roof;
using roofline::Status;

constexpr std::string_view kInputKinds[] = {"normal", "uniform", "integers", "ones", "zeros"};

bool is_roof_kernel(Op op) {
  return op == Op::read || op == Op::write || op == Op::copy || op == Op::triad || op == Op::fma ||
         op == Op::mma || roofline::crosses_link(op);
}

bool contains(const std::vector<Case>& cases, const Case& c) {
  return std::ranges::find(cases, c) != cases.end();
}

std::string kind_of_load(const Case& c) {
  return c.op == Op::gemm || c.op == Op::fma || c.op == Op::mma
             ? fmt::format("{}/{}", name(c.op), dtype_label(c))
             : std::string(name(uncached_level(c)));
}

/// The same op at a size that is checked as a whole: a prime, so that every tail is met.
Case small_version(Case c) {
  constexpr std::int64_t kPrime = 10007;
  if (info(c.op).dims == 1) c.n = std::min(c.n, kPrime);
  if (c.op == Op::gemv) {
    c.m = std::min<std::int64_t>(c.m, 67);
    c.n = std::min<std::int64_t>(c.n, 1009);
  }
  if (c.op == Op::fma) {
    c.m = 2;
    c.n = std::min(c.n, kPrime);
  }
  if (c.op == Op::mma) {
    c.m = std::min<std::int64_t>(c.m, 64);
    c.n = std::min<std::int64_t>(c.n, 16384);  // of a block, all looked at
  }
  return c;
}

}  // namespace

std::span<const std::string_view> input_kinds() { return kInputKinds; }

std::string_view name(kernels::InputKind kind) { return kInputKinds[static_cast<int>(kind)]; }

std::optional<kernels::InputKind> parse_input_kind(std::string_view name) {
  const auto* const at = std::find(std::begin(kInputKinds), std::end(kInputKinds), name);
  if (at == std::end(kInputKinds)) return std::nullopt;
  return static_cast<kernels::InputKind>(at - std::begin(kInputKinds));
}

/// Why nothing that takes `needed_s` can begin any more; nothing while it can.
std::optional<std::string> Runner::too_late(double needed_s) const {
  return budget_.refuses(device_.now_s(), needed_s, budget_.end_s());
}

/// What `step` throws becomes the row's status and note; a lost device ends the run after its rows
/// are written.
void Runner::attempt(Row& row, const std::function<void()>& step) {
  try {
    step();
  } catch (const DeviceLost& e) {
    row.end(Status::failed, e.what());
    lost_ = std::current_exception();
  } catch (const OutOfMemory& e) {
    row.end(Status::skipped, e.what());
  } catch (const std::exception& e) {
    row.end(Status::failed, e.what());
    try {  // a library tells of a lost device in words of its own
      (void)device_.free_bytes();
    } catch (const DeviceLost&) {
      lost_ = std::current_exception();
    }
  }
}

Runner::Runner(Device& device, RunFolder& folder, Settings settings,
               const std::atomic<bool>& interrupted)
    : device_(device),
      folder_(folder),
      settings_(std::move(settings)),
      interrupted_(interrupted),
      budget_(settings_.budget_s, settings_.hard_budget, device.now_s(), settings_.visits) {
  write_theoretical_roofs();
}

void Runner::write_theoretical_roofs() {
  roofs_ = roofline::theoretical_roofs(device_.facts());
  for (const Roof& r : roofs_) folder_.write(r);
}

std::vector<Record> Runner::run(const Group& group, std::span<const Group> later) {
  const ProfilerRange range(group.name);
  const double began_s = device_.now_s(), end_s = budget_.due_s(group, later, began_s);
  const auto left_s = [&] {
    return std::clamp(end_s - device_.now_s(), 0.1, settings_.protocol.cap_s);
  };
  Protocol protocol = settings_.protocol;
  protocol.cap_s = left_s();
  const double needed_s = preparing_s_per_byte_ * bytes_of(group);
  std::vector<Row> rows =
      prepare_all(group, budget_.refuses(began_s, needed_s, end_s), protocol.cap_s);
  const double preparing_s = device_.now_s() - began_s;
  const bool any = std::ranges::any_of(rows, &Row::runs);
  try {
    if (any && budget_.hard()) {
      preparing_s_per_byte_ = preparing_s / bytes_of(group);
      for (Row& row : rows) {
        if (const auto why = too_late(0); why && row.runs()) row.end(Status::skipped, *why);
      }
      protocol.cap_s = left_s();
      protocol.settle_s = std::min(protocol.settle_s, protocol.cap_s / 4);
    }
    measure(rows, protocol);
    if (settings_.sustained || group.sustained) sustain(rows);
  } catch (const std::exception& e) {
    for (Row& row : rows) {
      if (row.runs()) row.end(Status::failed, e.what());
    }
    if (dynamic_cast<const DeviceLost*>(&e) != nullptr) lost_ = std::current_exception();
  }
  for (Row& row : rows) row.pause();
  if (settings_.visits > 1)
    visited_.push_back({group, rows, preparing_s, device_.now_s() - began_s});
  return judge_all(rows, group.measures_roof);
}

void Runner::visit_again(const std::function<void(const std::string& group)>& before_each) {
  double needed_s = 0;  // if each visit takes as long as the first
  for (const Visited& v : visited_) needed_s += v.took_s * (settings_.visits - 1);
  bool any = false;
  for (int later = 1; later < settings_.visits; ++later) {
    for (Visited& v : visited_) {
      const double now_s = device_.now_s(), left_s = budget_.end_s() - now_s;
      const double share_s = left_s * v.took_s / needed_s;
      needed_s -= v.took_s;
      if (interrupted_ || lost_ || left_s < (budget_.hard() ? v.preparing_s : 0)) continue;
      before_each(v.group.name);
      visit(v, now_s + share_s);
      any = true;
    }
  }
  if (any) {
    const auto records = records_;
    const auto roofs = roofs_;
    try {
      folder_.replace([&] { write_all(); });
    } catch (...) {  // what is in the files is told
      records_ = records;
      roofs_ = roofs;
      throw;
    }
  }
  if (lost_) std::rethrow_exception(lost_);
}

void Runner::visit(Visited& visited, double due_s) {
  const ProfilerRange range(visited.group.name);
  std::vector<Row> rows = visited.rows;
  for (Row& row : rows) resume(row);
  Protocol protocol = settings_.protocol;
  protocol.cap_s = std::clamp(due_s - device_.now_s(), 0.1, protocol.cap_s);
  try {
    measure(rows, protocol);
  } catch (const DeviceLost&) {
    lost_ = std::current_exception();
  } catch (const std::exception& e) {
    for (Row& row : rows) {
      if (row.is_ready()) row.end(Status::failed, e.what());
    }
  }
  const bool too_short = std::ranges::any_of(rows, [&](const Row& row) {
    return row.is_ready() &&
           static_cast<int>(row.series->round_medians().back().size()) < protocol.min_rounds;
  });
  for (Row& row : rows) row.pause();
  if (!interrupted_ && !lost_ && !too_short) visited.rows = std::move(rows);
}

/// Gives a row that was verified before its operands and launches again. What is beside a row in
/// the cache has told its part.
void Runner::resume(Row& row) {
  if (!row.series || !row.runs() || row.alone || row.implementation == nullptr) return;
  if (row.is_companion() && !is_roof_kernel(row.what.op)) return;
  attempt(row, [&] {
    try {
      row.operands->refill(device_);
      row.work = row.implementation->prepare(row.what, row.record.variant, *row.operands, device_);
    } catch (const OutOfMemory& e) {
      row.implementation = nullptr;  // not tried again: what is in turns with it counts its visits
      row.add_note(fmt::format("not visited again: {}", e.what()));
    }
  });
}

/// All rows as their visits have them now, and the roofs that are among them.
void Runner::write_all() {
  const std::exception_ptr lost = std::exchange(lost_, nullptr);
  records_.clear();
  launch_s_.reset();
  write_theoretical_roofs();
  for (const Visited& v : visited_) {
    std::vector<Row> rows = v.rows;
    judge_all(rows, v.group.measures_roof);
  }
  lost_ = lost;
}

/// The rows of a group, ready to be measured, and what is sampled beside them. `unfit`: why there
/// is no time for it.
std::vector<Row> Runner::prepare_all(const Group& group, const std::optional<std::string>& unfit,
                                     double cap_s) {
  std::vector<Row> rows;
  const auto kinds = data_of(group, settings_);
  const Data first{kinds.front(), settings_.seed};
  for (const Case& c : group.cases) {
    if (interrupted_) break;
    if (const auto why = unfit ? unfit : too_late(0)) {
      rows.push_back(blank_row(c, settings_.caches.front(), first, ""));
      rows.back().end(Status::skipped, *why);
      continue;
    }
    for (const std::string& cache : settings_.caches) {
      for (const kernels::InputKind kind : kinds) {
        prepare(c, cache, {kind, settings_.seed}, settings_.candidates, cap_s, rows);
      }
    }
  }
  if (device_.facts().backend == "cpu") add_companions(first, cap_s, rows);
  return rows;
}

/// Writes what was measured, and what was not and why.
std::vector<Record> Runner::judge_all(std::vector<Row>& rows, bool measures_roof) {
  const auto companion = [&](const Row& row, bool roof) -> const Row* {
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& r) {
      const bool same = roof ? r.record.cache == row.record.cache && !row.alone
                             : r.record.implementation == row.record.implementation;
      return r.series && contains(r.beside, row.what) && is_roof_kernel(r.what.op) == roof && same;
    });
    return at == rows.end() ? nullptr : &*at;
  };
  std::vector<Record> written;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Row& row = rows[i];
    if (row.is_companion()) continue;
    if (row.series && row.runs()) {
      row.add_note(settings_.note);
      if (const int visits = row.series->samples.back().visit + 1;
          visits < settings_.visits && !row.alone) {
        row.add_note(fmt::format("{} of {} visits", visits, settings_.visits));
      }
      judge(row, companion(row, true), companion(row, false),
            {roofs_, device_.facts().cache_bytes, launch_s_, settings_.protocol.max_noise,
             settings_.protocol.max_held_up});
    }
    if (row.beside_default && row.series && rows[i - 1].series) {
      row.add_note(ratio_note(*row.series, *rows[i - 1].series));
    }
    if (interrupted_ && !row.record.time_median_s && row.runs()) continue;  // nothing to save
    publish(row, measures_roof);
    written.push_back(row.record);
  }
  if (lost_) std::rethrow_exception(lost_);
  return written;
}

/// Adds what is sampled in turns with the rows of a cpu: their roof kernels, in the memory of the
/// rows themselves, and their loops in the cache.
void Runner::add_companions(const Data& data, double cap_s, std::vector<Row>& rows) {
  std::vector<Row> added;
  const auto add = [&](const Row& row, const Case& c, const std::string& cache,
                       std::optional<std::size_t> candidates, std::shared_ptr<Operands> lender) {
    const auto same = std::find_if(added.begin(), added.end(), [&](const Row& r) {
      const bool there = !lender || (r.operands && r.operands->lender() == lender);
      return r.what == c && r.record.cache == cache && there;
    });
    if (same != added.end()) {
      if (!contains(same->beside, row.what)) same->beside.push_back(row.what);
      return;
    }
    if (interrupted_ || too_late(0)) return;
    const std::size_t first = added.size();
    auto operands = lender ? std::make_shared<Operands>(c, std::move(lender)) : nullptr;
    prepare(c, cache, data, candidates, cap_s, added, std::move(operands));
    for (std::size_t i = first; i < added.size(); ++i) added[i].beside = {row.what};
  };
  for (const Row& row : rows) {
    if (!row.runs() || row.record.data != name(data.kind)) continue;
    if (const auto roof = roof_companion(row.what, place(row.what, row.level, roofs_).bound)) {
      add(row, *roof, row.record.cache, 1, roof->op == Op::fma ? nullptr : row.operands);
    }
    if (const auto small = in_cache(row.what, device_.facts().processors)) {
      add(row, *small, "hot", std::nullopt, nullptr);
    }
  }
  std::move(added.begin(), added.end(), std::back_inserter(rows));
}

/// `candidates`: of each implementation; nothing for its fastest alone. `operands`: of all
/// implementations; null to make them.
void Runner::prepare(const Case& c, const std::string& cache, const Data& data,
                     std::optional<std::size_t> candidates, double cap_s, std::vector<Row>& rows,
                     std::shared_ptr<Operands> operands) {
  const std::size_t before = rows.size();
  // Streaming stores go past the cache, and what stores into it would be far above such a roof.
  const bool is_cache_roof =
      is_roof_kernel(c.op) && cache == "hot" && device_.facts().backend == "cpu";
  const bool fastest_alone = !candidates || is_cache_roof;
  const std::size_t most =
      fastest_alone ? std::numeric_limits<std::size_t>::max() : candidates.value();
  for (const Implementation& implementation : implementations()) {
    if (!takes_part(implementation, settings_.implementations, c.op, device_)) continue;
    Row first = blank_row(c, cache, data, implementation.name);
    std::vector<Alternatives> all;
    attempt(first, [&] {
      if (const auto reason = implementation.refuses(c, device_)) {
        return first.end(Status::unsupported, *reason);
      }
      if (!operands) operands = operands_for(first, data, rows);
      all = implementation.variants(c, device_);
    });
    if (!first.runs()) rows.push_back(first);
    first.implementation = &implementation;
    first.operands = operands;
    for (Alternatives& names : all) {
      std::vector<Row> best = best_of(first, std::move(names), implementation, most, cap_s);
      if (fastest_alone && best.size() > 1 && best.front().runs()) {
        best.erase(best.begin());
        best.front().beside_default = false;
      }
      std::move(best.begin(), best.end(), std::back_inserter(rows));
    }
  }
  if (rows.size() == before && settings_.implementations.empty()) {
    Row nobody = blank_row(c, cache, data, "");
    nobody.end(Status::unsupported, fmt::format("nothing in this build computes {} on the {}",
                                                name(c.op), device_.facts().backend));
    rows.push_back(std::move(nobody));
  }
}

/// The first of `names` and, where that is another, the fastest of the first `candidates`, ready to
/// be measured.
std::vector<Row> Runner::best_of(Row row, Alternatives names, const Implementation& implementation,
                                 std::size_t candidates, double cap_s) {
  take_tuned_first(row, names);
  names.resize(std::min(names.size(), candidates));
  const double end = device_.now_s() + cap_s;
  std::vector<Row> tried;
  for (const std::string& variant : names) {
    if (!tried.empty() && (interrupted_ || device_.now_s() > end)) break;
    tried.push_back(row);
    tried.back().record.variant = variant;
    if (!interrupted_) attempt(tried.back(), [&] { make_ready(tried.back(), implementation); });
  }
  if (tried.size() > 1) attempt(tried.front(), [&] { choose(tried, cap_s / 4); });
  return tried;
}

/// What the tuning run found fastest of `names`, before the default.
void Runner::take_tuned_first(Row& row, Alternatives& names) {
  if (const auto tuned = tuned_variant(settings_.tuning, row.record, names)) {
    row.add_note(fmt::format("the tuning run's {} is taken first", *tuned));
    const auto at = std::find(names.begin(), names.end(), *tuned);
    std::rotate(names.begin(), at, at + 1);
  } else if (!settings_.tuning.empty()) {
    row.add_note("the tuning run measured none of these variants for such a case");
  }
}

/// Leaves the first of the candidates and, where that is another, the fastest. The samples that
/// chose are thrown away: by its own, the best of 16 equals reads 1 % fast.
void Runner::choose(std::vector<Row>& candidates, double cap_s) {
  Protocol protocol = settings_.protocol;
  protocol.min_rounds = protocol.max_rounds = 5;
  protocol.cap_s = cap_s;
  measure(candidates, protocol);
  std::size_t best = 0, timed = 0;
  double best_s = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].series) continue;
    ++timed;
    const double time_s = candidates[i].series->median_s();
    candidates[i].series.reset();
    if (!(time_s > 0 && time_s < best_s)) continue;
    best = i;
    best_s = time_s;
  }
  candidates[best].add_note(
      fmt::format("fastest of {} variants, {} of which ran; chosen on other samples",
                  candidates.size(), timed));
  candidates[best].beside_default = best > 0;
  if (best > 1) std::swap(candidates[1], candidates[best]);
  candidates.erase(candidates.begin() + (best > 0 ? 2 : 1), candidates.end());
}

/// What is filled and verified before the group can be measured, the same work beside it apart.
double Runner::bytes_of(const Group& group) const {
  double bytes = 64 << 20;  // what small groups take all the same
  for (const Case& c : group.cases) {
    for (const std::string& cache : settings_.caches) {
      const Row row = blank_row(c, cache, {}, "");
      bytes += operand_shapes(c).bytes() * static_cast<double>(*row.record.copies) *
               static_cast<double>(data_of(group, settings_).size());
    }
  }
  return bytes;
}

Row Runner::blank_row(const Case& c, const std::string& cache, const Data& data,
                      std::string_view implementation) const {
  const double set_bytes = operand_shapes(c).bytes();
  const bool cold = cache == "cold";
  const auto cost = roofline::cost(c);
  Row row{.what = c,
          .record = {.run_id = folder_.run_id(),
                     .timestamp_utc = timestamp_utc(),
                     .host = folder_.host(),
                     .backend = device_.facts().backend,
                     .device = device_.facts().name,
                     .device_uuid = device_.facts().uuid,
                     .what = c,
                     .implementation = std::string(implementation),
                     .cache = cache,
                     .data = std::string(name(data.kind)),
                     .seed = static_cast<std::int64_t>(data.seed),
                     .flops = cost.flops.value,
                     .bytes_read = cost.read.value,
                     .bytes_written = cost.written.value}};
  if (cost.bytes().value > 0) row.record.intensity_flops_per_byte = cost.intensity().value;
  // What streams nothing has nothing to miss.
  const bool streams = info(c.op).access != Access::none;
  row.record.copies = cold && streams ? cold_copies(set_bytes, device_.facts().cache_bytes) : 1;
  // Rotation makes every launch of a cold row miss: its data come from memory. A hot row's come
  // from the cache if they fit there with room to spare; else from both, and neither roof is its
  // own.
  const double cache_bytes = device_.facts().cache_bytes;
  const bool misses =
      cold && (!streams || set_bytes * static_cast<double>(*row.record.copies) >= 3 * cache_bytes);
  const bool fits = !cold && set_bytes <= cache_bytes / 2;
  row.level = crosses_link(c.op) ? Level::link
              : misses           ? Level::memory
              : fits             ? Level::cache
                                 : Level::none;
  return row;
}

/// Those of a row of the group that has such, else new ones.
std::shared_ptr<Operands> Runner::operands_for(const Row& row, const Data& data,
                                               std::span<const Row> rows) {
  const auto copies = static_cast<int>(*row.record.copies);
  const auto same = std::ranges::find_if(rows, [&](const Row& r) {
    return r.operands != nullptr && r.operands->shapes() == operand_shapes(row.what) &&
           r.operands->data() == data && r.operands->copies() == copies;
  });
  if (same != rows.end()) return same->operands;
  auto operands = std::make_shared<Operands>(row.what, copies, data, device_);
  if (const Verification v = verify_inputs(*operands, device_); !v.passed()) {
    throw std::runtime_error(fmt::format("{} wrong inputs: {}", v.max_error, v.where));
  }
  return operands;
}

void Runner::make_ready(Row& row, const Implementation& implementation) {
  const ProfilerRange range("verify");
  const auto check = [](const Case& c, const Verification& v) {
    if (v.passed()) return;
    throw std::runtime_error(fmt::format("wrong output of {}: error {:.3g} {}, at most {:.3g}; {}",
                                         name(c), v.max_error, v.metric, v.tolerance, v.where));
  };
  Record& r = row.record;
  // A library that wants aligned rows refuses a prime; then the timed size is all that is checked.
  if (const Case small = small_version(row.what);
      !(small == row.what) && !implementation.refuses(small, device_)) {
    const Operands few(small, 1, row.operands->data(), device_);
    r.verified = false;
    check(small,
          verify(small, implementation.prepare(small, r.variant, few, device_), few, device_));
  }
  row.work = implementation.prepare(row.what, r.variant, *row.operands, device_);
  r.workspace_bytes = row.work.workspace_bytes;
  r.numerical_impl = row.work.numerical_impl;
  r.scale_mode = row.work.scale_mode;
  r.fast_accumulation = row.work.fast_accumulation;
  row.add_note(row.work.note);
  const Verification v = verify(row.what, row.work, *row.operands, device_);
  if (row.what.op == Op::empty) return;  // has no output
  r.error_metric = v.metric;
  r.max_error = v.max_error;
  r.tolerance = v.tolerance;
  r.verified = v.passed();
  check(row.what, v);
}

void Runner::measure(std::vector<Row>& rows, Protocol protocol) {
  std::vector<Series> group;
  std::vector<Row*> measured;
  bool warm = true;
  for (Row& row : rows) {
    if (!row.is_ready() || interrupted_) continue;
    const int copies = row.operands->copies();
    attempt(row, [&] {
      const auto timed = [&](int launches) {
        return row.work.with_host ? device_.timed_with_host(row.work.launch, copies, launches)
                                  : device_.timed(row.work.launch, copies, launches);
      };
      int launches = row.series ? row.series->timed.launches : row.work.launches;
      if (launches == 0) {
        const Timed once = timed(1);
        double run_s = once.run_s();
        // A short one that waited for its processor would make samples of a single launch.
        for (int again = 0; again < 2 && run_s < 0.1; ++again) {
          run_s = std::min(run_s, once.run_s());
        }
        launches = launches_for(protocol.sample_s, run_s / once.launches);
      }
      Timed runs = timed(launches);
      group.push_back(row.series.value_or(Series()));
      group.back().timed = std::move(runs);
      measured.push_back(&row);
      warm = !settled_.insert(kind_of_load(row.what)).second && warm;
    });
  }
  if (warm) protocol.settle_s = std::min(protocol.settle_s, 0.05);
  {
    const ProfilerRange range("settle");
    settle(group, protocol, device_, interrupted_);
  }
  const auto keep = [&] {
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (group[i].error) {
        attempt(*measured[i], [&] { std::rethrow_exception(group[i].error); });
      } else if (!group[i].samples.empty()) {
        measured[i]->series = std::move(group[i]);
      }
    }
  };
  try {
    const ProfilerRange range("sample");
    sample(group, protocol, device_, interrupted_);
  } catch (...) {
    keep();
    throw;
  }
  keep();
}

/// Adds each measured row once more, alone and without pause for two seconds: its clock is then the
/// one that its own power and heat leave it, and the energy counter can tell that power, as it
/// cannot of a block of 5 ms.
void Runner::sustain(std::vector<Row>& rows) {
  Protocol protocol = settings_.protocol;
  protocol.block_s = 0.25;
  protocol.min_rounds = protocol.max_rounds = 8;
  protocol.cap_s = 5;  // a launch of 0.8 s has its six rounds, too
  const double needed_s = protocol.block_s * protocol.max_rounds;
  std::vector<Row> added;
  for (const Row& burst : rows) {
    if (burst.is_companion() || !burst.series || interrupted_) continue;
    std::vector<Row> one = {burst};
    Row& row = one.front();
    row.series.reset();
    row.record.variant += roofline::kSustained;
    row.alone = true;
    row.beside_default = false;
    if (const auto why = too_late(needed_s)) row.end(Status::skipped, *why);
    attempt(row, [&] { measure(one, protocol); });
    if (row.series) {
      row.add_note(fmt::format("sustained: {:.4f} of the time in turns",
                               row.series->median_s() / burst.series->median_s()));
    }
    added.push_back(std::move(row));
  }
  std::move(added.begin(), added.end(), std::back_inserter(rows));
}

void Runner::add_roof(const Row& row) {
  const Record& r = row.record;
  if (!is_measured(r) || row.level == Level::none) return;
  const bool in_graph = !row.work.with_host && row.work.launches == 0;
  if (row.what.op == Op::empty && in_graph) launch_s_ = r.time_median_s;
  if (!is_roof_kernel(row.what.op) || is_disturbed(r)) return;
  Roof roof{.kind = Kind::measured, .source = fmt::format("{} {}", name(row.what), r.variant)};
  if (row.what.op == Op::fma || row.what.op == Op::mma) {
    if (r.bound && *r.bound != Bound::compute) return;  // too short to be the pipe's
    const std::string dtype = dtype_label(row.what);
    roof.name = fmt::format("{}_{}", name(row.what.op), dtype);
    roof.pipe = pipe(row.what);
    roof.dtype = roofline::parse_dtype(dtype);
    roof.per_s = *r.achieved_flops_per_s;
    roof.clock_mhz = r.sm_clock_mhz;
  } else {
    const bool cached = row.level == Level::cache;
    roof.name = fmt::format("{}{}", cached ? "cache_" : "", name(row.what.op));
    roof.level = row.level;
    roof.access = info(row.what.op).access;
    roof.per_s = *r.achieved_bytes_per_s;
  }
  // Of several variants or types the fastest is the roof; the file keeps each that was one.
  const auto same = std::find_if(roofs_.begin(), roofs_.end(), [&](const Roof& other) {
    return other.kind == Kind::measured && other.name == roof.name;
  });
  if (same == roofs_.end()) {
    roofs_.push_back(roof);
  } else if (same->per_s < roof.per_s) {
    *same = roof;
  } else {
    return;
  }
  folder_.write(roof);
}

void Runner::publish(Row& row, bool measures_roof) {
  folder_.write(row.record, row.series ? std::span<const Sample>(row.series->samples)
                                       : std::span<const Sample>());
  records_.push_back(row.record);
  // A cold row of any other size is none: near the cache's, what it leaves unwritten flatters it.
  if (is_of_run(row.record) && (measures_roof || row.level == Level::cache)) add_roof(row);
}

/// Whether its inputs are those of the run, and not others beside them, which may flatter it.
bool Runner::is_of_run(const Record& r) const { return r.data == name(settings_.data.front()); }

void Runner::write_gemm_roofs() {
  std::vector<Roof> best;
  for (const Record& r : records_) {
    if (r.what.op != Op::gemm || !is_measured(r) || is_disturbed(r) || pipe(r.what) != Pipe::matrix)
      continue;
    if (!is_of_run(r)) continue;
    const roofline::Dtype dtype = input_dtype(r.what);
    const Roof roof{
        .name = fmt::format("gemm_{}", name(dtype)),
        .kind = Kind::measured,
        .pipe = Pipe::matrix,
        .dtype = dtype,
        .per_s = *r.achieved_flops_per_s,
        .clock_mhz = r.sm_clock_mhz,
        .source = fmt::format("best GEMM of this run: {} {}", name(r.what), r.implementation)};
    const auto same = std::find_if(best.begin(), best.end(),
                                   [&](const Roof& other) { return other.dtype == dtype; });
    if (same == best.end()) {
      best.push_back(roof);
    } else if (same->per_s < roof.per_s) {
      *same = roof;
    }
  }
  for (const Roof& r : best) {
    roofs_.push_back(r);
    folder_.write(r);
  }
}

std::span<const kernels::InputKind> data_of(const Group& group, const Settings& settings) {
  return group.data.empty() ? settings.data : group.data;
}

std::optional<Case> roof_companion(const Case& c, std::optional<Bound> bound) {
  if (is_roof_kernel(c.op) || c.op == Op::empty) return std::nullopt;
  if (bound.value_or(c.op == Op::gemm ? Bound::compute : Bound::memory) == Bound::compute) {
    if (pipe(c) != Pipe::vector) return std::nullopt;
    return roofline::make_case(Op::fma, roofline::Dtype::fp32, 4096, 1 << 20, 1);
  }
  const Matrix input = largest_input(operand_shapes(c));
  return roofline::make_case(info(c.op).access == Access::read ? Op::read : Op::copy, input.dtype,
                             1, input.elements(), 1);
}

std::optional<Case> in_cache(Case c, std::int64_t processors) {
  if (is_roof_kernel(c.op) || c.op == Op::empty) return std::nullopt;
  if (c.op == Op::gemm) {
    if (pipe(c) != Pipe::vector) return std::nullopt;
    for (std::int64_t* const size : {&c.m, &c.n, &c.k}) *size = std::min<std::int64_t>(*size, 512);
    c.batch = 1;
    return c;
  }
  if (c.op == Op::gemv) c.n = std::min<std::int64_t>(c.n, 1024);  // x is small beside A, as it was
  std::int64_t& size = c.op == Op::gemv ? c.m : c.n;
  const double share = 262144.0 * static_cast<double>(processors) / cost(c).bytes().value;
  if (share < 1) {
    size = std::max<std::int64_t>(1, static_cast<std::int64_t>(share * static_cast<double>(size)));
  }
  return c;
}

}  // namespace bench
