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
#include "RegisterChainChecks.h"
#include "Sharers.h"
#include "Transforms/Copies/MemoryAccesses.h"
#include "Transforms/Utils/BufferViews.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/Support/FormatVariadic.h"

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

  /// True if the contraction multiplies, in a loop, what is made of sums.
  bool isCandidate();
  /// Finds the chain that ends with the contraction, a candidate. Returns why
  /// there is none that threads can keep in registers, or empty.
  std::string find();

  RegisterChain chain = {};

private:
  bool isOwn(Value view);
  std::string addBuffer(Value view, ArrayRef<ChainDim> dims);
  std::string addUses(Value view);
  std::string addOperands(Operation *op, bool &isComplete);
  std::string collect();
  std::string findSecond();
  std::string findFirst();
  std::string checkFirst();
  std::string chooseForm(Contraction &contraction, MatrixForm &form);
  std::string chooseForms();

  const Chip &chip;
  int64_t numThreads;
  llvm::SetVector<Operation *> ops;
};

} // namespace

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

/// Adds the buffer that `view` is of. Returns why it cannot be, or empty.
std::string RegisterChainFinder::addBuffer(Value view,
                                           ArrayRef<ChainDim> dims) {
  Value buffer = getLeadingSource(view);
  Operation *op = buffer.getDefiningOp();
  if (!isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(op))
    return op ? nameInRemark(op) + " is not the first part of a buffer"
              : "a tile is no part of a buffer of the kernel";
  if (llvm::count(dims, ChainDim::Rows) != 1 ||
      llvm::count(dims, ChainDim::Sums) + llvm::count(dims, ChainDim::Columns) >
          1)
    return nameInRemark(op) + " has other dimensions than rows and columns";
  auto [it, isNew] =
      chain.buffers.insert({buffer, SmallVector<ChainDim>(dims)});
  if (isNew)
    return addUses(buffer);
  if (ArrayRef<ChainDim>(it->second) != dims)
    return nameInRemark(op) + " is used with its dimensions exchanged";
  return "";
}

/// Adds what uses `view`, of a buffer. Returns why it cannot be, or empty.
std::string RegisterChainFinder::addUses(Value view) {
  for (Operation *user : view.getUsers()) {
    auto part = dyn_cast<memref::SubViewOp>(user);
    if (!part) {
      ops.insert(user);
      continue;
    }
    if (getLeadingSource(part) != getLeadingSource(view))
      return nameInRemark(part) + " takes other than the first elements of a "
                                  "buffer";
    chain.views.insert(part);
    if (std::string why = addUses(part); !why.empty())
      return why;
  }
  return "";
}

/// Adds the buffers of `op` as far as their dimensions are known. Returns why
/// one cannot be, or empty.
std::string RegisterChainFinder::addOperands(Operation *op, bool &isComplete) {
  isComplete = true;
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    Value known = chain.getBuffer(copy.getSource());
    if (!known)
      known = chain.getBuffer(copy.getTarget());
    SmallVector<ChainDim> dims = chain.buffers.lookup(known);
    for (Value operand : op->getOperands())
      if (isOwn(operand))
        if (std::string why = addBuffer(operand, dims); !why.empty())
          return why;
    return "";
  }
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return nameInRemark(op) + " is not known to go by rows";
  SmallVector<std::optional<ChainDim>> loops = chain.getDims(structured);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isOwn(operand.get()))
      continue;
    AffineMap map = structured.getMatchingIndexingMap(&operand);
    if (!map.isProjectedPermutation())
      return nameInRemark(op) + " does not index a buffer by its loops";
    SmallVector<ChainDim> dims;
    for (unsigned i = 0; i < map.getNumResults(); ++i)
      if (std::optional<ChainDim> dim = loops[map.getDimPosition(i)])
        dims.push_back(*dim);
    if (dims.size() != map.getNumResults()) {
      isComplete = false;
      continue;
    }
    if (std::string why = addBuffer(operand.get(), dims); !why.empty())
      return why;
  }
  return "";
}

/// Collects buffers and operations until there are no more. Returns why that
/// cannot be, or empty.
std::string RegisterChainFinder::collect() {
  DenseSet<Operation *> done;
  for (bool isChanging = true; isChanging;) {
    isChanging = false;
    for (unsigned i = 0; i < ops.size(); ++i) {
      if (done.contains(ops[i]))
        continue;
      bool isComplete = false;
      size_t before = ops.size();
      if (std::string why = addOperands(ops[i], isComplete); !why.empty())
        return why;
      if (isComplete)
        done.insert(ops[i]);
      isChanging |= isComplete || ops.size() != before;
    }
  }
  for (Operation *op : ops)
    if (!done.contains(op))
      return nameInRemark(op) + " has loops along neither rows nor columns";
  return "";
}

//===----------------------------------------------------------------------===//
// The contractions
//===----------------------------------------------------------------------===//

/// Why the loops of `contraction` are not one for rows, one for columns and one
/// for sums, or empty.
static std::string getObstacleInLoops(const Contraction &contraction) {
  bool isPlain = contraction.rows.loops.size() == 1 &&
                 contraction.columns.loops.size() == 1 &&
                 contraction.sums.loops.size() == 1;
  return isPlain ? "" : "has not one loop each for rows, columns and sums";
}

/// Fills in `contraction`, the op of which is given. Returns why it is no
/// contraction of a tile, or empty.
static std::string describeTile(Contraction &contraction) {
  linalg::LinalgOp op = contraction.op;
  if (!op.hasPureBufferSemantics() ||
      ShapedType::isDynamicShape(op.getStaticLoopRanges()))
    return "has no constant sizes";
  return describe(contraction, op.getStaticLoopRanges());
}

bool RegisterChainFinder::isCandidate() {
  Contraction &second = chain.second;
  chain.loop = dyn_cast<scf::ForOp>(second.op->getParentOp());
  return chain.loop && second.op.getNumReductionLoops() != 0 &&
         describeTile(second).empty() && isOwn(second.lhs->get());
}

/// Starts from the second contraction. Returns why that cannot be, or empty.
std::string RegisterChainFinder::findSecond() {
  Contraction &second = chain.second;
  if (chain.loop.getNumResults() != 0)
    return "the loop around it carries values";
  if (std::string why = getObstacleInLoops(second); !why.empty())
    return "it " + why;
  Type factor = getElementTypeOrSelf(second.lhs->get());
  if (!factor.isIntOrFloat() || factor.getIntOrFloatBitWidth() != 16)
    return llvm::formatv("its first factor is of {0}, not of 16 bits", factor)
        .str();
  if (!isOwn(second.getResult()->get()))
    return "its sums are in no buffer of the kernel's own";
  if (!isWorkgroupMemory(second.rhs->get().getType()))
    return "its second factor is not in workgroup memory";
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
    if (std::string why = addBuffer(operand->get(), dims); !why.empty())
      return why;
  }
  return "";
}

/// Why the contraction that was found to be the first one cannot be, or empty.
std::string RegisterChainFinder::checkFirst() {
  Contraction &first = chain.first;
  if (first.op->getBlock() != chain.loop.getBody())
    return "stands in another block";
  if (std::string why = describeTile(first); !why.empty())
    return why;
  if (std::string why = getObstacleInLoops(first); !why.empty())
    return why;
  SmallVector<std::optional<ChainDim>> dims = chain.getDims(first.op);
  if (dims[first.rows.loops.front()] != ChainDim::Rows ||
      dims[first.columns.loops.front()] != ChainDim::Sums)
    return "has rows and columns exchanged";
  if (!isWorkgroupMemory(first.lhs->get().getType()) ||
      !isWorkgroupMemory(first.rhs->get().getType()))
    return "has factors that are not in workgroup memory";
  return "";
}

/// Finds the contraction that the factor of the second one is made of. Returns
/// why there is none, or empty.
std::string RegisterChainFinder::findFirst() {
  for (Operation *user : ops) {
    auto op = dyn_cast<linalg::LinalgOp>(user);
    if (!op || op == chain.second.op || op.getNumReductionLoops() == 0 ||
        findTile(chain, op) != op.getDpsInitOperand(0))
      continue;
    if (chain.first.op)
      return "its first factor is made of two contractions";
    chain.first.op = op;
  }
  if (!chain.first.op)
    return "its first factor is made of no contraction";
  std::string why = checkFirst();
  return why.empty() ? "" : nameInRemark(chain.first.op) + " " + why;
}

/// The registers that a thread needs for sums, for what is made of the first
/// ones, and besides.
static int64_t countRegisters(const MatrixForm &first,
                              const MatrixForm &second) {
  constexpr int64_t kOthers = 60;
  int64_t ofFirst = first.tile.rows * first.tile.columns;
  return ofFirst + second.tile.rows * second.tile.columns + kOthers;
}

/// Chooses how the threads compute `contraction`. Returns why they cannot, or
/// empty.
std::string RegisterChainFinder::chooseForm(Contraction &contraction,
                                            MatrixForm &form) {
  std::string why;
  std::optional<MatrixForm> found =
      chooseMatrixForm(contraction, chip, /*roundsToTF32=*/false, numThreads,
                       why, /*hasWholeRows=*/true);
  std::string name = nameInRemark(contraction.op);
  if (!found)
    return "tensor cores do not compute " + name +
           (why.empty() ? ": they round its operands" : ": " + why);
  form = *found;
  if (form.tile.getNumThreads() == numThreads)
    return "";
  return llvm::formatv("{0} threads cannot have whole rows of {1}", numThreads,
                       name)
      .str();
}

std::string RegisterChainFinder::chooseForms() {
  constexpr int64_t kMaxRegisters = 255;
  if (std::string why = chooseForm(chain.first, chain.ofFirst); !why.empty())
    return why;
  if (std::string why = chooseForm(chain.second, chain.ofSecond); !why.empty())
    return why;
  // A lane has two columns of the first result, and takes as many elements.
  if (chain.ofSecond.lhs.getWidth() != 2)
    return "lanes do not take two columns of its first factor";
  int64_t numRegisters = countRegisters(chain.ofFirst, chain.ofSecond);
  if (numRegisters > kMaxRegisters)
    return llvm::formatv("both results take {0} registers of a thread, which "
                         "has {1}; make tiles smaller, or use more threads",
                         numRegisters, kMaxRegisters)
        .str();
  return "";
}

std::string RegisterChainFinder::find() {
  std::string why = findSecond();
  if (why.empty())
    why = collect();
  if (why.empty())
    why = findFirst();
  if (why.empty())
    why = sortOps(chain, ops.getArrayRef());
  if (why.empty())
    why = checkRoles(chain);
  if (why.empty())
    why = chooseForms();
  return why;
}

std::vector<RegisterChain>
findRegisterChains(Operation *root, const Chip &chip, int64_t numThreads,
                   function_ref<void(linalg::LinalgOp, StringRef)> reportNone) {
  std::vector<RegisterChain> chains;
  root->walk([&](linalg::LinalgOp op) {
    RegisterChainFinder finder(op, chip, numThreads);
    if (isInLoopOverThreads(op) || !finder.isCandidate())
      return;
    std::string why = finder.find();
    if (why.empty())
      chains.push_back(std::move(finder.chain));
    else if (reportNone)
      reportNone(op, why);
  });
  return chains;
}

} // namespace mlir::workgroup
