//===- Contractions.td - Sums of products in blocks --------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_CONTRACTIONS
#define WORKGROUP_TRANSFORMS_CONTRACTIONS

include "mlir/Pass/PassBase.td"
include "workgroup/PassOptions.td"
include "workgroup/Remarks.td"

def KeepAccumulatorsPass : Pass<"workgroup-keep-accumulators"> {
  let summary = "Keep accumulators of threads and warps in private buffers";
  let description = [{
    Keeps the part of a result that a thread or a warp accumulates in a private buffer while the
    loops around add to it.

    The pass looks for a linalg operation that sums products, that each thread or warp executes
    on its own part of a result in memory, and that `scf.for` loops execute repeatedly. Tiling
    leaves such operations. If nothing else in the loops uses the part, the part becomes a
    buffer in `#gpu.address_space<private>`. `workgroup-lower-contractions` turns that buffer
    into registers. The buffer starts with the value of the fill, if the same thread filled the
    part, and otherwise with a copy of the part. The buffer is copied to the part once, after
    the loops. Element-wise operations after the loops read the buffer.

    The pass also removes copies that schedules for nested memories make. An operand that is
    copied to a private buffer right before the operation is read at its source; if the copy
    transposes, so does the access. A result that is copied to a private buffer and back is used
    in place. Both require that nothing between the copy and the operation writes to the copied
    memory, and that no barrier stands between them.

    Left unchanged, with a remark:

    - tiles without a constant size;
    - tiles that do not fit into the registers of a thread, or of the lanes of a warp;
    - results that may overlap an operand.

    Parts that are the same for all threads of the block are left unchanged as well.

    Run after `workgroup-distribute-loops` and before `workgroup-lower-contractions`. Source:
    the thread on streaming-K, where results stay next to the core until the sum is complete.
  }];
  let options = [
    AssumeDistinctArgumentsOption,
  ];
  let dependentDialects = ["arith::ArithDialect", "gpu::GPUDialect",
                           "linalg::LinalgDialect", "memref::MemRefDialect",
                           "scf::SCFDialect"];
}

def KeepAccumulators_ForwardedCopies
    : Passed<"An operand or result is used in place instead of through a private copy.">;
def KeepAccumulators_KeptAccumulator
    : Passed<"A result is accumulated in a private buffer.">;
def KeepAccumulators_NotKept : Missed<"A result is accumulated in memory.">;

def KeepChainsPass : Pass<"workgroup-keep-chains"> {
  let summary = "Keep values between two contractions in private buffers";
  let description = [{
    Keeps the values between two contractions of a block in private buffers.

    The pattern is attention, as `workgroup-tile-kernel` with `stream` emits it. In each
    iteration of an `scf.for`, a first contraction of tiles in workgroup memory computes some
    columns of scores. Operations on rows of scores compute a factor of a second contraction,
    whose sums are loop-carried. If each warp can own whole rows of both results, then the
    buffers between the contractions, and the buffers that rows are reduced to, become private
    (`#gpu.address_space<private>`). The IR then reads as if each thread did all of the work;
    `workgroup-lower-contractions` distributes it over the lanes and uses registers. No element
    of a row passes through workgroup memory. Threads wait for each other only before they read
    the tiles that all of them multiply.

    Requirements:

    - Tensor cores can compute both contractions, and the factor between them has 16 bits.
    - The sums have no inner loops: one step covers a whole tile.
    - The rows can be divided among the warps of `threads` threads in multiples of 16.
    - The operations in between are element-wise on tiles or rows, or reduce rows, to numbers or
      truth values. They may read other memory, indexed by the loops of a tile, and the iteration numbers (for a causal
      mask).
    - Buffers are filled before they are read.
    - After the loop, the results are stored. The values that rows were reduced to may be stored
      as well, by one lane per row. The stores may cover fewer rows and columns than the buffers
      have.

    Everything else is left unchanged. A contraction in a loop that multiplies what is made of
    sums, and is not kept, has the remark `NotKept`, which names the operation that stands in
    the way.

    Run after `workgroup-place-buffers` and before `workgroup-map-to-threads`, with the same
    `threads`. Source: Dao, "FlashAttention-2" (2023).
  }];
  let options = [
    Option<"threads", "threads", "int64_t", /*default=*/"128",
           "Threads of a block">,
    ChipOption,
  ];
  let dependentDialects = ["gpu::GPUDialect", "memref::MemRefDialect"];
}

def KeepChains_KeptChain
    : Passed<"The values between two contractions are in private buffers.">;
def KeepChains_NotKept
    : Missed<"The values between two contractions are in workgroup memory.">;

def DecomposeIm2colPass : Pass<"workgroup-decompose-im2col"> {
  let summary = "Turn convolutions of blocks into contractions of gathered tiles";
  let description = [{
    Rewrites each convolution of a block as a contraction of gathered tiles.

    The convolution stands in a loop over blocks or in a launch. In each iteration of the loops
    over its sums, the block gathers (`workgroup.gather`) the part of the image that it reads
    into a tile in workgroup memory. The tile has one dimension for each loop of more than one
    iteration that indexes the image. The full matrix of windows (im2col) is never materialised.
    The contraction multiplies the tile by the filter; `workgroup-stage-operands`,
    `workgroup-form-rings` and `workgroup-lower-contractions` handle it like any other
    contraction.

    An operation is a convolution if it sums products of two buffers, one of which is indexed by
    sums of loops, such as `y * 2 + dy * 3`. The number and the order of dimensions, strides and
    dilations are free. The operation may be named or generic. The loops over its sums are fused
    into one, so that copies can run ahead through all of them. Reduction loops come last in the
    tile if they index the last dimension of the image (channels); otherwise the loops of the
    result (pixels) come last. Elements that are adjacent in memory thus stay adjacent.
    Dimensions of the filter that have one window position are dropped.

    Tiling happens before this pass, through the maps of the convolution itself: slices of the
    image are right for tiles of any size. Tiling the matrix of windows would not be. Its row
    and column numbers are divided, with remainders, into indices of the image, and MLIR 22
    computes wrong slices for operations with such maps. For an operation on tensors that reads
    an operand through divided indices, as `transform.structured.convert_conv2d_to_img2col`
    creates it, the pass therefore moves the access into the body (`tensor.extract`). Run
    between that transform and tiling, this makes tiling and fusion correct for any tile size.
    Where a tile is larger than the rest of the loops, the excess is zero or belongs to results
    that do not exist.

    Where tensor cores of `chip` have the types, tiles are padded with zeros so that their sums
    have a multiple of 16 terms, provided that this at most doubles the terms: of windows of 7x7
    places with 3 channels, a row of 7x3 becomes 8x4.

    Left unchanged, with a remark:

    - sizes without constant bounds;
    - tiles with more than one iteration of a loop that indexes the image, the filter and the
      result (groups, channels of a depthwise convolution);
    - tiles of only one pixel, one feature, or one product;
    - an image that is private to each thread;
    - a result that may overlap the image.

    Run on kernels before `workgroup-stage-operands`. Inserts no barriers. Example:
    `test/Transforms/Contractions/decompose-im2col.mlir`. Source: the thread on synchronisation
    after distribution; Chetlur et al., "cuDNN: Efficient Primitives for Deep Learning".
  }];
  let options = [
    ChipOption,
    AssumeDistinctArgumentsOption,
  ];
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "gpu::GPUDialect", "linalg::LinalgDialect",
                           "memref::MemRefDialect", "scf::SCFDialect",
                           "tensor::TensorDialect", "workgroup::WorkgroupDialect"];
}

def DecomposeIm2col_Decomposed
    : Passed<"A convolution became a contraction of tiles.">;
def DecomposeIm2col_LookedUp
    : Passed<"The body of an operation reads an operand at divided indices.">;
def DecomposeIm2col_NotDecomposed
    : Missed<"A convolution stays, and reads its windows in place.">;

def LowerContractionsPass : Pass<"workgroup-lower-contractions"> {
  let summary = "Distribute contractions of staged tiles over threads";
  let description = [{
    Distributes contractions of staged tiles over threads, and keeps their results in registers.

    **Input.** A linalg operation sums products of two tiles in workgroup memory into a private
    buffer of constant size, as `workgroup-stage-operands` emits it. As written, every thread of
    the block would compute all of it. The pass assigns each thread some rows and columns of the
    result, as values of type `vector`. They replace the buffer from its fill, through the
    surrounding loops, to the element-wise operations and copies after the loops. Element-wise
    operations that change the buffer inside the loops, before the sum, change the registers.
    Tiles are read by vectors of up to 16 bytes along their contiguous dimension, which may be
    rows, columns or steps of the sum. Products and sums have the types of the body; a
    floating-point product and its addition become one `vector.fma`.

    **Tensor cores** are used where they compute exactly what the body computes. The products
    are `nvgpu.mma.sync`, or `nvvm.mma.sync` where nvgpu has no lowering. `nvgpu.ldmatrix` loads
    their operands, transposed if rows or columns are contiguous. Each lane holds the elements
    of the result that the instruction assigns to it, so that the accumulator stays in
    registers. Factors are `f16`, `bf16`, `f64`, 8-bit floats or 8-bit integers, if the chip has
    them. If the body only extends the factors to the type of the sum, the extension is dropped.
    Other conversions, such as of 8-bit weights to `f16`, happen in registers between load and
    product. Sums are `f32`, `f16` where the body sums in `f16`, `i32`, or `f64`. `f32` factors
    use fused multiply-adds, unless `tf32` permits rounding them to nearest, to 10 bits of
    fraction. If a tile cannot be divided into matrices for all warps, or the block into warps,
    a remark says why tensor cores are not used.

    **Warp groups** of sm_90a, 128 threads each, multiply tiles in workgroup memory
    (`workgroup.group_product`, that is `wgmma`) without loading them to registers, unless
    `warp-groups` is off. Each warp group computes 64 rows, so a block of N threads has a tile
    of N / 2 rows, and up to 256 columns. The tiles are slots of a ring that TMA can fill and
    that only the contraction reads. They get the layout that TMA and `wgmma` share, which has
    no bank conflicts. Two dimensions of a tile may have more than one element; batch dimensions
    have one and are dimensions of the tensor map. Tiles may be ragged at the end of a tensor.
    Factors are `f16`, `bf16`, 8-bit floats or 8-bit integers; 8-bit factors must be contiguous
    along the sum. Sums are `f32` or `i32`. A remark says why warp groups are not used.

    **Stores by TMA.** TMA stores results of 16 bits that warp groups compute, unless
    `store-rings` is off. Each warp writes 16 rows of up to 128 bytes to a slot of its own in
    workgroup memory, in the order of TMA's swizzle, and one lane starts the store. The warp
    continues meanwhile; it has two slots, or one if there is no memory for two. Only the lanes
    of a warp wait for each other. The kernel waits at its end until all stores are complete. TMA
    stores a result if

    - its columns are contiguous, its rows are a constant number of bytes apart, a multiple of
      16, and it is aligned to 16 bytes;
    - the launch can describe it by a tensor map, and ragged tiles end where it ends;
    - it is computed of the sums, and of memory that it cannot share; of the sums only if tiles
      may be ragged;
    - nothing else in the kernel may access it;
    - the slots do not reduce the number of blocks on a multiprocessor.

    A remark says why threads store a result instead. Example:
    `test/Transforms/Contractions/lower-contractions-stores.mlir`.

    **Shape of the work.** The number of rows and columns of a thread minimises instructions.
    That of a warp minimises loads within its registers. If the buffer is larger than the part
    that the operations before and after use, whole tiles are accessed by vectors, and ragged
    tiles by the elements that exist. Results of 16 bits from tensor cores are exchanged between
    neighbouring lanes, each of which holds two at a time: each lane then stores 8 bytes, and
    together they store whole sectors. The exchange requires rows aligned to 8 bytes, sums that
    begin with a constant, and that no memory read for an element may be the written memory.
    Example: `test/Transforms/Contractions/lower-contractions-exchange.mlir`.

    **Operands.** The dimensions of the operands, their order, and the conversions of the body
    are free. Loops that index the result and both operands have one iteration per tile.

    **Contractions of threads and warps.** If operands differ between the threads of a block but
    not between those of a warp, the lanes of the warp share the operation, provided the block
    consists of whole warps. A lane is the linear thread id modulo 32, for any block shape.
    Otherwise each thread computes the operation alone, from operands in any memory, if the
    result fits into its registers. Operations in loops over threads that are not yet
    distributed are left unchanged.

    **Chains.** Contractions with private buffers between them, as `workgroup-keep-chains` makes
    them, are lowered together. Each warp owns whole rows. The four lanes that hold elements of
    a row exchange its reductions. The first result, rounded to 16 bits, is already in the
    registers from which the second product reads. For a sum that starts from zero and that the
    loop only adds to and scales, each lane keeps its own part until the loop ends. Scaling of
    rows and tiles is skipped unless a row of the warp has a factor other than one.

    An operation is left unchanged, with a remark, if anything else uses the buffer, or if its
    body cannot be vectorised. The pass fails if the size of the block is not known, or if the
    threads of the block have too few registers for the result.

    Run after `workgroup-form-rings` and before `workgroup-lower-rings`, as tiles may be slots
    of rings; and again after `workgroup-keep-accumulators`. Inserts no barriers, except those of
    warps that stores by TMA need. Sources:
    NVIDIA, "CUTLASS: efficient GEMM in CUDA"; PTX ISA, "Matrix Fragments for mma".
  }];
  let options = [
    AssumeAlignmentOption,
    ChipOption,
    TensorCoresOption,
    TF32Option,
    WarpGroupsOption,
    AssumeDistinctArgumentsOption,
    StoreRingsOption,
  ];
  let dependentDialects = ["arith::ArithDialect", "gpu::GPUDialect", "LLVM::LLVMDialect",
                           "memref::MemRefDialect", "nvgpu::NVGPUDialect",
                           "NVVM::NVVMDialect", "scf::SCFDialect", "ub::UBDialect",
                           "vector::VectorDialect", "::mlir::workgroup::WorkgroupDialect"];
}

def LowerContractions_LoweredContraction
    : Passed<"A contraction of tiles was distributed over threads.">;
def LowerContractions_LoweredChain
    : Passed<"A contraction of the result of another one is computed in registers.">;
def LowerContractions_TensorCoresNotUsed
    : Missed<"Tensor cores do not compute a contraction.">;
def LowerContractions_WarpGroupsNotUsed
    : Missed<"Warp groups do not multiply tiles in workgroup memory.">;
def LowerContractions_StoredByTMA
    : Passed<"TMA stores a result that warp groups compute.">;
def LowerContractions_NotStoredByTMA
    : Missed<"Threads store a result of 16 bits that warp groups compute.">;
def LowerContractions_NotShared : Missed<"Each thread does all of a contraction.">;

def StageOperandsPass : Pass<"workgroup-stage-operands"> {
  let summary = "Stage the operands of contractions in workgroup memory";
  let description = [{
    Copies the operands of contractions to workgroup memory, and gives their results private
    buffers.

    The contraction sums products of two buffers and stands in a loop over blocks or in a
    launch. In each iteration of the loops over its sums, both operands are copied to tiles of
    constant size in `#gpu.address_space<workgroup>`. The result becomes a buffer in
    `#gpu.address_space<private>`, which `workgroup-lower-contractions` turns into registers.
    Rows and columns are rounded up to sizes that threads can divide. If an operand has fewer
    elements than its tile, the tile is first filled with zeros. The contraction is therefore
    the same for ragged and for dynamic sizes.

    The private buffer starts from the fill of the result, or from a copy of it. Element-wise
    operations that read the result after the loops read the private buffer instead. The result
    itself is stored from the private buffer, unless one of these operations overwrites it or
    nothing else reads it. Surrounding loops that change the result element by element and then
    add to it, as in attention, also use the private buffer.

    The block may keep the result in a buffer of its own, for a reduction of rows or for another
    contraction. That buffer is enlarged to whole tiles, so that the stores need no bounds
    checks, and its rows are spaced for stores of two elements. A second contraction reads such
    rows in place, with zeros after the last step of its sum.

    A contraction is left unchanged, with a remark, if

    - its sizes have no constant bounds;
    - an operand or the result has a single column;
    - tiles have more than one iteration of a loop that indexes the result and both operands;
    - its sums may be ragged and its body does not ignore zeros;
    - the tiles exceed `max-bytes`;
    - the result may overlap an operand. Different arguments may overlap, unless `llvm.noalias`
      or `assume-distinct-arguments` excludes it.

    The pass also copies tiles of other operations to workgroup memory, once, if nothing in
    their loop over blocks writes to the global memory and the copy takes at most half of
    `max-bytes`. It does so where the operations of the block reduce a tile and read it again;
    where windows read it and at least three of them share an element (poolings, depthwise
    convolutions); and where an element-wise operation reads it across the order of its result,
    such as a transposition.

    Run on kernels before `workgroup-place-buffers`. Inserts no barriers: the pass that lowers
    the copies orders them.
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", /*default=*/"0",
           "Largest number of bytes of workgroup memory for the tiles of a contraction; "
           "0 means that of the chip">,
    ChipOption,
    AssumeDistinctArgumentsOption,
  ];
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "gpu::GPUDialect", "linalg::LinalgDialect",
                           "memref::MemRefDialect", "scf::SCFDialect"];
}

def StageOperands_NotStaged : Missed<"The operands of a contraction are not staged.">;
def StageOperands_StagedOperands : Passed<"The operands of a contraction are staged.">;
def StageOperands_StagedTile
    : Passed<"A tile that is read several times is copied to workgroup memory.">;

#endif // WORKGROUP_TRANSFORMS_CONTRACTIONS
