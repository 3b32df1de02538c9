// Each block reverses its 64 numbers by way of shared memory. Between the store
// and the load a __syncthreads() is missing.

__global__ void reverse(float *data) {
  __shared__ float tile[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  tile[t] = data[i];
  data[i] = tile[63 - t];
}
