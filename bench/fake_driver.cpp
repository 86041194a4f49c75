// Stands in for libcuda.so.1 in the test of --device=auto in a build without CUDA: a driver that
// finds no GPU, or the toolkit's stub, which is none.
// NOLINTNEXTLINE(readability-identifier-naming): CUDA's name
extern "C" int cuInit(unsigned /*flags*/) { return CU_INIT; }
