//===- Memory.td - Where workgroup buffers live ------------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_MEMORY
#define WORKGROUP_TRANSFORMS_MEMORY

include "mlir/Pass/PassBase.td"
include "workgroup/PassOptions.td"
include "workgroup/Remarks.td"

def HoistAllocsPass : Pass<"workgroup-hoist-allocs"> {
  let summary = "Hoist workgroup allocations to buffers of their kernel";
  let description = [{
    Workgroup memory is static: one buffer per block for each allocation op, not
    one per thread or per execution of the op, with undefined contents whenever
    the op executes. This pass gives `memref.alloc` and `memref.alloca` in
    workgroup memory, in any of its spellings, that meaning:

    - in a `gpu.func` and a `gpu.launch`, a workgroup attribution;
    - in a function of a `gpu.module` that kernels call, a private
      `memref.global`, if the pass runs on that module or around it.

    Upstream's lowering compiles such an allocation, without a message, to one
    buffer per thread whose address is then taken for a shared one
    (llvm/llvm-project#65470; thread "Allocating workgroup memory").

    Deallocations of hoisted buffers are erased. Alignment is kept, and raised to
    what accesses promise or need: the `alignment` of accesses and
    `memref.assume_alignment`, 16 bytes for `nvgpu.ldmatrix`, the size of an
    asynchronous copy, 128 bytes for TMA, or 256, 512 and 1024 by the swizzle of
    its descriptor. Views, selections, branches and loops are looked through,
    calls are not. A promise that no alignment of the buffer keeps, as at a
    constant odd place, is left for `workgroup-verify-kernels` to report. On a
    `gpu.func`, `default-alignment` is the least. A `gpu.launch` attribution
    cannot carry an alignment, so an allocation there that asks for more than its
    element's stays until the kernel is outlined. Buffers whose layout has gaps
    get the bytes they span. Sizes must be constant or have a constant upper
    bound. Attributions and globals that are there already get the same
    alignment, and are respelled if they are spelled `3` or
    `#nvvm.memory_space<shared>`.

    Fails, at the op: on a size without bound; on a layout that is not strided;
    on recursion; on a buffer that outlives the iteration of a loop that allocates it,
    since its activations cannot share one buffer.

    With `insert-barriers`, a `gpu.barrier` is put where a loop allocates, or where
    all threads were last together in that iteration, so that no thread fills the
    buffer while another still reads the last iteration's values. Threads that
    iterate on their own are nowhere together: if each keeps to bytes of its own that
    is right, and an error if two may touch the same byte.

    With `from-spaces`, memrefs whose memory space is a number of another system
    are respelled first: `from-spaces=1:workgroup,2:private` where 1 is the memory
    of the block and 2 that of the thread. All of them change at once, in values,
    functions, globals and types within types; on anything smaller than the
    module, those that code outside has to agree with are an error. An allocation
    in device code that turns out to be private stands at the start of its
    function (or of the iteration of a parallel loop) then, as a `memref.alloca`,
    and is not freed; `memref.alloc` would be a call of `malloc`. One of dynamic
    size stays as it is, and one that outlives the iteration of its loop or its
    function is an error.

    Example: `test/Transforms/Memory/hoist-allocs.mlir`.
  }];
  let options = [
    Option<"defaultAlignment", "default-alignment", "int64_t", /*default=*/"16",
           "Smallest alignment in bytes of buffers of a `gpu.func`">,
    Option<"insertBarriers", "insert-barriers", "bool", /*default=*/"false",
           "Put a barrier where a loop allocates a buffer again">,
    FromSpacesOption,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

def HoistAllocs_Hoisted : Passed<"An allocation became a buffer of its kernel.">;
def HoistAllocs_InsertedBarrier
    : Passed<"A barrier was put where a loop allocates a buffer again.">;
def HoistAllocs_NotHoisted : Missed<"An allocation stays where it is.">;

def LowerDynamicMemoryPass : Pass<"workgroup-lower-dynamic-memory"> {
  let summary = "Lower dynamic workgroup memory to an extern symbol";
  let description = [{
    `gpu.dynamic_shared_memory` becomes the address of a public `memref.global` of
    size zero, one per `gpu.module`: PTX's `.extern .shared`. Upstream emits an
    internal one-byte variable instead, and other shared variables then overlap
    the dynamic memory without a message. Its extent is what the launch asks for.
    Operations of a `gpu.launch` wait for outlining.

    An external `memref.global` without elements in workgroup memory, as upstream
    spells `extern __shared__`, is the same memory: `memref.get_global` of it becomes
    `gpu.dynamic_shared_memory` first, also in `workgroup-sink-allocs` and
    `workgroup-pack-memory`. All of them begin at one place, whatever their elements.

    Example: `test/Transforms/Memory/lower-dynamic-memory.mlir`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect"
  ];
}

def LowerDynamicMemory_NotLowered : Missed<"An operation stays as it is.">;

def PackMemoryPass : Pass<"workgroup-pack-memory", "::mlir::ModuleOp"> {
  let summary = "Let workgroup buffers with disjoint lives share bytes";
  let description = [{
    Gives the workgroup buffers of each kernel places in one block of memory (the
    arena), such that buffers which are never in use at the same time share bytes.
    Buffers are attributions, allocations that are not hoisted yet, and private
    globals of functions that only this kernel calls. Each becomes a `memref.view`
    of the arena: an attribution of `i8` on a `gpu.func`, an aligned `memref.alloc`
    in a `gpu.launch` (whose attributions carry no alignment), a private
    `memref.global` where functions need it too. A kernel in which nothing is
    gained is left as it is.

    **Lives.** An attribution or a global lives from a point that all its uses come
    after to its last use through any alias, and through whole loops, as it may
    hand values from iteration to iteration. The contents of an allocation are undefined
    whenever it executes, so it lives within an iteration of the loop it stands in: run
    this pass before `workgroup-hoist-allocs`. A buffer that `cp.async` writes lives
    until a wait that is known to cover the copy, else until the kernel ends. What
    TMA, a warpgroup or unknown code has got lives as long as the kernel: their
    accesses are not ordered by barriers alone. Buffers of the branches of an
    `scf.if` share bytes only if the whole block takes the same branch. In a loop of
    blocks, or in a function that only this kernel calls, an allocation lives from
    the first iteration or call to the last one, and a barrier separates its activations.
    Allocations of other functions, and those whose activations a barrier cannot
    separate, are left to hoisting.

    **Sharing** is possible where all threads of the block pass a point between two
    lives together. `reuse` says where it happens: `always`; `never`; `auto`, where a
    barrier stands there already, or where it brings the kernel under the chip's
    limit or lets one more block be resident on a multiprocessor. With
    `insert-barriers`, a `gpu.barrier` is put where a life begins in bytes that
    another one may have used, unless one stands on every path there. Where no bytes
    are shared there is no arena: less padding alone is not worth that the compiler
    cannot tell the buffers apart any more.

    **Dynamic memory.** What does not fit into `max-static-bytes` becomes dynamic
    (`dynamic`: `auto`, `always`, `never`): the arena is then behind an `.extern`
    symbol, and every launch in the module asks for its bytes. Memory that launches
    ask for already keeps its place before the arena, or, where its size is not a
    constant, moves behind it; `gpu.dynamic_shared_memory` follows. An allocation
    whose size the host knows only when it launches is put behind all else.

    Fails, with a note per buffer, if a kernel needs more than a block of the chip
    can have (`max-bytes`, or the chip's limit).

    The layout is found by first fit in several orders, improved as long as it pays;
    `LowerBound` in the remark is the largest sum of bytes in use at one time. Cost
    is quadratic in the number of buffers, linear in the size of the kernel.

    Example: `test/Transforms/Memory/pack-memory.mlir`. Source: Triton's allocation of
    shared memory, and what issues with it taught (asynchronous writers, alignment).
  }];
  let options = [
    Option<"reuse", "reuse", "::mlir::workgroup::Reuse",
           /*default=*/"::mlir::workgroup::Reuse::Always",
           "Where buffers share bytes",
           "::mlir::workgroup::getReuseValues()">,
    Option<"dynamic", "dynamic", "::mlir::workgroup::DynamicMemory",
           /*default=*/"::mlir::workgroup::DynamicMemory::Auto",
           "When the arena is dynamic memory",
           "::mlir::workgroup::getDynamicMemoryValues()">,
    MaxStaticBytesOption,
    MaxBytesOption,
    Option<"alignment", "alignment", "int64_t", /*default=*/"16",
           "Smallest alignment in bytes of buffers in the arena; 16 at least">,
    Option<"insertBarriers", "insert-barriers", "bool", /*default=*/"true",
           "Put barriers between lives that share bytes">,
    ChipOption,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

def PackMemory_LaunchUnknown
    : Missed<"The launches of a kernel have to ask for its dynamic memory.">;
def PackMemory_NotPacked : Missed<"The buffers of a kernel share no bytes.">;
def PackMemory_OutOfCapacity : Failed<"A kernel takes more memory than it can have.">;
def PackMemory_Packed : Passed<"Where a buffer has its bytes.">;
def PackMemory_PackedKernel : Passed<"The buffers of a kernel were packed.">;
def PackMemory_SizedByLaunch
    : Passed<"A buffer became a part of dynamic memory whose size the launch computes.">;

def SinkAllocsPass : Pass<"workgroup-sink-allocs"> {
  let summary = "Sink workgroup allocations of the host into their kernels";
  let description = [{
    `transform.structured.promote` and buffer hoisting leave allocations in
    workgroup memory in the host function around a launch, where nothing can
    allocate such memory. Each one is cloned, together with the views of it, to
    the start of every `gpu.launch` that uses it; host deallocations are erased,
    and so is an allocation that no kernel uses. A `memref.get_global` of workgroup
    memory on the host is treated like an allocation.

    Where the kernel is outlined already, the operand of `gpu.launch_func` and the
    argument of the kernel are removed and the kernel makes the buffer and its
    views itself; the pass must then run on the module that holds both. Sizes and
    places that are not the same constant at every launch of the kernel become
    arguments of it, behind the others:

    ```mlir
    %buffer = memref.alloc(%n) : memref<?xf32, 3>
    gpu.launch_func @kernels::@kernel ... args(%buffer : memref<?xf32, 3>)
    ```
    becomes
    ```mlir
    gpu.launch_func @kernels::@kernel ... args(%n : index)
    // in the kernel: %buffer = memref.alloc(%n) : memref<?xf32, 3>
    ```

    All launches of the kernel have to make the buffer by the same operations,
    types and attributes, and to pass the same operands as one buffer; otherwise
    the error names what differs. A global of the host gets a private copy in the
    module of the kernel, unless outlining has made one.

    Allocations in `#gpu.address_space<private>` on the host that a launch uses
    are sunk in the same way: memory of a thread cannot be the host's, and each
    thread gets a buffer of its own, as each block gets one in workgroup memory.
    They become `memref.alloca`, so that their size must be constant.

    A buffer used by several launches becomes one buffer in each, with a warning:
    its contents do not outlive a launch.

    Fails if host code reads, writes or passes on the memory, or makes a view of
    it whose shape lies in memory.

    With `from-spaces`, memrefs whose memory space is a number of another system
    are respelled first: `from-spaces=1:workgroup,2:private` where 1 is the memory
    of the block and 2 that of the thread. All of them change at once, in values,
    functions, globals and types within types; on anything smaller than the
    module, those that code outside has to agree with are an error. An allocation
    in device code that turns out to be private stands at the start of its
    function (or of the iteration of a parallel loop) then, as a `memref.alloca`,
    and is not freed; `memref.alloc` would be a call of `malloc`. One of dynamic
    size stays as it is, and one that outlives the iteration of its loop or its
    function is an error.

    Example: `test/Transforms/Memory/sink-allocs.mlir`.
  }];
  let options = [
    FromSpacesOption,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

def SinkAllocs_NotSunk : Missed<"An allocation stays in host code.">;
def SinkAllocs_PassedToKernel
    : Passed<"Sizes and places of buffers became arguments of a kernel.">;
def SinkAllocs_SunkIntoKernel : Passed<"A buffer of the host became one of a kernel.">;

def SplitViewsPass : Pass<"workgroup-split-views"> {
  let summary = "Split views that both take steps and leave dimensions out";
  let description = [{
    A `memref.subview` of lower rank does not say which dimensions of one element
    it leaves out: upstream compares the strides of the view with those of its
    source. Steps change strides, so that `getDroppedDims` finds none if a
    dimension of one element stays, and `canonicalize`, `expand-strided-metadata`
    and others crash (LLVM 22.1). Such a view becomes two, the first with the
    steps and the second with the rank:

    ```mlir
    %view = memref.subview %a[1, 0, 0] [1, 4, 1] [1, 2, 1]
        : memref<2x8x1xf32> to memref<4x1xf32, strided<[2, 1], offset: 8>>
    ```
    becomes
    ```mlir
    %steps = memref.subview %a[1, 0, 0] [1, 4, 1] [1, 2, 1]
        : memref<2x8x1xf32> to memref<1x4x1xf32, strided<[8, 2, 1], offset: 8>>
    %view = memref.subview %steps[0, 0, 0] [1, 4, 1] [1, 1, 1]
        : memref<1x4x1xf32, strided<[8, 2, 1], offset: 8>>
          to memref<4x1xf32, strided<[2, 1], offset: 8>>
    ```

    Other views stay as they are. The pipelines run it on what they are given.

    Example: `test/Transforms/Memory/split-views.mlir`.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

#endif // WORKGROUP_TRANSFORMS_MEMORY
