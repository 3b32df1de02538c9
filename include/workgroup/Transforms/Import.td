//===- Import.td - Kernels that other compilers wrote ------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_IMPORT
#define WORKGROUP_TRANSFORMS_IMPORT

include "mlir/Pass/PassBase.td"

def AdoptKernelsPass : Pass<"workgroup-adopt-kernels", "::mlir::ModuleOp"> {
  let summary = "Turn every `llvm.func` that is a kernel into a `gpu.func`";
  let description = [{
    Converts kernels of other compilers from `llvm.func` to `gpu.func`.

    Such kernels are `llvm.func`s with `nvvm.kernel` or with PTX's calling convention for
    kernels, as `mlir-translate --import-llvm` creates them, with or without a surrounding
    `gpu.module`. They become `gpu.func`s in a `gpu.module`, with the same arguments; the other
    symbols of their module move with them. Integer arithmetic, comparisons and branches become
    operations of arith and cf, which the other passes analyse:

    ```mlir
    llvm.func @twice(%p: !llvm.ptr) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64>} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %n = llvm.add %t, %t overflow<nsw> : i32
      ...
      llvm.return
    }
    ```
    becomes
    ```mlir
    gpu.func @twice(%p: !llvm.ptr) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %n = arith.addi %t, %t overflow<nsw> : i32
      ...
      gpu.return
    }
    ```

    Integer widths and flags are preserved: an `or` of `disjoint` bits becomes an addition, and
    extensions of non-negative values keep the sign. Memory accesses, floats, calls and vectors
    stay in LLVM's dialect. Of the argument attributes, `llvm.noalias`, `llvm.align`,
    `llvm.byval` and `llvm.readonly` are kept; `nvvm.grid_constant` becomes `llvm.readonly`.

    Fails on an LLVM module for a target other than `nvptx64`, and on a kernel that returns a
    value or is variadic. Modules without such kernels are left unchanged. Example:
    `test/Transforms/Import/adopt-kernels.mlir`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::gpu::GPUDialect"];
}

#endif // WORKGROUP_TRANSFORMS_IMPORT
