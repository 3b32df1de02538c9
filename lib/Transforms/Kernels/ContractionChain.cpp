//===- ContractionChain.cpp - Contractions of a result of another ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractionChain.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::workgroup {

namespace {

/// Looks for the chain that ends with the factor `between` of a contraction.
class ChainFinder {
public:
  ChainFinder(OpOperand &between, bool hasRow)
      : between(between), second(cast<linalg::LinalgOp>(between.getOwner())),
        hasRow(hasRow) {}

  std::optional<ContractionChain> find();

private:
  bool isOnlyBetween(linalg::LinalgOp op) const;
  bool collect();
  std::optional<unsigned> findRow(AffineMap read) const;
  bool findSecondLoops();
  bool mapUse(OpOperand &use, ContractionChain::Loops &loops) const;
  bool mapRows(linalg::LinalgOp op);
  bool findFirstLoops();

  OpOperand &between;
  linalg::LinalgOp second;
  bool hasRow;
  /// In the order of the program.
  llvm::SetVector<Operation *> ops;
  DenseMap<Operation *, ContractionChain::Loops> rowsOf;
  llvm::SmallBitVector rows;
  ContractionChain chain;
};

} // namespace

//===----------------------------------------------------------------------===//
// Which operations
//===----------------------------------------------------------------------===//

/// True if what `op` makes goes nowhere but into the chain.
bool ChainFinder::isOnlyBetween(linalg::LinalgOp op) const {
  return op->getNumResults() == 1 && !op->use_empty() &&
         llvm::all_of(op->getUses(), [&](OpOperand &use) {
           auto user = getTensorOp(use.getOwner());
           return &use == &between ||
                  (ops.contains(use.getOwner()) && user.isDpsInput(&use));
         });
}

/// True if `op` starts from nothing that was there before.
static bool startsAnew(linalg::LinalgOp op) {
  OpOperand *init = op.getDpsInitOperand(0);
  if (!op.payloadUsesValueFromOperand(init))
    return true;
  linalg::LinalgOp start = getTensorOp(init->get().getDefiningOp());
  return start && classify(start) == LinalgClass::Generator;
}

/// Collects what depends on the last contraction before that goes nowhere else.
bool ChainFinder::collect() {
  for (Operation *op = second->getPrevNode(); op && !chain.first;
       op = op->getPrevNode()) {
    linalg::LinalgOp structured = getTensorOp(op);
    if (!structured || !isOnlyBetween(structured) || !startsAnew(structured))
      continue;
    LinalgClass kind = classify(structured);
    if (kind == LinalgClass::Contraction)
      chain.first = structured;
    if (kind != LinalgClass::Generator && kind != LinalgClass::Window)
      ops.insert(op);
  }
  if (!chain.first)
    return false;
  llvm::SetVector<Operation *> dependent;
  for (Operation *op : llvm::reverse(ops))
    if (op == chain.first ||
        llvm::any_of(op->getOperands(), [&](Value operand) {
          return dependent.contains(operand.getDefiningOp());
        }))
      dependent.insert(op);
  ops = std::move(dependent);
  return ops.contains(between.get().getDefiningOp());
}

//===----------------------------------------------------------------------===//
// Which loops
//===----------------------------------------------------------------------===//

static bool isParallel(linalg::LinalgOp op, unsigned loop) {
  return op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel;
}

/// The one sum of `op`, which has two factors.
static std::optional<unsigned> getSum(linalg::LinalgOp op) {
  SmallVector<unsigned> sums;
  op.getReductionDims(sums);
  if (sums.size() != 1 || op.getNumDpsInputs() != 2 ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return std::nullopt;
  return sums.front();
}

/// The one parallel loop of `op` that is not in `rows`.
static std::optional<unsigned> getColumn(linalg::LinalgOp op,
                                         const llvm::SmallBitVector &rows) {
  std::optional<unsigned> column;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (!isParallel(op, loop) || rows[loop])
      continue;
    if (column)
      return std::nullopt;
    column = loop;
  }
  return column;
}

/// True if `loop` is one of one factor of `op` only.
static bool isOfOneFactor(linalg::LinalgOp op, unsigned loop) {
  return llvm::count_if(op.getDpsInputOperands(), [&](OpOperand *factor) {
           return op.getMatchingIndexingMap(factor).isFunctionOfDim(loop);
         }) == 1;
}

/// True if the result of `op` is contiguous along `loop`.
static bool isContiguous(linalg::LinalgOp op, unsigned loop) {
  ArrayRef<AffineExpr> indices =
      op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults();
  return !indices.empty() &&
         indices.back() == getAffineDimExpr(loop, op.getContext());
}

/// The last loop of the factor between but for the sum, `read`, that the other
/// factor has not; if that is of one iteration, one before that is of more.
std::optional<unsigned> ChainFinder::findRow(AffineMap read) const {
  std::optional<unsigned> found;
  for (unsigned i = read.getNumResults() - 1; i-- > 0;) {
    unsigned loop = read.getDimPosition(i);
    if (!isOfOneFactor(second, loop))
      break;
    if (!found)
      found = loop;
    if (linalg::LinalgOp(second).getStaticLoopRanges()[loop] != 1)
      return loop;
  }
  return found;
}

/// The rows are the loops of the factor between but for the sum, which goes
/// along contiguous memory, as columns of results do.
bool ChainFinder::findSecondLoops() {
  AffineMap read = second.getMatchingIndexingMap(&between);
  std::optional<unsigned> sum = getSum(second);
  if (!sum || read.getNumResults() < (hasRow ? 2 : 1) ||
      read.getDimPosition(read.getNumResults() - 1) != *sum)
    return false;
  rows.resize(second.getNumLoops());
  for (unsigned i = 0; i + 1 < read.getNumResults(); ++i)
    rows.set(read.getDimPosition(i));
  std::optional<unsigned> column = getColumn(second, rows);
  std::optional<unsigned> row = findRow(read);
  if (!column || row.has_value() != hasRow || !isContiguous(second, *column))
    return false;
  chain.row = row.value_or(0);
  chain.secondSum = *sum;
  chain.secondColumn = *column;
  ContractionChain::Loops &loops = rowsOf[second];
  for (unsigned loop = 0; loop < second.getNumLoops(); ++loop)
    loops.push_back(rows[loop] ? std::optional<unsigned>(loop) : std::nullopt);
  return true;
}

/// Gives the loops of the producer the rows that they have where `use` reads.
bool ChainFinder::mapUse(OpOperand &use, ContractionChain::Loops &loops) const {
  auto consumer = cast<linalg::LinalgOp>(use.getOwner());
  auto producer = cast<linalg::LinalgOp>(use.get().getDefiningOp());
  AffineMap read = consumer.getMatchingIndexingMap(&use);
  AffineMap written =
      producer.getIndexingMapMatchingResult(cast<OpResult>(use.get()));
  if (!read.isProjectedPermutation() || !written.isProjectedPermutation())
    return false;
  loops.assign(producer.getNumLoops(), std::nullopt);
  ArrayRef<std::optional<unsigned>> ofConsumer =
      rowsOf.find(consumer.getOperation())->second;
  for (unsigned i = 0; i < read.getNumResults(); ++i)
    loops[written.getDimPosition(i)] = ofConsumer[read.getDimPosition(i)];
  return true;
}

/// True if all users of `op` have it row by row, in the same way, and if it is
/// row by row that it is made.
bool ChainFinder::mapRows(linalg::LinalgOp op) {
  std::optional<ContractionChain::Loops> loops;
  for (OpOperand &use : op->getUses()) {
    ContractionChain::Loops ofUse;
    if (!mapUse(use, ofUse) || (loops && *loops != ofUse))
      return false;
    loops = std::move(ofUse);
  }
  llvm::SmallBitVector found(rows.size());
  for (auto [loop, row] : llvm::enumerate(*loops)) {
    if (row && !isParallel(op, loop))
      return false;
    if (row)
      found.set(*row);
  }
  rowsOf[op] = std::move(*loops);
  return found == rows;
}

bool ChainFinder::findFirstLoops() {
  std::optional<unsigned> sum = getSum(chain.first);
  if (!sum)
    return false;
  llvm::SmallBitVector isRow(chain.first.getNumLoops());
  std::optional<unsigned> row;
  for (auto [loop, of] : llvm::enumerate(rowsOf[chain.first])) {
    isRow[loop] = of.has_value();
    if (hasRow && of == chain.row)
      row = loop;
  }
  std::optional<unsigned> column = getColumn(chain.first, isRow);
  if (!column || !isContiguous(chain.first, *column) ||
      (hasRow && !(row && isOfOneFactor(chain.first, *row))))
    return false;
  chain.firstSum = *sum;
  chain.firstColumn = *column;
  return true;
}

std::optional<ContractionChain> ChainFinder::find() {
  if (!collect() || !findSecondLoops())
    return std::nullopt;
  for (Operation *op : llvm::reverse(ops))
    if (!mapRows(cast<linalg::LinalgOp>(op)))
      return std::nullopt;
  if (!findFirstLoops())
    return std::nullopt;
  chain.second = second;
  for (Operation *op : ops)
    chain.links.push_back({cast<linalg::LinalgOp>(op), rowsOf[op]});
  return std::move(chain);
}

static std::optional<ContractionChain> findAnyChain(linalg::LinalgOp second,
                                                    bool hasRow) {
  if (classify(second) != LinalgClass::Contraction)
    return std::nullopt;
  for (OpOperand *factor : second.getDpsInputOperands())
    if (getTensorOp(factor->get().getDefiningOp()))
      if (std::optional<ContractionChain> chain =
              ChainFinder(*factor, hasRow).find())
        return chain;
  return std::nullopt;
}

std::optional<ContractionChain> findChain(linalg::LinalgOp second) {
  return findAnyChain(second, /*hasRow=*/true);
}

std::optional<ContractionChain> findRowlessChain(linalg::LinalgOp second) {
  return findAnyChain(second, /*hasRow=*/false);
}

//===----------------------------------------------------------------------===//
// What is put where
//===----------------------------------------------------------------------===//

OpOperand *findReplaced(linalg::LinalgOp op,
                        function_ref<bool(Operation *)> isKept) {
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap written = op.getMatchingIndexingMap(init);
  if (classify(op) != LinalgClass::Elementwise || op.getNumDpsInits() != 1 ||
      !written.isIdentity() || op.payloadUsesValueFromOperand(init))
    return nullptr;
  for (OpOperand *read : op.getDpsInputOperands()) {
    Operation *producer = read->get().getDefiningOp();
    if (producer && isKept(producer) &&
        read->get().getType() == init->get().getType() &&
        op.getMatchingIndexingMap(read) == written &&
        llvm::all_of(read->get().getUses(), [&](OpOperand &use) {
          Operation *user =
              op->getBlock()->findAncestorOpInBlock(*use.getOwner());
          return &use == read || (user && user->isBeforeInBlock(op));
        }))
      return read;
  }
  return nullptr;
}

} // namespace mlir::workgroup
