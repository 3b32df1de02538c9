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
  let summary = "Keep the sums of a thread or warp in a buffer of the thread";
  let description = [{
    A linalg operation that sums up products, and that each thread or warp does on a part of its
    own of a result in memory, as tiling leaves it, goes on adding to that part in the
    loops (`scf.for`) around it. If nothing else in the loops uses the part, it becomes
    a private buffer (`#gpu.address_space<private>`), of which `workgroup-lower-contractions`
    makes registers: the buffer starts from what filled the part, if the same thread did, or
    from a copy of it, and is copied to it once, behind the loops. Element-wise operations behind
    them read the buffer.

    Operands that are copied to private buffers right before, as a schedule does it for the memory
    nearest to a core, are read where they are instead, transposed if the copy transposes; and
    a result that is copied to a private buffer and back is used where it is. That takes that
    nothing between the copy and the operation writes to what is copied, and that threads do not
    meet there.

    Left alone are, with a remark, tiles without a constant size, or too large for the registers of
    a thread or of the lanes of a warp, and results that may be the memory of an operand. So is
    what all threads of the block have the same.

    To be run behind `workgroup-distribute-loops` and before `workgroup-lower-contractions`.
    Source: the thread on streaming-K, where results are to stay next to the core until the
    whole sum is done.
  }];
  let options = [
    AssumeDistinctArgumentsOption,
  ];
  let dependentDialects = ["arith::ArithDialect", "gpu::GPUDialect",
                           "linalg::LinalgDialect", "memref::MemRefDialect",
                           "scf::SCFDialect"];
}

def KeepAccumulators_ForwardedCopies
    : Passed<"What was copied to memory of a thread is used where it is.">;
def KeepAccumulators_KeptAccumulator
    : Passed<"A result is a buffer of the thread while it is added to.">;
def KeepAccumulators_NotKept : Missed<"A result stays in memory while it is added to.">;

def KeepChainsPass : Pass<"workgroup-keep-chains"> {
  let summary = "Keep values between two contractions of a block in its threads";
  let description = [{
    In an iteration of a loop (`scf.for`) of a block, a contraction of tiles in workgroup memory
    makes some columns of scores; what is computed of them row by row is a factor of another
    contraction, whose sums go on through the loop: attention, as `workgroup-tile-kernel` makes it
    with `stream`. Each warp of the block can have whole rows of both results. Then the buffers
    between the contractions, and those that rows are reduced to, become private
    (`#gpu.address_space<private>`), as if each thread did all of it, and `workgroup-lower-contractions`
    makes registers of them: nothing of a row goes through workgroup memory, and no
    thread waits for another one but for the tiles that all multiply.

    That takes tensor cores that multiply both, a factor of 16 bits between them, sums without
    inner loops (steps of all of a tile), and as many rows as `threads`, in warps, can
    share out by 16 or a multiple. What is between may be element-wise, of tiles or of rows, or
    reduce elements of rows; it may read other memory by the loops of a tile, and ask for the
    numbers of iterations (a causal mask). Buffers are filled before they are read.
    Behind the loop results are stored, and what rows were reduced to may be, by one lane
    for each row; fewer rows and columns, too, than the buffers have.
    Whatever is otherwise is left alone.

    To be run behind `workgroup-place-buffers`, and before `workgroup-map-to-threads`, with the
    same `threads`. Source: Dao, "FlashAttention-2" (2023).
  }];
  let options = [
    Option<"threads", "threads", "int64_t", /*default=*/"128",
           "Threads of a block">,
    ChipOption,
  ];
  let dependentDialects = ["gpu::GPUDialect", "memref::MemRefDialect"];
}

def KeepChains_KeptChain
    : Passed<"What is between two contractions is in buffers of threads.">;

def DecomposeIm2colPass : Pass<"workgroup-decompose-im2col"> {
  let summary = "Turn convolutions of blocks into contractions of gathered tiles";
  let description = [{
    A convolution in a loop over blocks, or in a launch, becomes a contraction: in each iteration
    of the loops over its sums, the block gathers (`workgroup.gather`) what it reads of the image
    in a tile in workgroup memory, with a dimension for each loop of more than one
    iteration that goes along the image. Of the matrix of all windows (im2col) nothing else ever exists.
    The contraction then multiplies that tile with the filter; `workgroup-stage-operands`,
    `workgroup-form-rings` and `workgroup-lower-contractions` treat it as any other.

    A convolution is what sums up products of two buffers, one of which is read in windows: an index is
    a sum of loops, as `y * 2 + dy * 3`. So it is of any number of dimensions, any order
    of them, strides and dilations, named or generic. The loops around it over its sums are
    joined to one, so that copies can run ahead through all of them. Loops of the
    sum go last in the tile if they go along the last dimension of the image
    (channels), else the loops of the result (pixels): neighbours in memory stay neighbours.
    Of the filter, dimensions of one place of the window are left out.

    It is the convolution that is tiled, by its own maps: slices of the image are right
    for tiles of any size. A tile of the matrix of windows is none of the image: its rows and
    columns are divided, with a rest, into the indices of the image, and MLIR 22 takes wrong slices of
    operations with such maps. So an operation on tensors that reads an operand by indices that are
    divided, as `transform.structured.convert_conv2d_to_img2col` makes it, becomes one the body of which
    looks up the element (`tensor.extract`): applied between that and tiling, it lets tiles of any
    size be tiled and fused. Where a tile is larger than what is left of the
    loops, the rest is zero, or belongs to results that are not there.

    An operation is left alone, with a remark, if sizes have no constant bounds; if tiles have more than
    one iteration of a loop that goes along the image, the filter and the result (groups;
    channels of a depthwise convolution); if they have one pixel, one feature, or one
    product only; if each thread has an image of its own; if the result may be the memory of the image.

    To be run on kernels before `workgroup-stage-operands`. Inserts no barriers. Example:
    `test/Transforms/Contractions/decompose-im2col.mlir`. Source: the thread on
    synchronisation after distribution; Chetlur et al., "cuDNN: Efficient Primitives for Deep Learning".
  }];
  let options = [
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
    : Passed<"The body of an operation looks up what divided indices find.">;
def DecomposeIm2col_NotDecomposed
    : Missed<"A convolution reads its windows where they are.">;

def LowerContractionsPass : Pass<"workgroup-lower-contractions"> {
  let summary = "Lower contractions of staged tiles to the work of each thread";
  let description = [{
    A linalg operation that sums up products of two tiles in workgroup memory into a
    private buffer of constant size, as `workgroup-stage-operands` makes them, is work that
    every thread of the block would do as a whole. The threads share it out: each computes
    some rows and columns of the result, which it holds in registers (`vector`) from what
    the buffer is filled with, through the loops around, to the element-wise operations and copies
    behind, which read the buffer; operations that change it in these loops, element by element,
    before the sum, change registers. The buffer is gone then. Tiles are read by vectors of up to 16
    bytes along their contiguous dimension: rows, columns, or steps of the sum; products and sums
    are in the types of the body, a product of floats and its addition one `vector.fma`.

    Tensor cores compute what they multiply exactly: `nvgpu.mma.sync`, and `nvvm.mma.sync` where
    nvgpu has no lowering, multiply matrices that `nvgpu.ldmatrix` loads from the tiles, transposed
    on the way where rows or columns are contiguous. The lanes of a warp have of the result what
    the instruction gives them, so the accumulator never leaves the registers. Factors are
    `f16`, `bf16`, `f64`, 8-bit floats and 8-bit integers, by what the chip has; a body that extends
    them to the type of its sum is done without extending, and other conversions, such as of 8-bit
    weights to `f16`, are done in registers between load and product. Sums are in `f32`, in `f16`
    where the body's are, in `i32` or in `f64`. `f32` is multiplied by fused multiply-adds,
    unless `tf32` asks for rounding its factors to nearest, to 10 bits of fraction. Where the tile
    does not consist of matrices for all warps, or the block of warps, a remark tells why tensor
    cores are not used.

    On sm_90a, unless `warp-groups` is off, warp groups of 128 threads multiply the tiles where they
    are (`workgroup.group_product`, which is `wgmma`), without loads to registers: each has 64 rows of
    the result, so a block of N threads has a tile of N / 2 rows, and up to 256 columns. The tiles
    are slots of a ring that only the contraction reads and that TMA can fill; they get the layout
    that both need, which has no bank conflicts. Two dimensions of a tile have more than one element:
    those of batches have one, and are dimensions of the tensor map. Tiles may be ragged where the
    tensors end. Factors are `f16`, `bf16`, or 8-bit floats and integers (those with the steps of the
    sum contiguous), sums in `f32` or `i32`. A remark says why warp groups are not used.

    How many rows and columns a thread has is what takes the fewest instructions, and a warp what
    it loads for the products with least effort within its registers. Where the buffer
    has more elements than the operations before and behind are on, whole tiles go by vectors, and
    of ragged ones the elements that there are. Results of 16 bits from tensor cores, of which a
    lane has two at a time, are exchanged between neighbouring lanes, so that each stores 8 bytes
    and all of them whole sectors: where rows are aligned to 8 bytes, sums begin with a
    constant, and nothing that is read for an element may be the memory that is written.
    Example: `test/Transforms/Contractions/lower-contractions-exchange.mlir`.

    Which operands have which dimensions, in which order, and what the body converts, is
    free; of loops that go along the result and both operands, tiles have one iteration. An
    operation is left alone, with a remark, if anything else is done with the buffer,
    or if its body cannot be done on vectors. Fails if the
    block's size is not known, or has no tile for a thread.

    If operands differ between the threads of a block, but not between those of a warp, the lanes
    of the warp share the operation out, where the block consists of whole warps; a lane is
    the linear id of the thread modulo 32, whatever the shape of the block. Otherwise each thread
    does the operation alone, and has all of the buffer in registers, if it has that many;
    operands may be anywhere in memory then. In loops over threads that are yet to be distributed,
    operations are left alone.

    Contractions with private buffers between them, as `workgroup-keep-chains` makes them, are done
    together: warps have whole rows, the four lanes with elements of a row exchange what they
    reduce it to, and the first result, rounded to 16 bits, is where the second product takes it.
    Sums that start from zero, and are only added to and scaled in the loop, lanes have each for
    itself until behind it. Rows and tiles that are multiplied by a factor for each row are so
    only where a row of the warp has another factor than one.

    To be run after `workgroup-form-rings` and before `workgroup-lower-rings`: the tiles
    may be slots of rings; and again behind `workgroup-keep-accumulators`. Inserts no barriers.
    Sources: NVIDIA, "CUTLASS: efficient GEMM in CUDA"; PTX ISA, "Matrix Fragments for mma".
  }];
  let options = [
    AssumeAlignmentOption,
    ChipOption,
    TensorCoresOption,
    TF32Option,
    WarpGroupsOption,
    AssumeDistinctArgumentsOption,
  ];
  let dependentDialects = ["arith::ArithDialect", "gpu::GPUDialect", "LLVM::LLVMDialect",
                           "memref::MemRefDialect", "nvgpu::NVGPUDialect",
                           "NVVM::NVVMDialect", "scf::SCFDialect", "ub::UBDialect",
                           "vector::VectorDialect", "::mlir::workgroup::WorkgroupDialect"];
}

def LowerContractions_LoweredContraction
    : Passed<"A contraction of tiles was shared out to threads.">;
def LowerContractions_LoweredChain
    : Passed<"A contraction of what another one makes is done in registers.">;
def LowerContractions_TensorCoresNotUsed
    : Missed<"Tensor cores do not compute a contraction.">;
def LowerContractions_WarpGroupsNotUsed
    : Missed<"Warp groups do not multiply tiles where they are.">;
def LowerContractions_NotShared : Missed<"Each thread does all of a contraction.">;

def StageOperandsPass : Pass<"workgroup-stage-operands"> {
  let summary = "Stage the operands of contractions in workgroup memory";
  let description = [{
    Of a contraction in a loop over blocks, or in a launch, that sums up products of two buffers,
    both operands are copied to tiles in workgroup memory (`#gpu.address_space<workgroup>`) of
    constant sizes, in each iteration of the loops over its sums, and the result
    is a private buffer (`#gpu.address_space<private>`): `workgroup-lower-contractions`
    makes registers of it. Rows and columns are rounded up to what threads can share; where
    an operand has fewer elements than its tile, this is filled with zeros before the copy. So the
    contraction is the same for ragged and for dynamic sizes.

    The private buffer starts from what filled the result, or from a copy of it. Element-wise
    operations that read the result behind the loops read the private buffer
    instead; if one of them writes the result in place, or nobody else needs it, it is
    not written before, else it is a copy of the private buffer. Loops around that go on adding
    to the result, having changed it element by element, as attention does, go on with the private
    buffer.

    A block may keep the result in a buffer of its own, for a sum along rows or another
    contraction. That buffer gets room for the whole tile, which is stored without asking where
    it ends, and rows far enough apart for threads that store two at once. A second contraction
    that reads such rows is given them where they are, with zeros behind the last sum.

    A contraction is left alone, with a remark, if sizes have no constant bounds; if one
    operand or the result has a single column; if tiles have more than one iteration
    of a loop that goes along the result and both operands; if the body is not one that
    zeros do not change, and the sums may be ragged; if the tiles are
    too large; if the result may be the memory of an operand. Different arguments may be, unless
    `llvm.noalias` or `assume-distinct-arguments` says that they are not.

    Besides, tiles of global memory that nothing in their loop over blocks writes to are copied to
    workgroup memory once, where that takes half of `max-bytes` at most, if the operations of the
    block reduce them and read them again, or read them in windows of which three or more share an
    element (poolings, depthwise convolutions), or if an element-wise operation
    reads them across the order of its result, such as a transposition.

    To be run on kernels before `workgroup-place-buffers`. Inserts no barriers: copies of
    the block are ordered by who lowers them.
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

def StageOperands_NotStaged : Missed<"What a contraction reads is not staged.">;
def StageOperands_StagedOperands : Passed<"The operands of a contraction are staged.">;
def StageOperands_StagedTile
    : Passed<"A tile that is read several times is copied to workgroup memory.">;

#endif // WORKGROUP_TRANSFORMS_CONTRACTIONS
