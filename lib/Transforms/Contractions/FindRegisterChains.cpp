//===- FindRegisterChains.cpp - Chains that warps can have ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the second contraction on, buffers and what uses them are collected
// until there are no more. Dimensions follow from maps. Whatever fits no role,
// or is in no order, leaves the chain in memory.
//
//===----------------------------------------------------------------------===//

#include "RegisterChain.h"
#include "Sharers.h"
#include "Transforms/Utils/BufferViews.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

static bool isMemRef(Value value) { return isa<MemRefType>(value.getType()); }

//===----------------------------------------------------------------------===//
// The finder
//===----------------------------------------------------------------------===//

namespace {

/// Looks for the chain that ends with a contraction.
class RegisterChainFinder {
public:
  RegisterChainFinder(linalg::LinalgOp second, const Chip &chip,
                      int64_t numThreads)
      : chip(chip), numThreads(numThreads) {
    chain.second.op = second;
  }

  std::optional<RegisterChain> find();

private:
  bool isOwn(Value view);
  bool addBuffer(Value view, ArrayRef<ChainDim> dims);
  bool addUses(Value view);
  bool addOperands(Operation *op, bool &isComplete);
  bool collect();
  bool findSecond();
  bool findFirst();
  bool sortOps();
  bool checkShapes(Operation *op, ChainRole role);
  bool checkInputs(Operation *op, ChainRole role);
  bool checkOrder();
  bool chooseForms();

  const Chip &chip;
  int64_t numThreads;
  RegisterChain chain;
  llvm::SetVector<Operation *> ops;
};

} // namespace

/// True if `op` writes to `view`.
static bool isWriting(Operation *op, Value view) {
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return copy.getTarget() == view;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && llvm::is_contained(structured.getDpsInits(), view);
}

/// True if workgroup memory `view` gets what is computed from buffers that
/// threads have for themselves: sums.
static bool isDerived(Value view, DenseSet<Value> &seen) {
  for (Operation *user : view.getUsers()) {
    if (auto part = dyn_cast<memref::SubViewOp>(user))
      if (isDerived(part, seen))
        return true;
    if (!isWriting(user, view))
      continue;
    for (Value operand : user->getOperands()) {
      if (!isMemRef(operand))
        continue;
      Value root = getRootBuffer(operand);
      if (root.getDefiningOp<memref::AllocaOp>())
        return true;
      if (root.getDefiningOp<memref::AllocOp>() && seen.insert(root).second &&
          isDerived(root, seen))
        return true;
    }
  }
  return false;
}

/// True if `view` is of a buffer that may be kept in registers.
bool RegisterChainFinder::isOwn(Value view) {
  if (!isMemRef(view))
    return false;
  Value root = getRootBuffer(view);
  if (root.getDefiningOp<memref::AllocaOp>())
    return isPrivateMemory(root.getType());
  if (!root.getDefiningOp<memref::AllocOp>() ||
      !isWorkgroupMemory(root.getType()))
    return false;
  DenseSet<Value> seen;
  seen.insert(root);
  return isDerived(root, seen);
}

/// Adds the buffer that `view` is of. False if it cannot be.
bool RegisterChainFinder::addBuffer(Value view, ArrayRef<ChainDim> dims) {
  Value buffer = getLeadingSource(view);
  if (!isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(
          buffer.getDefiningOp()) ||
      llvm::count(dims, ChainDim::Rows) != 1 ||
      llvm::count(dims, ChainDim::Sums) + llvm::count(dims, ChainDim::Columns) >
          1)
    return false;
  auto [it, isNew] =
      chain.buffers.insert({buffer, SmallVector<ChainDim>(dims)});
  if (!isNew)
    return ArrayRef<ChainDim>(it->second) == dims;
  return addUses(buffer);
}

/// Adds what uses `view`, of a buffer. False if it is used otherwise than from
/// its first elements on.
bool RegisterChainFinder::addUses(Value view) {
  for (Operation *user : view.getUsers()) {
    auto part = dyn_cast<memref::SubViewOp>(user);
    if (!part) {
      ops.insert(user);
      continue;
    }
    if (getLeadingSource(part) != getLeadingSource(view))
      return false;
    chain.views.insert(part);
    if (!addUses(part))
      return false;
  }
  return true;
}

/// Adds the buffers of `op` as far as their dimensions are known. False if one
/// cannot be.
bool RegisterChainFinder::addOperands(Operation *op, bool &isComplete) {
  isComplete = true;
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    Value known = chain.getBuffer(copy.getSource());
    if (!known)
      known = chain.getBuffer(copy.getTarget());
    SmallVector<ChainDim> dims = chain.buffers.lookup(known);
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return !isOwn(operand) || addBuffer(operand, dims);
    });
  }
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return false;
  SmallVector<std::optional<ChainDim>> loops = chain.getDims(structured);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isOwn(operand.get()))
      continue;
    AffineMap map = structured.getMatchingIndexingMap(&operand);
    if (!map.isProjectedPermutation())
      return false;
    SmallVector<ChainDim> dims;
    for (unsigned i = 0; i < map.getNumResults(); ++i)
      if (std::optional<ChainDim> dim = loops[map.getDimPosition(i)])
        dims.push_back(*dim);
    if (dims.size() != map.getNumResults())
      isComplete = false;
    else if (!addBuffer(operand.get(), dims))
      return false;
  }
  return true;
}

/// Collects buffers and operations until there are no more.
bool RegisterChainFinder::collect() {
  DenseSet<Operation *> done;
  for (bool isChanging = true; isChanging;) {
    isChanging = false;
    for (unsigned i = 0; i < ops.size(); ++i) {
      if (done.contains(ops[i]))
        continue;
      bool isComplete = false;
      size_t before = ops.size();
      if (!addOperands(ops[i], isComplete))
        return false;
      if (isComplete)
        done.insert(ops[i]);
      isChanging |= isComplete || ops.size() != before;
    }
  }
  return done.size() == ops.size();
}

//===----------------------------------------------------------------------===//
// The contractions
//===----------------------------------------------------------------------===//

static bool areOfOneLoop(const Contraction &contraction) {
  return contraction.rows.loops.size() == 1 &&
         contraction.columns.loops.size() == 1 &&
         contraction.sums.loops.size() == 1;
}

static bool hasConstantSizes(linalg::LinalgOp op) {
  return op.hasPureBufferSemantics() &&
         !ShapedType::isDynamicShape(op.getStaticLoopRanges());
}

/// Starts from the second contraction.
bool RegisterChainFinder::findSecond() {
  Contraction &second = chain.second;
  linalg::LinalgOp op = second.op;
  chain.loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (!chain.loop || chain.loop.getNumResults() != 0 ||
      op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1 ||
      !hasConstantSizes(op) ||
      !describe(second, op.getStaticLoopRanges()).empty() ||
      !areOfOneLoop(second) || !isOwn(second.lhs->get()) ||
      !isOwn(second.getResult()->get()) ||
      !isWorkgroupMemory(second.rhs->get().getType()))
    return false;
  auto getDim = [&](unsigned loop) {
    if (second.rows.find(loop))
      return ChainDim::Rows;
    if (second.columns.find(loop))
      return ChainDim::Columns;
    return second.sums.find(loop) ? ChainDim::Sums : ChainDim::Single;
  };
  for (OpOperand *operand : {second.lhs, second.getResult()}) {
    AffineMap map = second.getMap(operand);
    SmallVector<ChainDim> dims;
    for (unsigned i = 0; i < map.getNumResults(); ++i)
      dims.push_back(getDim(map.getDimPosition(i)));
    if (!addBuffer(operand->get(), dims))
      return false;
  }
  return true;
}

/// Finds the contraction that the factor of the second one is made of.
bool RegisterChainFinder::findFirst() {
  for (Operation *user : ops) {
    auto op = dyn_cast<linalg::LinalgOp>(user);
    if (!op || op == chain.second.op || op.getNumReductionLoops() == 0 ||
        findTile(chain, op) != op.getDpsInitOperand(0))
      continue;
    if (chain.first.op)
      return false;
    chain.first.op = op;
  }
  Contraction &first = chain.first;
  if (!first.op || first.op->getBlock() != chain.loop.getBody() ||
      !hasConstantSizes(first.op) ||
      !describe(first, first.op.getStaticLoopRanges()).empty() ||
      !areOfOneLoop(first))
    return false;
  SmallVector<std::optional<ChainDim>> dims = chain.getDims(first.op);
  return dims[first.rows.loops.front()] == ChainDim::Rows &&
         dims[first.columns.loops.front()] == ChainDim::Sums &&
         isWorkgroupMemory(first.lhs->get().getType()) &&
         isWorkgroupMemory(first.rhs->get().getType());
}

/// The registers that a thread needs for sums, for what is made of the first
/// ones, and besides.
static int64_t countRegisters(const MatrixForm &first,
                              const MatrixForm &second) {
  constexpr int64_t kOthers = 60;
  int64_t ofFirst = first.tile.rows * first.tile.columns;
  return ofFirst + second.tile.rows * second.tile.columns + kOthers;
}

bool RegisterChainFinder::chooseForms() {
  auto choose = [&](Contraction &contraction, MatrixForm &form) {
    std::string why;
    std::optional<MatrixForm> found =
        chooseMatrixForm(contraction, chip, /*roundsToTF32=*/false, numThreads,
                         why, /*hasWholeRows=*/true);
    if (found)
      form = *found;
    return found && form.tile.getNumThreads() == numThreads;
  };
  constexpr int64_t kMaxRegisters = 255;
  Type factor = getElementTypeOrSelf(chain.second.lhs->get());
  // A lane has two columns of the first result, and takes as many elements.
  return choose(chain.first, chain.ofFirst) &&
         choose(chain.second, chain.ofSecond) &&
         factor.getIntOrFloatBitWidth() == 16 &&
         chain.ofSecond.lhs.getWidth() == 2 &&
         countRegisters(chain.ofFirst, chain.ofSecond) <= kMaxRegisters;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Puts the operations in order. False if they are elsewhere than around the
/// loop and in its body.
bool RegisterChainFinder::sortOps() {
  Block *outer = chain.loop->getBlock(), *inner = chain.loop.getBody();
  auto isHere = [&](Operation *op) {
    return op->getBlock() == outer || op->getBlock() == inner;
  };
  if (!llvm::all_of(ops, isHere))
    return false;
  for (const auto &entry : chain.buffers)
    if (!isHere(entry.first.getDefiningOp()))
      return false;
  chain.ops.assign(ops.begin(), ops.end());
  llvm::sort(chain.ops, [&](Operation *lhs, Operation *rhs) {
    if (lhs->getBlock() == rhs->getBlock())
      return lhs->isBeforeInBlock(rhs);
    return outer->findAncestorOpInBlock(*lhs)->isBeforeInBlock(
        outer->findAncestorOpInBlock(*rhs));
  });
  return true;
}

static bool isSink(ChainRole role) {
  return role == ChainRole::Sink || role == ChainRole::RowSink;
}

/// True if `op` has all that there is of its buffers; in the end it may have
/// less of them. What is done to results may leave out columns that only fill
/// up matrices: nobody reads these, whatever becomes of them.
bool RegisterChainFinder::checkShapes(Operation *op, ChainRole role) {
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
bool RegisterChainFinder::checkInputs(Operation *op, ChainRole role) {
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
    if (!isMemRef(input->get()))
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

/// True if everything is there before it is used: in each iteration, and before
/// and behind the loop.
bool RegisterChainFinder::checkOrder() {
  Block *outer = chain.loop->getBlock();
  DenseSet<Value> filled;
  bool isInside = false;
  auto enter = [&] {
    isInside = true;
    return llvm::all_of(chain.buffers, [&](const auto &entry) {
      Value buffer = entry.first;
      bool isUsed = llvm::any_of(chain.ops, [&](Operation *op) {
        return op->getBlock() != outer &&
               llvm::any_of(op->getOperands(), [&](Value operand) {
                 return chain.getBuffer(operand) == buffer;
               });
      });
      return buffer.getDefiningOp()->getBlock() != outer || !isUsed ||
             filled.contains(buffer);
    });
  };
  for (Operation *op : chain.ops) {
    std::optional<ChainRole> role = getRole(chain, op);
    if (!role || !checkShapes(op, *role) || !checkInputs(op, *role))
      return false;
    bool isBehind = op->getBlock() == outer && isInside;
    if (isSink(*role) && !isBehind)
      return false;
    if (op->getBlock() != outer && !isInside && !enter())
      return false;
    for (OpOperand &operand : op->getOpOperands()) {
      Value buffer = chain.getBuffer(operand.get());
      auto structured = dyn_cast<linalg::LinalgOp>(op);
      bool isOverwritten =
          structured ? structured.isDpsInit(&operand) &&
                           !structured.payloadUsesValueFromOperand(&operand)
                     : operand.getOperandNumber() == 1;
      if (buffer && !isOverwritten && !filled.contains(buffer))
        return false;
    }
    for (Value operand : op->getOperands())
      if (Value buffer = chain.getBuffer(operand);
          buffer && isWriting(op, operand))
        filled.insert(buffer);
  }
  return isInside;
}

std::optional<RegisterChain> RegisterChainFinder::find() {
  if (!findSecond() || !collect() || !findFirst() || !sortOps() ||
      !hasTileDims(chain) || !checkOrder() || !chooseForms())
    return std::nullopt;
  return std::move(chain);
}

std::vector<RegisterChain> findRegisterChains(Operation *root, const Chip &chip,
                                              int64_t numThreads) {
  std::vector<RegisterChain> chains;
  root->walk([&](linalg::LinalgOp op) {
    if (isInLoopOverThreads(op))
      return;
    if (auto chain = RegisterChainFinder(op, chip, numThreads).find())
      chains.push_back(std::move(*chain));
  });
  return chains;
}

} // namespace mlir::workgroup
