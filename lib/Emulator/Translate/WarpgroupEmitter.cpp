//===- WarpgroupEmitter.cpp - What four warps do together -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a product, the runtime knows the sites of the product and, one behind the
// other, of its reads of A and of B.
//
//===----------------------------------------------------------------------===//

#include "WarpgroupEmitter.h"
#include "ProductCalls.h"

using namespace llvm;

namespace mlir::workgroup::emulator {

void WarpgroupEmitter::suspendAt(CallInst &call, Operation operation,
                                 ArrayRef<Value *> operands) {
  operation.kind = Operation::Kind::Warpgroup;
  uint32_t number = context.addOperation(call, std::move(operation));
  context.tables.sites[context.tables.operations[number].site].isProduct = true;
  IRBuilder<> builder(&call);
  context.storeRegisters(builder, operands);
  context.suspend(builder, number, Wait::Warp);
  unsigned index = 0;
  if (!call.getType()->isVoidTy())
    call.replaceAllUsesWith(
        context.loadRegisters(builder, call.getType(), index));
  call.eraseFromParent();
}

bool WarpgroupEmitter::emitIntrinsic(IntrinsicInst &call, StringRef name) {
  auto op = WarpgroupOp::decode(name);
  if (!op)
    return false;
  Operation operation;
  operation.warpgroup = *op;
  SmallVector<Value *> operands(call.args());
  suspendAt(call, std::move(operation), operands);
  return true;
}

/// Adds the site of a read of workgroup memory at an address that only the
/// descriptor knows.
uint32_t WarpgroupEmitter::addRead(const Instruction &at) {
  uint32_t number = context.addSite(at);
  Site &site = context.tables.sites[number];
  site.kind = AccessKind::Read;
  site.space = Space::Shared;
  site.bytes = MatrixDescriptor::kChunk;
  site.alignment = MatrixDescriptor::kChunk;
  site.isAsync = site.isProduct = true;
  return number;
}

bool WarpgroupEmitter::emitAssembly(CallInst &call) {
  auto product = ProductCall::get(call);
  if (!product)
    return false;
  Operation operation;
  operation.warpgroup = {WarpgroupOp::Kind::Multiply, product->op};
  auto [number, use] = context.products.lookup(&call);
  operation.product = number;
  operation.registerUse = use;
  operation.accessSite = addRead(call);
  addRead(call);
  IRBuilder<> builder(&call);
  SmallVector<Value *> operands;
  if (product->op.hasFragmentA)
    append_range(operands, product->fragment);
  else
    operands.push_back(product->a);
  operands.append(
      {product->b, builder.CreateZExtOrTrunc(product->scale, context.i32)});
  append_range(operands, product->accumulators);
  suspendAt(call, std::move(operation), operands);
  return true;
}

} // namespace mlir::workgroup::emulator
