// CUB on a GPU: its transform for ReLU and GeLU and its reduction for dot, as whoever writes no
// kernel would call them. Peers of our kernels.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_reduce.cuh>
#if __has_include(<cub/device/device_transform.cuh>)  // from CUDA 12.8 on
#include <cub/device/device_transform.cuh>
#define BENCH_CUB_TRANSFORM true
#else
#define BENCH_CUB_TRANSFORM false
#endif

#include "bench/implementation.h"
#include "kernels/device_buffer.h"
#include "kernels/dtype.cuh"

namespace bench {
namespace {

using roofline::Case;
using roofline::Op;

template <typename T>
struct Relu {
  __device__ T operator()(T a) const {
    const auto x = static_cast<float>(a);
    return x < 0 ? T(0.0F) : a;  // NaN stays NaN
  }
};

/// 0.5 x (1 + tanh(u)) is x / (1 + e^-2u): one exponential and one division, the cheapest that is
/// written without PTX.
template <typename T>
struct Gelu {
  __device__ T operator()(T a) const {
    const auto x = static_cast<float>(a);
    const float u = 0.7978845608F * (x + 0.044715F * x * x * x);
    return static_cast<T>(x / (1 + __expf(-2 * u)));
  }
};

template <typename T>
struct Product {
  const T *a, *b;
  __device__ float operator()(std::int64_t i) const {
    return static_cast<float>(a[i]) * static_cast<float>(b[i]);
  }
};

cudaStream_t stream_of(Device& device) { return static_cast<cudaStream_t>(device.queue().stream); }

template <typename T, typename Function>
Work transform(const Case& c, const Operands& operands, Device& device) {
  Work work;
#if BENCH_CUB_TRANSFORM
  work.launch = [n = c.n, &operands, stream = stream_of(device)](int copy) {
    const auto& [a, b, out] = operands[copy];
    CUDA_CHECK(cub::DeviceTransform::Transform(static_cast<const T*>(a.get()),
                                               static_cast<T*>(out.get()), n, Function{}, stream));
  };
#endif
  return work;
}

template <typename T>
Work dot(const Case& c, const Operands& operands, Device& device) {
  const auto sum = [n = c.n, &operands, stream = stream_of(device)](void* workspace,
                                                                    std::size_t& bytes, int copy) {
    const auto& [a, b, out] = operands[copy];
    const Product<T> product{static_cast<const T*>(a.get()), static_cast<const T*>(b.get())};
    const auto products =
        thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), product);
    CUDA_CHECK(cub::DeviceReduce::Sum(workspace, bytes, products, static_cast<float*>(out.get()), n,
                                      stream));
  };
  std::size_t bytes = 0;
  sum(nullptr, bytes, 0);
  Work work;
  work.workspace = device.allocate(bytes);
  work.workspace_bytes = static_cast<std::int64_t>(bytes);
  work.launch = [sum, bytes, workspace = work.workspace](int copy) {
    std::size_t size = bytes;
    sum(workspace.get(), size, copy);
  };
  return work;
}

bool offers(Op op, const Device& /*device*/) {
  return op == Op::relu || op == Op::gelu || op == Op::dot;
}

std::optional<std::string> refuses(const Case& c, const Device& /*device*/) {
  if (c.op == Op::dot || BENCH_CUB_TRANSFORM) return std::nullopt;
  return "this toolkit's CUB has no DeviceTransform: it came with CUDA 12.8";
}

std::vector<Alternatives> variants(const Case& c, Device& /*device*/) {
  return {{c.op == Op::dot ? "DeviceReduce::Sum" : "DeviceTransform"}};
}

Work prepare(const Case& c, const std::string& /*variant*/, const Operands& operands,
             Device& device) {
  return kernels::with_dtype(name(c.a).data(), [&]<typename T>() {
    if (c.op == Op::relu) return transform<T, Relu<T>>(c, operands, device);
    if (c.op == Op::gelu) return transform<T, Gelu<T>>(c, operands, device);
    return dot<T>(c, operands, device);
  });
}

}  // namespace

const Implementation kCub{names::kCub, "cuda", &offers, &refuses, &variants, &prepare, true};

}  // namespace bench
