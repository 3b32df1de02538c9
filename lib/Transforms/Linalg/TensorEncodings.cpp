//===- TensorEncodings.cpp - Tensors that are more than their shape -------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorEncodings.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::workgroup {

/// A tensor with an encoding that `type` is, or is made of; null for none.
static RankedTensorType findEncoded(Type type, bool onlySparse) {
  RankedTensorType found;
  type.walk([&](RankedTensorType tensor) {
    if (!tensor.getEncoding() ||
        (onlySparse && !sparse_tensor::getSparseTensorEncoding(tensor)))
      return WalkResult::advance();
    found = tensor;
    return WalkResult::interrupt();
  });
  return found;
}

/// Says of `type`, which `what` has, what is to be done about its encoding.
static LogicalResult refuse(Location loc, const Twine &what,
                            RankedTensorType type) {
  InFlightDiagnostic error = emitError(loc)
                             << what << " is of type " << type << ", whose ";
  if (sparse_tensor::getSparseTensorEncoding(type))
    return error << "sparse encoding kernels of dense loops would lose; run "
                    "the sparsifier first (mlir-opt --sparsifier, or "
                    "--sparsification-and-bufferization)";
  return error << "encoding would be lost when the tensor becomes a buffer; "
                  "leave it out of the type, or lower what it means before";
}

/// Checks the arguments of the blocks of `op`, and what it makes.
static LogicalResult checkOp(Operation *op, bool onlySparse) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        if (RankedTensorType type = findEncoded(argument.getType(), onlySparse))
          return refuse(argument.getLoc(),
                        "argument " + Twine(argument.getArgNumber()) + " of '" +
                            op->getName().getStringRef() + "' op",
                        type);
  for (OpResult result : op->getResults())
    if (RankedTensorType type = findEncoded(result.getType(), onlySparse))
      return refuse(op->getLoc(),
                    "result " + Twine(result.getResultNumber()) + " of '" +
                        op->getName().getStringRef() + "' op",
                    type);
  // A declaration has no blocks, and a result may be no value.
  if (auto function = dyn_cast<FunctionOpInterface>(op)) {
    for (Type of : function.getArgumentTypes())
      if (RankedTensorType type = findEncoded(of, onlySparse))
        return refuse(op->getLoc(),
                      "an argument of '@" + function.getName() + "'", type);
    for (Type of : function.getResultTypes())
      if (RankedTensorType type = findEncoded(of, onlySparse))
        return refuse(op->getLoc(), "a result of '@" + function.getName() + "'",
                      type);
  }
  return success();
}

LogicalResult checkEncodings(Operation *root, bool onlySparse) {
  bool hasFailed = false;
  root->walk<WalkOrder::PreOrder>(
      [&](Operation *op) { hasFailed |= failed(checkOp(op, onlySparse)); });
  return failure(hasFailed);
}

} // namespace mlir::workgroup
