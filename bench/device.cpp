#include "bench/device.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "bench/cuda_device.h"

namespace bench {

OutOfMemory::OutOfMemory(double asked_bytes, double free_bytes)
    : std::runtime_error(
          fmt::format("needs {:.0f} bytes of memory, {:.0f} are free", asked_bytes, free_bytes)) {}

Memory Device::allocate_host(std::size_t bytes, bool /*pinned*/) {
  constexpr std::size_t kPage = 4096;
  const std::size_t padded = (bytes + kPage - 1) / kPage * kPage;
  const double free = available_host_bytes();
  void* const data =
      static_cast<double>(padded) < free ? std::aligned_alloc(kPage, padded) : nullptr;
  if (data == nullptr) throw OutOfMemory(static_cast<double>(bytes), free);
  return {data, [](void* p) { std::free(p); }};
}

void Device::copy(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

std::unique_ptr<Device> make_device(const std::string& choice, std::string& notice) {
  if (choice == "cpu") return make_cpu_device();
  if (choice == "auto") {
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    const bool hidden = visible != nullptr && *visible == '\0';
    if (const auto reason = hidden ? "CUDA_VISIBLE_DEVICES is empty" : why_not_cuda()) {
      notice = *reason + ": measuring the cpu";
      return make_cpu_device();
    }
  }
  int ordinal = 0;
  if (choice.starts_with("cuda:")) {
    const char* const end = choice.data() + choice.size();
    const auto [stop, error] = std::from_chars(choice.data() + 5, end, ordinal);
    if (error != std::errc{} || stop != end || ordinal < 0) ordinal = -1;
  }
  if ((choice != "auto" && choice != "cuda" && !choice.starts_with("cuda:")) || ordinal < 0) {
    throw std::invalid_argument(fmt::format(
        "--device={}: expected auto, cuda, cuda:N with N = 0, 1, 2 ..., or cpu", choice));
  }
  std::unique_ptr<Device> device = make_cuda_device(ordinal);
  notice = device->notice();
  return device;
}

}  // namespace bench
