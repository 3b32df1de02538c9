//===- CopyPasses.td - Passes on copies in kernels ---------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_COPY_PASSES
#define WORKGROUP_COPY_PASSES

include "mlir/Pass/PassBase.td"

def FormRingsPass : Pass<"workgroup-form-rings"> {
  let summary = "Make the copies of a loop a ring of slots";
  let description = [{
    Copies from global to workgroup memory (`memref.copy`, `linalg.copy`) that stand
    in the body of an `scf.for`, and whose buffers are read later in the same turn, become
    operations on one ring (`workgroup.ring`) of `slots` slots, so that
    `workgroup-lower-rings` can start the copies of later turns while those of this
    one are read. The ring has fewer slots if the loop has fewer turns, or if the
    chip has less workgroup memory; with less than two there is none.

    A copy joins if all threads of the block execute it together with the same
    operands, in every turn; if its source follows from the induction variable and
    from values that are the same in all turns; if nothing in the loop may write
    the source, and no atomic or unknown operation stands in the loop, after which it
    may hold what another block wrote; if its target is a whole row-major buffer of the
    kernel, which nothing else writes, which nothing reads before the copy in the turn,
    or outside of the loop. The buffer may be filled with zeros before a copy to the
    first elements of each of its dimensions, if they are numbers: what a ragged tile has
    too few of are zeros (`workgroup.copy`). Other copies stay, with a remark that says why.

    Barriers of the block and of warps in the loop are no obstacle, as nothing in the loop
    writes a source: what was written before the loop is made visible by a barrier before
    it. They stay where they are. Atomics, fences and calls are obstacles.

    Different arguments may be the same memory, unless `llvm.noalias` or
    `assume-distinct-arguments` says that they are not.

    Run before `workgroup-lower-copies`. Example: `test/Transforms/form-rings.mlir`.
    Source: the thread on streaming-K; NVIDIA, "CUTLASS: efficient GEMM in CUDA", on
    multistage pipelines.
  }];
  let options = [
    Option<"slots", "slots", "int64_t", /*default=*/"2",
           "Number of slots of a ring, from 1 (none is formed) to 8">,
    Option<"maxBytes", "max-bytes", "int64_t", /*default=*/"0",
           "Largest number of bytes of workgroup memory of a kernel; 0 means that "
           "of the chip">,
    Option<"assumeDistinctArguments", "assume-distinct-arguments", "bool",
           /*default=*/"false",
           "Take different memref arguments of a function not to overlap">,
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "The chip to compile for; empty means the target of the gpu.module, "
           "else sm_80">,
  ];
  let dependentDialects = [
    "::mlir::memref::MemRefDialect", "::mlir::workgroup::WorkgroupDialect"
  ];
}

def HoistCopiesPass : Pass<"workgroup-hoist-copies"> {
  let summary = "Hoist copies out of loops that do not change their sources";
  let description = [{
    A `memref.copy` or `linalg.copy` to workgroup or private memory that stands in the
    body of an `scf.for` or `affine.for`, and copies the same elements in every turn, is done
    once before the loop, with what computes its operands, with branches around it that
    do nothing else, and with its buffer, if that is allocated in the loop. It may leave
    several loops. Where it is not known that the loop has a turn, the copy becomes
    conditional on it.

    A copy of the same elements in every turn stays, with a remark, if it is not executed
    in every turn; if the loop is one that does not count (`scf.while`); if an operand is
    loaded in the loop, or computed by what may trap, as a division by a value that may be
    zero, and the loop may have no turn; if anything else in the loop may write its source or its
    buffer, or read the buffer before the copy; if a buffer that is allocated in the loop is
    handed on to a later turn; if a barrier comes before the copy in the turn, or an
    atomic or an unknown operation stands in the loop, after which the source may hold what
    another thread wrote; and, of workgroup memory, if the kernel's buffers would not fit into static memory side by
    side, as those of a loop can share bytes less once one lives longer.

    To be run before `workgroup-lower-copies`. Example:
    `test/Transforms/hoist-copies.mlir`. Source: the thread on streaming-K, where a
    schedule copies one level too deep.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect"
  ];
}

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

    Example: `test/Transforms/lower-copies.mlir`. Source: thread "How to find a
    valid lowering pipeline for workgroup memory usage".
  }];
  let options = [
    Option<"insertBarriers", "insert-barriers", "bool", /*default=*/"true",
           "Surround copies done by the whole block by barriers">,
    Option<"assumeAlignment", "assume-alignment", "int64_t", /*default=*/"1",
           "Alignment in bytes that memref arguments of kernels and of the host "
           "may be assumed to have; whoever launches must see to it">,
    Option<"assumeDistinctArguments", "assume-distinct-arguments", "bool",
           /*default=*/"false",
           "Take different memref arguments of a function not to overlap">,
    Option<"unrollLimit", "unroll-limit", "int64_t", /*default=*/"8",
           "Accesses per thread up to which a copy becomes straight-line code">,
    Option<"vectorBits", "vector-bits", "int64_t", /*default=*/"128",
           "Widest access in bits, a power of two from 8 to 128">,
    Option<"strategy", "strategy", "::mlir::workgroup::CopyStrategy",
           /*default=*/"::mlir::workgroup::CopyStrategy::Auto",
           "How copies from global to workgroup memory are done",
           [{::llvm::cl::values(
             clEnumValN(::mlir::workgroup::CopyStrategy::Auto, "auto",
                        "by TMA or cp.async where chip and operands allow and "
                        "it is a gain"),
             clEnumValN(::mlir::workgroup::CopyStrategy::Sync, "sync",
                        "by loads and stores"),
             clEnumValN(::mlir::workgroup::CopyStrategy::CpAsync, "cp-async",
                        "by cp.async where chip and operands allow, with a "
                        "remark where they do not"),
             clEnumValN(::mlir::workgroup::CopyStrategy::TMA, "tma",
                        "by TMA where chip and operands allow, with a remark "
                        "where they do not; then as cp-async"))}]>,
    Option<"bypassL1", "bypass-l1", "bool", /*default=*/"true",
           "Keep what cp.async copies by 16 bytes out of the L1 cache">,
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "The chip to compile for; empty means the target of the gpu.module, "
           "else sm_80">,
    Option<"strict", "strict", "bool", /*default=*/"true",
           "Fail on copies that cannot be lowered, instead of leaving them with "
           "a remark">,
    ListOption<"blockSize", "block-size", "int64_t",
               "Threads of a block along x, y and z, for kernels that do not say: "
               "a promise, which becomes their known_block_size">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect", "::mlir::nvgpu::NVGPUDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def LowerRingsPass : Pass<"workgroup-lower-rings"> {
  let summary = "Lower rings to copies that run ahead of their readers";
  let description = [{
    Lowers `workgroup.ring` and its operations in device code. A ring of S slots
    that is put, committed, got and released once in each turn of an `scf.for` runs
    S - 1 turns ahead: the copies of the first turns are started before the loop, those
    of turn t + S - 1 in turn t. A copy past the last turn is not made; in a loop without
    a turn none is.

    - On sm_80 and later, by cp.async where the operands allow, a group for each turn.
      In each turn, every thread waits for its part of the slot to be read
      (`nvvm.cp.async.wait.group S - 2`), then comes one barrier, then the copies of
      the turn ahead go to the slot that was read in the turn before.
    - With `engine=tma` on sm_90 and later, by TMA, if it can do all copies of the ring: one
      mbarrier for each slot, which every thread waits for before the barrier; one thread then
      tells it how many bytes to expect and starts the loads. The phase to wait for is carried
      as slots are. Slots are aligned to 128 bytes; where only that, and the mbarriers, take
      more workgroup memory than there is, cp.async does it. See `workgroup-lower-copies`
      for what else TMA asks for.
    - What cannot be asynchronous, and anything with `engine=registers` or on sm_75, is
      loaded after that barrier and stored when the slot is released; the ring then has
      two slots.

    Slots are counted by values that all loops and branches around carry from the kernel's
    entry on: entered again, the loop goes on with the next slot, and no barrier is
    needed. Where that is not possible (`scf.while`, branches between blocks) it starts
    again, after a barrier. Storage is allocated at the kernel's entry, aligned to 16
    bytes; each slot is a `memref.view` of it.

    Ragged tiles (`workgroup.copy` with a source smaller than the tile) keep full width: what
    the source does not have is filled with zeros by the copy itself.

    A ring whose sources the loop may write, or that is used in no loop, is lowered in place
    between two barriers, with a remark. Fails if not all threads of the block use it
    together, and if put, commit, get and release are not in one block.

    Example: `test/Transforms/lower-rings.mlir`. Source: NVIDIA, "CUDA C++ Programming
    Guide", asynchronous data copies using cp.async.
  }];
  let options = [
    Option<"engine", "engine", "::mlir::workgroup::RingEngine",
           /*default=*/"::mlir::workgroup::RingEngine::Auto",
           "How copies run ahead",
           [{::llvm::cl::values(
             clEnumValN(::mlir::workgroup::RingEngine::Auto, "auto",
                        "by cp.async where chip and operands allow"),
             clEnumValN(::mlir::workgroup::RingEngine::Registers, "registers",
                        "by loads before, and stores after, the readers"),
             clEnumValN(::mlir::workgroup::RingEngine::CpAsync, "cp-async",
                        "as auto, with a remark where the chip has none"),
             clEnumValN(::mlir::workgroup::RingEngine::TMA, "tma",
                        "by TMA where chip and operands allow, with a remark where "
                        "they do not; then as cp-async"))}]>,
    Option<"assumeAlignment", "assume-alignment", "int64_t", /*default=*/"1",
           "Alignment in bytes that memref arguments of kernels and of the host "
           "may be assumed to have; whoever launches must see to it">,
    Option<"assumeDistinctArguments", "assume-distinct-arguments", "bool",
           /*default=*/"false",
           "Take different memref arguments of a function not to overlap">,
    Option<"bypassL1", "bypass-l1", "bool", /*default=*/"true",
           "Keep what cp.async copies by 16 bytes out of the L1 cache">,
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "The chip to compile for; empty means the target of the gpu.module, "
           "else sm_80">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect", "::mlir::nvgpu::NVGPUDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

#endif // WORKGROUP_COPY_PASSES
