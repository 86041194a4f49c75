#include "roofline/roof_options.h"

#include <algorithm>
#include <iterator>

#include "roofline/run.h"
#include "roofline/spec.h"

namespace roofline {

void add_roof_options(Arguments command, RoofOptions& options) {
  command.add_option("--spec", options.spec, "a data sheet that `roofline specs` lists");
  command.add_option("--from", options.run, "a run's folder: the roofs that it measured")
      .excludes("--spec");
}

std::vector<Roof> load_roofs(const RoofOptions& options) {
  if (!options.run.empty()) return read_run(options.run).roofs;
  if (!options.spec.empty()) return roofs_of(spec_named(options.spec));
  return {};
}

std::vector<Roof> roofs_to_use(const std::vector<Roof>& roofs) {
  std::vector<Roof> measured;
  std::copy_if(roofs.begin(), roofs.end(), std::back_inserter(measured),
               [](const Roof& r) { return r.kind == Kind::measured; });
  return measured.empty() ? roofs : measured;
}

Ideal ideal(const Cost& work, const Case& c, Dtype dtype, const std::vector<Roof>& roofs) {
  const std::vector<Roof> used = roofs_to_use(roofs);
  const Placing under = place(c, uncached_level(c), used);
  Ideal result;
  if (under.memory == nullptr || under.compute == nullptr) return result;
  const FlopsPerS peak = under.compute->flops_per_s();
  const BytesPerS bandwidth = under.memory->bytes_per_s();
  const Seconds arithmetic = work.flops / peak, traffic = work.bytes() / bandwidth;
  const FlopsPerS rate = attainable(work.intensity(), peak, bandwidth);
  result.ridge_flops_per_byte = ridge(peak, bandwidth).value;
  result.attainable_flops_per_s = rate.value;
  result.time_s = std::max(arithmetic, traffic).value;
  result.bound = arithmetic > traffic ? Bound::compute : Bound::memory;
  if (const Roof* sheet = mfu_peak(make_case(Op::gemm, dtype, 1, 1, 1), roofs)) {
    result.mfu = (rate / sheet->flops_per_s()).value;
  }
  return result;
}

}  // namespace roofline
