# Writes OUT, a header that says from what commit and how the benchmark was built. Run at build time,
# so that it is true; touches the file only when something changed.
execute_process(COMMAND git -C "${SOURCE}" rev-parse --short=12 HEAD
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "unknown")
else()
  execute_process(COMMAND git -C "${SOURCE}" status --porcelain --untracked-files=no
                  OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    string(APPEND commit "-dirty")
  endif()
endif()
foreach(value FLAGS CUDA_FLAGS CUDA_COMPILER)  # which are put together with blanks
  string(STRIP "${${value}}" ${value})
endforeach()
file(CONFIGURE OUTPUT "${OUT}" CONTENT [[
#pragma once
namespace bench {
inline constexpr const char* kCommit = "@commit@";
inline constexpr const char* kCompiler = "@COMPILER@";
inline constexpr const char* kFlags = "@FLAGS@";
inline constexpr const char* kBuildType = "@BUILD_TYPE@";
inline constexpr const char* kCudaCompiler = "@CUDA_COMPILER@";  // these empty without CUDA
inline constexpr const char* kCudaFlags = "@CUDA_FLAGS@";
inline constexpr const char* kCudaArchitectures = "@CUDA_ARCHITECTURES@";
}  // namespace bench
]] @ONLY)
