//===- ChainTiles.cpp - What a block keeps of contractions ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChainTiles.h"
#include "StreamLoop.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::workgroup {

/// Lets the first contraction make some of its columns at a time, which threads
/// hold in registers.
static LogicalResult tileColumns(RewriterBase &rewriter,
                                 ContractionChain &chain, int64_t columns) {
  linalg::LinalgOp first = chain.first;
  if (columns == 0 || first.getStaticLoopRanges()[chain.firstColumn] <= columns)
    return success();
  SmallVector<OpFoldResult> sizes(first.getNumLoops(),
                                  rewriter.getIndexAttr(0));
  sizes[chain.firstColumn] = rewriter.getIndexAttr(columns);
  scf::SCFTileAndFuseOptions fusion;
  fusion.setTilingOptions(scf::SCFTilingOptions().setTileSizes(sizes));
  rewriter.setInsertionPoint(first);
  auto tiled = scf::tileConsumerAndFuseProducersUsingSCF(
      rewriter, cast<TilingInterface>(first.getOperation()), fusion);
  if (failed(tiled))
    return first.emitOpError("cannot be made a few columns at a time; give no "
                             "'columns'");
  chain.links.erase(chain.links.begin());
  for (auto [from, to] : tiled->replacements)
    rewriter.replaceAllUsesWith(from, to);
  return success();
}

/// Lets both contractions go through the columns of the first.
static LogicalResult stream(RewriterBase &rewriter,
                            const ContractionChain &chain,
                            const TileKernelOptions &options) {
  std::optional<ChainStream> found = findStream(chain);
  linalg::LinalgOp second = chain.second;
  if (!found)
    return second.emitOpError("needs whole rows of what it multiplies, which "
                              "is none of the softmax of scores; give no "
                              "'stream'");
  found->skipsMasked = options.skipsMasked;
  return streamChain(rewriter, chain, *found, options.stream);
}

LogicalResult tileChain(RewriterBase &rewriter, func::FuncOp function,
                        const TileKernelOptions &options) {
  std::optional<ContractionChain> chain;
  function.walk([&](linalg::LinalgOp op) {
    if (!chain && getTensorOp(op))
      chain = findChain(op);
  });
  if (!chain)
    return success();
  if (options.stream != 0)
    return stream(rewriter, *chain, options);
  if (failed(tileColumns(rewriter, *chain, options.columns)))
    return failure();
  for (const ContractionChain::Link &link : chain->links) {
    linalg::LinalgOp op = link.op;
    auto isKept = [&](Operation *producer) {
      return producer->getBlock() == op->getBlock() &&
             isa<linalg::LinalgOp, scf::ForOp>(producer);
    };
    if (OpOperand *read = findReplaced(op, isKept))
      rewriter.modifyOpInPlace(
          op, [&] { op.getDpsInitOperand(0)->set(read->get()); });
  }
  (void)runRegionDCE(rewriter, function->getRegions());
  return success();
}

} // namespace mlir::workgroup
