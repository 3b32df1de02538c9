//===- Verify.td - What is refused before lowering ---------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_VERIFY
#define WORKGROUP_TRANSFORMS_VERIFY

include "mlir/Pass/PassBase.td"
include "workgroup/PassOptions.td"
include "workgroup/Remarks.td"

def VerifyKernelsPass : Pass<"workgroup-verify-kernels", "::mlir::ModuleOp"> {
  let summary = "Reject kernels that the lowering to NVVM would miscompile";
  let description = [{
    Rejects kernels that the lowering to NVVM would miscompile.

    Changes nothing. Each finding is an error at its operation, with a remedy. In parentheses is
    what upstream does instead.

    Memory:

    - allocations and deallocations in workgroup memory that were not hoisted (one buffer per
      thread, or a call of `malloc`), and kernel arguments in workgroup memory;
    - accesses to workgroup memory that promise a larger alignment than their buffer and offset
      have, or whose instruction (`cp.async`, `ldmatrix`) requires one;
    - workgroup buffers without a stated alignment (4 bytes declared, 16 assumed), unless
      `assume-buffer-alignment` says that a later pass states it;
    - `gpu.dynamic_shared_memory` next to static buffers (they overlap);
    - attributions of a type that upstream declares too small or in another memory;
    - variables in workgroup memory without elements, unless they are external, which denotes
      dynamic memory (other variables begin at the same address);
    - variables (`memref.global`, not constant) that several kernel modules, or the host, use
      (each has one of its own);
    - functions that return a global (its address is lost);
    - views that go backwards through memory (addresses are computed as unsigned numbers);
    - more workgroup memory than a block can have.

    Threads:

    - `scf.forall` with a mapping (every thread executes all of it);
    - a lane mapping of more than 32 iterations (the rest never executes);
    - barriers that not all threads of the block reach together; `verify-barriers=false` turns
      this off;
    - operands of matrix instructions whose index leaves their buffer in some thread of the
      known block (`threadIdx.x` is used as the lane);
    - launches inside a kernel, or inside a function that it calls.

    Operations:

    - copies that were not lowered;
    - arithmetic of floats of 8 bits and less, which GPUs can only store and convert;
    - operations on matrices in registers that have no lowering (the process dies);
    - operations of gpu, nvgpu and nvvm that the chip of the module's target, or its PTX
      version, lacks; the error names the chips that have them.

    With `assume-distinct-arguments`, a value loaded from one argument may be uniform although
    another argument is written.

    Example: `test/Transforms/Verify/verify-kernels-invalid.mlir`.
  }];
  let options = [
    Option<"verifyBarriers", "verify-barriers", "bool", /*default=*/"true",
           "Reject barriers in divergent control flow">,
    MaxStaticBytesOption,
    MaxBytesOption,
    Option<"assumeBufferAlignment", "assume-buffer-alignment", "int64_t",
           /*default=*/"1",
           "Alignment in bytes that a later pass will give every static buffer">,
    AssumeDistinctArgumentsOption,
  ];
}

def VerifyKernels_OutOfCapacity : Failed<"A kernel takes more memory than it can have.">;

#endif // WORKGROUP_TRANSFORMS_VERIFY
