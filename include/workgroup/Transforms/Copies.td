//===- Copies.td - Copies in kernels -----------------------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_COPIES
#define WORKGROUP_TRANSFORMS_COPIES

include "mlir/Pass/PassBase.td"
include "workgroup/PassOptions.td"
include "workgroup/Remarks.td"

def HoistCopiesPass : Pass<"workgroup-hoist-copies"> {
  let summary = "Hoist copies out of loops that do not change their sources";
  let description = [{
    Moves copies out of loops that do not change their sources.

    A `memref.copy` or `linalg.copy` to workgroup or private memory, in the body of an `scf.for`
    or `affine.for`, that copies the same elements in every iteration is executed once before
    the loop. The operations that compute its operands move with it, as do branches around it
    that contain nothing else, and its buffer, if the loop allocates it. A copy may leave
    several loops. If the loop may have no iterations, the copy becomes conditional on it.

    Such a copy stays, with a remark, if

    - some iteration does not execute it, or the loop has no iteration count (`scf.while`);
    - an operand is loaded in the loop, or is computed by an operation that may trap, such as a
      division by a value that may be zero, and the loop may have no iterations;
    - another operation in the loop may write its source or its buffer, or read the buffer
      before the copy;
    - the buffer is allocated in the loop and carried to a later iteration;
    - a barrier comes before the copy in the iteration, or the loop contains an atomic or
      unknown operation: the source may then hold what another thread wrote;
    - the copy is to workgroup memory and all buffers of the kernel together would exceed
      `max-bytes`: a buffer that lives longer can share fewer bytes.

    A copy whose source holds the value of a fill becomes a fill, as when the result of a
    product is promoted. A fill whose effect cannot be observed is erased: the buffer already
    holds that value, or a copy overwrites all of it before it is read.

    Run before `workgroup-lower-copies`. Example: `test/Transforms/Copies/hoist-copies.mlir`.
    Source: the thread on streaming-K, where a schedule copies one level too deep.
  }];
  let options = [
    AssumeDistinctArgumentsOption,
    Option<"maxBytes", "max-bytes", "int64_t", /*default=*/"kMaxStaticWorkgroupBytes",
           "Largest number of bytes of workgroup memory that copies are hoisted for; 0 means "
           "that of the chip">,
    ChipOption,
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect"
  ];
}

def HoistCopies_FilledCopy : Passed<"A copy of a filled buffer became a fill.">;
def HoistCopies_Hoisted : Passed<"A copy left a loop.">;
def HoistCopies_NotHoisted
    : Missed<"A copy stays in a loop that does not change its source.">;

def LowerCopiesPass : Pass<"workgroup-lower-copies"> {
  let summary = "Lower copies in kernels to accesses of threads, cp.async or TMA";
  let description = [{
    Lowers copies and fills in device code to loads and stores of threads, `cp.async`, or TMA.

    The operations are `memref.copy`, `linalg.copy`, `linalg.fill` and `workgroup.gather` on
    memrefs of any rank, with static or dynamic extents and any strided layout. Host code is
    left unchanged. No call of `memrefCopy`, which does not exist on the device, remains.

    **Distribution.** A copy that all threads of the block execute together, with the same
    operands, is distributed: thread `t` of `n` copies the elements `t`, `t + n`, ..., in an
    order in which consecutive threads access consecutive global memory. Any other copy (in
    divergent control flow, with operands that differ between threads, from or to private
    memory) is executed whole by each thread that reaches it, as its semantics are. A fill that
    the block does not execute together is left to `workgroup-legalize-for-nvvm`. A
    `workgroup.gather` is distributed in the order of its tile; one access covers neighbours in
    the tile that its map finds contiguously in the source. If map and extents do not prove that
    an element is in the source, a condition decides between the load and zero.

    **Width.** Accesses are as wide as alignment, strides and extents are proved to permit, up
    to 16 bytes. The alignment of workgroup buffers is raised to match. If only the alignment of
    a kernel argument prevents wider accesses, a remark says so; `memref.assume_alignment` or
    the option `assume-alignment` then helps. Element conversions of `linalg.copy` are kept.

    **cp.async.** On sm_80 and later, copies by the block from global to workgroup memory use
    `cp.async` (`nvgpu.device_async_copy`), if accesses have 4, 8 or 16 bytes and are contiguous
    on both sides; `strategy` can exclude it. A run of copies is one group, with one wait right
    after the last copy; no operation in between reads a target or writes a source. A remark
    says why another copy from global to workgroup memory is not asynchronous.

    **TMA.** On sm_90 and later, TMA can copy a whole tile at the request of one thread.
    `strategy=tma` uses it wherever possible. `strategy=auto` also requires that the tile has at
    least 4 KiB and takes one load, and that the threads of a warp access the buffer along rows.
    TMA writes dense rows, and padding does not help such accesses. Requirements:

    - The block executes the copy together, without element conversion, with constant extents
      and a contiguous target.
    - The source is a slice, with steps of one, of a memref that the host knows. That memref has
      one to five dimensions, constant strides that are multiples of 16 bytes, and an address
      aligned to 16 bytes. Rows of the tile are multiples of 16 bytes as well. An extent beyond
      256 takes several loads.
    - The kernel has not written the source before: TMA reads through the asynchronous proxy, to
      which a barrier does not make stores visible. Different arguments may overlap, unless
      `llvm.noalias` or `assume-distinct-arguments` excludes it.

    A remark names the missing requirement; the copy is then lowered without TMA. A tensor map
    (`nvgpu.tma.create.descriptor`) is created beside each launch, and an outlined kernel gets
    it as an additional argument. The pass must therefore run on an operation that contains
    both. The copies of a run share an mbarrier that is initialised at the start of the kernel;
    its phase is carried by all surrounding loops and branches (`scf.for`, `scf.if`). Buffers
    are aligned to 128 bytes. Waits, the fence between accesses of threads and of TMA and, in a
    loop, the barrier before the copy are inserted with `insert-barriers=false` as well.

    **Barriers.** With `insert-barriers`, a copy by the whole block gets a barrier before it, so
    that it does not overwrite what a thread still reads, and one after it, so that all threads
    see it. The second is not needed after TMA, for which every thread has waited. Consecutive
    copies that do not access each other's memory share barriers, and existing barriers are
    used. It is then an error if a copy from or to workgroup memory may or may not be executed
    by all threads together: neither a barrier nor its absence would be correct. With
    `insert-barriers=false`, barriers are the business of a later pass, and each thread that
    reaches such a copy executes all of it, with a remark.

    **Overlap.** A copy of memory onto itself is erased, and so is a fill that the next copy
    overwrites. Operands may overlap if they may be views of one memory (the same memref or
    global, the dynamic workgroup memory of the launch; also through selections, branches and
    loop-carried values), and if constant positions, incompatible steps, or offsets at a known
    distance do not separate them. Different arguments of a kernel or function, and values that
    the host passes to a launch under different names, are assumed not to overlap.

    Fails on unranked operands, on layouts that are not strided, and on operands that overlap.
    With `strict=false`, such a copy stays, with a remark, and so does one that cannot be
    synchronised.

    `block-size` states the number of threads of a block for kernels (`gpu.func`) that do not.
    It is recorded as `known_block_size`, so that launchers refuse other sizes; launches in the
    module with other constants are errors. A `gpu.launch` has no place for it.

    Example: `test/Transforms/Copies/lower-copies.mlir`. Source: thread "How to find a valid
    lowering pipeline for workgroup memory usage".
  }];
  let options = [
    Option<"insertBarriers", "insert-barriers", "bool", /*default=*/"true",
           "Surround copies done by the whole block by barriers">,
    AssumeAlignmentOption,
    AssumeDistinctArgumentsOption,
    Option<"unrollLimit", "unroll-limit", "int64_t", /*default=*/"8",
           "Accesses per thread up to which a copy becomes straight-line code; "
           "more become a loop that makes as many in an iteration">,
    Option<"vectorBits", "vector-bits", "int64_t",
           /*default=*/"8 * kWidestAccessBytes",
           "Widest access in bits, a power of two from 8 to 128">,
    Option<"strategy", "strategy", "::mlir::workgroup::CopyStrategy",
           /*default=*/"::mlir::workgroup::CopyStrategy::Auto",
           "How copies from global to workgroup memory are done",
           "::mlir::workgroup::getCopyStrategyValues()">,
    Option<"bypassL1", "bypass-l1", "bool", /*default=*/"true",
           "Keep what cp.async copies by 16 bytes out of the L1 cache">,
    ChipOption,
    Option<"strict", "strict", "bool", /*default=*/"true",
           "Fail on copies that cannot be lowered, instead of leaving them with "
           "a remark">,
    ListOption<"blockSize", "block-size", "int64_t",
               "Threads of a block along x, y and z, for kernels that do not say: "
               "a promise, which becomes their known_block_size">,
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect", "::mlir::nvgpu::NVGPUDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def LowerCopies_BlockSizeNotStated
    : Missed<"A launch cannot state the option `block-size`.">;
def LowerCopies_CopyPerThread : Missed<"Each thread does the whole copy.">;
def LowerCopies_ErasedCopy : Passed<"A copy that does nothing was removed.">;
def LowerCopies_ErasedFill : Passed<"A fill that a copy overwrites was removed.">;
def LowerCopies_InsertedBarrier : Passed<"A barrier was inserted before or after a copy.">;
def LowerCopies_LoweredCopy
    : Passed<"A copy is executed by the threads of the block together, by each thread, or by TMA.">;
def LowerCopies_LoweredFill
    : Passed<"A fill is executed by the threads of the block together, or by each thread.">;
def LowerCopies_NarrowCopy
    : Missed<"A copy would use wider accesses if more were known.">;
def LowerCopies_NotAsync : Missed<"cp.async is not used for a copy.">;
def LowerCopies_NotLowered : Missed<"A copy stays as it is.">;
def LowerCopies_NotTMA : Missed<"TMA is not used for a copy.">;

#endif // WORKGROUP_TRANSFORMS_COPIES
