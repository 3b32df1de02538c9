//===- Passes.td - Passes of mlir-workgroup ----------------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every pass works before outlining (`gpu.launch`) and after (`gpu.func`), may
// run on any operation that holds kernels, touches nothing outside of it, and
// changes nothing when it runs a second time.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_PASSES
#define WORKGROUP_PASSES

include "mlir/Pass/PassBase.td"

def AttachTargetPass : Pass<"workgroup-attach-target", "::mlir::ModuleOp"> {
  let summary = "Attach `#nvvm.target` to every GPU module";
  let description = [{
    Gives each `gpu.module` a `#nvvm.target` for `chip`, with the oldest PTX
    version that knows the chip and the instructions that this project emits. A
    module that has a target keeps it.

    Fails on a chip that is not in the table of supported chips, and on a module
    whose target names another chip than the option.

    Example: `test/Transforms/attach-target.mlir`.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"",
           "The chip to compile for, as `sm_90a`; empty means the module's own "
           "target, else sm_80">,
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect"];
}

def ConvertKernelsToNVVMPass
    : Pass<"workgroup-convert-kernels-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Run convert-gpu-to-nvvm and keep parameters passed by value";
  let description = [{
    Runs upstream's `convert-gpu-to-nvvm` with bare pointers, and gives kernel
    parameters back what that drops of them: `llvm.byval`, without which a
    parameter would be an address in the host's memory. One that is also
    `llvm.readonly` becomes `nvvm.grid_constant`, which is what lets the hardware
    read a tensor map where it stands; LLVM makes a copy on the stack of each
    thread otherwise.

    Does nothing to a module without `gpu.func`s that upstream's pass would not
    do. Example: `test/Transforms/convert-kernels-to-nvvm.mlir`.
  }];
}

def FlattenKernelArgumentsPass
    : Pass<"workgroup-flatten-kernel-arguments", "::mlir::ModuleOp"> {
  let summary = "Turn memref arguments of kernels into pointers and extents";
  let description = [{
    Makes the interface of kernels what a launcher can serve without knowing
    MLIR: each memref argument becomes one pointer (a memref of rank 0, the start
    of its buffer), and the dynamic extents, strides and offsets that the kernel
    really uses become `index` arguments after all others. Two of these that have
    the same value as each other at every launch become one. Launches and kernels
    change together; functions of the `gpu.module` that kernels call are treated
    alike.

    A tensor map (`!nvgpu.tensormap.descriptor`) becomes a pointer; that of a
    kernel points to a parameter of 128 bytes, passed by value, which is where
    the hardware reads it.

    ```mlir
    gpu.func @k(%a: memref<?x?xf32>, %i: index) kernel {
      %v = memref.load %a[%i, %i] : memref<?x?xf32>
    ```
    becomes
    ```mlir
    gpu.func @k(%p: memref<f32>, %i: index, %extent: index) kernel {
      %unused = ub.poison : index
      %a = memref.reinterpret_cast %p to offset: [0], sizes: [%unused, %extent],
             strides: [%extent, 1] : memref<f32> to memref<?x?xf32>
    ```

    Kernels of one module get unique names, because one PTX text will hold them.

    Fails on unranked memrefs, on layouts that are not strided, on tensor maps
    whose box has dynamic extents, on types without a form in LLVM, on functions that return a memref of dynamic shape, and on uses
    of a function with such arguments that are no calls. Source:
    `docs/kernel-interface.md`; upstream's bare-pointer convention refuses
    dynamic layouts.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::ub::UBDialect"];
}

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
    on recursion; on a buffer that outlives the turn of a loop that allocates it,
    since its activations cannot share one buffer.

    With `insert-barriers`, a `gpu.barrier` is put where a loop allocates, so that
    no thread fills the buffer while another still reads the last turn's values;
    it fails where threads do not get there together.

    With `from-spaces`, memrefs whose memory space is a number of another system
    are respelled first: `from-spaces=1:workgroup,2:private` where 1 is the memory
    of the block and 2 that of the thread. All of them change at once, in values,
    functions, globals and types within types; on anything smaller than the
    module, those that code outside has to agree with are an error. An allocation
    in device code that turns out to be private stands at the start of its
    function (or of the iteration of a parallel loop) then, as a `memref.alloca`,
    and is not freed; `memref.alloc` would be a call of `malloc`. One of dynamic
    size stays as it is, and one that outlives the turn of its loop or its
    function is an error.

    Example: `test/Transforms/hoist-allocs.mlir`.
  }];
  let options = [
    Option<"defaultAlignment", "default-alignment", "int64_t", /*default=*/"16",
           "Smallest alignment in bytes of buffers of a `gpu.func`">,
    Option<"insertBarriers", "insert-barriers", "bool", /*default=*/"false",
           "Put a barrier where a loop allocates a buffer again">,
    ListOption<"fromSpaces", "from-spaces", "std::string",
               "Memory spaces of other systems, each as N:workgroup, N:private "
               "or N:global: memrefs in memory space N are respelled before "
               "anything else">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

def LegalizeForNVVMPass : Pass<"workgroup-legalize-for-nvvm"> {
  let summary = "Prepare kernels for upstream's conversion to NVVM";
  let description = [{
    Closes what upstream's conversion leaves open or gets wrong:

    - workgroup attributions of `gpu.func` and workgroup globals are aligned to
      16 bytes at least (upstream declares them with their element's alignment
      next to 16-byte accesses);
    - vector operations of any rank become ones that have an LLVM form (upstream
      crashes on, or miscompiles, rows at dynamic positions). Not among them are
      `vector.load`, `vector.store` and their masked forms of rank two, and
      gathers and scatters with strides, which `workgroup-verify-nvvm` names;
    - what warps do together (`gpu.subgroup_reduce`, ids and sizes of subgroups,
      shuffles of 64 bits) becomes shuffles of 32 bits and arithmetic;
    - a `gpu.subgroup_reduce` in a block that is not known to consist of full
      warps reduces over the lanes that the block has threads for (upstream takes
      in what lanes without a thread have, which may be anything);
    - a `gpu.all_reduce` becomes shuffles in each warp and, where the block may
      have several, an exchange of their results in workgroup memory between two
      barriers, for blocks of any size and shape (upstream lets several lanes
      store the result, which agree only if the number of warps is a power of
      two). Values are combined in the order of the threads: a region has to be
      associative, not commutative. No further barrier is needed in loops. All
      reductions of one type in one function share a buffer of an element per
      warp and one more; it is an attribution of a kernel and a private global of
      another function;
    - structured (linalg) operations that are the work of one thread become
      loops: those of a block with one thread, behind a comparison that lets one
      thread through, and those that write private memory, or a subview whose
      offset steps from thread to thread by no less than its size.

    Fails on any other structured operation: left as it is, every thread would do
    all of its work and race on the result. Fails on operations of warps that
    NVIDIA GPUs have no instruction for, and on clusters of a
    `gpu.subgroup_reduce` that reach beyond a warp. Whether all lanes of a warp
    that exist get to its shuffles and reductions together is not checked.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect",
    "::mlir::vector::VectorDialect"
  ];
}

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
    first elements of each of its dimensions: what a ragged tile has too few of are
    zeros (`workgroup.copy`). Other copies stay, with a remark that says why.

    Barriers in the loop are no obstacle, as nothing in the loop writes a source: what
    was written before the loop is made visible by a barrier before it. They
    stay where they are.

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
    A `memref.copy` or `linalg.copy` to workgroup memory that stands in the body of
    an `scf.for`, and copies the same elements in every turn, is done once before
    the loop, with what computes its operands and with its buffer, if that is
    allocated in the loop. It may leave several loops. Where it is not known that
    the loop has a turn, the copy becomes conditional on it.

    A copy stays, with a remark, if anything else in the loop may write its source or
    its buffer, or read the buffer before the copy; if a buffer that is allocated in
    the loop is handed on to a later turn; if a barrier comes before the copy in the
    turn, or an atomic or an unknown operation stands in the loop, after which the
    source may hold what another thread wrote; and if the kernel's buffers would not
    fit into static memory side by side, as those of a loop can share bytes less once
    one lives longer.

    To be run before `workgroup-lower-copies`. Example:
    `test/Transforms/hoist-copies.mlir`. Source: the thread on streaming-K, where a
    schedule copies one level too deep.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"
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
    (TMA writes dense rows), or by 16 bytes each in rows of 32, 64 or 128, which
    `workgroup-resolve-bank-conflicts` lets TMA swizzle. What it takes: the block executes the
    copy together, elements are not converted, extents are constant, the target is
    contiguous, and the source is a slice with steps of one of a memref that the
    host knows, with one to five dimensions, constant strides that are multiples of
    16 bytes, rows of the tile that are too, and an address aligned to 16 bytes; of
    an extent beyond 256, parts are loaded one after the other. A remark tells what
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
    would be right.

    Fails on unranked operands, on layouts that are not strided, and on operands
    that may overlap.

    Example: `test/Transforms/lower-copies.mlir`. Source: thread "How to find a
    valid lowering pipeline for workgroup memory usage".
  }];
  let options = [
    Option<"insertBarriers", "insert-barriers", "bool", /*default=*/"true",
           "Surround copies done by the whole block by barriers">,
    Option<"assumeAlignment", "assume-alignment", "int64_t", /*default=*/"1",
           "Alignment in bytes that memref arguments of kernels and of the host "
           "may be assumed to have; whoever launches must see to it">,
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
      as slots are. Slots are aligned to 128 bytes. See `workgroup-lower-copies` for what
      TMA asks for.
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

def LowerDynamicMemoryPass : Pass<"workgroup-lower-dynamic-memory"> {
  let summary = "Lower dynamic workgroup memory to an extern symbol";
  let description = [{
    `gpu.dynamic_shared_memory` becomes the address of a public `memref.global` of
    size zero, one per `gpu.module`: PTX's `.extern .shared`. Upstream emits an
    internal one-byte variable instead, and other shared variables then overlap
    the dynamic memory without a message. Its extent is what the launch asks for.
    Operations of a `gpu.launch` wait for outlining.

    Example: `test/Transforms/lower-dynamic-memory.mlir`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect"
  ];
}

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
    hand values from turn to turn. The contents of an allocation are undefined
    whenever it executes, so it lives within a turn of the loop it stands in: run
    this pass before `workgroup-hoist-allocs`. A buffer that `cp.async` writes lives
    until a wait that is known to cover the copy, else until the kernel ends. What
    TMA, a warpgroup or unknown code has got lives as long as the kernel: their
    accesses are not ordered by barriers alone. Buffers of the branches of an
    `scf.if` share bytes only if the whole block takes the same branch. In a loop of
    blocks, or in a function that only this kernel calls, an allocation lives from
    the first turn or call to the last one, and a barrier separates its activations.
    Allocations of other functions, and those whose activations a barrier cannot
    separate, are left to hoisting.

    **Sharing** is possible where all threads of the block pass a point between two
    lives together. `reuse` says where it happens: `always`; `never`; `auto`, where a
    barrier stands there already, or where it brings the kernel under the chip's
    limit or lets one more block be resident on a multiprocessor. With
    `insert-barriers`, a `gpu.barrier` is put where a life begins in bytes that
    another one may have used, unless one stands on every way there. Where no bytes
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

    Example: `test/Transforms/pack-memory.mlir`. Source: Triton's allocation of
    shared memory, and what issues with it taught (asynchronous writers, alignment).
  }];
  let options = [
    Option<"reuse", "reuse", "::mlir::workgroup::Reuse",
           /*default=*/"::mlir::workgroup::Reuse::Always",
           "Where buffers share bytes", [{::llvm::cl::values(
             clEnumValN(::mlir::workgroup::Reuse::Always, "always",
                        "wherever lives are disjoint"),
             clEnumValN(::mlir::workgroup::Reuse::Auto, "auto",
                        "where it needs no barrier, or pays"),
             clEnumValN(::mlir::workgroup::Reuse::Never, "never",
                        "nowhere"))}]>,
    Option<"dynamic", "dynamic", "::mlir::workgroup::DynamicMemory",
           /*default=*/"::mlir::workgroup::DynamicMemory::Auto",
           "When the arena is dynamic memory", [{::llvm::cl::values(
             clEnumValN(::mlir::workgroup::DynamicMemory::Auto, "auto",
                        "if it is too large for static memory"),
             clEnumValN(::mlir::workgroup::DynamicMemory::Always, "always",
                        "whatever its size"),
             clEnumValN(::mlir::workgroup::DynamicMemory::Never, "never",
                        "never; larger kernels are refused"))}]>,
    Option<"maxStaticBytes", "max-static-bytes", "int64_t", /*default=*/"49152",
           "Largest number of bytes of static workgroup memory of a kernel">,
    Option<"maxBytes", "max-bytes", "int64_t", /*default=*/"0",
           "Largest number of bytes of workgroup memory of a kernel; 0 means "
           "that of the chip">,
    Option<"alignment", "alignment", "int64_t", /*default=*/"16",
           "Smallest alignment in bytes of buffers in the arena; 16 at least">,
    Option<"insertBarriers", "insert-barriers", "bool", /*default=*/"true",
           "Put barriers between lives that share bytes">,
    Option<"chip", "chip", "std::string", /*default=*/"",
           "The chip to compile for; empty means the target of the gpu.module, "
           "else sm_80">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

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
    shape. Their rows are runs of the last dimension. Layouts are, in the order of
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
    dynamic memory. Buffers of functions that others call are swizzled
    only.

    With `swizzle=auto`, as in the pipeline, padding by up to a quarter of a row is
    preferred to swizzling, and in loops of more than 64 turns the arithmetic of a
    swizzle counts as a wavefront for each access of less than 16 bytes.

    Accesses through views (`memref.subview`, `cast`, `memory_space_cast`,
    `expand_shape`, `collapse_shape`, `transpose`, constant `reinterpret_cast`)
    become accesses to the buffer itself. `nvgpu.ldmatrix` and
    `nvgpu.device_async_copy` keep their 16 bytes together;
    `gpu.subgroup_mma_load_matrix` and its store allow padding only. A promised
    alignment stays true. Vectors have to be proved to stay within a row.
    An index beyond its extent (undefined) reaches another element than before.
    Induction variables are taken for up to four turns; other values that the
    whole block agrees on, as ids of blocks, for zero and the first three
    multiples of what is known to divide them. Accesses in loops count as often
    as the loops turn, eight times where that is not constant. Accesses whose
    addresses are not known are rewritten but do not count.

    A buffer is left alone, with a missed remark that says why, if the shape of
    the block is not known, if an operation uses it that relies on its layout (a
    call, `memref.copy`: lower copies first), or if no layout saves an eighth
    of what the conflicts cost.

    XOR swizzles as in CUTLASS and Triton are for rows of powers of two only.
    Upstream's `nvgpu-optimize-shared-memory` swizzles rows of other lengths out
    of bounds, takes every access for one of 16 bytes, and misses accesses through
    casts.

    Example: `test/Transforms/resolve-bank-conflicts.mlir`.
  }];
  let options = [
    Option<"swizzle", "swizzle", "::mlir::workgroup::Swizzle",
           /*default=*/"::mlir::workgroup::Swizzle::Always",
           "When rows are swizzled", [{::llvm::cl::values(
             clEnumValN(::mlir::workgroup::Swizzle::Always, "always",
                        "where it saves wavefronts"),
             clEnumValN(::mlir::workgroup::Swizzle::Auto, "auto",
                        "where they are worth its arithmetic"))}]>,
    Option<"maxBytes", "max-bytes", "int64_t", /*default=*/"0",
           "Workgroup memory in bytes that a kernel may have when its rows are "
           "padded; 0 means 48 KiB">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect", "::mlir::ub::UBDialect",
    "::mlir::vector::VectorDialect"
  ];
}

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
    size stays as it is, and one that outlives the turn of its loop or its
    function is an error.

    Example: `test/Transforms/sink-allocs.mlir`.
  }];
  let options = [
    ListOption<"fromSpaces", "from-spaces", "std::string",
               "Memory spaces of other systems, each as N:workgroup, N:private "
               "or N:global: memrefs in memory space N are respelled before "
               "anything else">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

def PrintAccessesPass : Pass<"workgroup-print-accesses"> {
  let summary = "Say who touches which memory";
  let description = [{
    Changes nothing. Emits a remark for each access to memory that threads share, at
    its operation: what it does (`reads`, `writes` or `updates`, `async` if it may
    happen later), who does it (`thread`, `warp` or `block`), which memory it may be,
    and where in it: `long` and `apart` in bytes from where the buffer begins or,
    with indices in brackets, in elements of a memref whose strides are not
    constants. `anything` is memory of which nothing is known. What follows are the
    bounds that the access promises. At the kernel, a remark for each two buffers that
    may overlap. Values have the names that the IR is printed with.

    This is what the synchronisation passes go by. Example:
    `test/Analysis/accesses.mlir`.
  }];
  let options = [
    Option<"assumeDistinctArguments", "assume-distinct-arguments", "bool",
           /*default=*/"false",
           "Take different memref arguments of a function not to overlap">
  ];
}

def PrintUniformityPass : Pass<"workgroup-print-uniformity"> {
  let summary = "Say what the threads of a block, and of a warp, agree on";
  let description = [{
    Changes nothing. Emits a remark at every operation in device code: who executes
    it together, and who holds the same results, `block`, `warp` (32 threads, in the
    order of x, y, z) or `thread`. What cannot be decided counts as `thread`. This is
    what the other passes go by when they spread work over a block or place a
    barrier.

    Example: `test/Analysis/uniformity.mlir`. Source: Karrenberg and Hack, "Improving
    Performance of OpenCL on CPUs" (CC 2012).
  }];
}

def VerifyKernelsPass : Pass<"workgroup-verify-kernels", "::mlir::ModuleOp"> {
  let summary = "Reject kernels that the lowering to NVVM would miscompile";
  let description = [{
    Changes nothing. Each finding is an error at its op, with a remedy:

    - allocations and deallocations in workgroup memory that were not hoisted
      (upstream: one buffer per thread, or a call of `malloc`), and arguments of
      kernels in workgroup memory;
    - `scf.forall` with a mapping (upstream: every thread runs all of it);
    - a lane mapping of more than 32 iterations (upstream: the rest never runs);
    - barriers that not all threads of the block reach together;
    - operands of matrix instructions whose index leaves their buffer in some
      thread of the known block (upstream: `threadIdx.x` taken for the lane);
    - accesses to workgroup memory that promise a larger alignment than their
      buffer and place have, or whose instruction (`cp.async`, `ldmatrix`) needs
      one;
    - workgroup buffers without a stated alignment (upstream: 4 bytes declared,
      16 assumed), unless `assume-buffer-alignment` says that a later pass states
      it;
    - `gpu.dynamic_shared_memory` next to static buffers (upstream: they overlap);
    - attributions of a type that upstream declares too small or in another
      memory;
    - variables (`memref.global`, not constant) that several modules of kernels,
      or the host, use (upstream: each has one of its own);
    - copies that were not lowered;
    - functions that return a global (upstream: its address is lost);
    - more workgroup memory than a block can have.

    `verify-barriers=false` turns off the check of barriers.

    Example: `test/Transforms/verify-kernels-invalid.mlir`.
  }];
  let options = [
    Option<"verifyBarriers", "verify-barriers", "bool", /*default=*/"true",
           "Reject barriers in divergent control flow">,
    Option<"maxStaticBytes", "max-static-bytes", "int64_t", /*default=*/"49152",
           "Largest number of bytes of static workgroup memory of a kernel">,
    Option<"maxBytes", "max-bytes", "int64_t", /*default=*/"0",
           "Largest number of bytes of workgroup memory of a kernel, static and "
           "dynamic; 0 means that of the chip">,
    Option<"assumeBufferAlignment", "assume-buffer-alignment", "int64_t",
           /*default=*/"1",
           "Alignment in bytes that a later pass will give every static buffer">,
  ];
}

def VerifyNVVMPass : Pass<"workgroup-verify-nvvm"> {
  let summary = "Reject what the conversion to NVVM left behind";
  let description = [{
    Changes nothing. An operation in a `gpu.module` that is not of the LLVM or
    NVVM dialects (for example an access to memory of a vector of rank two) could
    not be lowered; the error names it, instead of the translation's
    "unrealized_conversion_cast".
  }];
}

#endif // WORKGROUP_PASSES
