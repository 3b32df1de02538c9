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
    Turns allocations in workgroup memory into buffers of their kernel.

    Workgroup memory is static. Each allocation operation denotes one buffer per block, not one
    per thread or per execution, and its contents are undefined whenever the operation executes.
    The pass gives `memref.alloc` and `memref.alloca` in workgroup memory, in any spelling, this
    meaning. They become

    - a workgroup attribution, in a `gpu.func` or `gpu.launch`;
    - a private `memref.global`, in a function of a `gpu.module` that kernels call, if the pass
      runs on that module or around it.

    Upstream's lowering compiles such an allocation, without a message, to one buffer per thread
    whose address is then used as a shared one (llvm/llvm-project#65470; thread "Allocating
    workgroup memory").

    Deallocations of these buffers are erased. A layout with gaps becomes a buffer of the
    spanned bytes. Sizes must be constant or have a constant upper bound. Existing attributions
    and globals get the same alignment, and the spellings `3` and `#nvvm.memory_space<shared>`
    are replaced.

    **Alignment** is kept, and raised to what accesses promise or require: the `alignment` of
    accesses and `memref.assume_alignment`, 16 bytes for `nvgpu.ldmatrix`, the size of an
    asynchronous copy, 128 bytes for TMA, or 256, 512 or 1024 bytes for the swizzle of its
    descriptor. The pass follows views, selections, branches and loops, but not calls. A promise
    that no alignment can satisfy, such as one at a constant odd position, is left for
    `workgroup-verify-kernels` to report. In a `gpu.func`, buffers have at least
    `default-alignment`. A `gpu.launch` attribution cannot carry an alignment, so an allocation
    there that needs more than the alignment of its element stays until outlining.

    Fails, at the operation, on

    - a size without bound;
    - a layout that is not strided;
    - recursion;
    - a buffer that outlives the loop iteration that allocates it, as its activations cannot
      share one buffer.

    With `insert-barriers`, a `gpu.barrier` is inserted where a loop allocates, or at the last
    point of the iteration that all threads pass together. No thread then writes the buffer
    while another still reads it in the iteration before. If threads iterate independently,
    there is no such point: that is correct if each thread uses bytes of its own, and an error
    if two threads may touch the same byte.

    With `from-spaces`, memrefs in numbered memory spaces of another system are converted first:
    `from-spaces=1:workgroup,2:private`, where 1 is the memory of the block and 2 that of the
    thread. All of them change at once, in values, functions, globals and nested types. If the
    pass runs on less than the module, types that code outside must agree with are an error. An
    allocation in device code that turns out to be private becomes a `memref.alloca` at the
    start of its function, or of the iteration of a parallel loop, and is not freed;
    `memref.alloc` would call `malloc`. One of dynamic size is left unchanged; one that outlives
    its iteration or function is an error.

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
    : Passed<"A barrier was inserted where a loop allocates a buffer again.">;
def HoistAllocs_NotHoisted : Missed<"An allocation stays where it is.">;

def LowerDynamicMemoryPass : Pass<"workgroup-lower-dynamic-memory"> {
  let summary = "Lower dynamic workgroup memory to an extern symbol";
  let description = [{
    Lowers dynamic workgroup memory to an external symbol.

    `gpu.dynamic_shared_memory` becomes the address of a public `memref.global` of size zero,
    one per `gpu.module`; in PTX this is `.extern .shared`. The launch determines its size.
    Upstream emits an internal variable of one byte instead, and other shared variables then
    overlap the dynamic memory without a message. Operations in a `gpu.launch` are left until
    outlining.

    An external `memref.global` without elements in workgroup memory, upstream's form of
    `extern __shared__`, denotes the same memory. Its `memref.get_global` first becomes
    `gpu.dynamic_shared_memory`; `workgroup-sink-allocs` and `workgroup-pack-memory` do this
    too. All of them begin at the same address, whatever their element types.

    Example: `test/Transforms/Memory/lower-dynamic-memory.mlir`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect"
  ];
}

def LowerDynamicMemory_NotLowered : Missed<"An operation stays as it is.">;

def PackMemoryPass : Pass<"workgroup-pack-memory", "::mlir::ModuleOp"> {
  let summary = "Let workgroup buffers with disjoint live ranges share bytes";
  let description = [{
    Packs the workgroup buffers of each kernel into one arena, in which buffers that are never
    live at the same time share bytes.

    The buffers are attributions, allocations that are not yet hoisted, and private globals of
    functions that only this kernel calls. Each becomes a `memref.view` of the arena. The arena
    is an attribution of `i8` on a `gpu.func`, an aligned `memref.alloc` in a `gpu.launch`
    (whose attributions carry no alignment), or a private `memref.global` where functions need
    it too. A kernel that gains nothing is left unchanged.

    **Live ranges.** An attribution or a global is live from a point that dominates all its uses
    to its last use through any alias, and through whole loops, as it may carry values between
    iterations. The contents of an allocation are undefined whenever it executes, so it is live
    within one iteration of its loop: run this pass before `workgroup-hoist-allocs`. A buffer
    that `cp.async` writes is live until a wait that is known to cover the copy, and otherwise
    until the kernel ends. A buffer that TMA, a warp group or unknown code accesses is live
    throughout the kernel, as barriers alone do not order these accesses. Buffers in the branch
    regions of an `scf.if` share bytes only if the condition is uniform over the block. In a
    loop of blocks, or in a function that only this kernel calls, an allocation is live from the
    first iteration or call to the last, and a barrier separates its activations. Allocations of
    other functions, and those whose activations a barrier cannot separate, are left to
    hoisting.

    **Sharing** requires that all threads of the block pass a point between two live ranges
    together. `reuse` says where it happens: `always`; `never`; or `auto`, where a barrier
    already stands at that point, or where sharing brings the kernel below the chip's limit or
    makes one more block resident on a multiprocessor. With `insert-barriers`, a `gpu.barrier`
    is inserted at the start of a live range in bytes that another buffer may have used, unless
    one stands on every path there. Without shared bytes, no arena is formed: LLVM could no
    longer tell the buffers apart, and less padding does not make up for that.

    **Dynamic memory.** `dynamic` is `auto`, `always` or `never`. With `auto`, an arena that
    exceeds `max-static-bytes` becomes dynamic: it is then behind an `.extern` symbol, and every
    launch in the module requests its bytes. Dynamic memory that launches already request stays
    in front of the arena, or moves behind it if its size is not a constant;
    `gpu.dynamic_shared_memory` is adapted. An allocation whose size only the launch knows comes
    last.

    Fails, with a note for each buffer, if a kernel needs more than `max-bytes`, or the chip's
    limit for a block.

    The layout is found by first fit in several orders, improved while that pays. `LowerBound`
    in the remark is the largest number of bytes live at one time. The cost is quadratic in the
    number of buffers and linear in the size of the kernel.

    Example: `test/Transforms/Memory/pack-memory.mlir`. Source: Triton's allocation of shared
    memory, and issues reported with it (asynchronous writers, alignment).
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
    : Missed<"The launches of a kernel have to request its dynamic memory.">;
def PackMemory_NotPacked : Missed<"The buffers of a kernel share no bytes.">;
def PackMemory_OutOfCapacity : Failed<"A kernel takes more memory than it can have.">;
def PackMemory_Packed : Passed<"The offset of a buffer in the arena.">;
def PackMemory_PackedKernel : Passed<"The buffers of a kernel were packed.">;
def PackMemory_SizedByLaunch
    : Passed<"A buffer became a part of dynamic memory whose size the launch computes.">;

def SinkAllocsPass : Pass<"workgroup-sink-allocs"> {
  let summary = "Sink workgroup allocations of the host into their kernels";
  let description = [{
    Moves workgroup allocations of the host into the kernels that use them.

    `transform.structured.promote` and buffer hoisting leave allocations in workgroup memory in
    the host function around a launch, where nothing can allocate such memory. Each allocation,
    with its views, is cloned to the start of every `gpu.launch` that uses it. Host
    deallocations are erased, and so is an allocation that no kernel uses. A `memref.get_global`
    of workgroup memory on the host is treated like an allocation.

    After outlining, the operand of `gpu.launch_func` and the kernel argument are removed, and
    the kernel creates the buffer and its views. The pass must then run on the module that
    contains both. Sizes and offsets that are not the same constant at every launch become
    additional arguments at the end:

    ```mlir
    %buffer = memref.alloc(%n) : memref<?xf32, 3>
    gpu.launch_func @kernels::@kernel ... args(%buffer : memref<?xf32, 3>)
    ```
    becomes
    ```mlir
    gpu.launch_func @kernels::@kernel ... args(%n : index)
    // in the kernel: %buffer = memref.alloc(%n) : memref<?xf32, 3>
    ```

    All launches of the kernel must create the buffer by the same operations, types and
    attributes, and pass the same operands as one buffer; otherwise the error names the
    difference. A global of the host gets a private copy in the module of the kernel, unless
    outlining has made one.

    Host allocations in `#gpu.address_space<private>` that a launch uses are sunk in the same
    way, so that each thread gets a buffer. They become `memref.alloca`, and their size must be
    constant.

    A buffer that several launches use becomes one buffer in each, with a warning: its contents
    do not outlive a launch.

    Fails if host code reads, writes or passes on the memory, or makes a view of it whose shape
    is stored in memory.

    With `from-spaces`, memrefs in numbered memory spaces of another system are converted first,
    as `workgroup-hoist-allocs` describes.

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
    : Passed<"Sizes and offsets of buffers became arguments of a kernel.">;
def SinkAllocs_SunkIntoKernel : Passed<"A buffer of the host became one of a kernel.">;

def SplitViewsPass : Pass<"workgroup-split-views"> {
  let summary = "Split views that both take steps and drop dimensions";
  let description = [{
    Splits `memref.subview`s that both have steps and drop dimensions.

    A `memref.subview` of lower rank does not say which of its unit dimensions it drops:
    upstream compares the strides of the view with those of its source. Steps change strides, so
    `getDroppedDims` finds no answer if a unit dimension stays, and `canonicalize`,
    `expand-strided-metadata` and others crash (LLVM 22.1). The pass splits such a view in two,
    the first with the steps and the second with the lower rank:

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

    Other views are left unchanged. The pipelines run this pass on their input.

    Example: `test/Transforms/Memory/split-views.mlir`.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

#endif // WORKGROUP_TRANSFORMS_MEMORY
