// One row on its way: what to run, and what is known of it so far.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/implementation.h"
#include "bench/operands.h"
#include "bench/sampler.h"
#include "roofline/record.h"
#include "roofline/roof.h"

namespace bench {

struct Row {
  roofline::Case what;
  roofline::Record record;
  Work work;
  const Implementation* implementation = nullptr;
  std::shared_ptr<Operands> operands;
  roofline::Level level = roofline::Level::none;
  std::vector<roofline::Case> beside;  // of a companion, sampled for its ratio only: of whose rows
  bool alone = false;           // sampled apart from the group, in no turns with the companion
  bool beside_default = false;  // the best of several variants; the row before it is the default
  std::optional<Series> series;

  bool runs() const { return record.status == roofline::Status::ok; }
  bool is_companion() const { return !beside.empty(); }
  bool is_ready() const { return runs() && work.launch != nullptr; }
  /// Keeps what was sampled, and gives back what it was sampled with.
  void pause() {
    work.launch = nullptr;
    work.workspace = work.host = nullptr;
    if (series) series->timed.run_s = nullptr;
    if (operands) operands->release();
  }
  void end(roofline::Status status, std::string note) {
    record.status = status;
    record.note = std::move(note);
    work = {};
  }
  void add_note(const std::string& note) {
    if (note.empty()) return;
    record.note += (record.note.empty() ? "" : "; ") + note;
  }
};

}  // namespace bench
