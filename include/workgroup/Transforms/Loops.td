//===- Loops.td - Iterations to processors -----------------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_LOOPS
#define WORKGROUP_TRANSFORMS_LOOPS

include "mlir/Pass/PassBase.td"
include "workgroup/Remarks.td"

def CompareDistributionsPass : Pass<"workgroup-compare-distributions"> {
  let summary = "Report whether loops give processors the same parts of a result";
  let description = [{
    Changes nothing. Of two operations of linalg in parallel loops of their own that are mapped to
    threads, warps or lanes, where the second goes on with the result of the first, as a product adds
    to what a fill has filled, remarks tell whether each processor goes on with what it has left
    itself: whether the loops have the same mapping and the same numbers of iterations, and their
    iterations the same slices of the result. If not, processors have to wait
    for each other, and it is said what differs. What is not proved, from the affine
    functions of the slices and the attributes of the loops, is said to be undecided.

    Tensors (`tensor.extract_slice`, `tensor.parallel_insert_slice`) and buffers
    (`memref.subview`) are understood, with loops over sums around the second operation.

    To be run before `workgroup-distribute-loops`. Source: the thread "Is synchronization missed for RAW dependent
    ops during thread distribution inside iree?", where nobody checks that.
  }];
}

def CompareDistributions_Agree
    : Analysis<"Processors go on with what they have left themselves.">;
def CompareDistributions_Differ
    : Analysis<"Processors go on with what others have left.">;
def CompareDistributions_Undecided
    : Analysis<"It is not known whether processors go on with what they have left themselves.">;

def DistributeLoopsPass : Pass<"workgroup-distribute-loops"> {
  let summary = "Distribute the iterations of parallel loops to processors";
  let description = [{
    Replaces `scf.parallel` and `scf.forall` by what each processor does of them:
    blocks, warps, lanes or threads, or processors whose ids and number the caller
    passes. Each iteration is executed once, by one processor. Bounds and steps may be
    dynamic, and lower bounds negative.

    A loop whose attribute `mapping` names its processors (`#gpu.block<x>`,
    `#gpu.thread<linear_dim_0>`, `#gpu.loop_dim_map<...>`) goes to those. Others are
    distributed if `levels` says to what: its first level is for loops in no other
    one, the second for loops in those, and so on, one for each depth; the last dimension is x, the one
    before y, then z, and further ones are loops of every processor. With the level
    `arguments`, the dimensions go to processors whose ids and counts are arguments of
    the function, of the numbers `ids` and `counts`, the first dimension first; of
    processors along further ones only the first does something. No
    `gpu.launch` is needed. What is on the host of a function that launches kernels is
    left alone, but for what is in the launches, and so are functions that are called there and by no
    kernel.

    `strategy` says, for each dimension, or the last one for all further dimensions, who
    does what, of processor p of n:

    - `cyclic`: iterations p, p + n, p + 2n, ...: a loop. There is none if the number of
      iterations is known to be that of processors, and only a condition if it is
      known not to be more.
    - `guarded`: iteration p, if there is one. It is an error if there are known to be
      more iterations than processors; what is not known is stated by a remark.
    - `exact`: iteration p, with no condition: likewise.
    - `block`: as many consecutive iterations for each, the first ones for the first.
    - `block-cyclic`: `chunk` consecutive iterations, then the same n chunks later.

    Dimensions of the grid, the block, or of its warps that no dimension of the loop
    is mapped to do not repeat iterations: only the first of them gets any. Linear ids
    (`linear_dim_0`) are of all of them; several linear dimensions are counted through
    together, `linear_dim_0` fastest. The lane of a thread is its linear id modulo 32.
    A loop over lanes is executed by the warp that executes the loop over warps around it, or, if
    what it does depends on the warp (an id of threads or warps, a branch on one, memory of a thread),
    by each warp that gets to it; by the first warp of the block otherwise.
    Threads that do not get to a loop do nothing of it, so a loop in a branch that depends on
    ids of what the loop goes to is an error; what a branch loads from memory is taken to be the same
    for all. Each block executes a loop over threads.
    Warps along x (`#gpu.warp<x>`) need a block whose size along x is known to be a
    multiple of 32.

    Indices are taken not to overflow: last index plus number of processors times step (times
    `chunk`) has to be less than 2^63, and so has the upper bound less the lower one. It is
    an error if they are known to overflow.

    A fill that a block does of a tile, iterations of a loop over threads, warps or lanes
    of which each sum up into a slice, is shared out as this loop is, if the slices make up the tile: what a
    thread adds to it has filled itself. Counts and sizes have to be constant for that.

    No barriers are inserted. A loop of one iteration in no other loop that does nothing but
    one fill, or one copy between global and workgroup memory, of operands that all threads have
    the same, is replaced by its body: threads do it together.

    Fails, and changes nothing, where a mapped loop has results, where two dimensions, or a
    loop and one in it or in a function called in it, go to the same processors, where a barrier of the block, a
    `gpu.all_reduce`, or a call of a function with one stands in a loop whose iterations
    threads do not all execute together, and where ids that are asked for do not exist, where a barrier is
    under control that depends on the thread, where iterations would be lost or indices overflow
    (see above). What
    warps or clusters wait for is left to `workgroup-verify-sync`.

    Source: thread "Tile/LowerToLoops + Distribute to processors with Linalg ops"; there
    the first three strategies are use cases 1, 2 and 3.
  }];
  let options = [
    ListOption<"levels", "levels", "std::string",
               "What loops without a mapping go to, from the outermost on: blocks, "
               "warps, lanes, threads or arguments">,
    ListOption<"strategies", "strategy", "std::string",
               "How each dimension is distributed: cyclic (default), guarded, exact, "
               "block or block-cyclic">,
    ListOption<"ids", "ids", "unsigned",
               "Numbers of the arguments that are ids of processors">,
    ListOption<"counts", "counts", "unsigned",
               "Numbers of the arguments that say how many processors there are">,
    Option<"chunk", "chunk", "int64_t", /*default=*/"1",
           "Number of consecutive iterations of block-cyclic">,
  ];
  let dependentDialects = ["arith::ArithDialect", "gpu::GPUDialect",
                           "scf::SCFDialect"];
}

def DistributeLoops_AlignedFill
    : Passed<"A fill was shared out as the loop that adds to what it fills.">;
def DistributeLoops_AssumedCount
    : Analysis<"A loop is taken to have as many iterations as there are processors, or no more.">;

def SerializeLoopsPass : Pass<"workgroup-serialize-loops"> {
  let summary = "Turn parallel loops that no kernel can take into sequential loops";
  let description = [{
    An `scf.forall` or `scf.parallel` of the host that is mapped to nothing, and in no other
    parallel loop, becomes a kernel (`workgroup-form-kernels`, `workgroup-map-loops`) if blocks and
    threads can do what is in it. Otherwise it becomes a nest of `scf.for`, and so on for the loops
    in it: what is in the innermost one is launched in each iteration. That is so of a loop

    - the iterations of which reduce results (`scf.reduce`), or that has no dimension, or more
      than ten;
    - with a call, or an operation of another dialect than `affine`, `arith`, `linalg`, `math`,
      `memref`, `scf`, `tensor` and `vector`;
    - that makes tensors or memory of more than 48 KiB for a block, or 1 KiB for a thread, or
      of sizes without a bound; a tensor that becomes part of the loop's result takes none;
    - that uses memory with a memory space or of unknown rank, or a vector from outside.

    A remark says why. With `all`, every such loop does.

    The iterations of an `scf.forall` on tensors read, of a tensor that they insert into, their own
    part as it is, and everything else as it was before the loop. Globals that a loop names are named
    before it.

    Example: `test/Transforms/Loops/serialize-loops.mlir`.
  }];
  let options = [
    Option<"all", "all", "bool", /*default=*/"false",
           "Also of loops that a kernel can be made of">,
  ];
  let dependentDialects = ["arith::ArithDialect", "scf::SCFDialect",
                           "tensor::TensorDialect"];
}

def SerializeLoops_SequentialLoop
    : Missed<"The iterations of a parallel loop are executed one after the other.">;

#endif // WORKGROUP_TRANSFORMS_LOOPS
