// What threads order memory by besides barriers: locks, flags, tickets. Each
// kernel comes with twins in which something is missing. All of a kernel's
// races are behind what its threads do at atomic operations: whether one shows
// depends on who comes first.
//
// Four blocks of 64 threads; `data` has 512 numbers, `state` 16, which begin as
// zero.

__device__ void acquire(int *lock) {
  while (atomicCAS(lock, 0, 1) != 0)
    __nanosleep(20);
  __threadfence();
}

__device__ void release(int *lock) {
  __threadfence();
  atomicExch(lock, 0);
}

__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// --- a counter behind a lock
// ---------------------------------------------------

__global__ void lock_right(int *data, int *state) {
  for (bool is_done = false; !is_done;)
    if (atomicCAS(state, 0, 1) == 0) {
      __threadfence();
      data[0] += 1;
      release(state);
      is_done = true;
    }
}

// The lock is taken without a fence.
__global__ void lock_no_acquire(int *data, int *state) {
  for (bool is_done = false; !is_done;)
    if (atomicCAS(state, 0, 1) == 0) {
      data[0] += 1;
      release(state);
      is_done = true;
    }
}

// It is given back without a fence.
__global__ void lock_no_release(int *data, int *state) {
  for (bool is_done = false; !is_done;)
    if (atomicCAS(state, 0, 1) == 0) {
      __threadfence();
      data[0] += 1;
      atomicExch(state, 0);
      is_done = true;
    }
}

// The fences are of the block; the lock is for all blocks.
__global__ void lock_narrow_fence(int *data, int *state) {
  for (bool is_done = false; !is_done;)
    if (atomicCAS(state, 0, 1) == 0) {
      __threadfence_block();
      data[0] += 1;
      __threadfence_block();
      atomicExch(state, 0);
      is_done = true;
    }
}

// One thread looks at the counter without the lock, after it had it.
__global__ void lock_read_outside(int *data, int *state) {
  acquire(state);
  data[0] += 1;
  release(state);
  if (thread() == 5)
    data[1] = data[0];
}

// One thread writes before it takes the lock: in most orders others have it
// later.
__global__ void lock_write_before(int *data, int *state) {
  if (thread() == 0)
    data[0] = 7;
  acquire(state);
  data[0] += 1;
  release(state);
}

// Two locks for one counter.
__global__ void lock_other(int *data, int *state) {
  int *lock = state + thread() % 2;
  acquire(lock);
  data[0] += 1;
  release(lock);
}

// Only the last thread of a block that gets the lock forgets it: rarely is it
// the one who comes second.
__global__ void lock_sometimes(int *data, int *state) {
  bool takes = threadIdx.x != 63;
  if (takes)
    acquire(state);
  data[blockIdx.x] += 1;
  if (takes)
    release(state);
}

// --- a value behind a flag
// -----------------------------------------------------

__global__ void flag_right(int *data, int *state) {
  if (threadIdx.x == 0) {
    data[blockIdx.x] = 7;
    __threadfence();
    atomicExch(state + blockIdx.x, 1);
  } else if (threadIdx.x == 32) {
    while (atomicAdd(state + blockIdx.x, 0) == 0)
      ;
    __threadfence();
    data[64 + blockIdx.x] = data[blockIdx.x];
  }
}

__global__ void flag_no_release(int *data, int *state) {
  if (threadIdx.x == 0) {
    data[blockIdx.x] = 7;
    atomicExch(state + blockIdx.x, 1);
  } else if (threadIdx.x == 32) {
    while (atomicAdd(state + blockIdx.x, 0) == 0)
      ;
    __threadfence();
    data[64 + blockIdx.x] = data[blockIdx.x];
  }
}

__global__ void flag_no_acquire(int *data, int *state) {
  if (threadIdx.x == 0) {
    data[blockIdx.x] = 7;
    __threadfence();
    atomicExch(state + blockIdx.x, 1);
  } else if (threadIdx.x == 32) {
    while (atomicAdd(state + blockIdx.x, 0) == 0)
      ;
    data[64 + blockIdx.x] = data[blockIdx.x];
  }
}

// The flag is set before the value is there.
__global__ void flag_too_early(int *data, int *state) {
  if (threadIdx.x == 0) {
    atomicExch(state + blockIdx.x, 1);
    __threadfence();
    data[blockIdx.x] = 7;
    atomicExch(state + 8 + blockIdx.x, 1);
  } else if (threadIdx.x == 32) {
    while (atomicAdd(state + blockIdx.x, 0) == 0)
      ;
    __threadfence();
    data[64 + blockIdx.x] = data[blockIdx.x];
  }
}

// Whoever comes looks once, and takes the value if the flag is set; without the
// flag it takes it as well.
__global__ void flag_ignored(int *data, int *state) {
  if (threadIdx.x == 0) {
    data[blockIdx.x] = 7;
    __threadfence();
    atomicExch(state + blockIdx.x, 1);
  } else if (threadIdx.x == 32) {
    int is_set = atomicAdd(state + blockIdx.x, 0);
    __threadfence();
    data[64 + blockIdx.x] = is_set ? data[blockIdx.x] : -data[blockIdx.x];
  }
}

// The value is written once more after the flag is set.
__global__ void flag_then_write(int *data, int *state) {
  if (threadIdx.x == 0) {
    data[blockIdx.x] = 7;
    __threadfence();
    atomicExch(state + blockIdx.x, 1);
    if (atomicAdd(state + 8 + blockIdx.x, 0) == 0)
      data[blockIdx.x] = 8; // nobody has looked yet
  } else if (threadIdx.x == 32) {
    while (atomicAdd(state + blockIdx.x, 0) == 0)
      ;
    __threadfence();
    data[64 + blockIdx.x] = data[blockIdx.x];
    __threadfence();
    atomicExch(state + 8 + blockIdx.x, 1);
  }
}

// --- a value that is made once, by who comes first
// -------------------------------

__global__ void once_right(int *data, int *state) {
  if (atomicAdd(state + 1, 0) == 0) {
    acquire(state);
    if (atomicAdd(state + 1, 0) == 0) {
      data[0] = 7;
      __threadfence();
      atomicExch(state + 1, 1);
    }
    release(state);
  }
  __threadfence();
  data[256 + thread()] = data[0];
}

// The value is read where the flag was seen, without a fence behind it.
__global__ void once_no_acquire(int *data, int *state) {
  if (atomicAdd(state + 1, 0) == 0) {
    acquire(state);
    if (atomicAdd(state + 1, 0) == 0) {
      data[0] = 7;
      __threadfence();
      atomicExch(state + 1, 1);
    }
    release(state);
  }
  data[256 + thread()] = data[0];
}

// The flag is set before the value is made.
__global__ void once_too_early(int *data, int *state) {
  if (atomicAdd(state + 1, 0) == 0) {
    acquire(state);
    if (atomicAdd(state + 1, 0) == 0) {
      atomicExch(state + 1, 1);
      data[0] = 7;
    }
    release(state);
  }
  __threadfence();
  data[256 + thread()] = data[0];
}

// The flag is looked at as plain memory.
__global__ void once_plain_flag(int *data, int *state) {
  if (state[1] == 0) {
    acquire(state);
    if (state[1] == 0) {
      data[0] = 7;
      __threadfence();
      state[1] = 1;
    }
    release(state);
  }
}

// --- tickets
// -----------------------------------------------------------------------

__device__ int take(int *state) {
  int own = atomicAdd(state, 1);
  while (atomicAdd(state + 1, 0) != own)
    ;
  return own;
}

__global__ void ticket_right(int *data, int *state) {
  take(state);
  __threadfence();
  data[0] += 1;
  __threadfence();
  atomicAdd(state + 1, 1);
}

__global__ void ticket_no_acquire(int *data, int *state) {
  take(state);
  data[0] += 1;
  __threadfence();
  atomicAdd(state + 1, 1);
}

__global__ void ticket_no_release(int *data, int *state) {
  take(state);
  __threadfence();
  data[0] += 1;
  atomicAdd(state + 1, 1);
}

// Who has no turn yet looks at the counter.
__global__ void ticket_peek(int *data, int *state) {
  int own = atomicAdd(state, 1);
  int before = own == 3 ? data[0] : 0;
  while (atomicAdd(state + 1, 0) != own)
    ;
  __threadfence();
  data[0] += 1;
  data[256 + thread()] = before;
  __threadfence();
  atomicAdd(state + 1, 1);
}

// Two are let in at a time.
__global__ void ticket_two(int *data, int *state) {
  int own = atomicAdd(state, 1);
  while (own - atomicAdd(state + 1, 0) > 1)
    ;
  __threadfence();
  data[0] += 1;
  __threadfence();
  atomicAdd(state + 1, 1);
}

// --- the last block sums up
// ------------------------------------------------------------

__global__ void last_right(int *data, int *state) {
  if (threadIdx.x == 0) {
    data[blockIdx.x] = blockIdx.x;
    __threadfence();
    if (atomicAdd(state, 1) == gridDim.x - 1) {
      __threadfence();
      for (int i = 0; i < gridDim.x; ++i)
        data[128] += data[i];
    }
  }
}

__global__ void last_no_release(int *data, int *state) {
  if (threadIdx.x == 0) {
    data[blockIdx.x] = blockIdx.x;
    if (atomicAdd(state, 1) == gridDim.x - 1) {
      __threadfence();
      for (int i = 0; i < gridDim.x; ++i)
        data[128] += data[i];
    }
  }
}

// The one before the last sums up.
__global__ void last_too_early(int *data, int *state) {
  if (threadIdx.x == 0) {
    data[blockIdx.x] = blockIdx.x;
    __threadfence();
    if (atomicAdd(state, 1) == gridDim.x - 2) {
      __threadfence();
      for (int i = 0; i < gridDim.x; ++i)
        data[128] += data[i];
    }
  }
}

// The first block to come sums up, by its number: right if it happens to be
// last.
__global__ void last_by_number(int *data, int *state) {
  if (threadIdx.x == 0) {
    data[blockIdx.x] = blockIdx.x;
    __threadfence();
    int before = atomicAdd(state, 1);
    if (blockIdx.x == 1) {
      __threadfence();
      for (int i = 0; i < gridDim.x; ++i)
        data[128] += data[i];
      data[256] = before;
    }
  }
}

// --- what only some orders reach
// ----------------------------------------------------------

// The third thread to come does something else.
__global__ void reach_third(int *data, int *state) {
  if (atomicAdd(state + blockIdx.x, 1) == 2 && threadIdx.x % 8 == 5)
    data[0] = threadIdx.x;
  else if (threadIdx.x == 9)
    data[0] = 1000;
}

// Only who meets a held lock writes.
__global__ void reach_contended(int *data, int *state) {
  if (atomicCAS(state, 0, 1) == 0) {
    __threadfence();
    data[1] += 1;
    __threadfence();
    atomicExch(state, 0);
  } else {
    data[0] = thread();
  }
}

// Two threads that each see what the other has not done yet (Dekker): never
// where memory is the same for all at any time, as it is in the emulator.
__global__ void reach_both(int *data, int *state) {
  int other = threadIdx.x ^ 32;
  if (threadIdx.x % 32 == 0) {
    atomicExch(state + threadIdx.x / 32, 1);
    if (atomicAdd(state + other / 32, 0) == 0) {
      __threadfence();
      data[0] += 1;
    }
  }
}
