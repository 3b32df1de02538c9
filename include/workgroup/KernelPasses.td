//===- KernelPasses.td - Passes on whole kernels -----------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_KERNEL_PASSES
#define WORKGROUP_KERNEL_PASSES

include "mlir/Pass/PassBase.td"

def AttachTargetPass : Pass<"workgroup-attach-target", "::mlir::ModuleOp"> {
  let summary = "Attach `#nvvm.target` to every GPU module";
  let description = [{
    Gives each `gpu.module` a `#nvvm.target` for `chip`, with the oldest PTX
    version that knows the chip and the operations in the module. A module that
    has a target keeps it.

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

def InferLaunchSizesPass : Pass<"workgroup-infer-launch-sizes"> {
  let summary = "Tell kernels the sizes that all of their launches have";
  let description = [{
    Gives a `gpu.func` that does not say `known_block_size` or `known_grid_size`
    those of the `gpu.launch_func`s of it, if they are constants and all the same:
    so far only upstream's outlining does, and only for what it outlines itself.
    What depends on the number of threads, as the synchronisation passes do, is
    recorded with it: the launcher refuses a launch of another size.

    ```mlir
    gpu.launch_func @m::@k blocks in (%n, %c1, %c1) threads in (%c128, %c1, %c1)
    ...
    gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>}
    ```

    A function gets `gpu.known_block_size` and `gpu.known_grid_size` if all
    kernels and functions that call it have the same, nothing else refers to it,
    and it does not call itself.

    Changes nothing where launches, or those who call, differ, and without any.
    Example: `test/Transforms/infer-launch-sizes.mlir`.
  }];
}

def MergeKernelsPass : Pass<"workgroup-merge-kernels", "::mlir::ModuleOp"> {
  let summary = "Launch one kernel where several are alike";
  let description = [{
    Of `gpu.module`s that differ in nothing but their names and locations, the
    first one stays, and what launched kernels of the others launches its own.
    Its operations get the locations of all that they stand for, fused. Networks
    repeat their layers, and most of the time of a compilation is that of LLVM,
    kernel by kernel.

    ```mlir
    gpu.launch_func @layer::@kernel ...
    gpu.launch_func @layer_0::@kernel ...
    ```
    becomes
    ```mlir
    gpu.launch_func @layer::@kernel ...
    gpu.launch_func @layer::@kernel ...
    ```

    A module that is not launched, that something else refers to, or that has
    variables of its own, stays. A remark tells of each that goes. Example:
    `test/Transforms/merge-kernels.mlir`.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
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
    thread otherwise. Kernels of up to 64 threads a block get `nvvm.minctasm = 1`, if
    they have none: ptxas would spill rather than have fewer than ten such blocks on
    a processor.

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
    - transfers of several dimensions become loops, those of one vector accesses
      (by upstream's patterns, which take long to find that there is none), and
      `affine.delinearize_index` and `affine.linearize_index` become arithmetic;
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
    - conversions of floats of 8, 6 and 4 bits, to and from each other, wider ones and integers,
      become arithmetic of integers and `f32`, exact and rounded to the nearest even number: what
      is too large is an infinity, NaN where there is none, or else the largest number, which NaN
      becomes, too. Nothing is rounded to `f8E8M0FNU`;
    - `memref.generic_atomic_rmw` of floats, and of elements of less than 8 bits, compares and
      exchanges the integers of their bits (upstream makes a comparison of floats, which LLVM
      rejects); `memref.atomic_rmw` that LLVM has no operation for, products among them, becomes
      a `memref.generic_atomic_rmw`;
    - arguments of a `gpu.printf` that are narrower than `int` or `double` are extended as C does
      it, by the sign that their conversion asks for (upstream passes a byte where four are
      read);
    - a `memref.expand_shape` that makes several dynamic dimensions of one becomes
      a `memref.reinterpret_cast` (upstream's `expand-strided-metadata` crashes);
    - structured (linalg) operations that are the work of one thread become
      loops: those of a block with one thread, behind a comparison that lets one
      thread through, and those that write private memory, or a subview whose
      offset steps from thread to thread by no less than its size.

    Fails on any other structured operation: left as it is, every thread would do
    all of its work and race on the result. Fails on operations of warps that
    NVIDIA GPUs have no instruction for, on clusters of a
    `gpu.subgroup_reduce` that reach beyond a warp, on atomic updates of elements that no GPU
    exchanges at once, and on a `gpu.printf` whose format does not fit its arguments. Whether all lanes of a warp
    that exist get to its shuffles and reductions together is not checked.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect",
    "::mlir::vector::VectorDialect"
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
    - arithmetic of floats of 8 bits and less, which GPUs store and convert;
    - functions that return a global (upstream: its address is lost);
    - views that go backwards through memory (upstream: addresses are computed
      without regard to the sign);
    - launches that threads of a kernel would execute, in it or in a function that
      it calls;
    - operations on matrices in registers that have no lowering (upstream: the
      process dies);
    - operations of the dialects gpu, nvgpu and nvvm that the chip of the
      module's target lacks, or the version of PTX that it asks for, with the
      chips that have them;
    - variables in workgroup memory without elements, unless they are external, which
      is dynamic memory (upstream: other variables begin where they do);
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
    Option<"assumeDistinctArguments", "assume-distinct-arguments", "bool",
           /*default=*/"false",
           "Different arguments are different memory, so that what is loaded "
           "from one may be uniform although another one is written">,
  ];
}

def VerifyNVVMPass : Pass<"workgroup-verify-nvvm"> {
  let summary = "Reject what the conversion to NVVM left behind";
  let description = [{
    Changes nothing. An operation in a `gpu.module` that is not of the LLVM or
    NVVM dialects (for example an access to memory of a vector of rank two) could
    not be lowered; the error names it, instead of the translation's
    "unrealized_conversion_cast". Neither can an operation of NVVM that the chip
    of the module's target lacks, or a variable where an instruction takes a
    constant.
  }];
}

#endif // WORKGROUP_KERNEL_PASSES
