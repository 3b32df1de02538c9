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
    Replaces each `scf.forall` or `scf.parallel` on the host that is mapped to blocks
    (`#gpu.block<x>`, `#gpu.block<linear_dim_0>`, `#gpu.loop_dim_map<processor =
    block_x, ...>`) by a `gpu.launch` with one block for each iteration, in which the
    body stands. Any number of them may be in a function; bounds and steps may be dynamic.
    What is in launches, in kernels, in functions that those call, and in functions with
    thread ids of their own is left to `workgroup-distribute-loops`. So are loops over
    threads in the body.

    Dimensions go to x, y and z as they are mapped, `linear_dim_0` to x, if the grid is
    known to be within the limits of the hardware: 2^31 - 1 blocks along x, 65,535 along y
    and z. Otherwise all go to x, and each block finds its iteration by unsigned divisions
    of 32 bits. Dimensions that are mapped to `sequential` become loops in the launch.
    Where a grid may be empty, the launch stands in an `scf.if`; a loop that is known to
    have no iteration is erased.

    A block has as many threads as `threads` tells, or else as the loops over threads in
    the body have iterations: along x, y and z as many as the largest, 1,024 in all at
    most (loops over warps count 32 for each; linear dimensions are rounded up to whole warps, unless a
    barrier is in the loop); 256 where that is not known, or nothing is
    mapped to threads. A remark tells.

    What follows a loop over blocks sees what all of them have done, for launches of one
    stream follow each other.

    Fails, and changes nothing, where a loop has results, where it goes both to blocks
    and to threads, where there are more than 2^31 - 1 blocks, where the body has another
    loop over blocks or a launch, where a kernel launches kernels, and where the body writes
    memory that is not the thread's own outside of loops over threads: each thread of the
    block would. So do functions that the body calls. Copies and linalg operations stand for
    work that the block does together, and may; and nothing is refused in a body that asks for
    ids of threads, lanes or warps itself.
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
    Example: `test/Transforms/Launch/infer-launch-sizes.mlir`.
  }];
}

def MergeKernelsPass : Pass<"workgroup-merge-kernels", "::mlir::ModuleOp"> {
  let summary = "Merge kernels that are alike";
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
    `test/Transforms/Launch/merge-kernels.mlir`.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

def MergeKernels_MergedKernels : Passed<"Several kernels became one.">;

#endif // WORKGROUP_TRANSFORMS_LAUNCH
