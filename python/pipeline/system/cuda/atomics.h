//===- atomics.h - Atomic operations, with their scopes --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `atomicAdd` and its kin: CUDA C++ Programming Guide, "Atomic Functions". All
// are relaxed. Plain ones are of the scope of the device, `_block` of the block,
// `_system` of the system.
//
// Clang's scoped atomics lose their scope on the way to NVPTX. Its built-in
// functions of the scope of a block keep it, but take unsigned numbers for
// signed ones in minima and maxima, which are loops of compare-and-swap here.
//
//===----------------------------------------------------------------------===//

#ifndef PIPELINE_CUDA_ATOMICS_H
#define PIPELINE_CUDA_ATOMICS_H

#define PIPELINE_DEVICE static __inline__ __attribute__((device, always_inline))

/// An operation of any of the wider scopes.
#define PIPELINE_WIDE(NAME, TYPE, BUILTIN)                                     \
  PIPELINE_DEVICE TYPE NAME(TYPE *at, TYPE value) {                            \
    return BUILTIN(at, value, __ATOMIC_RELAXED);                               \
  }                                                                            \
  PIPELINE_DEVICE TYPE NAME##_system(TYPE *at, TYPE value) {                   \
    return BUILTIN(at, value, __ATOMIC_RELAXED);                               \
  }

/// An operation of the scope of a block: BUILTIN of numbers of type AS.
#define PIPELINE_BLOCK(NAME, TYPE, BUILTIN, AS)                                \
  PIPELINE_DEVICE TYPE NAME##_block(TYPE *at, TYPE value) {                    \
    return (TYPE)BUILTIN((AS *)at, (AS)value);                                 \
  }

#define PIPELINE_ATOMIC(NAME, TYPE, WIDE, BLOCK, AS)                           \
  PIPELINE_WIDE(NAME, TYPE, WIDE)                                              \
  PIPELINE_BLOCK(NAME, TYPE, BLOCK, AS)

/// The same for integers of 32 and of 64 bits.
#define PIPELINE_INTEGERS(NAME, WIDE, BLOCK)                                   \
  PIPELINE_ATOMIC(NAME, int, WIDE, BLOCK##_i, int)                             \
  PIPELINE_ATOMIC(NAME, unsigned int, WIDE, BLOCK##_i, int)                    \
  PIPELINE_ATOMIC(NAME, long long, WIDE, BLOCK##_ll, long long)                \
  PIPELINE_ATOMIC(NAME, unsigned long long, WIDE, BLOCK##_ll, long long)       \
  PIPELINE_ATOMIC(NAME, long, WIDE, BLOCK##_ll, long long)                     \
  PIPELINE_ATOMIC(NAME, unsigned long, WIDE, BLOCK##_ll, long long)

PIPELINE_INTEGERS(atomicAdd, __atomic_fetch_add, __nvvm_atom_cta_add_gen)
PIPELINE_INTEGERS(atomicExch, __atomic_exchange_n, __nvvm_atom_cta_xchg_gen)
PIPELINE_INTEGERS(atomicAnd, __atomic_fetch_and, __nvvm_atom_cta_and_gen)
PIPELINE_INTEGERS(atomicOr, __atomic_fetch_or, __nvvm_atom_cta_or_gen)
PIPELINE_INTEGERS(atomicXor, __atomic_fetch_xor, __nvvm_atom_cta_xor_gen)
PIPELINE_ATOMIC(atomicAdd, float, __atomic_fetch_add, __nvvm_atom_cta_add_gen_f,
                float)
PIPELINE_ATOMIC(atomicAdd, double, __atomic_fetch_add,
                __nvvm_atom_cta_add_gen_d, double)

#define PIPELINE_SUBTRACT(TYPE)                                                \
  PIPELINE_WIDE(atomicSub, TYPE, __atomic_fetch_sub)                           \
  PIPELINE_DEVICE TYPE atomicSub_block(TYPE *at, TYPE value) {                 \
    return atomicAdd_block(at, (TYPE)(0 - value));                             \
  }
PIPELINE_SUBTRACT(int)
PIPELINE_SUBTRACT(unsigned int)
#undef PIPELINE_SUBTRACT

#define PIPELINE_EXCHANGE(SCOPE)                                               \
  PIPELINE_DEVICE float atomicExch##SCOPE(float *at, float value) {            \
    return __int_as_float(                                                     \
        atomicExch##SCOPE((int *)at, __float_as_int(value)));                  \
  }
PIPELINE_EXCHANGE()
PIPELINE_EXCHANGE(_block)
PIPELINE_EXCHANGE(_system)
#undef PIPELINE_EXCHANGE

//===----------------------------------------------------------------------===//
// Compare and swap
//===----------------------------------------------------------------------===//

#define PIPELINE_SWAP(TYPE, BUILTIN, AS)                                       \
  PIPELINE_DEVICE TYPE atomicCAS(TYPE *at, TYPE expected, TYPE value) {        \
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, \
                                __ATOMIC_RELAXED);                             \
    return expected;                                                           \
  }                                                                            \
  PIPELINE_DEVICE TYPE atomicCAS_system(TYPE *at, TYPE expected, TYPE value) { \
    return atomicCAS(at, expected, value);                                     \
  }                                                                            \
  PIPELINE_DEVICE TYPE atomicCAS_block(TYPE *at, TYPE expected, TYPE value) {  \
    return (TYPE)BUILTIN((AS *)at, (AS)expected, (AS)value);                   \
  }
PIPELINE_SWAP(int, __nvvm_atom_cta_cas_gen_i, int)
PIPELINE_SWAP(unsigned int, __nvvm_atom_cta_cas_gen_i, int)
PIPELINE_SWAP(long long, __nvvm_atom_cta_cas_gen_ll, long long)
PIPELINE_SWAP(unsigned long long, __nvvm_atom_cta_cas_gen_ll, long long)
PIPELINE_SWAP(long, __nvvm_atom_cta_cas_gen_ll, long long)
PIPELINE_SWAP(unsigned long, __nvvm_atom_cta_cas_gen_ll, long long)
#undef PIPELINE_SWAP

//===----------------------------------------------------------------------===//
// Minima, maxima, and numbers that wrap around
//===----------------------------------------------------------------------===//

/// An operation of the scope of a block as a loop: `old` becomes NEW.
#define PIPELINE_LOOP(NAME, TYPE, NEW)                                         \
  PIPELINE_DEVICE TYPE NAME##_block(TYPE *at, TYPE value) {                    \
    TYPE old = atomicCAS_block(at, 0, 0), seen;                                \
    while ((seen = atomicCAS_block(at, old, NEW)) != old)                      \
      old = seen;                                                              \
    return old;                                                                \
  }

PIPELINE_ATOMIC(atomicMin, int, __atomic_fetch_min, __nvvm_atom_cta_min_gen_i,
                int)
PIPELINE_ATOMIC(atomicMax, int, __atomic_fetch_max, __nvvm_atom_cta_max_gen_i,
                int)
PIPELINE_ATOMIC(atomicMin, long long, __atomic_fetch_min,
                __nvvm_atom_cta_min_gen_ll, long long)
PIPELINE_ATOMIC(atomicMax, long long, __atomic_fetch_max,
                __nvvm_atom_cta_max_gen_ll, long long)
#define PIPELINE_UNSIGNED(TYPE)                                                \
  PIPELINE_WIDE(atomicMin, TYPE, __atomic_fetch_min)                           \
  PIPELINE_WIDE(atomicMax, TYPE, __atomic_fetch_max)                           \
  PIPELINE_LOOP(atomicMin, TYPE, value < old ? value : old)                    \
  PIPELINE_LOOP(atomicMax, TYPE, value > old ? value : old)
PIPELINE_UNSIGNED(unsigned int)
PIPELINE_UNSIGNED(unsigned long long)
#undef PIPELINE_UNSIGNED

#define PIPELINE_WRAP(NAME, OPERATION)                                         \
  PIPELINE_DEVICE unsigned int NAME(unsigned int *at, unsigned int limit) {    \
    return __nvvm_atom_##OPERATION##_gen_ui(at, limit);                        \
  }                                                                            \
  PIPELINE_DEVICE unsigned int NAME##_system(unsigned int *at,                 \
                                             unsigned int limit) {             \
    return __nvvm_atom_##OPERATION##_gen_ui(at, limit);                        \
  }                                                                            \
  PIPELINE_DEVICE unsigned int NAME##_block(unsigned int *at,                  \
                                            unsigned int limit) {              \
    return __nvvm_atom_cta_##OPERATION##_gen_ui(at, limit);                    \
  }
PIPELINE_WRAP(atomicInc, inc)
PIPELINE_WRAP(atomicDec, dec)
#undef PIPELINE_WRAP

#undef PIPELINE_LOOP
#undef PIPELINE_INTEGERS
#undef PIPELINE_ATOMIC
#undef PIPELINE_BLOCK
#undef PIPELINE_WIDE
#undef PIPELINE_DEVICE

#endif // PIPELINE_CUDA_ATOMICS_H
