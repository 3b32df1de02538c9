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
    Of what front ends write in many ways, `linalg.generic` on tensors is left, recognised
    by its loops, maps and body:

    - operations on buffers become operations on tensors. What one leaves in a buffer,
      the next one takes as a tensor; it is put into memory
      (`bufferization.materialize_in_destination`) before anything else touches memory. What is
      before and behind that is kept apart by `scf.execute_region no_inline`: tensors do not
      show that memory is between them. A buffer
      that may overlap another one is written by copies. Different arguments may overlap,
      unless they are `llvm.noalias`, or `assume-distinct-arguments` is set and nothing in
      the module calls the function. Left as they are:
      operations in other than the default memory space, and those the bodies of which
      do more to memory than load from it;
    - `linalg.softmax` and its like become the operations that they stand for, `linalg.pack`
      and `linalg.unpack` paddings, reshapes and transpositions, `tensor.concat` insertions,
      `tensor.reshape` a row and what that is expanded to, `scf.index_switch` branches of two;
    - functions that bodies call are put into them, with blocks of branches as loops and
      branches of scf (by upstream's `lift-cf-to-scf`);
    - of an operation of which results go along different loops, as the elements of a row and
      their sum do, each becomes an operation, with the loops that do not go along it as its
      reductions;
    - a result that is laid out in blocks, by an index as `i * 8 + j * 2 + k`, gets a
      dimension for each loop, which is seen as one (`tensor.collapse_shape`); one of which a
      part is written, from an offset or in steps, is put into what was there;
    - `tensor.pad`, `linalg.pack` of tiles of dynamic size, `tensor.generate`, `tensor.splat`, `tensor.bitcast`, and arithmetic on
      tensors, become generics: a padded element is looked up if it is inside, and is the padding otherwise;
    - named operations become generics; constants that they update are filled in;
    - a tensor of `i4` that is an argument of a function which nothing in the module calls becomes one of
      bytes, each with two elements along the last dimension, the first in the low bits; a generic
      takes them apart into a byte each, which the bodies of others truncate;
    - windows of one element, or that move nowhere, read the part of the input that they
      reach; dimensions of one element are dropped, and operations without iterations;
    - of a sum of products, what is computed of an operand before it is multiplied
      (`(a - za) * (b - zb)` of `linalg.quantized_matmul`, weights with a scale for each
      column) becomes an element-wise operation where each element is multiplied 16 times or
      more, so that a contraction is left, with a remark;
    - element-wise operations are fused into element-wise users, and into a reduction
      that is the only user; transpositions, broadcasts and other copies also into
      contractions, which read what the copies read. Several results of the same loops become
      one generic with several results. Other bodies never go into a contraction or a window,
      which would compute them again for each of its sums.

    What stands in kernels, and the rest of functions without such operations, is left alone. A
    `cf.assert` in the body of an operation is for the kernel to check, unless nothing uses the results
    of the operation: one that fails ends the launch. With `drop-assertions` it is left out, with a
    warning and a remark.

    Fails where a tensor has an encoding, sparse or other, which no buffer has, where an
    operation is on complex numbers, or f80 and f128, where a Winograd
    transformation is asked for, where a body calls a function that calls itself, or is defined elsewhere,
    where an argument of `i4` is `bufferization.writable`,
    and where several iterations of parallel loops may write one element of a result, or write it
    along a reduction of which another result is needed as it is so far.

    Source: peers take operations by name, and miss those that a front end spells otherwise;
    `linalg-specialize-generic-ops` of MLIR 22 takes A * B^T for A * B.
  }];
  let options = [
    DropAssertionsOption,
    AssumeDistinctArgumentsOption,
  ];
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "bufferization::BufferizationDialect",
                           "linalg::LinalgDialect", "memref::MemRefDialect", "math::MathDialect",
                           "scf::SCFDialect", "tensor::TensorDialect",
                           "ub::UBDialect"];
}

def NormalizeLinalg_DroppedAssertion
    : Passed<"An assertion that no kernel checks was left out.">;
def NormalizeLinalg_SplitOperand
    : Passed<"An operand is computed before the contraction that reads it.">;

#endif // WORKGROUP_TRANSFORMS_LINALG
