//===- MemorySpelling.cpp - Spellings of memory spaces --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemorySpelling.h"
#include "Support/AddressSpaces.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

/// The memory space that means the same as `space` and is known everywhere;
/// `space` itself if it is, or if it means nothing.
static Attribute getKnownSpelling(Attribute space) {
  if (!space || isa<gpu::AddressSpaceAttr>(space))
    return space;
  MLIRContext *context = space.getContext();
  bool isNumber = isa<IntegerAttr>(space);
  switch (getAddressSpace(space)) {
  case kGenericSpace:
    return isNumber ? space : Attribute();
  case kGlobalSpace:
    return isNumber
               ? space
               : gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Global);
  case kSharedSpace:
    return isNumber ? space : getWorkgroupSpace(context);
  case kConstantSpace:
    return IntegerAttr::get(IntegerType::get(context, 64), kConstantSpace);
  case kLocalSpace:
    return gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Private);
  default:
    return space;
  }
}

void respellMemorySpaces(Operation *root) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](BaseMemRefType type) -> std::optional<Type> {
    Attribute space = type.getMemorySpace(), known = getKnownSpelling(space);
    return known == space ? std::nullopt
                          : std::optional<Type>(withMemorySpace(type, known));
  });
  replacer.recursivelyReplaceElementsIn(root, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

} // namespace mlir::workgroup
