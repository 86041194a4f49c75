// A named stretch of host time on the timeline of Nsight Systems; nothing in a build without NVTX.
#pragma once

#include <string>

#if defined(ROOFLINE_HAS_CUDA) && __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define ROOFLINE_HAS_NVTX
#endif

namespace bench {

/// From construction to destruction; ranges nest.
class ProfilerRange {
 public:
#ifdef ROOFLINE_HAS_NVTX
  explicit ProfilerRange(const std::string& name) { nvtxRangePushA(name.c_str()); }
  ~ProfilerRange() { nvtxRangePop(); }
#else
  explicit ProfilerRange(const std::string& /*name*/) {}
  ~ProfilerRange() {}  // NOLINT: not defaulted, so that an unused range draws no warning
#endif
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
};

}  // namespace bench
