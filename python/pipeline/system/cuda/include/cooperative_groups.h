//===- cooperative_groups.h - Groups of threads ----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The block, and tiles of it of a warp or less: CUDA C++ Programming Guide,
// "Cooperative Groups". Groups of several blocks are not there.
//
//===----------------------------------------------------------------------===//

#ifndef PIPELINE_CUDA_COOPERATIVE_GROUPS_H
#define PIPELINE_CUDA_COOPERATIVE_GROUPS_H

namespace cooperative_groups {

#define PIPELINE_DEVICE                                                        \
  __inline__ __attribute__((device, always_inline, nodebug))

/// All threads of a block.
struct thread_block {
  PIPELINE_DEVICE void sync() const { __syncthreads(); }
  PIPELINE_DEVICE unsigned int size() const {
    return blockDim.x * blockDim.y * blockDim.z;
  }
  PIPELINE_DEVICE unsigned int num_threads() const { return size(); }
  PIPELINE_DEVICE unsigned int thread_rank() const {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  PIPELINE_DEVICE dim3 group_index() const { return blockIdx; }
  PIPELINE_DEVICE dim3 thread_index() const { return threadIdx; }
  PIPELINE_DEVICE dim3 group_dim() const { return blockDim; }
};

static PIPELINE_DEVICE thread_block this_thread_block() { return {}; }

/// SIZE neighbours of a warp: a power of two, 32 at most.
template <unsigned int SIZE>
struct thread_block_tile {
  static_assert(SIZE != 0 && SIZE <= 32 && (SIZE & (SIZE - 1)) == 0,
                "a tile has 1, 2, 4, 8, 16 or 32 threads");

  PIPELINE_DEVICE unsigned int size() const { return SIZE; }
  PIPELINE_DEVICE unsigned int num_threads() const { return SIZE; }
  PIPELINE_DEVICE unsigned int thread_rank() const {
    return thread_block().thread_rank() % SIZE;
  }
  PIPELINE_DEVICE unsigned int meta_group_rank() const {
    return thread_block().thread_rank() / SIZE;
  }
  PIPELINE_DEVICE unsigned int meta_group_size() const {
    return (thread_block().size() + SIZE - 1) / SIZE;
  }
  PIPELINE_DEVICE void sync() const { __syncwarp(mask()); }
  template <typename T>
  PIPELINE_DEVICE T shfl(T value, unsigned int from) const {
    return __shfl_sync(mask(), value, from, SIZE);
  }
  template <typename T>
  PIPELINE_DEVICE T shfl_down(T value, unsigned int by) const {
    return __shfl_down_sync(mask(), value, by, SIZE);
  }
  template <typename T>
  PIPELINE_DEVICE T shfl_up(T value, unsigned int by) const {
    return __shfl_up_sync(mask(), value, by, SIZE);
  }
  template <typename T>
  PIPELINE_DEVICE T shfl_xor(T value, unsigned int by) const {
    return __shfl_xor_sync(mask(), value, by, SIZE);
  }
  PIPELINE_DEVICE int any(int truth) const { return __any_sync(mask(), truth); }
  PIPELINE_DEVICE int all(int truth) const { return __all_sync(mask(), truth); }
  PIPELINE_DEVICE unsigned int ballot(int truth) const {
    return (__ballot_sync(mask(), truth) & mask()) >> begin();
  }

private:
  PIPELINE_DEVICE unsigned int begin() const {
    return thread_block().thread_rank() % 32 / SIZE * SIZE;
  }
  PIPELINE_DEVICE unsigned int mask() const {
    return (SIZE == 32 ? ~0u : (1u << SIZE) - 1) << begin();
  }
};

template <unsigned int SIZE, typename Group>
PIPELINE_DEVICE thread_block_tile<SIZE> tiled_partition(const Group &) {
  return {};
}

template <typename Group>
PIPELINE_DEVICE void sync(const Group &group) {
  group.sync();
}

#undef PIPELINE_DEVICE

} // namespace cooperative_groups

#endif // PIPELINE_CUDA_COOPERATIVE_GROUPS_H
