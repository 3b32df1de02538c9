//===- NVVM.td - Kernels to the NVVM dialect ---------------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_NVVM
#define WORKGROUP_TRANSFORMS_NVVM

include "mlir/Pass/PassBase.td"
include "workgroup/PassOptions.td"

def AssertBoundsPass : Pass<"workgroup-assert-bounds", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Assert that accesses and views in kernels are in bounds";
  let description = [{
    Puts a `cf.assert` before each access to a memref, and each view of one, that
    promises something of its bounds: an index lies in its dimension, a
    `memref.subview` in its source, a vector that says so in its row. On the emulator
    one that fails is the finding `assertion`; on a GPU it ends the launch. That is
    more than the emulator sees by itself, for which all bytes of a buffer are one: a
    slice that goes on into the next row is in the buffer. It is what
    `workgroup-verify-sync` takes for granted where a kernel is safe provided that
    accesses are in bounds.

    Asserted are operations of memref, by upstream's interface for run-time
    verification, `vector.load` and `vector.store` (their first element: they may go on
    into the next row, unless strides are dynamic), and `vector.transfer_read` and
    `vector.transfer_write` without a mask. Asynchronous copies and matrices of warps are not.

    It has to run before what takes slices into indices, as padding does:
    `assert_bounds=True` leaves `workgroup-resolve-bank-conflicts` out.

    A second run asserts everything once more. Example:
    `test/Transforms/NVVM/assert-bounds.mlir`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::affine::AffineDialect",
                           "::mlir::scf::SCFDialect"];
}

def AttachTargetPass : Pass<"workgroup-attach-target", "::mlir::ModuleOp"> {
  let summary = "Attach `#nvvm.target` to every GPU module";
  let description = [{
    Gives each `gpu.module` a `#nvvm.target` for `chip`, with the oldest PTX
    version that knows the chip and the operations in the module. A module that
    has a target keeps it.

    Fails on a chip that is not in the table of supported chips, and on a module
    whose target names another chip than the option.

    Example: `test/Transforms/NVVM/attach-target.mlir`.
  }];
  let options = [
    ChipOption,
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
    thread otherwise. Kernels of up to 128 threads a block get `nvvm.minctasm = 1`, if
    they have none: ptxas would spill rather than have fewer than ten blocks of 64 threads, or
    four of 128, on a processor.

    Does nothing to a module without `gpu.func`s that upstream's pass would not
    do. Example: `test/Transforms/NVVM/convert-kernels-to-nvvm.mlir`.
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
      shuffles of narrow elements, of 64 bits, and of vectors) becomes shuffles of 32 bits and
      arithmetic: a narrow element has a word of its own, a vector the words that it fills, or
      a word for each element if the last one would not be full;
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
    - what views are made of becomes arithmetic and a `memref.reinterpret_cast`, by the patterns of
      upstream's `expand-strided-metadata`, which need not look at anything else for that;
    - structured (linalg) operations that are the work of one thread become
      loops: those of a block with one thread, behind a comparison that lets one
      thread through, and those that write private memory, or a subview whose
      offset steps from thread to thread by no less than its size. A product of floats and its
      addition to a sum become one `llvm.intr.fma`.

    Fails on any other structured operation: left as it is, every thread would do
    all of its work and race on the result. Fails on operations of warps that
    NVIDIA GPUs have no instruction for, on clusters of a
    `gpu.subgroup_reduce` that reach beyond a warp, on atomic updates of elements that no GPU
    exchanges at once, and on a `gpu.printf` whose format does not fit its arguments. Whether all lanes of a warp
    that exist get to its shuffles and reductions together is not checked.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect",
    "::mlir::vector::VectorDialect"
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

def WidenFloatsPass : Pass<"workgroup-widen-floats"> {
  let summary = "Compute in f32 with floats of 8 bits and less";
  let description = [{
    GPUs store and convert floats of 8, 6 and 4 bits, and compute in wider ones. What
    kernels, bodies of `linalg.generic`, `linalg.map` and `linalg.reduce`, and operations
    on tensors compute with them extends its operands to `f32`, and rounds its
    result to the type that it has. A sum, a difference, a product, a quotient and a root
    are what the exact one would be rounded to; a product and a sum in one (`math.fma`,
    `vector.fma`) go by `f64` for that. Functions are as close as those of `f32`, rounded.
    `vector.reduction`, `gpu.all_reduce` and `gpu.subgroup_reduce` combine in `f32`, and round once.

    ```mlir
    %s = arith.addf %a, %b : f8E5M2
    ```
    becomes
    ```mlir
    %0 = arith.extf %a : f8E5M2 to f32
    %1 = arith.extf %b : f8E5M2 to f32
    %2 = arith.addf %0, %1 : f32
    %s = arith.truncf %2 : f32 to f8E5M2
    ```

    Left alone are operations that make an `f8E8M0FNU`, to which nothing is rounded, atomic updates,
    reductions by a region, and other vector operations; `workgroup-verify-kernels` refuses them.
    Example: `test/Transforms/NVVM/widen-floats.mlir`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // WORKGROUP_TRANSFORMS_NVVM
