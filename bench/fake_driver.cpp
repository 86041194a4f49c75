// Stands in for libcuda.so.1 in the test of --device=auto in a build without CUDA: a driver that
// finds no GPU, or the toolkit's stub, which is none.
extern "C" int cuInit(unsigned /*flags*/) { return CU_INIT; }
