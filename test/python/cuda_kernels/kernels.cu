// Kernels as people write them in CUDA C++, each with a twin that has lost what
// orders its threads. Blocks have THREADS threads along x.

#include <cassert>
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_runtime.h>

#ifndef THREADS
#define THREADS 64
#endif

// --- a sum per block, by a tree -----------------------------------------------

__global__ void sum(const float *in, float *out) {
  __shared__ float tile[THREADS];
  int t = threadIdx.x;
  tile[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int step = THREADS / 2; step > 0; step /= 2) {
    if (t < step)
      tile[t] += tile[t + step];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = tile[0];
}

__global__ void sum_racy(const float *in, float *out) {
  __shared__ float tile[THREADS];
  int t = threadIdx.x;
  tile[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int step = THREADS / 2; step > 0; step /= 2)
    if (t < step)
      tile[t] += tile[t + step]; // no barrier between steps
  if (t == 0)
    out[blockIdx.x] = tile[0];
}

// --- the same for blocks of any size --------------------------------------------

__global__ void sum_of_size(const float *in, float *out) {
  __shared__ float tile[THREADS];
  unsigned t = threadIdx.x;
  tile[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step > 0; step >>= 1) {
    if (t < step)
      tile[t] += tile[t + step];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = tile[0];
}

__global__ void sum_of_size_racy(const float *in, float *out) {
  __shared__ float tile[THREADS];
  unsigned t = threadIdx.x;
  tile[t] = in[blockIdx.x * blockDim.x + t]; // no barrier behind it
  for (unsigned step = blockDim.x / 2; step > 0; step >>= 1) {
    if (t < step)
      tile[t] += tile[t + step];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = tile[0];
}

__global__ void sum_of_half_racy(const float *in, float *out) {
  __shared__ float tile[THREADS];
  int t = threadIdx.x;
  tile[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (t < step)
      tile[t] += tile[t + step]; // no barrier between steps
  }
  __syncthreads();
  if (t == 0)
    out[blockIdx.x] = tile[0];
}

// --- a sum per warp, by shuffles ----------------------------------------------

__global__ void warp_sum(const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = in[i];
  for (int step = warpSize / 2; step > 0; step /= 2)
    value += __shfl_down_sync(0xffffffff, value, step);
  if (threadIdx.x % warpSize == 0)
    out[i / warpSize] = value;
}

__global__ void warp_sum_racy(const float *in, float *out) {
  float value = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int step = warpSize / 2; step > 0; step /= 2)
    value += __shfl_down_sync(0xffffffff, value, step);
  if (threadIdx.x % warpSize == 0)
    out[blockIdx.x] = value; // all warps of a block
}

// --- a histogram of 16 bins ----------------------------------------------------

__global__ void histogram(const unsigned *in, unsigned *bins) {
  __shared__ unsigned counts[16];
  if (threadIdx.x < 16)
    counts[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd_block(&counts[in[blockIdx.x * blockDim.x + threadIdx.x] % 16], 1u);
  __syncthreads();
  if (threadIdx.x < 16)
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

__global__ void histogram_racy(const unsigned *in, unsigned *bins) {
  __shared__ unsigned counts[16];
  if (threadIdx.x < 16)
    counts[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd_block(&counts[in[blockIdx.x * blockDim.x + threadIdx.x] % 16], 1u);
  __syncthreads();
  if (threadIdx.x < 16)
    atomicAdd_block(&bins[threadIdx.x], counts[threadIdx.x]); // of all blocks
}

// --- a transposition by tiles of 8x8 --------------------------------------------

__global__ void transpose(const int *in, int *out, int n) {
  __shared__ int tile[8][9];
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  x = blockIdx.y * 8 + threadIdx.x, y = blockIdx.x * 8 + threadIdx.y;
  out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void transpose_racy(const int *in, int *out, int n) {
  __shared__ int tile[8][9];
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  x = blockIdx.y * 8 + threadIdx.x, y = blockIdx.x * 8 + threadIdx.y;
  out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

// --- sums of three neighbours, in place -------------------------------------------

__global__ void stencil(float *data) {
  extern __shared__ float line[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  line[t] = data[i];
  __syncthreads();
  float left = t > 0 ? line[t - 1] : 0.0f;
  float right = t + 1 < THREADS ? line[t + 1] : 0.0f;
  data[i] = left + line[t] + right;
}

__global__ void stencil_racy(float *data) {
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  float left = t > 0 ? data[i - 1] : 0.0f;
  float right = t + 1 < THREADS ? data[i + 1] : 0.0f;
  data[i] += left + right;
}

// --- running sums (Hillis and Steele) ------------------------------------------------

__global__ void scan(int *data) {
  __shared__ int line[THREADS];
  auto block = cooperative_groups::this_thread_block();
  int t = block.thread_rank(), i = blockIdx.x * THREADS + t;
  line[t] = data[i];
  block.sync();
  for (int step = 1; step < THREADS; step *= 2) {
    int before = t >= step ? line[t - step] : 0;
    block.sync();
    line[t] += before;
    block.sync();
  }
  data[i] = line[t];
}

__global__ void scan_racy(int *data) {
  __shared__ int line[THREADS];
  auto block = cooperative_groups::this_thread_block();
  int t = block.thread_rank(), i = blockIdx.x * THREADS + t;
  line[t] = data[i];
  block.sync();
  for (int step = 1; step < THREADS; step *= 2) {
    int before = t >= step ? line[t - step] : 0;
    line[t] += before;
    block.sync();
  }
  data[i] = line[t];
}

// --- a counter behind a lock -----------------------------------------------------------

__global__ void locked(int *lock, int *count) {
  bool is_done = false;
  while (!is_done)
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *count += 1;
      __threadfence();
      atomicExch(lock, 0);
      is_done = true;
    }
}

__global__ void locked_racy(int *lock, int *count) {
  bool is_done = false;
  while (!is_done)
    if (atomicCAS(lock, 0, 1) == 0) {
      *count += 1; // no fence: the lock orders nothing
      atomicExch(lock, 0);
      is_done = true;
    }
}

// --- what has no twin -------------------------------------------------------------------

__global__ void numbers(const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = __ldg(in + i);
  float2 both = make_float2(sqrtf(fabsf(x)), expf(x));
  out[i] = both.x + fmaxf(both.y, 1.0f) + powf(x, 2.0f) + min(i, 5) + __popc(i) +
           __int_as_float(__float_as_int(x));
}

__global__ void speaks(int *data) {
  printf("thread %d has %d\n", int(threadIdx.x), data[threadIdx.x]);
  assert(data[threadIdx.x] != 3 && "three");
}

// --- the host's part, which is parsed and dropped ------------------------------------------

int main() {
  float *in, *out;
  if (cudaMalloc(&in, 1024) != cudaSuccess || cudaMalloc(&out, 64) != cudaSuccess)
    return 1;
  sum<<<4, THREADS>>>(in, out);
  stencil<<<dim3(4, 1), THREADS, THREADS * sizeof(float)>>>(in);
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess)
    printf("%s\n", cudaGetErrorString(error));
  cudaDeviceSynchronize();
  cudaFree(in);
  return 0;
}

// --- what comes of it does not matter --------------------------------------------

__global__ void dead_load(int *p) {
  if (threadIdx.x == 0)
    p[0] = 1;
  else {
    int unused = p[0];
  }
}

__global__ void dead_store(int *p) {
  int own[2];
  own[threadIdx.x & 1] = p[0];
  if (threadIdx.x == 0)
    p[0] = 1;
}

__global__ void behind_variable(int *p, int *q) {
  int a = 10, b, c;
  int *d = &b;
  if (a > 10)
    d = &c;
  d[1] = 200;
  p[100] = q[100] + threadIdx.x;
}

// --- functions by their addresses ------------------------------------------------

static __device__ int twice(int x) { return 2 * x; }
static __device__ int next(int x) { return x + 1; }
static __device__ int half_of(int x) { return x / 2; }
typedef int (*function)(int);

static __device__ function choose(int which) {
  if (which == 1)
    return twice;
  return which == 2 ? next : half_of;
}

__global__ void chosen(int *p, int which) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  function f = choose(which);
  p[t] = f(t) + (f == twice ? 1000 : 0);
}

__global__ void chosen_racy(int *p, int which) {
  function f = choose(which);
  p[f(threadIdx.x)] = threadIdx.x;
}

__global__ void chosen_or_none(int *p, int which) {
  function f = nullptr;
  if (which == 1)
    f = twice;
  p[blockIdx.x * blockDim.x + threadIdx.x] = f(threadIdx.x);
}

__global__ void given(int *p, function f) { p[threadIdx.x] = f(threadIdx.x); }
