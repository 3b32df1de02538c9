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
    Pads or swizzles the rows of workgroup buffers to avoid bank conflicts.

    Shared memory has 32 banks of four bytes. Lanes of a warp that address different words of
    one bank are served one after the other: a column of `memref<32x32xf32>` takes 32 times as
    long as a row. The pass computes which words the threads of a block of known shape address
    in each access to a buffer. It counts the wavefronts in the present layout and in others, as
    the emulator does, and rewrites the buffer and its accesses to the layout with the fewest.
    Buffers without conflicts are left unchanged.

    **Buffers** are workgroup attributions, `memref.alloc(a)`s in workgroup memory, and private
    workgroup `memref.global`s of one kernel, in any spelling, of static shape. A row is the
    last dimension. If conflicts remain and rows have less than 128 bytes, a row consists of as
    many last dimensions as make up 128 bytes, and these are collapsed (`memref<32x8x8xf16>`
    becomes `memref<32x72xf16>` when such rows are padded). `memref.view`s of one type at
    multiples of an equal number of bytes, such as the slots of a ring in its arena, count as
    buffers of equal layout; padding moves them apart.

    **Layouts**, in the order of preference among those with equally few wavefronts:

    1. rows as they are;
    2. rows padded by at most a sixteenth of their bytes: `memref<32x32xf32>` becomes
       `memref<32x33xf32>`, which costs no instruction;
    3. rows swizzled: chunks of 4 to 64 bytes, chunk `c` of row `r` at the position of chunk
       `c xor (r / d) mod m`, which costs no memory. `m` is a power of two that divides the
       number of chunks, so that rows of any length stay within their bytes (rows of 96 bytes
       have six chunks of 16, and `m` is two);
    4. rows padded by up to 128 bytes;
    5. the same with wide `vector.load`s, `vector.store`s and transfers split into accesses of 8
       or 4 bytes, where rows are read both by vectors and by columns of single elements;
    6. rows of more than 128 bytes swizzled also by which 128 bytes of the row a chunk is in.

    **TMA** writes dense rows (`nvgpu.tma.async.load`), and can swizzle rows of 32, 64 and 128
    bytes in chunks of 16 (PTX ISA, "Swizzling modes"). That is the only other layout for what
    it writes. The tensor map then gets the swizzle at every launch, and readers compute
    swizzled addresses as for any swizzle. The buffer is aligned to the period of the pattern:
    256, 512 or 1024 bytes. Tiles must have whole rows and begin at a multiple of that
    alignment, and the pass must run on an operation that contains the launches.

    **Limits.** Padding keeps a kernel, with all functions that it calls, within `max-bytes`.
    The default is the 48 KiB of static memory: padding must not turn static memory into dynamic
    memory. Dynamic memory may grow as long as equally many blocks are resident, and buffers
    that TMA writes may grow to the chip's limit for a block. Buffers of functions that other
    functions call are only swizzled.

    With `swizzle=auto`, as in the pipeline, padding by up to a quarter of a row is preferred to
    swizzling. A swizzle must then save a 32nd of all wavefronts; in loops of more than 64
    iterations its arithmetic counts as one wavefront for each access of less than 16 bytes.

    **Accesses** through views (`memref.subview`, `cast`, `memory_space_cast`, `expand_shape`,
    `collapse_shape`, `transpose`, constant `reinterpret_cast`) become accesses to the buffer
    itself. `nvgpu.ldmatrix` and `nvgpu.device_async_copy` keep their 16 bytes together;
    `gpu.subgroup_mma_load_matrix` and its store permit padding only. Promised alignments stay
    true. Vectors must be proved to stay within a row. An index beyond its extent (undefined)
    reaches a different element than before.

    **Counting.** Up to four iterations of each induction variable are evaluated. Other values
    that are uniform over the block, such as block ids, are evaluated as zero and as the first
    three multiples of their known divisor. Accesses in loops are weighted by the number of
    iterations, eight if it is not constant. Accesses with unknown addresses are rewritten but
    not counted.

    A buffer is left unchanged, with a remark that says why, if the shape of the block is not
    known, if an operation relies on its layout (a call, or `memref.copy`: lower copies first),
    or if no layout saves an eighth of what the conflicts cost.

    The XOR swizzles of CUTLASS and Triton require rows of powers of two. Upstream's
    `nvgpu-optimize-shared-memory` swizzles rows of other lengths out of bounds, treats every
    access as one of 16 bytes, and misses accesses through casts.

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
