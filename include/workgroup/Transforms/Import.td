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
    Kernels of other compilers come as `llvm.func`s with `nvvm.kernel`, or with
    PTX's calling convention for kernels: as `mlir-translate --import-llvm` leaves
    them, in a module without a `gpu.module`, or in one. They become `gpu.func`s in
    a `gpu.module`, with the same arguments; what stands beside them becomes part
    of that module. Arithmetic of integers, comparisons, and branches become
    operations of arith and cf, which the other passes understand:

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

    Numbers are as large as they were, and what was promised of them still is:
    `disjoint` bits are added, extensions of what is not negative keep the sign.
    Accesses to memory, floats, calls and vectors stay as they are. Of what is said
    of arguments, `llvm.noalias`, `llvm.align`, `llvm.byval` and `llvm.readonly` are
    kept; `nvvm.grid_constant` becomes the last one.

    Fails on a module of LLVM for another machine than `nvptx64`, and on a kernel
    that returns something or takes a variable number of arguments. Modules without
    such kernels are left as they are. Example:
    `test/Transforms/Import/adopt-kernels.mlir`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::gpu::GPUDialect"];
}

#endif // WORKGROUP_TRANSFORMS_IMPORT
