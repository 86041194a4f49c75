// `roofline ops`: what each op costs and where it stands under a device's roofs.
#include <fmt/format.h>

#include <memory>
#include <stdexcept>

#include "roofline/claims.h"
#include "roofline/commands.h"
#include "roofline/roof_options.h"

namespace roofline {
namespace {

struct Sizes {
  Op op;
  std::int64_t lecture_m, lecture_n, lecture_k;  // Stanford CS336 2026, lecture 2
  std::int64_t m, n, k;                          // at least 512 MiB in each type: past any L2
};
constexpr std::int64_t kMi = 1 << 20;
constexpr Sizes kSizes[] = {
    {Op::relu, 1, kMi, 1, 1, 512 * kMi, 1},
    {Op::gelu, 1, kMi, 1, 1, 512 * kMi, 1},
    {Op::dot, 1, kMi, 1, 1, 512 * kMi, 1},
    {Op::gemv, 1024, 1024, 1, 32768, 16384, 1},
    {Op::gemm, 1024, 1024, 1024, 16384, 16384, 16384},
};
constexpr Dtype kDtypes[] = {Dtype::fp32, Dtype::tf32,     Dtype::fp16,
                             Dtype::bf16, Dtype::fp8_e4m3, Dtype::fp8_e5m2};

std::vector<Cell> row(const Case& c, bool lecture, Dtype dtype, const std::vector<Roof>& roofs) {
  const Cost work = cost(c);
  const Ideal best = ideal(work, c, dtype, roofs);
  const Ideal on_tensor_cores =
      ideal(work, make_case(Op::gemm, dtype, 1, 1, 1), dtype, roofs);  // for its ridge
  return {std::string(name(c.op)),
          std::string(name(dtype)),
          shape_label(c),
          work.flops.value,
          work.read.value,
          work.written.value,
          work.intensity().value,
          lecture ? Cell{lecture_intensity(c)} : Cell{},
          cell(best.ridge_flops_per_byte),
          cell(on_tensor_cores.ridge_flops_per_byte),
          best.bound ? Cell{std::string(name(*best.bound))} : Cell{},
          cell(best.attainable_flops_per_s),
          cell(best.mfu),
          cell(best.time_s)};
}

Table list_ops(const std::vector<Roof>& roofs, const std::vector<Dtype>& dtypes) {
  Table table;
  table.columns = {"op",
                   "dtype",
                   "shape",
                   "flops",
                   "bytes_read",
                   "bytes_written",
                   "intensity_flops_per_byte",
                   "lecture_intensity",
                   "ridge",
                   "gemm_ridge",
                   "bound",
                   "attainable_flops_per_s",
                   "ideal_mfu",
                   "ideal_time_s"};
  table.digits = 8;
  for (const Sizes& s : kSizes) {
    for (const Dtype dtype : dtypes) {
      if (dtype == Dtype::tf32 && s.op != Op::gemm) continue;  // a type of GEMMs only
      table.rows.push_back(
          row(make_case(s.op, dtype, s.lecture_m, s.lecture_n, s.lecture_k), true, dtype, roofs));
      table.rows.push_back(row(make_case(s.op, dtype, s.m, s.n, s.k), false, dtype, roofs));
    }
  }
  table.notes = {
      "ridge: of the pipe that runs the op (CUDA cores but for GEMM); gemm_ridge: of the GEMM pipe",
      "of the type, against whose data-sheet peak ideal_mfu stands. lecture_intensity: with 2n - 1",
      "FLOPs for n multiply-adds. A GeLU is 20 FLOPs by decree. The lecture's sizes stay in the L2",
      "and last about as long as a launch: there these are ideal times, not predictions."};
  return table;
}

}  // namespace

Command add_ops_command(Arguments app) {
  struct Options {
    RoofOptions roofs;
    std::vector<std::string> dtypes;
  };
  const auto options = std::make_shared<Options>();
  const Arguments command = app.add_subcommand(
      "ops", "FLOPs, bytes and intensity of each op and type, and its place under the roofs");
  add_roof_options(command, options->roofs);
  command.add_option("--dtype", options->dtypes, "only these types, such as bf16,fp32")
      .delimiter(',');
  return {command, [options](Output& out) {
            std::vector<Dtype> dtypes;
            for (const std::string& text : options->dtypes) dtypes.push_back(dtype_named(text));
            if (dtypes.empty()) dtypes.assign(std::begin(kDtypes), std::end(kDtypes));
            out.print(list_ops(load_roofs(options->roofs), dtypes));
            return 0;
          }};
}

}  // namespace roofline
