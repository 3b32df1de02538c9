//===- Linalg.td - Linalg as front ends write it -----------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_LINALG
#define WORKGROUP_TRANSFORMS_LINALG

include "mlir/Pass/PassBase.td"
include "workgroup/PassOptions.td"
include "workgroup/Remarks.td"

def DropAssertionsOption
    : SharedOption, Option<"dropAssertions", "drop-assertions", "bool", /*default=*/"false",
             "Drop assertions in the bodies of operations, with a warning for each">;

def NormalizeLinalgPass : Pass<"workgroup-normalize-linalg", "ModuleOp"> {
  let summary = "Bring linalg into the form that schedules match";
  let description = [{
    Rewrites linalg as front ends write it into `linalg.generic` on tensors, which schedules
    recognise by loops, maps and body.

    **Buffers to tensors.** Operations on buffers become operations on tensors. The result of
    one operation in a buffer becomes the tensor that the next one takes. It is stored
    (`bufferization.materialize_in_destination`) before anything else accesses memory.
    `scf.execute_region no_inline` separates the code before and after such a store, since
    tensors do not show that memory lies between them. Buffers that may overlap another one are
    written by copies. Different arguments may overlap, unless they are `llvm.noalias`, or
    `assume-distinct-arguments` is set and nothing in the module calls the function. Operations
    on memory outside the default memory space, and operations whose body does more to memory
    than load from it, are left unchanged.

    **Decompositions.**

    - `linalg.softmax` and similar operations become the operations that define them.
      `linalg.pack` and `linalg.unpack` become paddings, reshapes and transpositions,
      `tensor.concat` becomes insertions, `tensor.reshape` becomes a collapse to one dimension
      and an expansion, and `scf.index_switch` becomes a chain of two-way branches.
    - Functions that bodies call are inlined; branches between their blocks of code become loops
      and branches of scf (by upstream's `lift-cf-to-scf`).
    - If the results of an operation are indexed by different loops, such as the elements of a
      row and their sum, each result gets an operation of its own. Loops that do not index a
      result become its reduction loops.
    - A result that is written in blocks, at an index such as `i * 8 + j * 2 + k`, gets one
      dimension per loop, and is read through a `tensor.collapse_shape`. A result of which a
      part is written, from an offset or with a step, is inserted into its previous contents.
    - `tensor.pad`, `linalg.pack` of dynamic tile sizes, `tensor.generate`, `tensor.splat`,
      `tensor.bitcast`, and arithmetic on tensors become generics. The generic of a padding
      selects between the element, where it is in bounds, and the padding.
    - Named operations become generics. Constants that they update become fills.
    - A tensor of `i4` that is an argument of a function without callers in the module becomes a
      tensor of bytes. Each byte holds two elements along the last dimension, the first in the
      low bits. A generic unpacks them to one byte each, which other bodies truncate.
    - Windows of one element, and windows that do not move, become accesses to the part of the
      input that they read. Dimensions of one element, and operations without iterations, are
      removed.

    **Zero points.** Quantized products and convolutions of 8-bit integers subtract a zero point
    from each element: `sum (a - za) * (b - zb)`. Tensor cores multiply 8 bits, and the difference
    has 9. If each element is multiplied at least 16 times, that becomes
    `sum a * b - zb * (sum a - N * za) - za * sum b`, with a remark: equal bit by bit, as
    integers wrap. The sums of one operand are operations of their own.

    **Operands of contractions.** The body of a sum of products may change an operand before it
    multiplies, as for weights with a scale for each column. If each element is multiplied at
    least 16 times, that computation becomes an element-wise operation, with a remark. What is
    left is a contraction.

    **Scaled factors.** Factors of `f16` that are extended to `f32` and multiplied by a constant
    before a contraction multiplies them, as PyTorch scales queries and keys of attention, are
    multiplied as they are, and the sums by the constants. The contraction adds up in `f32` from
    zero, and each constant is from 2^-32 to 2^32 in magnitude. Products of `f16` are exact then,
    no sum leaves the range of normal numbers, and the constant is rounded once for all: the
    bound of the error is no larger than that of the program, the results of infinities and NaN
    are the same. Of `bf16` this is done with `narrow` only, as sums may be infinite that are
    finite if factors are scaled; else a remark says so.

    **Fusion.** Element-wise operations are fused into element-wise users, and into a reduction
    that is their only user. Transpositions, broadcasts and other copies are also fused into
    contractions, which then read the source of the copy. So are casts that round nothing
    (`arith.extf`, `arith.extsi`, `arith.extui`), also into windows: `f16` that is extended to
    `f32` and multiplied is read, and kept in tiles, as `f16`. A reshape between the cast and
    its reader comes before the cast. Casts of elements of less than 8 bits, and of floats of
    8 bits that are multiplied by `f32`, stay where they are. Results of the same loops become
    one generic with several results. No other body is fused into a contraction or a window,
    which would repeat it for each term of its sums.

    Code in kernels, and the rest of functions without such operations, is left unchanged. A
    `cf.assert` in the body of an operation is checked by the kernel, and ends the launch if it
    fails; it is dropped if nothing uses the results of the operation. With `drop-assertions` it
    is dropped with a warning and a remark.

    Fails on

    - tensors with an encoding (sparse or other), which buffers do not have;
    - complex numbers, `f80` and `f128`;
    - Winograd transformations;
    - bodies that call a recursive function, or one that is defined elsewhere;
    - an argument of `i4` that is `bufferization.writable`;
    - parallel loops of which several iterations may write one element of a result, or write it
      along a reduction while another result needs its intermediate value.

    Source: peers match operations by name, and miss those that a front end spells otherwise;
    `linalg-specialize-generic-ops` of MLIR 22 takes A * B^T for A * B.
  }];
  let options = [
    DropAssertionsOption,
    AssumeDistinctArgumentsOption,
    NarrowOption,
  ];
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "bufferization::BufferizationDialect",
                           "linalg::LinalgDialect", "memref::MemRefDialect", "math::MathDialect",
                           "scf::SCFDialect", "tensor::TensorDialect",
                           "ub::UBDialect"];
}

def NormalizeLinalg_DroppedAssertion
    : Passed<"An assertion that no kernel checks was dropped.">;
def NormalizeLinalg_ScaledFactors
    : Missed<"A constant scales a factor, which keeps it off tensor cores.">;
def NormalizeLinalg_ScaledSums
    : Passed<"A constant scales sums of products in place of their factors.">;
def NormalizeLinalg_TookOutZeroPoints
    : Passed<"Zero points are subtracted from sums, not from their terms.">;
def NormalizeLinalg_SplitOperand
    : Passed<"An operand is computed before the contraction that reads it.">;

#endif // WORKGROUP_TRANSFORMS_LINALG
