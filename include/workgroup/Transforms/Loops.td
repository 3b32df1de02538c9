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
    Reports whether two distributed loops assign the same parts of a result to the same
    processors.

    Changes nothing. The pass looks at pairs of linalg operations, each in a parallel loop of
    its own that is mapped to threads, warps or lanes. The second operation continues with the
    result of the first, as a product adds to what a fill has written. A remark tells whether
    each processor continues with the elements that it wrote itself. That is so if the loops
    have the same mapping, the same numbers of iterations, and the same slices of the result in
    each iteration. If not, processors have to wait for each other, and the remark says what
    differs. The proof uses the affine functions of the slices and the attributes of the loops;
    without a proof the remark says "undecided".

    Tensors (`tensor.extract_slice`, `tensor.parallel_insert_slice`) and buffers
    (`memref.subview`) are supported, with reduction loops around the second operation.

    Run before `workgroup-distribute-loops`. Source: the thread "Is synchronization missed for
    RAW dependent ops during thread distribution inside iree?", where nothing checks this.
  }];
}

def CompareDistributions_Agree
    : Analysis<"Each processor continues with the elements that it wrote itself.">;
def CompareDistributions_Differ
    : Analysis<"Processors continue with elements that others wrote.">;
def CompareDistributions_Undecided
    : Analysis<"It is undecided whether processors continue with elements that they wrote themselves.">;

def DistributeLoopsPass : Pass<"workgroup-distribute-loops"> {
  let summary = "Distribute the iterations of parallel loops to processors";
  let description = [{
    Replaces parallel loops by the iterations that each processor executes.

    Processors are blocks, warps, lanes or threads, or are given by ids and counts that the
    caller passes. Each iteration of an `scf.parallel` or `scf.forall` is executed once, by one
    processor. Bounds and steps may be dynamic; lower bounds may be negative.

    **Which processors.** A loop with a `mapping` attribute (`#gpu.block<x>`,
    `#gpu.thread<linear_dim_0>`, `#gpu.loop_dim_map<...>`) is distributed over the processors
    that it names. Other loops are distributed if `levels` is given, one level per nesting
    depth, from the outermost. The last dimension goes to x, the one before to y, then z;
    further dimensions are sequential loops of every processor. With the level `arguments`,
    dimensions go to processors whose ids and counts are function arguments, at the positions
    `ids` and `counts`, first dimension first. Of processors along further dimensions, only the
    first works. No `gpu.launch` is needed. In a host function that launches kernels, only the
    launches are changed. Functions that only the host calls are left unchanged.

    **Strategies.** `strategy` lists one strategy per dimension; the last entry holds for all
    further dimensions. For processor p of n:

    - `cyclic`: iterations p, p + n, p + 2n, ..., in a loop. The loop disappears if the number
      of iterations is known to equal n. It becomes a condition if that number is known to be at
      most n.
    - `guarded`: iteration p, if it exists. It is an error if the loop is known to have more
      than n iterations; if that is not known, a remark states the assumption.
    - `exact`: iteration p, without a condition. It is an error if the loop is known not to have
      n iterations; if that is not known, a remark states the assumption.
    - `block`: equally many consecutive iterations for each processor, in the order of their
      ids.
    - `block-cyclic`: `chunk` consecutive iterations, and again after n chunks.

    **Rules.** If no dimension of the loop is mapped to some dimension of the grid, of the
    block, or of its warps, only the first processor along that dimension works, so that no
    iteration is repeated. Linear ids (`linear_dim_0`) count all dimensions; several linear
    dimensions are counted together, `linear_dim_0` fastest. The lane of a thread is its linear
    id modulo 32. A loop over lanes is executed by the warp that executes the enclosing loop
    over warps. Without one, each warp that reaches it executes it, if it depends on the warp
    (an id of threads or warps, a branch on one, private memory). Otherwise the first warp of
    the block does. Threads that do not reach a loop do not take part in it. A loop in a branch
    that depends on ids of the loop's own processors is therefore an error; conditions loaded
    from memory are assumed to be uniform. Each block executes a loop over threads. Warps along
    x (`#gpu.warp<x>`) require a block whose size along x is known to be a multiple of 32.

    **Overflow.** Indices are assumed not to overflow: the last index plus the number of
    processors times the step (times `chunk`) is less than 2^63, and so is the upper bound minus
    the lower one. It is an error if they are known to overflow.

    **Fills.** The fill of a tile by the block may be followed by a loop over threads, warps or
    lanes, whose iterations each accumulate into a slice. If the slices cover the tile, the fill
    is distributed like that loop, so that each thread fills what it adds to. Counts and sizes
    have to be constant.

    No barriers are inserted. An outermost loop of one iteration may contain only one fill, or
    one copy between global and workgroup memory. If its operands are uniform over the block,
    the loop is replaced by its body, which the threads execute together.

    Fails, and changes nothing, if

    - a mapped loop has results;
    - two dimensions of a loop, or a loop and one inside it or in a function that it calls, are
      mapped to the same processors;
    - a barrier of the block, a `gpu.all_reduce`, or a call of a function with one stands in a
      loop whose iterations the threads do not all execute together, or under control flow that
      depends on the thread;
    - requested ids do not exist;
    - iterations would be lost, or indices overflow (see above).

    `workgroup-verify-sync` checks what warps and clusters wait for.

    Source: thread "Tile/LowerToLoops + Distribute to processors with Linalg ops"; the first
    three strategies are its use cases 1, 2 and 3.
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
    : Passed<"A fill was distributed like the loop that adds to its result.">;
def DistributeLoops_AssumedCount
    : Analysis<"A loop is assumed to have as many iterations as processors, or no more.">;

def SerializeLoopsPass : Pass<"workgroup-serialize-loops"> {
  let summary = "Turn parallel loops that no kernel can take into sequential loops";
  let description = [{
    Turns parallel loops that cannot become kernels into sequential loops.

    The pass applies to each outermost `scf.forall` or `scf.parallel` of the host that has no
    mapping. If blocks and threads can execute its body, `workgroup-form-kernels` and
    `workgroup-map-loops` will make a kernel of it. Otherwise it becomes a nest of `scf.for`,
    and the pass continues with the loops inside. The contents of the innermost loop are then
    launched in each iteration. A loop becomes sequential if

    - its iterations reduce results (`scf.reduce`), or it has no dimension, or more than ten;
    - it contains a call, or an operation of a dialect other than `affine`, `arith`, `linalg`,
      `math`, `memref`, `scf`, `tensor` and `vector`;
    - it creates tensors or memory of more than 48 KiB for a block, or 1 KiB for a thread, or of
      unbounded size. A tensor that becomes part of the loop's result needs no memory;
    - it uses memory with a memory space or of unknown rank, or a vector from outside.

    A remark says why. With `all`, every such loop becomes sequential.

    The iterations of an `scf.forall` on tensors see the part of a tensor that they insert into
    as it is, and everything else as it was before the loop. `memref.get_global`s in the body
    move in front of the loop.

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
