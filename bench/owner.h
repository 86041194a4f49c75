// Ownership of what a C library makes: events, graphs, descriptors.
#pragma once

#include <memory>

namespace bench {

template <auto destroy>
struct Destroy {
  // Deleters do not throw: whatever broke was already reported by its own call.
  template <typename T>
  void operator()(T* made) const noexcept {
    (void)destroy(made);
  }
};

/// A T* that `destroy` gives back: Owner<CUevent_st, cudaEventDestroy>.
template <typename T, auto destroy>
using Owner = std::unique_ptr<T, Destroy<destroy>>;

}  // namespace bench
