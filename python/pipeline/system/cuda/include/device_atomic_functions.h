// In kernels.h, which every CUDA program begins with.
