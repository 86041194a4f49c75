# choose_cuda_architectures(result): what CUDA code is compiled for when nobody names it. The visible
# GPUs alone if there are any (a fraction of the build time), else all that this nvcc knows of a list.
# A build folder keeps its choice while that covers the visible GPUs, so that a login and a compute
# node can share it.
function(choose_cuda_architectures result)
  get_filename_component(nvcc "${CMAKE_CUDA_COMPILER}" REALPATH)
  get_filename_component(bin "${nvcc}" DIRECTORY)
  execute_process(COMMAND "${nvcc}" --list-gpu-arch OUTPUT_VARIABLE known)
  # The tool behind `nvcc -arch=native`; CMake's own "native" is of 3.24.
  execute_process(COMMAND "${bin}/__nvcc_device_query" OUTPUT_VARIABLE answer RESULT_VARIABLE failed
                  ERROR_QUIET)
  set(visible "")
  if(NOT failed)
    string(REGEX MATCHALL "[0-9]+" visible "${answer}")
    list(REMOVE_DUPLICATES visible)
  endif()
  if(CMAKE_CUDA_ARCHITECTURES STREQUAL "native" AND NOT visible)
    message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES is native, but no GPU is visible here: "
                        "leave it unset, or name architectures, such as 90")
  endif()

  set(chosen "${ROOFLINE_CUDA_ARCHITECTURES}")
  foreach(number IN LISTS visible)
    if(NOT ";${chosen};" MATCHES ";${number}(-real)?;")
      set(chosen "")
    endif()
  endforeach()
  # The second list serves a machine without a GPU, or with one that this nvcc does not know, which
  # then runs the PTX of 90 or 100. FP8 conversions want 89.
  foreach(candidates "${visible}" "75-real;80-real;89-real;90;100")
    if(NOT chosen)
      foreach(architecture IN LISTS candidates)
        string(REGEX MATCH "[0-9]+" number "${architecture}")
        if("${known}\n" MATCHES "compute_${number}\n")
          list(APPEND chosen "${architecture}")
        endif()
      endforeach()
    endif()
  endforeach()
  set(ROOFLINE_CUDA_ARCHITECTURES "${chosen}" CACHE INTERNAL "what choose_cuda_architectures chose")
  set(${result} "${chosen}" PARENT_SCOPE)
endfunction()
