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
    Inserts assertions that accesses and views in kernels are in bounds.

    A `cf.assert` is inserted before each access to a memref, and each view of one, that implies
    a bound: an index lies in its dimension, a `memref.subview` in its source, a vector declared
    in bounds in its row. On the emulator, a failed assertion is the finding `assertion`; on a
    GPU, it ends the launch. The emulator alone sees less, as it checks whole buffers: a slice
    that continues into the next row is still in the buffer. `workgroup-verify-sync` assumes
    what this pass checks.

    Assertions cover operations of memref, through upstream's interface for run-time
    verification; the first element of `vector.load` and `vector.store`, whose others may
    continue into the next row, unless strides are dynamic; and `vector.transfer_read` and
    `vector.transfer_write` without a mask. They do not cover asynchronous copies and matrix
    operations of warps.

    Run before passes that turn slices into indices, such as padding: `assert_bounds=True`
    leaves out `workgroup-resolve-bank-conflicts`.

    A second run inserts every assertion again. Example:
    `test/Transforms/NVVM/assert-bounds.mlir`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::affine::AffineDialect",
                           "::mlir::scf::SCFDialect"];
}

def AttachTargetPass : Pass<"workgroup-attach-target", "::mlir::ModuleOp"> {
  let summary = "Attach `#nvvm.target` to every GPU module";
  let description = [{
    Attaches an `#nvvm.target` to every GPU module.

    The target has the given `chip`, and the oldest PTX version that supports the chip and the
    operations in the module. An existing target is kept.

    Fails on a chip that is not in the table of supported chips, and on a module whose target
    names another chip than the option.

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
    Runs upstream's `convert-gpu-to-nvvm` with bare pointers, and keeps the attributes of kernel
    parameters. Runs `convert-nvvm-to-llvm` before it, and `convert-math-to-llvm` after it, where
    they have anything to convert.

    Upstream's pass drops `llvm.byval`, without which a parameter would be an address in the
    host's memory; this pass restores it. A parameter that is also `llvm.readonly` becomes
    `nvvm.grid_constant`, which lets the hardware read a tensor map in place; without it, LLVM
    copies the parameter to the stack of each thread. Kernels of up to 128 threads per block get
    `nvvm.minctasm = 1`, unless they have a value. Without it, ptxas would spill registers to
    keep ten blocks of 64 threads, or four of 128, on a multiprocessor.

    Modules without `gpu.func`s are left as upstream's pass leaves them. Example:
    `test/Transforms/NVVM/convert-kernels-to-nvvm.mlir`.
  }];
}

def FlattenKernelArgumentsPass
    : Pass<"workgroup-flatten-kernel-arguments", "::mlir::ModuleOp"> {
  let summary = "Turn memref arguments of kernels into pointers and extents";
  let description = [{
    Replaces memref arguments of kernels by pointers and extents, so that a launcher needs no
    knowledge of MLIR.

    Each memref argument becomes one pointer: a memref of rank 0 at the start of the buffer.
    Dynamic extents, strides and offsets that the kernel uses become `index` arguments after all
    others; two that are equal at every launch become one. Launches and kernels change together,
    and so do functions of the `gpu.module` that kernels call.

    A tensor map (`!nvgpu.tensormap.descriptor`) becomes a pointer. That of a kernel points to a
    parameter of 128 bytes passed by value, which is where the hardware reads it.

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

    Kernels of one module get unique names, because one PTX text will contain them.

    Fails on

    - unranked memrefs, and layouts that are not strided;
    - tensor maps whose box has dynamic extents;
    - types without an LLVM form;
    - functions that return a memref of dynamic shape;
    - uses other than calls of a function with such arguments.

    Source: `docs/kernel-interface.md`; upstream's bare-pointer convention refuses dynamic
    layouts.
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
    Rewrites what upstream's conversion to NVVM rejects or miscompiles.

    - **Alignment.** Workgroup attributions of `gpu.func` and workgroup globals get at least 16
      bytes. Upstream declares them with the alignment of their element, next to accesses of 16
      bytes.
    - **Matrices and copies.** Operations of nvgpu become those of NVVM, as by upstream's
      `convert-nvgpu-to-nvvm`, which looks at all operations; it runs where loops may carry
      values of its types.
    - **Vectors.** Vector operations of any rank become operations with an LLVM form; upstream
      crashes on, or miscompiles, rows at dynamic positions. Exceptions are `vector.load`,
      `vector.store` and their masked forms of rank two, and gathers and scatters with strides,
      which `workgroup-verify-nvvm` reports. Transfers of several dimensions become loops, and
      those of one become vector accesses, by upstream's patterns. Operations of the affine
      dialect become arithmetic, and in functions loops and accesses, by upstream's `lower-affine`.
    - **Warps.** `gpu.subgroup_reduce`, ids and sizes of subgroups, and shuffles of narrow
      elements, of 64 bits and of vectors become 32-bit shuffles and arithmetic. A narrow
      element has a word of its own. A vector has the words that it fills, or one word per
      element if the last word would not be full. If the block is not known to consist of full
      warps, `gpu.subgroup_reduce` reduces over the lanes that have threads; upstream includes
      the undefined values of other lanes.
    - **Blocks.** `gpu.all_reduce` becomes shuffles in each warp and, if the block may have
      several warps, an exchange of their results in workgroup memory between two barriers, for
      any block size and shape. Upstream lets several lanes store the result, and these agree
      only if the number of warps is a power of two. Values are combined in thread order: a
      region must be associative but need not be commutative. Loops need no further barrier. All
      reductions of one type in one function share a buffer of one element per warp plus one. It
      is an attribution of a kernel, and a private global of other functions.
    - **Small floats.** Conversions of floats of 8, 6 and 4 bits, between each other and to and
      from wider floats and integers, become exact integer and `f32` arithmetic, rounded to
      nearest even. Values that are too large become infinity; if the type has none, NaN; if it
      has neither, the largest number. NaN becomes the largest number in a type without NaN.
      Nothing is rounded to `f8E8M0FNU`.
    - **Atomics.** `memref.generic_atomic_rmw` of floats, and of elements of less than 8 bits,
      compares and exchanges integers of the same bits; upstream compares floats, which LLVM
      rejects. A `memref.atomic_rmw` without an LLVM operation, such as a product, becomes a
      `memref.generic_atomic_rmw`.
    - **printf.** Arguments of `gpu.printf` that are narrower than `int` or `double` are
      extended as in C, with the sign that the conversion specifier asks for. Upstream passes
      one byte where four are read.
    - **Views.** A `memref.expand_shape` that splits one dimension into several dynamic ones
      becomes a `memref.reinterpret_cast`, on which upstream's `expand-strided-metadata`
      crashes. Other views become arithmetic and a `memref.reinterpret_cast`, by the patterns of
      that pass.
    - **Structured operations.** A linalg operation that is the work of one thread becomes
      loops: in a block of one thread; behind a comparison that lets one thread through; on
      private memory; or on a subview whose offset differs between threads by at least its size.
      A floating-point product and its addition to a sum become one `llvm.intr.fma`.

    Fails on

    - any other structured operation, as every thread would do all of its work and race on the
      result;
    - operations of warps for which NVIDIA GPUs have no instruction;
    - clusters of a `gpu.subgroup_reduce` that extend beyond a warp;
    - atomic updates of elements that no GPU exchanges atomically;
    - a `gpu.printf` whose format does not fit its arguments.

    The pass does not check that all existing lanes of a warp reach its shuffles and reductions
    together.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def UnpackProductsPass : Pass<"workgroup-unpack-products"> {
  let summary = "Hand registers from product to product of warps as they are";
  let description = [{
    An `nvgpu.mma.sync` of `f16`, of `f64`, or of `f32` by tf32 becomes an
    `nvvm.mma.sync` of the registers that its vectors were made of, and the next
    product takes its sums from there. Upstream's conversion packs the sums of each
    product into an array of vectors, and unpacks it for the next one, by some twenty
    operations, which all that follows has to look at.

    ```mlir
    %a = vector.from_elements %a0, %a1, %a2, %a3, ... : vector<4x2xf16>
    %s = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 16]} : ...
    %t = nvgpu.mma.sync(%d, %e, %s) {mmaShape = [16, 8, 16]} : ...
    ```
    becomes
    ```mlir
    %s = nvvm.mma.sync A[%r0, %r1, %r2, %r3] B[%r4, %r5] C[%c0, %c1, %c2, %c3] ...
    %s0 = llvm.extractvalue %s[0] : !llvm.struct<(f32, f32, f32, f32)>
    ...
    %t = nvvm.mma.sync A[...] B[...] C[%s0, %s1, %s2, %s3] ...
    ```

    Other products are left to upstream. Example:
    `test/Transforms/NVVM/unpack-products.mlir`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::vector::VectorDialect"];
}

def VerifyNVVMPass : Pass<"workgroup-verify-nvvm"> {
  let summary = "Reject what the conversion to NVVM left behind";
  let description = [{
    Rejects operations that the conversion to NVVM left behind.

    Changes nothing. An operation in a `gpu.module` outside the LLVM and NVVM dialects, for
    example an access to memory of a vector of rank two, could not be lowered. The error names
    it, where the translation would say "unrealized_conversion_cast". The pass also rejects NVVM
    operations that the chip of the module's target lacks, and variables where an instruction
    takes a constant.
  }];
}

def WidenFloatsPass : Pass<"workgroup-widen-floats"> {
  let summary = "Compute in f32 with floats of 8 bits and less";
  let description = [{
    Computes in `f32` what operates on floats of 8 bits and less.

    GPUs store and convert floats of 8, 6 and 4 bits, but compute in wider ones. The pass
    rewrites arithmetic on them in kernels, in bodies of `linalg.generic`, `linalg.map` and
    `linalg.reduce`, and on tensors: operands are extended to `f32`, and the result is rounded
    to its type. Sums, differences, products, quotients and square roots are correctly rounded.
    A fused product and sum (`math.fma`, `vector.fma`) uses `f64` for that. Functions are as
    accurate as those of `f32`, rounded. `vector.reduction`, `gpu.all_reduce` and
    `gpu.subgroup_reduce` combine in `f32` and round once.

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

    Left unchanged are operations that produce `f8E8M0FNU`, to which nothing is rounded, atomic
    updates, reductions by a region, and other vector operations; `workgroup-verify-kernels`
    refuses them. Example: `test/Transforms/NVVM/widen-floats.mlir`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // WORKGROUP_TRANSFORMS_NVVM
