//===- ThreadLoops.cpp - Loops over threads and in threads ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mlir::workgroup {

static constexpr unsigned kFirstLinearId =
    static_cast<unsigned>(gpu::MappingId::LinearDim0);
static constexpr size_t kMaxLinearIds =
    static_cast<unsigned>(gpu::MappingId::LinearDim9) - kFirstLinearId + 1;

static void createSerialLoops(OpBuilder &builder, Location loc,
                              ArrayRef<OpFoldResult> counts,
                              SmallVectorImpl<Value> &ivs, LoopBody body) {
  if (counts.empty())
    return body(ivs);
  OpBuilder::InsertionGuard guard(builder);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  if (isOneInteger(counts.front())) {
    ivs.push_back(zero);
  } else {
    Value to = getValueOrCreateConstantIndexOp(builder, loc, counts.front());
    Value step = arith::ConstantIndexOp::create(builder, loc, 1);
    auto loop = scf::ForOp::create(builder, loc, zero, to, step);
    builder.setInsertionPointToStart(loop.getBody());
    ivs.push_back(loop.getInductionVar());
  }
  createSerialLoops(builder, loc, counts.drop_front(), ivs, body);
}

void createSerialLoops(OpBuilder &builder, Location loc,
                       ArrayRef<OpFoldResult> counts, LoopBody body) {
  SmallVector<Value> ivs;
  createSerialLoops(builder, loc, counts, ivs, body);
}

/// A loop whose iterations threads share out, one dimension at least.
static scf::ForallOp createMappedLoop(OpBuilder &builder, Location loc,
                                      ArrayRef<OpFoldResult> counts) {
  SmallVector<OpFoldResult> left(counts);
  if (left.empty())
    left.push_back(builder.getIndexAttr(1));
  SmallVector<Attribute> mapping;
  for (unsigned dim = left.size(); dim-- > 0;)
    mapping.push_back(gpu::GPUThreadMappingAttr::get(
        builder.getContext(),
        static_cast<gpu::MappingId>(kFirstLinearId + dim)));
  return scf::ForallOp::create(builder, loc, left, ValueRange(),
                               builder.getArrayAttr(mapping));
}

void createThreadLoop(OpBuilder &builder, Location loc,
                      ArrayRef<OpFoldResult> counts, LoopBody body) {
  SmallVector<OpFoldResult> mapped;
  for (OpFoldResult count : counts)
    if (!isOneInteger(count))
      mapped.push_back(count);
  // There are no more names for dimensions: each thread does all of the rest.
  size_t numSerial = mapped.size() - std::min(mapped.size(), kMaxLinearIds);
  auto serial = ArrayRef(mapped).take_front(numSerial);
  auto loop =
      createMappedLoop(builder, loc, ArrayRef(mapped).drop_front(numSerial));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  createSerialLoops(builder, loc, serial, [&](ValueRange outer) {
    SmallVector<Value> left(outer), ivs;
    llvm::append_range(left, loop.getInductionVars());
    auto next = left.begin();
    for (OpFoldResult count : counts)
      ivs.push_back(
          isOneInteger(count)
              ? arith::ConstantIndexOp::create(builder, loc, 0).getResult()
              : *next++);
    body(ivs);
  });
}

} // namespace mlir::workgroup
