//===- AccessAlignment.cpp - Promised and provided alignment --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An access that needs or promises an alignment against the alignment of its
// buffer, which is stated, or natural for its type. Where the byte is constant,
// it is checked as well. A buffer without a stated alignment is refused where
// LLVM assumes more for it than its PTX declares.
//
//===----------------------------------------------------------------------===//

#include "KernelChecks.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

/// Checks the alignment of `access`, one of `op`.
static LogicalResult verifyAccess(Operation *op, const AlignedAccess &access,
                                  const VerifyKernelsOptions &options) {
  if (access.alignment <= 1)
    return success();
  Value memref = access.memref;
  auto type = dyn_cast<MemRefType>(memref.getType());
  Operation *module = op->getParentOfType<ModuleOp>();
  Value buffer = getRaisableBuffer(memref, module);
  if (!type || !isWorkgroupMemory(type) || !buffer)
    return success();
  // Strides that no layout states take long to find.
  if (!type.getLayout().isIdentity() && !type.isStrided())
    return success();
  StringRef verb = access.isPromised ? "promises" : "needs";
  int64_t has =
      std::max({getStatedAlignment(buffer), options.assumeBufferAlignment,
                getNaturalAlignment(cast<MemRefType>(buffer.getType()), op)});
  if (has < access.alignment)
    return op->emitOpError()
           << verb << " an alignment of " << access.alignment
           << " bytes, but its buffer is aligned to " << has
           << "; raise the alignment of the buffer"
           << (access.isPromised ? ", or drop the promise" : "");

  // A constant place in the buffer is known to the byte.
  std::optional<int64_t> byte = getConstantOffset(access);
  if (!byte || *byte % access.alignment == 0)
    return success();
  return op->emitOpError() << verb << " an alignment of " << access.alignment
                           << " bytes, but accesses byte " << *byte
                           << " of its buffer; "
                           << (access.isPromised ? "drop the promise"
                                                 : "move it, or pad rows");
}

LogicalResult verifyAccessAlignment(Operation *op,
                                    const VerifyKernelsOptions &options) {
  return success(
      llvm::all_of(getAlignedAccesses(op), [&](const AlignedAccess &access) {
        return succeeded(verifyAccess(op, access, options));
      }));
}

LogicalResult verifyBufferAlignment(Value buffer, Operation *reportAt,
                                    const VerifyKernelsOptions &options) {
  // LLVM takes the preferred alignment of a variable, 16 bytes for any larger
  // array, for its actual one, while the PTX it prints declares the alignment
  // of the element. Only a stated alignment is the same for both.
  constexpr int64_t kPreferredAlignment = 16;
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || !isWorkgroupMemory(type) || !type.hasStaticShape() ||
      options.assumeBufferAlignment >= kPreferredAlignment ||
      getStatedAlignment(buffer) != 0 ||
      getNaturalAlignment(type, reportAt) >= kPreferredAlignment)
    return success();
  std::optional<int64_t> bytes = getElementBytes(type, reportAt);
  if (!bytes || type.getNumElements() * *bytes < kPreferredAlignment)
    return success();
  return reportAt->emitOpError("has a workgroup buffer of type ")
         << type << " without a stated alignment, which LLVM takes to be "
         << kPreferredAlignment
         << " and PTX to be the element's; run workgroup-hoist-allocs, or set "
         << (isa<BlockArgument>(buffer) ? "llvm.align"
                                        : "alignment on its memref.global");
}

} // namespace mlir::workgroup
