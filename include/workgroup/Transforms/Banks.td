//===- Banks.td - Layouts against bank conflicts -----------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_BANKS
#define WORKGROUP_TRANSFORMS_BANKS

include "mlir/Pass/PassBase.td"
include "workgroup/PassOptions.td"
include "workgroup/Remarks.td"

def ResolveBankConflictsPass : Pass<"workgroup-resolve-bank-conflicts"> {
  let summary = "Pad or swizzle rows of workgroup buffers against bank conflicts";
  let description = [{
    Shared memory has 32 banks of four bytes, and lanes of a warp that address
    different words of one bank are served one after the other: a column of
    `memref<32x32xf32>` takes 32 times as long as a row. This pass computes which
    words the threads of the known block address by each access to a buffer,
    counts the wavefronts in the present layout and in others as the emulator
    does, and rewrites the buffer and every access to the layout with the fewest.
    Buffers whose accesses have no conflicts stay as they are.

    Buffers are workgroup attributions, `memref.alloc(a)` in workgroup memory and
    private workgroup `memref.global`s of one kernel, in any spelling, of static
    shape. Their rows are runs of the last dimension, or, where conflicts are left and these have
    less than 128 bytes, of as many of the last dimensions as have that many, which become one
    (`memref<32x8x8xf16>` is `memref<32x72xf16>` when such rows are padded). Layouts are, in the order of
    preference among those with as few wavefronts:

    - rows as they are;
    - rows padded by at most a sixteenth of their bytes:
      `memref<32x32xf32>` becomes `memref<32x33xf32>`, which costs no instruction;
    - rows swizzled: chunks of 4 to 64 bytes, chunk `c` of row `r` in place of
      chunk `c xor (r / d) mod m`, which costs no memory. `m` is a power of two
      that divides the number of chunks, so that rows of any length stay within
      their bytes (rows of 96 bytes have six chunks of 16, and `m` is two);
    - rows padded by up to 128 bytes;
    - the same with wide `vector.load`, `vector.store` and transfers split into
      accesses of 8 or 4 bytes, where rows read by vectors are also read by
      columns of single elements;
    - rows of more than 128 bytes swizzled by which 128 of its row a chunk is in
      as well.

    `memref.view`s of one type at multiples of as many bytes, as the slots of a ring
    are in their arena, count as buffers of equal layout; padding moves them apart.

    TMA writes dense rows (`nvgpu.tma.async.load`), and can swizzle those of 32, 64
    and 128 bytes in chunks of 16 (PTX ISA, "Swizzling modes"): that is the one other
    layout of what it writes. The tensor map is made with the swizzle then,
    wherever its kernel is launched, readers do the same arithmetic as for any
    swizzle, and the buffer is aligned to what the pattern repeats after, 256,
    512 or 1024 bytes. Tiles have to have whole rows and to begin at a multiple of
    that, and the launches have to be inside of what the pass runs on.

    Padding keeps a kernel, with all functions that it calls, within `max-bytes`.
    The default is the 48 KiB of static memory: padding must not turn it into
    dynamic memory. What is dynamic already may grow as long as as many blocks are
    resident, and what is written by TMA to what a block of the chip can have.
    Buffers of functions that others call are swizzled only.

    With `swizzle=auto`, as in the pipeline, padding by up to a quarter of a row is
    preferred to swizzling, which has to save a 32nd of all wavefronts, and in loops of more than 64 iterations the arithmetic of a
    swizzle counts as a wavefront for each access of less than 16 bytes.

    Accesses through views (`memref.subview`, `cast`, `memory_space_cast`,
    `expand_shape`, `collapse_shape`, `transpose`, constant `reinterpret_cast`)
    become accesses to the buffer itself. `nvgpu.ldmatrix` and
    `nvgpu.device_async_copy` keep their 16 bytes together;
    `gpu.subgroup_mma_load_matrix` and its store allow padding only. A promised
    alignment stays true. Vectors have to be proved to stay within a row.
    An index beyond its extent (undefined) reaches another element than before.
    Induction variables are taken for up to four iterations; other values that the
    whole block agrees on, as ids of blocks, for zero and the first three
    multiples of what is known to divide them. Accesses in loops count as often
    as the loops iterate, eight times where that is not constant. Accesses whose
    addresses are not known are rewritten but do not count.

    A buffer is left alone, with a missed remark that says why, if the shape of
    the block is not known, if an operation uses it that relies on its layout (a
    call, `memref.copy`: lower copies first), or if no layout saves an eighth
    of what the conflicts cost.

    XOR swizzles as in CUTLASS and Triton are for rows of powers of two only.
    Upstream's `nvgpu-optimize-shared-memory` swizzles rows of other lengths out
    of bounds, takes every access for one of 16 bytes, and misses accesses through
    casts.

    Example: `test/Transforms/Banks/resolve-bank-conflicts.mlir`.
  }];
  let options = [
    Option<"swizzle", "swizzle", "::mlir::workgroup::Swizzle",
           /*default=*/"::mlir::workgroup::Swizzle::Always",
           "When rows are swizzled",
           "::mlir::workgroup::getSwizzleValues()">,
    Option<"maxBytes", "max-bytes", "int64_t", /*default=*/"0",
           "Workgroup memory in bytes that a kernel may have when its rows are "
           "padded; 0 means 48 KiB">,
    ChipOption,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect", "::mlir::ub::UBDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def ResolveBankConflicts_NotResolved : Missed<"A buffer with conflicts stays as it is.">;
def ResolveBankConflicts_Padded : Passed<"The rows of a buffer were padded.">;
def ResolveBankConflicts_Swizzled : Passed<"The rows of a buffer were swizzled.">;

#endif // WORKGROUP_TRANSFORMS_BANKS
