//===- DefaultTiles.cpp - Tiles where nobody chooses any ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DefaultTiles.h"
#include "Transforms/Linalg/LinalgClasses.h"

namespace mlir::workgroup {

/// Rows and columns of the result of a contraction that a block makes, and the
/// steps that it takes along the sum.
constexpr int64_t kTileRows = 64, kTileSteps = 16;
/// Elements that a thread makes of what goes element by element: one access.
constexpr int64_t kElementsPerThread = 4;

/// The contraction of `group`, if it is the only one.
static linalg::LinalgOp getContraction(const KernelGroup &group) {
  linalg::LinalgOp only;
  for (linalg::LinalgOp op : group.getOps()) {
    if (classify(op) != LinalgClass::Contraction)
      continue;
    if (only)
      return nullptr;
    only = op;
  }
  return only;
}

/// Tiles of a kernel with contraction `op`; nothing if it has no rows or no
/// columns that blocks share out.
static std::optional<TileKernelOptions>
getProductTiles(const KernelGroup &group, linalg::LinalgOp op) {
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  if (failed(dims) || dims->m.empty() || dims->n.empty() || dims->k.empty())
    return std::nullopt;
  ArrayRef<std::optional<unsigned>> rowOf = group.getRowOf(op);
  TileKernelOptions tiles;
  tiles.block.resize(group.getRows().size());
  for (unsigned loop : llvm::concat<unsigned>(dims->batch, dims->m, dims->n)) {
    if (!rowOf[loop] || !group.getRows()[*rowOf[loop]])
      return std::nullopt;
    bool isTiled = loop == dims->m.back() || loop == dims->n.back();
    tiles.block[*rowOf[loop]] = isTiled ? kTileRows : 1;
  }
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      tiles.reduction.push_back(loop == dims->k.back() ? kTileSteps : 1);
  return tiles;
}

TileKernelOptions getDefaultTiles(const KernelGroup &group, int64_t threads) {
  if (linalg::LinalgOp op = getContraction(group))
    if (std::optional<TileKernelOptions> tiles = getProductTiles(group, op))
      return *tiles;
  // A row for a block where there are sums, whose terms threads share.
  bool hasSums = llvm::any_of(group.getOps(), [](linalg::LinalgOp op) {
    return classify(op) == LinalgClass::Reduction;
  });
  TileKernelOptions tiles;
  tiles.block.resize(group.getRows().size());
  int64_t size = hasSums ? 1 : threads * kElementsPerThread;
  for (int loop = group.getRows().find_last(); loop >= 0;
       loop = group.getRows().find_prev(loop)) {
    tiles.block[loop] = size;
    size = 1;
  }
  return tiles;
}

} // namespace mlir::workgroup
