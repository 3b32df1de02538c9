//===- Rings.td - Copies that run ahead --------------------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_RINGS
#define WORKGROUP_TRANSFORMS_RINGS

include "mlir/Pass/PassBase.td"
include "workgroup/PassOptions.td"
include "workgroup/Remarks.td"

def FormRingsPass : Pass<"workgroup-form-rings"> {
  let summary = "Make the copies of a loop a ring of slots";
  let description = [{
    Copies from global to workgroup memory (`memref.copy`, `linalg.copy`, `workgroup.gather`) that stand
    in the body of an `scf.for`, and whose buffers are read later in the same iteration, become
    operations on one ring (`workgroup.ring`) of `slots` slots, so that
    `workgroup-lower-rings` can start the copies of later iterations while those of this
    one are read. The ring has fewer slots if the loop has fewer iterations, or if the
    chip has less workgroup memory; with less than two there is none.

    A copy joins if all threads of the block execute it together with the same
    operands, in every iteration; if its source follows from the induction variable and
    from values that are the same in all iterations; if nothing in the loop may write
    the source, and no atomic or unknown operation stands in the loop, after which it
    may hold what another block wrote; if its target is a whole row-major buffer of the
    kernel, which nothing else writes, which nothing reads before the copy in the iteration,
    or outside of the loop. The buffer may be filled with zeros before a copy to the
    first elements of each of its dimensions, if they are numbers: what a ragged tile has
    too few of are zeros (`workgroup.copy`). Other copies stay, with a remark that says why.

    Barriers of the block and of warps in the loop are no obstacle, as nothing in the loop
    writes a source: what was written before the loop is made visible by a barrier before
    it. They stay where they are. Atomics, fences and calls are obstacles.

    Different arguments may be the same memory, unless `llvm.noalias` or
    `assume-distinct-arguments` says that they are not.

    With `producers`, rings ask for so many threads that only fill them
    (`workgroup.ring {producers = 128}`): `workgroup-specialize-warps`, which knows what reads the
    tiles, gives them where it can.

    Run before `workgroup-lower-copies`. Example: `test/Transforms/Rings/form-rings.mlir`.
    Source: the thread on streaming-K; NVIDIA, "CUTLASS: efficient GEMM in CUDA", on
    multistage pipelines.
  }];
  let options = [
    Option<"slots", "slots", "int64_t", /*default=*/"2",
           "Number of slots of a ring, from 1 (none is formed) to 8">,
    MaxBytesOption,
    AssumeDistinctArgumentsOption,
    ChipOption,
    Option<"producers", "producers", "int64_t", /*default=*/"0",
           "Threads that blocks are to get more to fill rings, if "
           "workgroup-specialize-warps can give them: whole warps; 0 for none">,
  ];
  let dependentDialects = [
    "::mlir::memref::MemRefDialect", "::mlir::workgroup::WorkgroupDialect"
  ];
}

def FormRings_FormedRing : Passed<"The copies of a loop became a ring.">;
def FormRings_NotInRing : Missed<"A copy of a loop stays where it is.">;

def LowerRingsPass : Pass<"workgroup-lower-rings"> {
  let summary = "Lower rings to copies that run ahead of their readers";
  let description = [{
    Lowers `workgroup.ring` and its operations in device code. A ring of S slots
    that is put, committed, got and released once in each iteration of an `scf.for` runs
    S - 1 iterations ahead: the copies of the first iterations are started before the loop, those
    of iteration t + S - 1 in iteration t. A copy past the last iteration is not made; in a loop without
    an iteration none is.

    - On sm_80 and later, by cp.async where the operands allow, a group for each iteration.
      In each iteration, every thread waits for its part of the slot to be read
      (`nvvm.cp.async.wait.group S - 2`), then comes one barrier, then the copies of
      the iteration ahead go to the slot that was read in the iteration before.
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

    Example: `test/Transforms/Rings/lower-rings.mlir`. Source: NVIDIA, "CUDA C++ Programming
    Guide", asynchronous data copies using cp.async.
  }];
  let options = [
    Option<"engine", "engine", "::mlir::workgroup::RingEngine",
           /*default=*/"::mlir::workgroup::RingEngine::Auto",
           "How copies run ahead", "::mlir::workgroup::getRingEngineValues()">,
    AssumeAlignmentOption,
    AssumeDistinctArgumentsOption,
    ChipOption,
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect", "::mlir::nvgpu::NVGPUDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def LowerRings_LoweredRing
    : Passed<"The copies of a ring run ahead, by the engine that is named.">;
def LowerRings_NotAhead : Missed<"The copies of a ring do not run ahead.">;
def LowerRings_NotAsync : Missed<"cp.async is not used for a ring.">;
def LowerRings_NotTMA : Missed<"TMA is not used for a ring.">;

def RotateLoopsPass : Pass<"workgroup-rotate-loops"> {
  let summary = "Load what the next iteration of a loop multiplies first";
  let description = [{
    In device code, an `scf.for` that waits at a barrier, loads tiles from workgroup
    memory and multiplies them begins each iteration with products that wait for loads.
    This pass moves what an iteration begins with (all up to the barrier, and
    the loads of its first products) to the end of the iteration before, in front of that
    one's last products, which need no memory any more:

    ```
    for:  wait; barrier; load a; copies; load b; multiply a; multiply b
    ```
    becomes
    ```
    wait; barrier; load a
    for, but for the last iteration:
          copies; load b; multiply a; wait; barrier; load a; multiply b
    copies; load b; multiply a; multiply b
    ```

    The order of all accesses to memory stays as it is, and so do their numbers: a loop
    that has no iteration does nothing. First products are those that add to what the loop carries, last
    ones those that no other product adds to. What comes before the loads is repeated in
    front of the loop, and what comes behind it once after it.

    Products are those of matrices (`nvgpu.mma.sync`, `nvvm.mma.sync`), with `fma` fused
    multiply-adds too: ptxas orders their loads well without it.

    A loop stays, with a remark, if something that may write memory stands between the barrier and the
    loads, or depends on the last products.

    Run after `workgroup-lower-rings`. Example: `test/Transforms/Rings/rotate-loops.mlir`.
    Source: NVIDIA, "CUTLASS: efficient GEMM in CUDA", on software pipelining.
  }];
  let options = [
    Option<"fma", "fma", "bool", /*default=*/"false",
           "Rotate loops of fused multiply-adds too">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"
  ];
}

def RotateLoops_Rotated
    : Passed<"What an iteration of a loop begins with is done in the one before.">;
def RotateLoops_NotRotated : Missed<"A loop of products stays as it is.">;

def SpecializeWarpsPass : Pass<"workgroup-specialize-warps"> {
  let summary = "Let warps of their own fill the rings of a kernel";
  let description = [{
    A `gpu.launch` whose rings TMA fills for products of warp groups
    (`workgroup.group_product`) gets `producers` threads more, or as many as its rings ask for
    (`workgroup.ring {producers = 128}`) if that is 0. They execute the copies of the
    rings and what these are computed of (loops and branches around, and arithmetic); the others
    execute everything else (`workgroup.specialize`). Neither side waits for the other but where
    a slot is not yet full, or not yet empty: there is no barrier in the loop, and warps
    that multiply start no copies.

    Where both are whole warp groups, on sm_90a, the registers that producers do not need go to
    consumers, as many as the block was launched with in all (`setmaxnreg`).

    Lowering the rings (`workgroup-lower-rings`) makes two mbarriers of each slot. One thread of the
    producers waits for the slot to be empty, tells how many bytes to expect, and starts the
    loads. Each warp of the consumers, when it has read a slot, arrives for it.

    A kernel stays, with a remark that says why, if its blocks are not of a constant number of
    threads in one dimension, whole warp groups; if anything else in it takes all threads of the
    block (barriers, copies and linalg operations that are not shared out yet) or is in workgroup
    memory; if the kernel may write what is copied; if what the copies depend on cannot be
    executed twice.

    Run between `workgroup-lower-contractions` and `workgroup-lower-rings`. Example:
    `test/Transforms/Rings/specialize-warps.mlir`. Source: NVIDIA, "CUTLASS: warp specialization".
  }];
  let options = [
    Option<"producers", "producers", "int64_t", /*default=*/"128",
           "Threads that a block gets more, for copies: whole warps; 0 for as "
           "many as its rings ask for">,
    AssumeAlignmentOption,
    AssumeDistinctArgumentsOption,
    ChipOption,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
    "::mlir::workgroup::WorkgroupDialect"
  ];
}

def SpecializeWarps_Specialized
    : Passed<"Warps of their own fill the rings of a kernel.">;
def SpecializeWarps_NotSpecialized
    : Missed<"The warps that read the tiles of a kernel copy them, too.">;

#endif // WORKGROUP_TRANSFORMS_RINGS
