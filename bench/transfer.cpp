// Copies over the link between host and device memory: the lecture's x.to(device), and back.
#include <cstddef>
#include <cstring>

#include "bench/implementation.h"

namespace bench {
namespace {

using roofline::Case;
using roofline::Op;

bool offers(Op op, const Device& /*device*/) { return crosses_link(op); }

std::optional<std::string> refuses(const Case& /*c*/, const Device& device) {
  if (device.facts().backend != "cpu") return std::nullopt;
  return "a cpu's memory is the host's: there is no link to cross";
}

/// Both are rows: pageable memory is what a program has unless it asks, and costs a copy more.
std::vector<Alternatives> variants(const Case& /*c*/, Device& /*device*/) {
  return {{"pinned"}, {"pageable"}};
}

Work prepare(const Case& c, const std::string& variant, const Operands& operands, Device& device) {
  const bool up = c.op == Op::h2d;
  const Matrix& shape = up ? operands.shapes().out : operands.shapes().a;
  const std::size_t bytes = shape.bytes(),
                    all = bytes * static_cast<std::size_t>(operands.copies());
  Work work;
  work.host = device.allocate_host(all, variant == "pinned");
  work.with_host = true;
  auto* const host = static_cast<std::byte*>(work.host.get());
  std::memset(host, 0xFF, all);  // poisons what comes down, and makes the pages resident
  if (up) {
    const Memory& inputs = operands[0].out;  // the device makes them faster than the host
    device.fill(inputs.get(), c.a, operands.data().kind, seed_of_a(operands.data()),
                shape.elements());
    for (int i = 0; i < operands.copies(); ++i)
      device.download(host + bytes * i, inputs.get(), bytes);
  }
  work.launch = [&device, &operands, host, bytes, up](int copy) {
    std::byte* const here = host + bytes * static_cast<std::size_t>(copy);
    const auto& [a, b, out] = operands[copy];
    if (up) {
      device.copy(out.get(), here, bytes);
    } else {
      device.copy(here, a.get(), bytes);
    }
  };
  return work;
}

}  // namespace

const Implementation kTransfer{"memcpy", "", &offers, &refuses, &variants, &prepare};

}  // namespace bench
