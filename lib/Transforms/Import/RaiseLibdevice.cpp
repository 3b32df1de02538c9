//===- RaiseLibdevice.cpp - Functions of libdevice to arith ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RaiseLibdevice.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::workgroup {

namespace {
struct LibdeviceCall {
  LLVM::CallOp op;
  RewriterBase &rewriter;

  bool isOf(ArrayRef<StringRef> names) {
    return llvm::is_contained(names, *op.getCallee());
  }
  template <typename Op>
  Value make() {
    return Op::create(rewriter, op.getLoc(), op.getArgOperands()[0],
                      op.getArgOperands()[1]);
  }
  Value makeBits();
  Value raise();
};
} // namespace

/// The bits of a number of another type of the same width.
Value LibdeviceCall::makeBits() {
  Value from = op.getArgOperands()[0];
  Type to = op.getResult().getType();
  bool areNumbers = from.getType().isIntOrFloat() && to.isIntOrFloat();
  if (!areNumbers ||
      from.getType().getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth())
    return Value();
  return from.getType() == to
             ? from
             : Value(arith::BitcastOp::create(rewriter, op.getLoc(), to, from));
}

Value LibdeviceCall::raise() {
  if (op.getArgOperands().size() == 1 &&
      isOf({"__nv_float_as_int", "__nv_float_as_uint", "__nv_int_as_float",
            "__nv_uint_as_float", "__nv_double_as_longlong",
            "__nv_longlong_as_double"}))
    return makeBits();
  if (op.getArgOperands().size() != 2 ||
      !isa<IntegerType>(op.getResult().getType()))
    return Value();
  if (isOf({"__nv_min", "__nv_llmin"}))
    return make<arith::MinSIOp>();
  if (isOf({"__nv_max", "__nv_llmax"}))
    return make<arith::MaxSIOp>();
  if (isOf({"__nv_umin", "__nv_ullmin"}))
    return make<arith::MinUIOp>();
  if (isOf({"__nv_umax", "__nv_ullmax"}))
    return make<arith::MaxUIOp>();
  return Value();
}

void raiseLibdevice(Region &region, RewriterBase &rewriter) {
  SmallVector<LLVM::CallOp> calls;
  region.walk([&](LLVM::CallOp op) {
    auto function =
        op.getCallee() ? SymbolTable::lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(
                             op, op.getCalleeAttr())
                       : LLVM::LLVMFuncOp();
    // A function of the program that is called so is another one.
    if (function && function.isExternal() && op.getNumResults() == 1)
      calls.push_back(op);
  });
  for (LLVM::CallOp op : calls) {
    rewriter.setInsertionPoint(op);
    if (Value value = LibdeviceCall{op, rewriter}.raise())
      rewriter.replaceOp(op, value);
  }
}

} // namespace mlir::workgroup
