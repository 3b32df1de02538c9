//===- RegisterChainChecks.cpp - Whether a chain can be kept --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RegisterChainChecks.h"
#include "Transforms/Copies/MemoryAccesses.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::workgroup {

bool isWriting(Operation *op, Value view) {
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return copy.getTarget() == view;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && llvm::is_contained(structured.getDpsInits(), view);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

std::string sortOps(RegisterChain &chain, ArrayRef<Operation *> ops) {
  Block *outer = chain.loop->getBlock(), *inner = chain.loop.getBody();
  auto isElsewhere = [&](Operation *op) {
    return op->getBlock() != outer && op->getBlock() != inner;
  };
  chain.ops.assign(ops.begin(), ops.end());
  SmallVector<Operation *> all(ops);
  for (const auto &entry : chain.buffers)
    all.push_back(entry.first.getDefiningOp());
  for (Operation *op : all)
    if (isElsewhere(op))
      return nameInRemark(op) + " stands neither in the loop nor around it";
  llvm::sort(chain.ops, [&](Operation *lhs, Operation *rhs) {
    if (lhs->getBlock() == rhs->getBlock())
      return lhs->isBeforeInBlock(rhs);
    return outer->findAncestorOpInBlock(*lhs)->isBeforeInBlock(
        outer->findAncestorOpInBlock(*rhs));
  });
  return "";
}

/// True if an operation in the loop of `chain` uses `buffer`.
static bool isUsedInLoop(const RegisterChain &chain, Value buffer) {
  return llvm::any_of(chain.ops, [&](Operation *op) {
    return op->getBlock() != chain.loop->getBlock() &&
           llvm::any_of(op->getOperands(), [&](Value operand) {
             return chain.getBuffer(operand) == buffer;
           });
  });
}

/// Why the loop cannot start from what was `filled` before it, or empty.
static std::string checkEntry(const RegisterChain &chain,
                              const DenseSet<Value> &filled) {
  for (const auto &[buffer, dims] : chain.buffers) {
    Operation *op = buffer.getDefiningOp();
    if (op->getBlock() == chain.loop->getBlock() && !filled.contains(buffer) &&
        isUsedInLoop(chain, buffer))
      return "nothing fills " + nameInRemark(op) + " before the loop";
  }
  return "";
}

/// Why `op` reads what was not `filled`, or empty. Adds what it fills.
static std::string checkFilled(const RegisterChain &chain, Operation *op,
                               DenseSet<Value> &filled) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Value buffer = chain.getBuffer(operand.get());
    bool isOverwritten =
        structured ? structured.isDpsInit(&operand) &&
                         !structured.payloadUsesValueFromOperand(&operand)
                   : operand.getOperandNumber() == 1;
    if (buffer && !isOverwritten && !filled.contains(buffer))
      return nameInRemark(op) + " reads a buffer that nothing has filled";
  }
  for (Value operand : op->getOperands())
    if (Value buffer = chain.getBuffer(operand);
        buffer && isWriting(op, operand))
      filled.insert(buffer);
  return "";
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

static bool isSink(ChainRole role) {
  return role == ChainRole::Sink || role == ChainRole::RowSink;
}

/// True if `op` has all that there is of its buffers; in the end it may have
/// less of them. What is done to results may leave out columns that only fill
/// up matrices: nobody reads these, whatever becomes of them.
static bool hasWholeShapes(const RegisterChain &chain, Operation *op,
                           ChainRole role) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  bool isScaling = role == ChainRole::Elements && structured &&
                   findRowFactor(chain, structured);
  auto mayBeLess = [&](ChainDim dim) {
    return isSink(role) || (isScaling && dim == ChainDim::Columns);
  };
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Value buffer = chain.getBuffer(operand);
    if (!buffer)
      return true;
    auto type = cast<MemRefType>(operand.getType());
    return llvm::all_of_zip(
        type.getShape(), chain.buffers.find(buffer)->second,
        [&](int64_t size, ChainDim dim) {
          return size == chain.getExtent(dim) ||
                 (mayBeLess(dim) &&
                  (ShapedType::isDynamic(size) || size < chain.getExtent(dim)));
        });
  });
}

/// True if `op` reads what the emitter can give it: tiles by all of its loops,
/// and the rest of memory where it goes by tiles.
static bool readsTiles(const RegisterChain &chain, Operation *op,
                       ChainRole role) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  bool isOfTile = role == ChainRole::Elements || role == ChainRole::Fold ||
                  role == ChainRole::Sink;
  if (!structured || role == ChainRole::First || role == ChainRole::Second)
    return role != ChainRole::Sink || findTile(chain, op);
  if (role == ChainRole::RowSink &&
      !llvm::all_of(chain.getDims(structured), [](std::optional<ChainDim> dim) {
        return dim == ChainDim::Rows || dim == ChainDim::Single;
      }))
    return false;
  OpOperand *tile = findTile(chain, op);
  if (isOfTile) {
    if (!tile || !structured.getMatchingIndexingMap(tile).isPermutation())
      return false;
    OpOperand *output = structured.getDpsInitOperand(0);
    if (role != ChainRole::Fold && structured.getMatchingIndexingMap(output) !=
                                       structured.getMatchingIndexingMap(tile))
      return false;
  }
  unsigned numTiles = 0;
  for (OpOperand *input : structured.getDpsInputOperands()) {
    if (!isa<MemRefType>(input->get().getType()))
      continue;
    Value buffer = chain.getBuffer(input->get());
    if (!buffer && !isOfTile)
      return false;
    if (!buffer || chain.isOfRows(buffer))
      continue;
    ++numTiles;
    if (!isOfTile || structured.getMatchingIndexingMap(input) !=
                         structured.getMatchingIndexingMap(tile))
      return false;
  }
  return role != ChainRole::Sink || numTiles == 1;
}

/// True if the dimensions of tiles are those of results.
static bool hasTileDims(const RegisterChain &chain) {
  auto getResultDims = [&](const Contraction &contraction) {
    Contraction copy = contraction;
    return chain.buffers.find(chain.getBuffer(copy.getResult()->get()))->second;
  };
  for (const auto &[buffer, dims] : chain.buffers) {
    if (chain.isOfRows(buffer))
      continue;
    bool isSecond = llvm::is_contained(dims, ChainDim::Columns);
    if (dims != getResultDims(isSecond ? chain.second : chain.first))
      return false;
  }
  return true;
}

/// Why `op` cannot be done on registers, or empty.
static std::string checkRole(const RegisterChain &chain, Operation *op,
                             std::optional<ChainRole> role, bool isBehind) {
  std::string name = nameInRemark(op);
  if (!role)
    return name + " neither goes element by element nor reduces rows";
  if (!hasWholeShapes(chain, op, *role))
    return name + " has a part of a buffer only";
  if (!readsTiles(chain, op, *role))
    return name + " reads more than elements of a tile or of rows";
  if (isSink(*role) && !isBehind)
    return name + " stores before the loop has ended";
  return "";
}

std::string checkRoles(const RegisterChain &chain) {
  if (!hasTileDims(chain))
    return "dimensions of a buffer are in another order than those of results";
  DenseSet<Value> filled;
  bool isEntered = false;
  for (Operation *op : chain.ops) {
    bool isInside = op->getBlock() != chain.loop->getBlock();
    bool isBehind = !isInside && isEntered;
    std::string why = checkRole(chain, op, getRole(chain, op), isBehind);
    if (why.empty() && isInside && !isEntered) {
      isEntered = true;
      why = checkEntry(chain, filled);
    }
    if (why.empty())
      why = checkFilled(chain, op, filled);
    if (!why.empty())
      return why;
  }
  return "";
}

} // namespace mlir::workgroup
