// The hand-written kernels and loops: rows of the tables in kernels/table.h.
#include <fmt/format.h>

#include <algorithm>

#include "bench/implementation.h"
#include "kernels/tuned.h"

namespace bench {
namespace {

using roofline::Case;
using roofline::Op;

/// Variants of `empty` beside the one in a graph.
constexpr const char *kFromHost = "from_host", *kInterval = "interval";

const kernels::Kernel* find(const Case& c, const Device& device) {
  const std::string dtype = dtype_label(c);
  for (const kernels::Kernel& k : device.kernels()) {
    if (name(c.op) == k.op && dtype == k.dtype) return &k;
  }
  return nullptr;
}

bool offers(Op op, const Device& device) {
  const auto kernels = device.kernels();
  return std::any_of(kernels.begin(), kernels.end(),
                     [&](const kernels::Kernel& k) { return name(op) == k.op; });
}

std::optional<std::string> refuses(const Case& c, const Device& device) {
  const auto& facts = device.facts();
  const kernels::Kernel* kernel = find(c, device);
  if (kernel == nullptr) {
    return fmt::format("no {} kernel for {} {}", facts.backend, name(c.op), dtype_label(c));
  }
  if (kernel->refuses == nullptr) return std::nullopt;
  const std::string reason = kernel->refuses(10 * facts.compute_major + facts.compute_minor);
  return reason.empty() ? std::nullopt : std::optional(reason);
}

/// The policy that was found fastest for this compute capability, and on what; empty for none.
struct Default {
  std::string_view policy, device;
};
Default tuned(const Case& c, const Device& device) {
  const auto* const known =
      kernels::tuned_for(device.facts().compute_major, device.facts().compute_minor);
  if (known == nullptr) return {};
  return {kernels::tuned_policy(*known, name(c.op), dtype_label(c)), known->device};
}

/// Who chose the policy; empty on a cpu, whose default is for any, and for another than the
/// default.
std::string tuning_note(const Case& c, const kernels::Kernel& kernel, std::string_view policy,
                        const Device& device) {
  const auto& facts = device.facts();
  if (facts.compute_major == 0 || kernel.policies.size() < 2) return "";
  const Default best = tuned(c, device);
  if (best.policy.empty()) {
    return fmt::format("untuned for compute capability {}.{}: see --candidates and --tuning",
                       facts.compute_major, facts.compute_minor);
  }
  return best.policy == policy ? fmt::format("tuned on an {}", best.device) : "";
}

/// The tuned policy, else the one that suits the shape; empty where the kernel's first will do.
std::string_view first_policy(const Case& c, const kernels::Kernel& kernel, const Device& device) {
  if (const Default best = tuned(c, device); !best.policy.empty()) return best.policy;
  if (kernel.suited == nullptr) return "";
  return kernel.suited({.m = c.m, .n = c.n, .k = c.k}, device.queue()).name;
}

std::vector<Alternatives> variants(const Case& c, Device& device) {
  const kernels::Kernel& kernel = *find(c, device);
  Alternatives names;
  for (const kernels::Policy& p : kernel.policies) {
    // With fewer processors than it has a thread for, it is another policy under a second name.
    if (p.one_thread_in <= device.queue().processors) names.emplace_back(p.name);
  }
  const auto best = std::ranges::find(names, first_policy(c, kernel, device));
  if (best != names.end()) std::rotate(names.begin(), best, best + 1);
  // What a graph saves, and what two events measure with nothing between them.
  const bool has_graphs = device.facts().backend != "cpu";
  if (c.op == Op::empty && has_graphs) return {names, {kFromHost}, {kInterval}};
  return {names};
}

Work prepare(const Case& c, const std::string& variant, const Operands& operands, Device& device) {
  const kernels::Kernel& kernel = *find(c, device);
  if (variant == kInterval) return {.launch = [](int) {}, .launches = 1};
  const bool with_host = variant == kFromHost;
  const kernels::Policy& policy =
      with_host ? kernel.policies.front()
                : *std::find_if(kernel.policies.begin(), kernel.policies.end(),
                                [&](const kernels::Policy& p) { return p.name == variant; });
  const kernels::Queue queue = device.queue();
  const auto with = [&](const Operands::Copy& copy, void* workspace) {
    return kernels::Operands{.a = copy.a.get(),
                             .b = copy.b.get(),
                             .out = copy.out.get(),
                             .workspace = workspace,
                             .m = c.m,
                             .n = c.n,
                             .k = c.k,
                             .lda = operands.shapes().a.stride};
  };
  const std::size_t bytes = kernel.workspace_bytes(with(operands[0], nullptr), policy, queue);
  const Memory workspace = bytes > 0 ? device.allocate(bytes) : nullptr;

  std::vector<kernels::Operands> copies;
  for (int i = 0; i < operands.copies(); ++i) copies.push_back(with(operands[i], workspace.get()));
  Work work;
  work.launch = [&kernel, &policy, queue, workspace, copies](int copy) {
    kernel.launch(copies[static_cast<std::size_t>(copy)], policy, queue);
  };
  work.with_host = with_host;
  work.note = tuning_note(c, kernel, variant, device);
  work.workspace = workspace;
  work.workspace_bytes = static_cast<std::int64_t>(bytes);
  return work;
}

}  // namespace

const Implementation kOurs{"ours", "", &offers, &refuses, &variants, &prepare};

}  // namespace bench
