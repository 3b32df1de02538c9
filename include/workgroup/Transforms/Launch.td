//===- Launch.td - From loops over blocks to launches ------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_LAUNCH
#define WORKGROUP_TRANSFORMS_LAUNCH

include "mlir/Pass/PassBase.td"
include "workgroup/Remarks.td"

def FormLaunchesPass : Pass<"workgroup-form-launches"> {
  let summary = "Turn loops over blocks into launches";
  let description = [{
    Replaces loops over blocks on the host by launches.

    Each `scf.forall` or `scf.parallel` that is mapped to blocks (`#gpu.block<x>`,
    `#gpu.block<linear_dim_0>`, `#gpu.loop_dim_map<processor = block_x, ...>`) becomes a
    `gpu.launch` with one block per iteration, which contains the loop's body. A function may
    have any number of such loops; bounds and steps may be dynamic. Loops inside launches,
    kernels, functions that those call, and functions that read thread ids are left to
    `workgroup-distribute-loops`, and so are loops over threads in the body.

    **Grid.** Dimensions go to x, y and z as they are mapped, and `linear_dim_0` to x. This
    requires a grid that is known to fit the limits of the hardware: 2^31 - 1 blocks along x,
    65,535 along y and z. Otherwise all dimensions go to x, and each block computes its
    iteration by unsigned 32-bit divisions. Dimensions mapped to `sequential` become loops in
    the launch. If the grid may be empty, the launch stands in an `scf.if`; a loop that is known
    to be empty is erased.

    **Block.** `threads` gives the number of threads per block along x, y and z. Without it, a
    block has as many threads along each dimension as the largest loop over threads in the body
    has iterations, at most 1,024 in all. Loops over warps count 32 threads per iteration.
    Linear dimensions are rounded up to whole warps, unless the loop contains a barrier. If the
    number is not known, or nothing is mapped to threads, a block has 256 threads. A remark
    reports the result.

    Launches of one stream execute in order, so the code after a loop over blocks sees the
    writes of all blocks.

    Fails, and changes nothing, if

    - a loop has results, or is mapped to blocks and to threads;
    - the grid has more than 2^31 - 1 blocks;
    - the body has another loop over blocks or a launch, or a kernel launches kernels;
    - the body, or a function that it calls, writes non-private memory outside of loops over
      threads: every thread of the block would write. Copies and linalg operations are exempt,
      as the block executes them together, and so are bodies that read ids of threads, lanes or
      warps.
  }];
  let options = [
    ListOption<"threads", "threads", "int64_t",
               "Threads of a block along x, y and z">,
  ];
  let dependentDialects = ["arith::ArithDialect", "gpu::GPUDialect",
                           "scf::SCFDialect"];
}

def FormLaunches_ErasedLoop : Passed<"A loop without iterations was removed.">;
def FormLaunches_FormedLaunch : Passed<"A loop over blocks became a launch.">;

def InferLaunchSizesPass : Pass<"workgroup-infer-launch-sizes"> {
  let summary = "Annotate kernels with the sizes that all of their launches have";
  let description = [{
    Annotates kernels with the block and grid sizes that all of their launches share.

    A `gpu.func` without `known_block_size` or `known_grid_size` gets the sizes of its
    `gpu.launch_func`s, if these are constants and all equal. Upstream sets them only during its
    own outlining. Passes that depend on the number of threads, such as those for
    synchronisation, use the annotation; the launcher refuses a launch of another size.

    ```mlir
    gpu.launch_func @m::@k blocks in (%n, %c1, %c1) threads in (%c128, %c1, %c1)
    ...
    gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>}
    ```

    A function gets `gpu.known_block_size` and `gpu.known_grid_size` if all kernels and
    functions that call it agree, nothing else refers to it, and it is not recursive.

    Changes nothing where launches or callers differ, or where there are none. Example:
    `test/Transforms/Launch/infer-launch-sizes.mlir`.
  }];
}

def MergeKernelsPass : Pass<"workgroup-merge-kernels", "::mlir::ModuleOp"> {
  let summary = "Merge identical kernels";
  let description = [{
    Keeps one of several identical kernel modules.

    If `gpu.module`s differ only in names and locations, the first one stays, and launches of
    kernels in the others launch those of the first. Its operations get the fused locations of
    all operations that they replace. Networks repeat their layers, and most of the compile time
    is LLVM's, which grows with the number of kernels.

    ```mlir
    gpu.launch_func @layer::@kernel ...
    gpu.launch_func @layer_0::@kernel ...
    ```
    becomes
    ```mlir
    gpu.launch_func @layer::@kernel ...
    gpu.launch_func @layer::@kernel ...
    ```

    A module stays if it is not launched, if anything else refers to it, or if it has variables
    of its own. A remark reports each removed module. Example:
    `test/Transforms/Launch/merge-kernels.mlir`.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

def MergeKernels_MergedKernels : Passed<"Several kernels became one.">;

#endif // WORKGROUP_TRANSFORMS_LAUNCH
