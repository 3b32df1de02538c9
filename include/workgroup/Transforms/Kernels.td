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
    Groups structured operations into kernels, and outlines each group into a private function.

    Every structured operation on tensors outside of kernels ends up in exactly one function
    `@<function>_<n>_<class>`, which the host calls. The function is in destination-passing
    style. Its arguments are the tensors that it reads, then one tensor for each result, unless
    that result updates an argument that nothing else reads. The last result is that of the
    *root*, the last operation of the group. Operations that read no tensor, such as fills, are
    repeated in each kernel that needs them. Kernels take their slices themselves, so that the
    host copies none.

    An operation joins the kernel of its users if

    - all of its users are in that kernel, or come after its end;
    - its users read it element by element (through projected permutations), all in one order,
      and none is a contraction or window, which would compute it once per term of a sum;
    - it has the loops that the blocks divide (the *rows*), or is cheap enough that several
      blocks may compute it. All reductions of a kernel have the same rows; the first reduction
      that joins determines them;
    - the kernel then has at most one contraction or window, followed by element-wise operations
      only, or two contractions that form a chain;
    - no two blocks produce the same element of a result that others need as well;
    - before the kernel, the host writes no memory that the operation may read.

    Otherwise a remark says what prevented it.

    **Chains.** Two contractions form a chain if element-wise operations, and reductions of
    rows, compute a factor of the second from the result of the first, as in attention. Nothing
    else may use the values in between. Both results must be contiguous along their columns, and
    the second contraction's operand along its sum. A chain becomes one kernel in one of two
    ways:

    - The kernel keeps whole rows in workgroup memory. 16 rows, and the tiles that are
      multiplied, must fit into `chain-bytes`.
    - If rows are too long for that, the kernel streams through the columns of the first result,
      if it can (see `workgroup-tile-kernel`). For elements of up to 32 bits, any length will
      do, including lengths that only the launch knows. For larger elements, the number of rows
      must be a multiple of 16, and that of columns a multiple of 64.

    The columns of the second result, and the sums of the first, must have constant extents of
    256 at most: more arithmetic per row element would cost more than a trip through global
    memory. There are at least 16 rows. If the work per 16 rows is large, there are at least 16
    rows for each of `chain-blocks` blocks. Fewer rows are possible with a softmax in between, for `f32`,
    and for elements of 16 bits if tensor cores of `chip` have the type: there, blocks can divide
    the columns. The rows run along the last loop
    of more than one iteration that one factor has alone: queries, or heads that share keys. A
    single row gets a loop of one iteration. If the chain has a softmax and its second
    contraction sums in 16 bits, it sums in `f32` and rounds the results, since the division by
    the sum of the weights comes afterwards.

    With `narrow`, the weights of a chain with a softmax that are `f32`, and multiplied by
    values of `f16` or `bf16` in sums of `f32`, are rounded to the type of the values, if tensor
    cores of `chip` have it. Without, a remark says so.

    **Parallel loops.** An unmapped `scf.forall` or `scf.parallel` of the host is a kernel of
    its own. It is `@<function>_<n>_points` if one thread can execute an iteration. It is
    `@<function>_<n>_tiles` if an iteration contains structured operations, copies or parallel
    loops, which take a block. `workgroup-map-loops` maps the iterations after bufferization.
    Loops that cannot be a kernel (`workgroup-serialize-loops` lists them) stay, and their
    contents become kernels.

    Tensor arguments of public functions with operations on tensors become
    `bufferization.writable = false`, unless they are annotated otherwise: bufferization would
    write results into them.

    Source: the grouping of IREE's dispatch regions (https://iree.dev/developers/design-docs/),
    with functions as kernels instead of an operation of their own.
  }];
  let options = [
    ChainBytesOption,
    ChainBlocksOption,
    ChipOption,
    NarrowOption,
  ];
  let dependentDialects = ["bufferization::BufferizationDialect",
                           "func::FuncDialect", "linalg::LinalgDialect",
                           "tensor::TensorDialect"];
}

def FormKernels_FormedKernel : Passed<"Operations became a kernel.">;
def FormKernels_NarrowedWeights
    : Passed<"Weights of attention are rounded to the type of values.">;
def FormKernels_WideWeights
    : Missed<"Weights of attention have more bits than tensor cores multiply values by.">;
def FormKernels_KernelOfItsOwn
    : Missed<"An operation is not in the kernel of its users.">;

def PrepareBufferizationPass
    : Pass<"workgroup-prepare-bufferization", "::mlir::ModuleOp"> {
  let summary = "Prepare tensors for upstream's one-shot bufferization";
  let description = [{
    Copies tensors that upstream's one-shot bufferization would wrongly let share memory.

    The pass first runs upstream's `eliminate-empty-tensors`, except on a `tensor.empty` that
    stands inside the operation whose result it is inserted into: upstream lets that tensor use
    the result before it exists (LLVM 22.1).

    Then it inserts copies where bufferization with `allow-return-allocs-from-loops` assumes
    that yielded tensors have memory of their own:

    - the second of two tensors that an `scf.for` or `scf.while` yields in one iteration, or
      that a called function returns, if both are one value or views of one;
    - constants that are yielded or returned;
    - a value that the body of an `scf.while` yields, unless it is the corresponding argument or
      is created in the body.

    Without the copy, a write to one would change the other.

    ```mlir
    scf.yield %x, %x : tensor<8xf32>, tensor<8xf32>
    ```
    becomes
    ```mlir
    %copy = bufferization.alloc_tensor() copy(%x) : tensor<8xf32>
    scf.yield %x, %copy : tensor<8xf32>, tensor<8xf32>
    ```

    `bufferization.materialize_in_destination` is replaced by its source if its destination must
    keep its contents: an argument with `bufferization.writable = false`, a constant, or a
    tensor that something else reads. Other destinations are written, as upstream does.

    If several operations of one block of code start from the same fill, each gets a fill of its
    own. Otherwise one buffer would be filled and copied to the others.

    Fails on such a tensor of unknown rank, which cannot be copied, and on tensors with
    encodings, which buffers do not have.

    Run right before `one-shot-bufferize`; a canonicalization in between may remove the copies.
    Example: `test/Transforms/Kernels/prepare-bufferization.mlir`.
  }];
  let dependentDialects = [
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def ScheduleKernelsPass : Pass<"workgroup-schedule-kernels", "ModuleOp"> {
  let summary = "Apply the program's schedule, or default tile sizes";
  let description = [{
    Applies the schedule of the program, or default tile sizes, and forms launches.

    It is for `mlir-opt`, and comes before `workgroup-memory`:

    - A module with `@__transform_main` is scheduled by it, through upstream's interpreter. The
      schedule is then erased.
    - A module that has kernels, or loops mapped to blocks, is left unchanged.
    - Any other module goes through the passes of a schedule with default sizes:
      `workgroup-linalg-to-kernels`, `workgroup-tile-kernel{default-threads}`,
      `workgroup-bufferize`, and on each function `workgroup-map-loops`,
      `workgroup-stage-operands`, `workgroup-place-buffers`, `workgroup-map-to-threads` and
      `workgroup-form-launches`. Then the functions of kernels are inlined.

    The default sizes are valid for every linalg program that the passes accept, but seldom
    fast, since they ignore extents and chip.
    `python -m pipeline compile program.mlir --emit schedule` prints a schedule that takes both
    into account; a program can carry it.

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
    Tiles the root of a kernel, fuses the other operations into the tiles, and maps the tiles to
    blocks.

    The function is one that `workgroup-form-kernels` made. Its root, the last operation, is
    tiled by an `scf.forall` that is mapped to blocks (`#gpu.block<linear_dim_0>` for the last
    dimension). All other operations of the kernel are fused into the tile. Further results of
    the function are assembled from the tiles as well.

    **Tile sizes.** `block` lists the tile sizes for the loops of the root, in elements; 0, or
    no entry, means the whole loop. If all are 0, or if there are no iterations, the grid has
    one block. `reduction` lists the steps along the sums of a contraction, in the order of its
    loops; 0, or no entry, means no loop.

    **Split reductions.** `split` lets blocks divide the sums of the kernel's only reduction or
    contraction. It lists the tile sizes for all of its loops, parallel and reduction loops; 0,
    or no entry, means the whole loop. A first loop over blocks computes a partial result of
    each tile, with the operations that feed it, starting from the neutral element. The tensor
    of partial results has one leading dimension for each split sum. A second loop over blocks,
    that of the root, combines the partial results and does the rest. The order of
    floating-point additions depends on the sizes, but is the same in every run.

    **Chains, whole rows.** In a chain of two contractions, `columns` is the number of columns
    of the first result that a block computes at a time, along with the element-wise operations
    on them; 0 means all. Both contractions go through their sums in the steps of `reduction`.

    **Chains, streamed.** With `stream`, a block instead goes through the columns of the first
    result, that many at a time, computes what lies between the contractions, and adds the
    products to the second result. Rows are never stored whole, and may have any length. A
    softmax in between is recognised by what the bodies compute: the maximum of each row, `exp`
    or `exp2` of the difference to it, sums of these, and expressions linear in them. The
    maximum so far, the sums and the products are loop-carried. When the maximum changes, sums
    and products are scaled by the exponential of the difference. Divisions by the sums, and
    selections of zero for a row, are applied to the products after the loop. Other row sums are
    carried as they are. This reassociates floating-point sums, and rounds the factor of the
    second contraction before the division instead of after it. NaN and infinities propagate as
    they would have, with one exception: of a row whose scores are all minus infinity, weights
    are 0 instead of NaN, so that a result which is not divided by their sum is 0.

    **Masked columns.** With `skip-masked`, that loop leaves out the columns which a mask by
    indices hides from all rows of the block, as causal attention and sliding windows do: those
    for which a linear, signed comparison of column and row makes the score minus infinity. The
    weights of hidden columns are zero, and zeros add nothing to sums of finite numbers. The pass
    takes for granted that what the second contraction multiplies is finite: the program's own
    result is NaN where a hidden column has NaN or infinity, and that of the kernel may not be.

    **Chains, streamed and split.** With `stream` and `split`, blocks also divide the columns of
    a chain with a softmax. `split` lists the tile sizes along the loops of the second
    contraction; the one along its sum is a multiple of `stream`. A first loop over blocks
    computes the row maxima, sums and products of each part, in tensors whose first dimension is
    the number of the part. A second one, that of the root, scales the parts by the exponential
    of the difference between their maximum and the overall maximum, adds them up, and does the
    rest. It needs no atomic operations, and the order is the same in every run.

    If a chain has fewer than 16 rows of 16-bit elements, which tensor cores multiply, the tile
    has 16 rows. The excess rows are zero and are not stored.

    **Intermediate results.** The result of an element-wise operation that several operations
    read is stored in a tile, unless its size is not known or `recompute` is set; then each
    reader computes it. Values computed from indices and scalars alone are always computed where
    they are read, except by products and windows, which would repeat them for each term.

    **Default sizes.** `default-threads` chooses all sizes by one rule for each class,
    regardless of extents. A contraction gets tiles of 64 rows and columns, in steps of 16 along
    the sum. Other reductions get one row per block. Everything else gets four elements per
    thread along the last loop. `pipeline.schedules`, in Python, chooses by extents and chip.

    Functions without structured operations on tensors, or with more than one block of code, are
    left unchanged. Fails if

    - the function is more than one kernel;
    - `block` names a loop that blocks cannot divide;
    - `split` is given, but the function has neither exactly one reduction whose partial results
      can be combined, nor a chain with a softmax and `stream`;
    - `columns` or `stream` is given without a chain;
    - `stream` is given and the second contraction needs whole rows.
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
    Option<"skipMasked", "skip-masked", "bool", /*default=*/"false",
           "Leave columns out of a stream that a mask hides from all rows of a block; takes "
           "for granted that what is multiplied is finite">,
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
