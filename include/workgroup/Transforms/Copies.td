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
    A `memref.copy` or `linalg.copy` to workgroup or private memory that stands in the
    body of an `scf.for` or `affine.for`, and copies the same elements in every iteration, is done
    once before the loop, with what computes its operands, with branches around it that
    do nothing else, and with its buffer, if that is allocated in the loop. It may leave
    several loops. Where it is not known that the loop has an iteration, the copy becomes
    conditional on it.

    A copy of the same elements in every iteration stays, with a remark, if it is not executed
    in every iteration; if the loop is one that does not count (`scf.while`); if an operand is
    loaded in the loop, or computed by what may trap, as a division by a value that may be
    zero, and the loop may have no iteration; if anything else in the loop may write its source or its
    buffer, or read the buffer before the copy; if a buffer that is allocated in the loop is
    handed on to a later iteration; if a barrier comes before the copy in the iteration, or an
    atomic or an unknown operation stands in the loop, after which the source may hold what
    another thread wrote; and, of workgroup memory, if the kernel's buffers would not fit into `max-bytes` side by
    side, as those of a loop can share bytes less once one lives longer.

    A copy of what a fill has put into its source becomes a fill, as where the result of a product is
    promoted. A fill is erased of which nobody sees anything: as it was filled with that
    before, or as a copy overwrites all of it before anybody reads it.

    To be run before `workgroup-lower-copies`. Example:
    `test/Transforms/Copies/hoist-copies.mlir`. Source: the thread on streaming-K, where a
    schedule copies one level too deep.
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

def HoistCopies_FilledCopy : Passed<"A copy of what was filled became a fill.">;
def HoistCopies_Hoisted : Passed<"A copy left a loop.">;
def HoistCopies_NotHoisted
    : Missed<"A copy stays in a loop that does not change its source.">;

def LowerCopiesPass : Pass<"workgroup-lower-copies"> {
  let summary = "Lower copies in kernels to loads and stores of their threads";
  let description = [{
    Lowers `memref.copy`, `linalg.copy` and `linalg.fill` on memrefs in device
    code, of any rank, with static or dynamic extents and any strided layouts. On
    the host they are left alone. No call of `memrefCopy`, which the device does not have, remains.

    A copy that all threads of the block execute together with the same operands
    is done once by all of them: thread `t` takes the elements `t`, `t + n`, ...
    of an order in which consecutive threads touch consecutive memory on the
    global side. Any other copy (in divergent control, of operands that differ
    between threads, from or to private memory) is done whole by each thread that
    executes it, as the op says. A fill that the block does not execute together
    is left to `workgroup-legalize-for-nvvm`.

    A `workgroup.gather` is lowered in the same way: the order is that of its tile, an access is of
    neighbours in the tile that its map finds side by side in the source. Where map and extents do not
    prove that the source has them, zeros are stored without a load.

    Accesses are as wide as alignment, strides and extents are proved to allow, up
    to 16 bytes; the alignment of workgroup buffers is raised to what they need.
    Where only the alignment of a kernel argument stands in the way, a remark says
    so; `memref.assume_alignment` or the option then helps. Element conversions of
    `linalg.copy` are kept.

    On sm_80 and later, what the block copies from global to workgroup memory goes
    by cp.async (`nvgpu.device_async_copy`) where accesses are of 4, 8 or 16 bytes
    and contiguous on both sides; `strategy` says otherwise. The copies of a run are
    one group, and are waited for right after the last one: nothing that reads a
    target or writes a source comes between. A remark tells why another copy from
    global to workgroup memory is not asynchronous.

    On sm_90 and later, TMA can copy a whole tile at the request of one thread:
    with `strategy=tma` wherever it is possible, with `auto` where it is a gain
    besides: the tile has 4 KiB or more and takes one load, and the threads of a
    warp access the buffer along rows, so that no padding would have been of use
    (TMA writes dense rows). What it takes: the block executes the
    copy together, elements are not converted, extents are constant, the target is
    contiguous, and the source is a slice with steps of one of a memref that the
    host knows, with one to five dimensions, constant strides that are multiples of
    16 bytes, rows of the tile that are too, and an address aligned to 16 bytes; of
    an extent beyond 256, parts are loaded one after the other. Nor may the kernel have
    written the source before: TMA reads by a proxy of its own, to which a barrier makes
    no store known. Different arguments may be the same memory, unless `llvm.noalias` or
    `assume-distinct-arguments` says that they are not. A remark tells what
    is missing; the copy is then done as if there were no TMA. A tensor map
    (`nvgpu.tma.create.descriptor`) is made beside each launch, for which an
    outlined kernel gets another argument: the pass has to run on what holds both.
    The copies of a run share an mbarrier, made where the kernel begins; its phase is
    carried by all loops around (`scf.for`, `scf.if`). Buffers are aligned to 128
    bytes. The waits, the fence between accesses of threads and of TMA and, in a
    loop, the barrier before the copy come with `insert-barriers=false` too.

    With `insert-barriers`, copies done by the whole block are surrounded by
    barriers: before, so that nothing is overwritten that a thread still reads,
    and after, so that every thread finds all of it (not after TMA, for which every
    thread has waited). A run of copies that do not
    touch each other's memory shares them, and barriers that stand there already
    are used. A copy from or to workgroup memory of which it is not known whether
    all threads execute it together is then an error: neither a barrier nor none
    would be right. With `insert-barriers=false` barriers are somebody else's to
    place, and each thread that executes such a copy does all of it, as the op
    says, with a remark.

    A copy of memory onto itself is erased. So is a fill that a copy right after
    it overwrites. Operands overlap if they may be views of one memory (the same
    memref, the same global, the dynamic workgroup memory of the launch; also by way
    of selections, branches and values that loops carry) and are not known to be
    apart in it: by constant places, steps that never meet, or offsets that differ by
    a known amount. Different arguments of a kernel or function, and what the host
    hands to a launch by different names, are taken not to overlap.

    Fails on unranked operands, on layouts that are not strided, and on operands
    that overlap. With `strict=false` such a copy stays, with a remark that says
    why, and so does one that cannot be synchronized.

    `block-size` promises how many threads a block has, for kernels (`gpu.func`)
    that do not say. It is written down as their `known_block_size`, so that a launch of
    any other size is refused by whoever launches; launches in the module whose
    constants differ are errors. What is not outlined yet (`gpu.launch`) has no place for it.

    Example: `test/Transforms/Copies/lower-copies.mlir`. Source: thread "How to find a
    valid lowering pipeline for workgroup memory usage".
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
def LowerCopies_InsertedBarrier : Passed<"A barrier was put beside a copy.">;
def LowerCopies_LoweredCopy
    : Passed<"A copy is done by the threads of the block, by each thread, or by TMA.">;
def LowerCopies_LoweredFill
    : Passed<"A fill is done by the threads of the block, or by each thread.">;
def LowerCopies_NarrowCopy
    : Missed<"A copy could be done by wider accesses if more were known.">;
def LowerCopies_NotAsync : Missed<"cp.async is not used for a copy.">;
def LowerCopies_NotLowered : Missed<"A copy stays as it is.">;
def LowerCopies_NotTMA : Missed<"TMA is not used for a copy.">;

#endif // WORKGROUP_TRANSFORMS_COPIES
