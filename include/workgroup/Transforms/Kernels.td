//===- Kernels.td - Which operations share a kernel --------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_KERNELS
#define WORKGROUP_TRANSFORMS_KERNELS

include "mlir/Pass/PassBase.td"
include "workgroup/PassOptions.td"
include "workgroup/Remarks.td"

def ChainBytesOption
    : SharedOption, Option<"chainBytes", "chain-bytes", "int64_t", /*default=*/"0",
             "Bytes of workgroup memory that a chain of two contractions may take; 0 for "
             "kernels of one">;

def ChainBlocksOption
    : SharedOption, Option<"chainBlocks", "chain-blocks", "int64_t", /*default=*/"0",
             "Blocks that a chain of much work has at least">;

def FormKernelsPass : Pass<"workgroup-form-kernels", "ModuleOp"> {
  let summary = "Outline the operations that share a kernel into a function";
  let description = [{
    Every structured operation on tensors outside of kernels ends in exactly one private function
    `@<function>_<n>_<class>`, which the host calls, in destination-passing style: what
    it reads comes first among the arguments, then, for each result that is no update of
    an argument that nothing else reads, a tensor to put it into. The result of its last operation, the
    root, is the last. Fills, and others that read no tensor, are made
    by each kernel that needs them; slices are taken by the kernel, so that the host copies
    none.

    An operation joins the kernel of its users if

    - they are all in it, or the others come behind its end;
    - it is read element by element (by projected permutations), in one order, and not by a
      contraction or window, which would compute it again for each sum;
    - the loops that blocks share out, the rows, are loops of it, too, or it is cheap enough
      to be computed by several blocks. Reductions of a kernel have the same rows; the
      first one to join makes them those of the kernel;
    - there is one contraction or window at most, with nothing but element-wise
      operations behind it, or two contractions that are a chain;
    - of what others need as well, no two blocks make the same;
    - the host writes to no memory before the kernel that the operation may read.

    Otherwise a remark says what kept it out.

    Two contractions are a chain if the second multiplies what element-wise operations, and sums
    along rows, make of the result of the first, as attention does, and if nothing of that is for
    others. Results are contiguous along their columns, and what the second one reads along its
    sums. They become one kernel, which keeps some rows in workgroup memory in between,
    with `chain-bytes` of this memory for 16 rows and the tiles that are multiplied; or which goes
    through the columns of the first result, if it can (see `workgroup-tile-kernel`) and rows are too
    long: of f32, where rows are a multiple of 16, and columns of 64; of 16 bits, whatever their
    lengths, those too that only the launch knows. The columns of the second result, and the sums
    of the first, are of constant extents of 256 at most: what is computed with an element of the
    row is then less than what it costs to have it in global memory. There are at least 16 rows, and
    `chain-blocks` times as many if there is much to do for each 16 of them; but for fewer rows
    of 16 bits with a softmax between, where blocks can share the columns. The rows go along the last loop
    of more than one iteration that one factor has alone: queries, or the heads that share keys. A single row is
    given a loop of one iteration. If a softmax is between and the second contraction adds up
    in 16 bits, it adds up in f32 and rounds the results: weights are divided by their sum
    behind it.

    An `scf.forall` or `scf.parallel` of the host that is mapped to nothing is a kernel of its own,
    `@<function>_<n>_points` if an iteration is the work of one thread, `@<function>_<n>_tiles` if
    it holds structured operations, copies or parallel loops, which a block does. What becomes of
    its iterations `workgroup-map-loops` decides, when tensors are buffers. Loops that no kernel
    can be made of (`workgroup-serialize-loops` names them) stay, and what is in them becomes kernels.

    The tensors that callers pass to public functions with operations on tensors become
    `bufferization.writable = false`, unless they say otherwise: bufferization would write
    results into them.

    Source: the grouping of IREE's dispatch regions
    (https://iree.dev/developers/design-docs/), with kernels as functions instead of an
    operation of their own.
  }];
  let options = [
    ChainBytesOption,
    ChainBlocksOption,
  ];
  let dependentDialects = ["bufferization::BufferizationDialect",
                           "func::FuncDialect", "linalg::LinalgDialect",
                           "tensor::TensorDialect"];
}

def FormKernels_FormedKernel : Passed<"Operations became a kernel.">;
def FormKernels_KernelOfItsOwn
    : Missed<"An operation is not in the kernel of what uses it.">;

def PrepareBufferizationPass
    : Pass<"workgroup-prepare-bufferization", "::mlir::ModuleOp"> {
  let summary = "Prepare tensors for upstream's one-shot bufferization";
  let description = [{
    Runs upstream's `eliminate-empty-tensors`, but leaves a `tensor.empty` alone
    that stands in the operation whose result it is inserted into: upstream lets
    the tensor use that result before it is there (LLVM 22.1).

    Then tensors that loops yield get memory of their own where bufferization
    with `allow-return-allocs-from-loops` takes for granted that they have some:
    the second of two that an `scf.for` or `scf.while` yields in one iteration, or a
    function that is called returns, if they are one value, or views of one; what
    they yield or return of constants; and what the body of an `scf.while`
    yields of something else than the same argument that is not made in the body.
    Without, a change of the one is a change of the other.

    ```mlir
    scf.yield %x, %x : tensor<8xf32>, tensor<8xf32>
    ```
    becomes
    ```mlir
    %copy = bufferization.alloc_tensor() copy(%x) : tensor<8xf32>
    scf.yield %x, %copy : tensor<8xf32>, tensor<8xf32>
    ```

    `bufferization.materialize_in_destination` hands on its source where the tensor
    that it names must keep what it has: an argument with `bufferization.writable =
    false`, a constant, and what something else reads. In others it is written, as
    upstream does it.

    Of several operations of a block of code that start from one fill, each gets a
    fill of its own: one buffer would be filled, and copied to the others.

    Fails on such a tensor of unknown rank, which cannot be copied, and on tensors
    with encodings, which buffers do not have.

    To be run right before `one-shot-bufferize`: canonicalization between may
    remove copies. Example: `test/Transforms/Kernels/prepare-bufferization.mlir`.
  }];
  let dependentDialects = [
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def ScheduleKernelsPass : Pass<"workgroup-schedule-kernels", "ModuleOp"> {
  let summary = "Make launches by the program's schedule, or by default sizes";
  let description = [{
    For `mlir-opt` alone: what comes before `workgroup-memory`.

    - A module that carries `@__transform_main` is scheduled by it, with upstream's interpreter; the
      schedule is erased.
    - A module that has kernels, or loops that are mapped to blocks, is left alone.
    - Else the passes of a schedule are run with default sizes: `workgroup-linalg-to-kernels`,
      `workgroup-tile-kernel{default-threads}`, `workgroup-bufferize`, and on each function
      `workgroup-map-loops`, `workgroup-stage-operands`, `workgroup-place-buffers`,
      `workgroup-map-to-threads` and `workgroup-form-launches`; then functions of kernels are inlined.

    The default sizes are right for any program of linalg that the passes take, and fast for few: they know neither
    extents nor chip. `python -m pipeline compile program.mlir --emit schedule` prints a schedule that does, which a
    program can carry.

    Example: `test/Pipelines/linalg-to-nvvm.mlir`.
  }];
  let options = [
    Option<"threads", "threads", "int64_t", /*default=*/"128",
           "Threads of a block, by default sizes">,
    ChipOption,
    AssumeAlignmentOption,
    AssumeDistinctArgumentsOption,
  ];
}

def TileKernelPass : Pass<"workgroup-tile-kernel", "func::FuncOp"> {
  let summary = "Distribute the loops of a kernel to blocks";
  let description = [{
    Of a function that `workgroup-form-kernels` made, the root is tiled: an `scf.forall` over
    tiles, mapped to blocks (`#gpu.block<linear_dim_0>` for the last dimension), with
    all other operations of the kernel fused into it. What is returned besides the root's
    result is put together from the tiles, too.

    `block` gives the size of the tiles for each loop of the root; 0, or none, is
    for all of it. With 0 for all loops, or if nothing is to be done, there is one block.
    `reduction` gives the steps for the sums of a contraction, in the order of its loops; 0, or
    none, for no loop.

    `split` lets blocks share the sums of the one reduction, or contraction, of the kernel: it gives
    the size of the tiles for each loop of it, the parallel ones and the sums; 0, or none, is for all.
    A loop over blocks makes a partial result of each tile, along with what it is
    computed from, starting from the neutral element; their tensor has a dimension for each sum
    before those of the result. A second loop, that for the root, puts them together and does the
    rest. The order in which floating-point numbers are added up changes with the sizes, not from run to run.

    Of a chain of two contractions, `columns` is the number of columns of the first that a block
    makes at a time, along with what element-wise operations make of them; 0, or none, is for all.
    Both go through their sums in the steps of `reduction`.

    With `stream` instead, a block goes through the columns of the first, so many at a time, makes what
    lies between, and adds their products to the second: no row is kept, of whatever length. A
    softmax between the two is recognised by what bodies compute: the largest element of each row,
    `exp` or `exp2` of the difference to it, sums of that, and what is linear in it. The loop
    carries the largest element so far, the sums, and the products, which are scaled by the
    exponential of the difference when the largest element changes; divisions by the sums, and
    choices of zero for a row, are made behind the loop, to the products. Other sums along rows are
    carried as they are. This reassociates sums of floating-point numbers, and rounds what the second
    contraction multiplies before it is divided, not after; NaN and infinities come through as they
    would have.

    With `split` besides, of a chain with a softmax, blocks share the columns: the sizes are those of
    a block's tile along the loops of the second contraction, a multiple of `stream` along its sum. A
    loop over blocks makes, of each tile, the largest element of each row, the sums and the
    products, in tensors the first dimension of which is the number of the part. Another one, that for the
    root, scales the sums of all parts by the exponential of the difference of their largest element to the
    largest of all, adds them up, and does the rest. No atomic operation is needed, and the order is
    the same in each run.

    Of few rows of 16 bits, which tensor cores multiply, a tile has 16, the last of which are zeros
    and are stored nowhere.

    What an element-wise operation makes for several others stays in a tile, unless the size of
    this is not known, or `recompute` is set: then each of them computes it for itself. What is
    made of indices and numbers alone is always computed where it is read, but for products
    and windows, which would do so for each of their terms.

    With `default-threads`, sizes are chosen by one rule for each class, whatever the extents: tiles of 64
    rows and columns of a contraction, in steps of 16 along the sum; a row for each block of what has other
    sums; else four elements for each thread along the last loop. `pipeline.schedules`, in Python, chooses
    by extents and chip.

    Functions without structured operations on tensors, or with more than one block of code,
    are left alone. Fails if the function is more than one kernel, if `block` names a
    loop that blocks cannot share out, if `split` is given without just one reduction the partial
    results of which can be put together, or a chain with a softmax and `stream`, if `columns` or `stream` is given without a chain, and
    if `stream` is given where the second contraction needs whole rows.
  }];
  let options = [
    ListOption<"block", "block", "int64_t",
               "Sizes of tiles along the loops of the root; 0 for all">,
    ListOption<"reduction", "reduction", "int64_t",
               "Steps along the sums of contractions; 0 for all at once">,
    ListOption<"split", "split", "int64_t",
               "Sizes of tiles along the loops of a reduction that blocks share; 0 for all">,
    Option<"columns", "columns", "int64_t", /*default=*/"0",
           "Columns of the first of two contractions that are made at a time; 0 for all">,
    Option<"stream", "stream", "int64_t", /*default=*/"0",
           "Columns of the first of two contractions that are made and multiplied at a time; "
           "0 for whole rows">,
    Option<"recompute", "recompute", "bool", /*default=*/"false",
           "Keep no element-wise intermediate results">,
    Option<"defaultThreads", "default-threads", "int64_t", /*default=*/"0",
           "Choose all sizes by the class of the kernel, for blocks of so many threads; 0 "
           "for those that are given">,
  ];
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "gpu::GPUDialect", "scf::SCFDialect",
                           "tensor::TensorDialect"];
}

#endif // WORKGROUP_TRANSFORMS_KERNELS
