// `roofline einsum`: the cost of a contraction of named dimensions, and the benchmark that runs it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <span>
#include <stdexcept>

#include "roofline/commands.h"
#include "roofline/einsum.h"
#include "roofline/roof_options.h"

namespace roofline {
namespace {

std::vector<Cell> tensor_row(std::string name, const Dimensions& dimensions, double bytes) {
  std::vector<Cell> row{std::move(name), fmt::format("{}", fmt::join(dimensions, " ")), bytes};
  row.resize(11);
  return row;
}

Table explain(const Einsum& einsum, const Sizes& sizes, Dtype dtype,
              const std::vector<Roof>& roofs) {
  const EinsumCost what = cost(einsum, sizes, dtype);
  // Without a matrix op it is arithmetic on the vector pipe, with outputs of the inputs' type.
  const Case c = what.op.value_or(make_case(Op::relu, dtype, 1, 1, 1));
  Table table;
  table.columns = {"tensor",
                   "dimensions",
                   "bytes",
                   "flops",
                   "intensity_flops_per_byte",
                   "ridge",
                   "bound",
                   "attainable_flops_per_s",
                   "ideal_time_s",
                   "ideal_mfu",
                   "command"};
  Cost work{what.flops, Bytes{}, what.output_elements * Bytes{bytes_per_element(c.out)}};
  for (std::size_t i = 0; i < einsum.inputs.size(); ++i) {
    const Bytes bytes = what.input_elements[i] * Bytes{bytes_per_element(c.a)};
    work.read = work.read + bytes;
    table.rows.push_back(tensor_row(fmt::format("input {}", i + 1), einsum.inputs[i], bytes.value));
  }
  table.rows.push_back(tensor_row("output", einsum.output, work.written.value));

  const Ideal best = ideal(work, c, dtype, roofs);
  table.rows.push_back(
      {"total",
       what.summed.empty() ? "nothing summed"
                           : fmt::format("summed: {}", fmt::join(what.summed, " ")),
       work.bytes().value, work.flops.value, work.intensity().value,
       cell(best.ridge_flops_per_byte), best.bound ? Cell{std::string(name(*best.bound))} : Cell{},
       cell(best.attainable_flops_per_s), cell(best.time_s), cell(best.mfu),
       what.op ? Cell{fmt::format("roofline_bench --op={} --dtype={} --shape={}", name(what.op->op),
                                  name(dtype), shape_label(*what.op))}
               : Cell{}});
  if (einsum.inputs.size() > 2) {
    table.notes = {"FLOPs of one loop over all dimensions; pairwise contractions may need fewer."};
  }
  return table;
}

}  // namespace

Command add_einsum_command(Arguments app) {
  struct Options {
    RoofOptions roofs;
    std::string expression, dtype = "bf16";
    std::vector<std::string> sizes;
  };
  const auto options = std::make_shared<Options>();
  const Arguments command = app.add_subcommand(
      "einsum", "The cost of a contraction such as \"batch m k, batch k n -> batch m n\"");
  command.add_option("expression", options->expression, "tensors of named dimensions").required();
  command.add_option("sizes", options->sizes,
                     "NAME=SIZE for each dimension; ...=8x12 for leading ones");
  command.add_option("--dtype", options->dtype, "of the inputs").capture_default_str();
  add_roof_options(command, options->roofs);
  return {command, [options](Output& out) {
            out.print(explain(parse_einsum(options->expression), parse_sizes(options->sizes),
                              dtype_named(options->dtype), load_roofs(options->roofs)));
            return 0;
          }};
}

}  // namespace roofline
