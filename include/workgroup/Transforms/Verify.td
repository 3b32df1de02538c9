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

    `verify-barriers=false` turns off the check of barriers. With
    `assume-distinct-arguments`, what is loaded from one argument may be uniform although
    another one is written.

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
