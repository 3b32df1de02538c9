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
  let summary = "Turn the copies of a loop into operations on a ring";
  let description = [{
    Turns the copies of a loop from global to workgroup memory into operations on a ring of
    slots.

    The copies are `memref.copy`, `linalg.copy` and `workgroup.gather` in the body of an
    `scf.for` whose buffers are read later in the same iteration. They become operations on one
    ring (`workgroup.ring`) of `slots` slots. `workgroup-lower-rings` can then start the copies
    of later iterations while the current iteration reads its own. The ring has fewer slots if
    the loop has fewer iterations or if the chip has less workgroup memory. With fewer than two
    slots, no ring is formed.

    A copy joins the ring if

    - all threads of the block execute it together, with the same operands, in every iteration;
    - its source depends only on the induction variable and on loop-invariant values;
    - nothing in the loop may write the source, and the loop has no atomic or unknown operation,
      after which the source might hold what another block wrote;
    - its target is a whole row-major buffer of the kernel that nothing else writes, and that
      nothing reads before the copy or outside the loop.

    The buffer may be filled with zeros before a copy to the first elements of each dimension,
    if the elements are numbers. The missing part of a ragged tile is then zero
    (`workgroup.copy`). A copy that does not join stays where it is, with a remark that says
    why.

    Barriers of the block and of warps in the loop do not prevent a ring, and stay where they
    are. As nothing in the loop writes a source, a barrier before the loop has made earlier
    writes visible. Atomics, fences and calls do prevent a ring. Different arguments may
    overlap, unless `llvm.noalias` or `assume-distinct-arguments` excludes it.

    With `producers`, each ring requests that many threads that only fill slots
    (`workgroup.ring {producers = 128}`). `workgroup-specialize-warps`, which knows the readers
    of the tiles, adds the threads where possible. With `blocks`, it requests that many blocks of
    such a kernel, which go through all of its tiles (`workgroup-persist-grid`).

    Run before `workgroup-lower-copies`. Example: `test/Transforms/Rings/form-rings.mlir`.
    Source: the thread on streaming-K; NVIDIA, "CUTLASS: efficient GEMM in CUDA", on multistage
    pipelines.
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
    Option<"blocks", "blocks", "int64_t", /*default=*/"0",
           "Blocks that are to go through all tiles of a kernel, if producers "
           "fill its rings; 0 for a block for each tile">,
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
    Lowers rings to copies that run ahead of their readers.

    A ring of S slots that each iteration of an `scf.for` puts, commits, gets and releases once
    runs S - 1 iterations ahead. The copies of the first S - 1 iterations start before the loop,
    and those of iteration t + S - 1 start in iteration t. There are no copies past the last
    iteration, and none for a loop without iterations.

    - **cp.async**, on sm_80 and later, where the operands permit it. The copies of each
      iteration are one group. In each iteration, every thread waits for its part of the slot
      about to be read (`nvvm.cp.async.wait.group S - 2`), then meets the others at one barrier,
      then starts the copies of a later iteration. These fill the slot that was read in the
      iteration before.
    - **TMA**, on sm_90 and later, with `engine=tma`, if TMA can do all copies of the ring. Each
      slot has one mbarrier, which every thread waits for before the barrier. One thread then
      announces the number of bytes and starts the loads. The phase to wait for is loop-carried,
      as slot numbers are. Slots are aligned to 128 bytes. If this alignment and the mbarriers
      make the kernel exceed workgroup memory, cp.async is used instead.
      `workgroup-lower-copies` lists the other requirements of TMA.
    - **Registers**, for copies that cannot be asynchronous, on sm_75, and with
      `engine=registers`. Elements are loaded after the barrier and stored when the slot is
      released. Such a ring has two slots.

    Slot numbers are carried by all loops and branches from the kernel's entry. A loop that is
    entered again continues with the next slot, and needs no barrier. Where numbers cannot be
    carried (`scf.while`, branches between blocks of code), the loop starts again with the first
    slot, after a barrier. The storage is allocated at the kernel's entry, aligned to 16 bytes.
    Each slot is a `memref.view` of it.

    Ragged tiles (`workgroup.copy` with a source smaller than the tile) keep accesses of full
    width; the copy itself writes zeros for missing elements.

    If the loop may write a source, or if no loop uses the ring, the ring is lowered in place
    between two barriers, with a remark. The pass fails if not all threads of the block use the
    ring together, or if put, commit, get and release are in different blocks of code.

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
    : Passed<"The copies of a ring run ahead, by the named engine.">;
def LowerRings_NotAhead : Missed<"The copies of a ring do not run ahead.">;
def LowerRings_NotAsync : Missed<"cp.async is not used for a ring.">;
def LowerRings_NotTMA : Missed<"TMA is not used for a ring.">;

def PersistGridPass : Pass<"workgroup-persist-grid"> {
  let summary = "Let each block of a kernel process several tiles";
  let description = [{
    Wraps both branches of a kernel with specialised warps (`workgroup.specialize` in a
    `gpu.launch`) into loops over tiles, where a tile is the work of one block before:

    ```
    for (tile = block; tile < tiles; tile += blocks)
    ```

    The launch gets `blocks` blocks. If `blocks` is 0, it gets as many as its rings request
    (`workgroup.ring {blocks = 132}`). Slots of rings and their phases continue from one tile to
    the next, so that producers fill slots for the next tile while consumers store the sums of
    the current one. If only the host computes the number of tiles, some blocks may have none.
    The wait for stores by TMA at the end of the kernel stays behind the loop.

    Tiles are numbered in groups of rows (blocks along y), column by column (along x) within a
    group, with the blocks along z last. Tiles that are processed at the same time thus share
    rows and columns in the L2 cache. A group has 8 rows, or 4 to 12 if that makes all groups
    equal. If no such number divides the rows, as many columns make a group, row by row within
    it. If none divides these either, a group has one row, or all rows if there are fewer rows
    than columns. If all blocks lie along x, their order stays.

    A kernel is left unchanged, with a remark, if

    - it has no more tiles than blocks;
    - its blocks form clusters, or read ids other than those along x, y and z;
    - it contains an operation that all warps execute together;
    - it is proved that its blocks write different elements, but not that they still do when
      each goes through several tiles. The proof is about the changed kernel, as in
      `workgroup-verify-sync`.

    Run between `workgroup-specialize-warps` and `workgroup-lower-rings`. Example:
    `test/Transforms/Rings/persist-grid.mlir`. Source: NVIDIA, "CUTLASS: persistent kernels";
    Triton, tutorial on persistent matrix products.
  }];
  let options = [
    Option<"blocks", "blocks", "int64_t", /*default=*/"0",
           "Blocks that go through all tiles of a kernel; 0 for as many as its "
           "rings ask for">,
    AssumeDistinctArgumentsOption,
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"
  ];
}

def PersistGrid_NotPersistent
    : Missed<"The blocks of a kernel have one tile each.">;
def PersistGrid_Persistent
    : Passed<"The blocks of a kernel go through several tiles each.">;

def RotateLoopsPass : Pass<"workgroup-rotate-loops"> {
  let summary = "Load the first operands of the next iteration early";
  let description = [{
    Moves the loads that an iteration begins with to the end of the iteration before.

    In device code, an `scf.for` that waits at a barrier, loads tiles from workgroup memory and
    multiplies them begins each iteration with products that wait for loads. The pass moves the
    head of an iteration (everything up to the barrier, and the loads of its first products) in
    front of the last products of the iteration before, which access no memory:

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

    No access passes a write or a barrier, and none is done more often; a loop without
    iterations still does nothing. If the head and the rest use memory that each iteration
    allocates, it is allocated once, in front of the loop. First products are those that add to
    a loop-carried value. Last products are those that no other product adds to. The head is
    also executed once before the loop, and the rest of the body once after it.

    Products are matrix products (`nvgpu.mma.sync`, `nvvm.mma.sync`). With `fma`, fused
    multiply-adds count as well; without it, ptxas already orders their loads well.

    A loop is left unchanged, with a remark, if an operation between the barrier and the loads
    may write memory, or depends on the last products; or if an iteration hands on, or frees,
    memory that both its head and its rest use.

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
    : Passed<"The head of an iteration moved to the iteration before.">;
def RotateLoops_NotRotated : Missed<"A loop of products stays as it is.">;

def SpecializeWarpsPass : Pass<"workgroup-specialize-warps"> {
  let summary = "Add warps to a kernel that only fill its rings";
  let description = [{
    Adds warps to a kernel that only fill its rings.

    The pass applies to a `gpu.launch` whose rings are filled by TMA and read by products of
    warp groups (`workgroup.group_product`). Its blocks get `producers` more threads. If that
    option is 0, they get as many as the rings request (`workgroup.ring {producers = 128}`).
    Producers execute the copies of the rings and what these depend on: arithmetic, and the
    surrounding loops and branches. Consumers execute everything else (`workgroup.specialize`).
    The two sides wait for each other only where a slot is not yet full or not yet empty. The
    loop has no barrier, and the warps that multiply start no copies.

    If both sides are whole warp groups, on sm_90a, consumers take over the registers that
    producers do not need (`setmaxnreg`). The total stays what the block was launched with.

    `workgroup-lower-rings` then creates two mbarriers for each slot. One producer thread waits
    for the slot to be empty, announces the number of bytes, and starts the loads. Each consumer
    warp arrives at the slot's other mbarrier when it has read the slot.

    A kernel is left unchanged, with a remark that says why, if

    - its blocks are not a constant number of threads in one dimension that form whole warp
      groups;
    - it contains other work of all threads of the block (barriers, copies and linalg operations
      that are not yet distributed), or other accesses to workgroup memory, except to slots from
      which TMA stores what a warp has written;
    - the kernel may write the source of a copy;
    - the values that copies depend on cannot be computed twice.

    Run between `workgroup-lower-contractions` and `workgroup-lower-rings`. Example:
    `test/Transforms/Rings/specialize-warps.mlir`. Source: NVIDIA, "CUTLASS: warp
    specialization".
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
    : Passed<"Producer warps fill the rings of a kernel.">;
def SpecializeWarps_NotSpecialized
    : Missed<"The warps of a kernel that read its tiles also copy them.">;

#endif // WORKGROUP_TRANSFORMS_RINGS
