// `roofline specs` lists the data sheets, `roofline peaks` shows one, or a run's roofs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>

#include "roofline/commands.h"
#include "roofline/roof_options.h"
#include "roofline/spec.h"

namespace roofline {
namespace {

const Roof* find(const std::vector<Roof>& roofs, std::string_view name) {
  for (const Roof& r : roofs) {
    if (r.name == name) return &r;
  }
  return nullptr;
}

Cell positive(double value) { return value > 0 ? Cell{value} : Cell{}; }

std::string driver_names(const Spec& spec) {
  const auto [first, second] = spec.devices;
  return second.empty() ? std::string(first) : fmt::format("{}, {}", first, second);
}

Table list_specs() {
  Table table;
  table.columns = {"spec",
                   "sms",
                   "boost_mhz",
                   "tensor_mhz",
                   "memory_gb",
                   "bytes_per_s",
                   "fp32_flops_per_s",
                   "tf32_flops_per_s",
                   "bf16_flops_per_s",
                   "fp8_flops_per_s",
                   "nvfp4_flops_per_s",
                   "bf16_ridge",
                   "power_w",
                   "driver_names",
                   "unverified",
                   "source"};
  for (const Spec& spec : specs()) {
    const std::vector<Roof> roofs = roofs_of(spec);
    const auto per_s = [&](std::string_view roof) {
      const Roof* r = find(roofs, roof);
      return r == nullptr ? Cell{} : Cell{r->per_s};
    };
    std::vector<std::string> unverified;
    for (const Roof& r : roofs) {
      if (r.source.starts_with(kUnverified)) unverified.push_back(r.name);
    }
    const Roof* bf16 = find(roofs, "tensor_bf16");
    table.rows.push_back({std::string(spec.name), std::int64_t{spec.sms}, positive(spec.core_mhz),
                          positive(spec.tensor_mhz), spec.memory_gb, roofs.front().per_s,
                          per_s("cuda_core_fp32"), per_s("tensor_tf32"), per_s("tensor_bf16"),
                          per_s("tensor_fp8_e4m3"), per_s("tensor_nvfp4"),
                          bf16 == nullptr
                              ? Cell{}
                              : Cell{ridge(bf16->flops_per_s(), roofs.front().bytes_per_s()).value},
                          spec.watts, driver_names(spec),
                          fmt::format("{}", fmt::join(unverified, " ")), std::string(spec.source)});
  }
  table.notes = {
      "Dense figures of the data sheets. A device is matched by its driver's exact name, SM "
      "count, bus and memory."};
  return table;
}

const std::vector<std::string> kPeakColumns = {
    "roof",        "kind",        "access",    "dtype",
    "flops_per_s", "bytes_per_s", "clock_mhz", "ridge_flops_per_byte",
    "source"};

/// Its ridge is the one with `memory`, where that is known.
std::vector<Cell> peak_row(const Roof& roof, const Roof* memory) {
  std::optional<double> flops_per_s, bytes_per_s, ridge_flops_per_byte;
  if (roof.is_memory()) {
    bytes_per_s = roof.per_s;
  } else {
    flops_per_s = roof.per_s;
    if (memory != nullptr) {
      ridge_flops_per_byte = ridge(roof.flops_per_s(), memory->bytes_per_s()).value;
    }
  }
  return {roof.name,
          std::string(name(roof.kind)),
          std::string(name(roof.access)),
          std::string(roof.dtype ? name(*roof.dtype) : ""),
          cell(flops_per_s),
          cell(bytes_per_s),
          cell(roof.clock_mhz),
          cell(ridge_flops_per_byte),
          roof.source};
}

/// What SMs x rate x clock gives, as a row and as a sentence.
Roof computed(const Spec& spec, const Peak& peak, double clock_mhz, std::string_view remark) {
  const double flops_per_s = derived_peak(spec.sms, peak.flops_per_clock, clock_mhz).value;
  return {.name = peak.name,
          .kind = Kind::derived,
          .pipe = peak.pipe,
          .dtype = peak.dtype,
          .per_s = flops_per_s,
          .clock_mhz = clock_mhz,
          .source = fmt::format("{} SM x {} FLOP/clk x {:.3f} GHz = {:.1f} TFLOP/s{}", spec.sms,
                                peak.flops_per_clock, clock_mhz / 1e3, flops_per_s / 1e12, remark)};
}

/// What the pins give; empty where bus or clock are unknown.
std::optional<Roof> computed_bandwidth(const Spec& spec) {
  const double bytes_per_s = pin_rate(spec.bus_bits, spec.memory_mhz).value;
  if (bytes_per_s == 0) return std::nullopt;
  return Roof{.name = std::string(spec.memory),
              .kind = Kind::derived,
              .level = Level::memory,
              .per_s = bytes_per_s,
              .source = fmt::format("{} bit x {} MHz x 2 / 8 = {:.3f} TB/s, the rate of the pins",
                                    spec.bus_bits, spec.memory_mhz, bytes_per_s / 1e12)};
}

Table show_spec(const Spec& spec, bool explain) {
  Table table;
  table.title = fmt::format("{}: {}", spec.name, spec.source);
  table.columns = kPeakColumns;
  table.notes = {"MFU, ridge and planner use the datasheet rows: what is printed, dense."};
  const std::vector<Roof> sheet = roofs_of(spec);
  const Roof& memory = sheet.front();
  const std::optional<Roof> pins = computed_bandwidth(spec);
  const Roof* computed_memory = pins ? &*pins : nullptr;

  table.rows.push_back(peak_row(memory, nullptr));
  if (explain && pins) table.rows.push_back(peak_row(*pins, nullptr));
  for (const Peak& peak : peaks_of(spec)) {
    if (const Roof* roof = find(sheet, peak.name)) table.rows.push_back(peak_row(*roof, &memory));
    if (!explain || peak.flops_per_clock == 0 || peak.clock_mhz == 0) continue;
    Roof dense = computed(spec, peak, peak.clock_mhz, " dense");
    if (peak.tflops.halved) {
      dense.source += fmt::format(" ({:.1f} with 2:4 sparsity, not used)", 2 * dense.per_s / 1e12);
    }
    table.rows.push_back(peak_row(dense, computed_memory));
    if (peak.clock_mhz < spec.core_mhz) {
      table.rows.push_back(peak_row(
          computed(spec, peak, spec.core_mhz, ": the boost clock, which the sheet does not assume"),
          computed_memory));
    }
  }
  return table;
}

Table show_run(const std::string& run) {
  Table table;
  table.title = run;
  table.columns = kPeakColumns;
  const std::vector<Roof> roofs = load_roofs({.spec = "", .run = run});
  for (const Roof& roof : roofs) {
    // A ridge is of one kind; of the measured bandwidths it takes that of reading, as a GEMM does.
    const auto memory = std::find_if(roofs.begin(), roofs.end(), [&](const Roof& m) {
      return m.kind == roof.kind && m.level == Level::memory &&
             (m.access == Access::none || m.access == Access::read);
    });
    table.rows.push_back(peak_row(roof, memory == roofs.end() ? nullptr : &*memory));
  }
  return table;
}

}  // namespace

Command add_specs_command(Arguments app) {
  const Arguments command =
      app.add_subcommand("specs", "All data sheets, dense, with their sources");
  return {command, [](Output& out) {
            out.print(list_specs());
            return 0;
          }};
}

Command add_peaks_command(Arguments app) {
  struct Options {
    std::string spec, run;
    bool explain = false;
  };
  const auto options = std::make_shared<Options>();
  const Arguments command =
      app.add_subcommand("peaks", "The roofs and ridge points of a data sheet or of a run");
  command.add_option("spec", options->spec, "a name of `roofline specs`");
  command.add_option("--from", options->run, "a run's folder instead").excludes("spec");
  command.add_flag("--explain", options->explain,
                   "also SMs x FLOP/clk x clock and bus x clock, beside the sheet's figures");
  return {
      command, [options](Output& out) {
        if (options->spec.empty() && options->run.empty()) {
          throw std::invalid_argument("peaks: expected a spec, such as h100-sxm, or --from=RUN");
        }
        out.print(options->run.empty() ? show_spec(spec_named(options->spec), options->explain)
                                       : show_run(options->run));
        return 0;
      }};
}

}  // namespace roofline
