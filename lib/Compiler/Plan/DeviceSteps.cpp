//===- DeviceSteps.cpp - What the host does by operations of a GPU --------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory of the device is memory like any other to a plan, and what is
// asynchronous is done when its step is: tokens are left out.
//
//===----------------------------------------------------------------------===//

#include "DeviceSteps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::workgroup {

using llvm::json::Array;
using llvm::json::Object;

bool writeDevice(Operation *op, PlanValues &values, Array &steps) {
  if (isa<gpu::WaitOp, gpu::HostRegisterOp, gpu::HostUnregisterOp>(op))
    return true; // nothing is left to wait for; the device sees all memory
  Object step = values.makeStep(op);
  if (auto copy = dyn_cast<gpu::MemcpyOp>(op)) {
    step["op"] = "memref.copy";
    step["source"] = values.operand(copy.getSrc());
    step["target"] = values.operand(copy.getDst());
  } else {
    auto set = cast<gpu::MemsetOp>(op);
    step["target"] = values.operand(set.getDst());
    step["value"] = values.operand(set.getValue());
  }
  steps.push_back(std::move(step));
  return true;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

bool isPrintOfMemory(func::CallOp call) {
  auto types = call.getOperandTypes();
  StringRef name = call.getCallee();
  return name.consume_front("printMemref") && call.getNumResults() == 0 &&
         types.size() == 1 && isa<BaseMemRefType>(types.front()) &&
         llvm::StringSwitch<bool>(name)
             .Cases({"BF16", "F16", "F32", "F64", "I8", "I16", "I32", "I64",
                     "Ind"},
                    true)
             .Default(false);
}

/// True for elements one after the other, of the last dimensions of memory.
static bool isPlain(vector::TransferReadOp read) {
  return read.getPermutationMap().isMinorIdentity() && !read.getMask() &&
         isa<MemRefType>(read.getBase().getType()) &&
         !read.getVectorType().isScalable() &&
         read.getVectorType().getElementType().isIntOrIndexOrFloat() &&
         read.getVectorType().getElementType() ==
             getElementTypeOrSelf(read.getBase().getType());
}

bool writePrint(Operation *op, PlanValues &values, Array &steps) {
  Object step = values.makeStep(op);
  if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
    if (!isPlain(read))
      return values.refuse(
          op, "'vector.transfer_read' op on the host reads elements "
              "in another order than they have in memory, by a mask, "
              "or of another type, which a launch plan cannot "
              "express; return the memory, and look at it there");
    step["source"] = values.operand(read.getBase());
    step["indices"] = values.operands(read.getIndices());
    step["shape"] = Array(read.getVectorType().getShape());
    step["padding"] = values.operand(read.getPadding());
  } else if (auto call = dyn_cast<func::CallOp>(op)) {
    step["op"] = "print";
    step["source"] = values.operand(call.getOperand(0));
  } else {
    auto print = cast<vector::PrintOp>(op);
    Value source = print.getSource();
    Type type = source ? source.getType() : Type();
    if (source && !isa<VectorType>(type) &&
        !getElementTypeOrSelf(type).isIntOrIndexOrFloat())
      return values.refuse(
          op, "'vector.print' op prints a value that a launch plan "
              "cannot express; print it in a kernel, or return it");
    step["op"] = "print";
    if (source)
      step["value"] = values.operand(source);
    if (std::optional<StringRef> text = print.getStringLiteral())
      step["text"] = *text;
    step["end"] = llvm::StringSwitch<StringRef>(
                      stringifyPrintPunctuation(print.getPunctuation()))
                      .Case("newline", "\n")
                      .Case("comma", ", ")
                      .Case("open", "( ")
                      .Case("close", " )")
                      .Default("");
  }
  steps.push_back(std::move(step));
  return true;
}

} // namespace mlir::workgroup
