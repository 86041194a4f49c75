// cuda_kernels() and cuda_fill() as a host compiler builds them: the same files, run on fibers.
#include "kernels/activations.cu"
#include "kernels/mma.cu"
#include "kernels/products.cu"
#include "kernels/roofs.cu"
