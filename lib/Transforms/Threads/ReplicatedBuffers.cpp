//===- ReplicatedBuffers.cpp - Buffers that each thread has ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReplicatedBuffers.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

/// True if all that uses `buffer` is among `ops`.
static bool isOfOps(memref::AllocOp buffer, const DenseSet<Operation *> &ops) {
  MemRefType type = buffer.getType();
  return type.hasStaticShape() && type.getNumElements() == 1 &&
         type.getLayout().isIdentity() && isWorkgroupMemory(type) &&
         llvm::all_of(buffer->getUsers(),
                      [&](Operation *user) { return ops.contains(user); });
}

/// True if nothing that `op` writes is to be seen by another thread.
static bool writesOnly(linalg::LinalgOp op,
                       const llvm::SetVector<Value> &buffers) {
  return llvm::all_of(op.getDpsInits(),
                      [&](Value init) { return buffers.contains(init); });
}

void replicateBuffers(RewriterBase &rewriter, scf::ForallOp loop,
                      ArrayRef<linalg::LinalgOp> ops) {
  DenseSet<Operation *> isMapped(ops.begin(), ops.end());
  llvm::SetVector<Value> buffers;
  loop.walk([&](memref::AllocOp op) {
    if (isOfOps(op, isMapped))
      buffers.insert(op.getResult());
  });
  // What is written together stays together.
  bool hasChanged = true;
  while (hasChanged) {
    hasChanged = false;
    for (linalg::LinalgOp op : ops)
      if (!writesOnly(op, buffers))
        for (Value init : op.getDpsInits())
          hasChanged |= buffers.remove(init);
  }
  auto space = gpu::AddressSpaceAttr::get(rewriter.getContext(),
                                          gpu::AddressSpace::Private);
  for (Value buffer : buffers) {
    rewriter.setInsertionPointToStart(loop.getBody());
    auto type = cast<MemRefType>(
        withMemorySpace(cast<MemRefType>(buffer.getType()), space));
    Value own = memref::AllocaOp::create(rewriter, buffer.getLoc(), type);
    Operation *shared = buffer.getDefiningOp();
    rewriter.replaceAllUsesWith(buffer, own);
    rewriter.eraseOp(shared);
  }
}

} // namespace mlir::workgroup
