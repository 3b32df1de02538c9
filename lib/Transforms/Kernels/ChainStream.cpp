//===- ChainStream.cpp - Chains that need no whole rows -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each operation of the chain gets a role by what it reads, in the order of the
// program: bodies are looked at, not names. Whatever fits no role keeps the
// chain from being a stream.
//
//===----------------------------------------------------------------------===//

#include "ChainStream.h"
#include "Combiners.h"
#include "MaskReader.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::workgroup {

const ChainStream::Link *ChainStream::find(Operation *op) const {
  const Link *it =
      llvm::find_if(links, [&](const Link &link) { return link.op == op; });
  return it == links.end() ? nullptr : it;
}

bool ChainStream::hasShares() const {
  return llvm::any_of(
      links, [](const Link &link) { return link.role == StreamRole::Share; });
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

static bool isCast(Operation *op) {
  return isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(op);
}

/// True if `value`, in the body of an operation, is computed from `argument`.
static bool dependsOn(Value value, BlockArgument argument) {
  if (value == argument)
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == argument.getOwner() &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return dependsOn(operand, argument);
         });
}

/// The operand of `op` that depends on `argument`, if `op` is linear in it: a
/// conversion, a product, a quotient, or what is zero otherwise.
static Value getLinearOperand(Operation *op, BlockArgument argument) {
  auto depends = [&](unsigned i) {
    return dependsOn(op->getOperand(i), argument);
  };
  if (isCast(op))
    return op->getOperand(0);
  if (isa<arith::MulFOp>(op) && depends(0) != depends(1))
    return op->getOperand(depends(0) ? 0 : 1);
  if (isa<arith::DivFOp>(op) && !depends(1))
    return op->getOperand(0);
  if (!isa<arith::SelectOp>(op) || depends(0))
    return {};
  for (unsigned i : {1, 2})
    if (depends(i) && matchPattern(op->getOperand(3 - i), m_PosZeroFloat()))
      return op->getOperand(i);
  return {};
}

/// The operations that lead from `argument` to what the body of `op` yields, if
/// that is linear in it; nothing if it is not.
static std::optional<SmallVector<Operation *>>
getLinearSteps(linalg::LinalgOp op, Value yielded, BlockArgument argument) {
  SmallVector<Operation *> steps;
  while (yielded != argument) {
    Operation *step = yielded.getDefiningOp();
    if (!step || step->getBlock() != op.getBlock())
      return std::nullopt;
    steps.push_back(step);
    yielded = getLinearOperand(step, argument);
    if (!yielded)
      return std::nullopt;
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

static Value getYielded(linalg::LinalgOp op) {
  return op.getBlock()->getTerminator()->getOperand(0);
}

/// True if `value` is the same number for all elements of `op`.
static bool isScalar(linalg::LinalgOp op, Value value) {
  if (Operation *made = value.getDefiningOp())
    return made->getBlock() != op.getBlock() ||
           (isPure(made) && !isa<linalg::IndexOp>(made) &&
            made->getNumRegions() == 0 &&
            llvm::all_of(made->getOperands(),
                         [&](Value in) { return isScalar(op, in); }));
  return cast<BlockArgument>(value).getOwner() != op.getBlock();
}

/// True if a weight of minus infinity is zero: where factors of the difference
/// are negative, or may be, weights have no bound, and nothing can be left to
/// be scaled when the largest element changes.
static bool keepsSign(const WeightBody &body) {
  return llvm::all_of(body.chain, [](Operation *op) {
    if (isa<arith::MulFOp>(op))
      return isPositive(op->getOperand(0)) || isPositive(op->getOperand(1));
    return !isa<arith::DivFOp>(op) || isPositive(op->getOperand(1));
  });
}

/// Looks for the exponential of a difference to `reference` in the body of
/// `op`, which is linear in the exponential.
static std::optional<WeightBody> matchWeights(linalg::LinalgOp op,
                                              OpOperand *reference) {
  BlockArgument argument = op.getMatchingBlockArgument(reference);
  WeightBody body;
  body.reference = reference;
  Value value = getYielded(op);
  while (Operation *made = value.getDefiningOp()) {
    if (isa<math::ExpOp, math::Exp2Op>(made))
      break;
    if (made->getBlock() != op.getBlock())
      return std::nullopt;
    body.isScaled |= isa<arith::MulFOp, arith::DivFOp>(made);
    value = getLinearOperand(made, argument);
    if (!value)
      return std::nullopt;
  }
  Operation *made = value.getDefiningOp();
  if (!made)
    return std::nullopt;
  for (body.chain = {made}; !isa<arith::SubFOp>(made);
       body.chain.push_back(made)) {
    unsigned next = 0;
    if (isa<arith::MulFOp>(made))
      next = isScalar(op, made->getOperand(0)) ? 1 : 0;
    if (isa<arith::MulFOp, arith::DivFOp>(made) &&
        !isScalar(op, made->getOperand(1 - next)))
      return std::nullopt;
    made = made->getOperand(next).getDefiningOp();
    if (!isCast(made) &&
        !isa_and_nonnull<arith::MulFOp, arith::DivFOp, arith::SubFOp>(made))
      return std::nullopt;
  }
  std::reverse(body.chain.begin(), body.chain.end());
  if (dependsOn(made->getOperand(0), argument))
    return std::nullopt;
  Value subtracted = made->getOperand(1);
  for (; isCast(subtracted.getDefiningOp());
       subtracted = subtracted.getDefiningOp()->getOperand(0))
    body.casts.push_back(subtracted.getDefiningOp());
  std::reverse(body.casts.begin(), body.casts.end());
  if (subtracted != argument || !keepsSign(body))
    return std::nullopt;
  return body;
}

/// True if the body of `op` adds to its result what is linear in `weight`, an
/// input.
static bool addsLinearly(linalg::LinalgOp op, OpOperand *weight) {
  auto sum = dyn_cast_or_null<arith::AddFOp>(getCombiner(op));
  if (!sum || getYielded(op) != sum.getResult())
    return false;
  Value term =
      sum->getOperand(sum.getLhs() == op.getRegionOutputArgs().front() ? 1 : 0);
  return getLinearSteps(op, term, op.getMatchingBlockArgument(weight))
      .has_value();
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

namespace {

/// Gives each operation of a chain its role.
class StreamFinder {
public:
  explicit StreamFinder(const ContractionChain &chain) : chain(chain) {}

  std::optional<ChainStream> find();

private:
  /// What an operation of the chain makes.
  enum class Kind { Score, Weight, Share, Fold, Sum, Reference, Row };

  struct Inputs {
    SmallVector<OpOperand *> scores, weights, shares, references, rows;
    bool empty() const {
      return scores.empty() && weights.empty() && shares.empty();
    }
  };
  Inputs sortInputs(linalg::LinalgOp op) const;
  std::optional<unsigned> findColumn(const ContractionChain::Link &link) const;
  bool add(const ContractionChain::Link &link);
  bool addReduction(ChainStream::Link &link, const Inputs &inputs);
  bool addColumns(ChainStream::Link &link, const Inputs &inputs);
  bool addWeights(ChainStream::Link &link, const Inputs &inputs);
  bool addShare(ChainStream::Link &link, const Inputs &inputs);
  bool isLargest(linalg::LinalgOp op) const;
  Operation *findLargest(Value reference) const;
  bool needsLargest(Operation *op) const;
  bool finish();

  const ContractionChain &chain;
  ChainStream stream;
  DenseMap<Operation *, Kind> kinds;
};

} // namespace

StreamFinder::Inputs StreamFinder::sortInputs(linalg::LinalgOp op) const {
  Inputs inputs;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto it = kinds.find(input->get().getDefiningOp());
    if (it == kinds.end())
      continue;
    switch (it->second) {
    case Kind::Score:
      inputs.scores.push_back(input);
      break;
    case Kind::Weight:
      inputs.weights.push_back(input);
      break;
    case Kind::Share:
      inputs.shares.push_back(input);
      break;
    case Kind::Fold:
    case Kind::Reference:
      inputs.references.push_back(input);
      break;
    case Kind::Sum:
    case Kind::Row:
      inputs.rows.push_back(input);
      break;
    }
  }
  return inputs;
}

/// True if `op` finds the largest of numbers, starting from a constant.
bool StreamFinder::isLargest(linalg::LinalgOp op) const {
  auto it = kinds.find(op);
  return it != kinds.end() && it->second == Kind::Fold &&
         isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp>(
             getCombiner(op)) &&
         getStart(op);
}

/// The operation that finds the largest elements which alone `reference` is
/// computed from; null if there is none.
Operation *StreamFinder::findLargest(Value reference) const {
  Operation *op = reference.getDefiningOp();
  auto it = kinds.find(op);
  if (it == kinds.end())
    return nullptr;
  if (it->second == Kind::Fold)
    return isLargest(cast<linalg::LinalgOp>(op)) ? op : nullptr;
  Operation *largest = nullptr;
  for (OpOperand *input : cast<linalg::LinalgOp>(op).getDpsInputOperands()) {
    if (!kinds.contains(input->get().getDefiningOp()))
      continue;
    Operation *found = findLargest(input->get());
    if (!found || (largest && found != largest))
      return nullptr;
    largest = found;
  }
  return largest;
}

bool StreamFinder::addReduction(ChainStream::Link &link, const Inputs &inputs) {
  linalg::LinalgOp op = link.op;
  bool ofScores = inputs.weights.empty() && !inputs.scores.empty();
  bool ofWeights = inputs.weights.size() == 1 && inputs.scores.empty();
  if (!inputs.shares.empty() || !inputs.references.empty() ||
      !inputs.rows.empty() || !isCombinable(op) || op.getNumDpsInits() != 1 ||
      op.hasIndexSemantics() || !getStart(op))
    return false;
  if (ofScores) {
    link.role = StreamRole::Fold;
    kinds[op] = Kind::Fold;
    return true;
  }
  if (!ofWeights || !addsLinearly(op, inputs.weights.front()) ||
      !matchPattern(getStart(op), m_PosZeroFloat()))
    return false;
  link.role = StreamRole::ScaledFold;
  kinds[op] = Kind::Sum;
  return true;
}

/// Weights are computed by one operation.
bool StreamFinder::addWeights(ChainStream::Link &link, const Inputs &inputs) {
  linalg::LinalgOp op = link.op;
  if (inputs.references.size() != 1 || stream.weights || !inputs.rows.empty() ||
      !inputs.weights.empty() || !inputs.shares.empty())
    return false;
  OpOperand *reference = inputs.references.front();
  Operation *largest = findLargest(reference->get());
  std::optional<WeightBody> body = matchWeights(op, reference);
  if (!largest || !body)
    return false;
  stream.largest = cast<linalg::LinalgOp>(largest);
  stream.weights = op;
  stream.body = std::move(*body);
  link.role = StreamRole::Columns;
  kinds[op] = Kind::Weight;
  return true;
}

/// What is not known before the last column can wait until then if it does not
/// depend on columns.
bool StreamFinder::addShare(ChainStream::Link &link, const Inputs &inputs) {
  linalg::LinalgOp op = link.op;
  if (!inputs.scores.empty() || op.hasIndexSemantics() ||
      inputs.weights.size() + inputs.shares.size() != 1)
    return false;
  OpOperand *weight =
      inputs.weights.empty() ? inputs.shares.front() : inputs.weights.front();
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (input != weight &&
        (!map.isProjectedPermutation() || map.isFunctionOfDim(*link.column)))
      return false;
  }
  std::optional<SmallVector<Operation *>> steps =
      getLinearSteps(op, getYielded(op), op.getMatchingBlockArgument(weight));
  if (!steps)
    return false;
  link.weight = weight;
  link.steps = std::move(*steps);
  link.role = StreamRole::Share;
  kinds[op] = Kind::Share;
  return true;
}

bool StreamFinder::addColumns(ChainStream::Link &link, const Inputs &inputs) {
  linalg::LinalgOp op = link.op;
  if (op.getNumReductionLoops() && op != chain.first)
    return addReduction(link, inputs);
  bool isEarly = inputs.references.empty() && inputs.rows.empty();
  if (isEarly && inputs.weights.empty() && inputs.shares.empty()) {
    link.role = StreamRole::Columns;
    kinds[op] = Kind::Score;
    return true;
  }
  if (isEarly && inputs.weights.size() == 1 && inputs.shares.empty() &&
      getLinearSteps(op, getYielded(op),
                     op.getMatchingBlockArgument(inputs.weights.front()))) {
    link.role = StreamRole::Columns;
    kinds[op] = Kind::Weight;
    return true;
  }
  return addWeights(link, inputs) || addShare(link, inputs);
}

/// The one loop of `link` that is none of the rows, nor the first one's sum.
std::optional<unsigned>
StreamFinder::findColumn(const ContractionChain::Link &link) const {
  std::optional<unsigned> column;
  for (auto [loop, row] : llvm::enumerate(link.rows)) {
    if (row || (link.op == chain.first && loop == chain.firstSum))
      continue;
    if (column)
      return std::nullopt;
    column = loop;
  }
  return column;
}

bool StreamFinder::add(const ContractionChain::Link &from) {
  linalg::LinalgOp op = from.op;
  if (op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) && !getStart(op))
    return false;
  bool hasColumns = llvm::any_of(llvm::enumerate(from.rows), [&](auto of) {
    return !of.value() && !(op == chain.first && of.index() == chain.firstSum);
  });
  ChainStream::Link link{op, StreamRole::Row, findColumn(from), from.rows};
  Inputs inputs = sortInputs(op);
  if (hasColumns) {
    if (!link.column || !addColumns(link, inputs))
      return false;
  } else {
    if (!inputs.empty())
      return false;
    bool isReference = inputs.rows.empty();
    link.role = isReference ? StreamRole::Reference : StreamRole::Row;
    kinds[op] = isReference ? Kind::Reference : Kind::Row;
  }
  stream.links.push_back(std::move(link));
  return true;
}

/// True if more than weights is computed from what `op` makes of the largest
/// elements.
bool StreamFinder::needsLargest(Operation *op) const {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    if (user == stream.weights)
      return false;
    auto it = kinds.find(user);
    return it == kinds.end() || it->second != Kind::Reference ||
           needsLargest(user);
  });
}

/// True if the second contraction adds up products from zero, which its result
/// can be divided behind.
static bool isLinear(linalg::LinalgOp second) {
  auto sum = dyn_cast_or_null<arith::AddFOp>(getCombiner(second));
  TypedAttr start = getStart(second);
  if (!sum || !start || !matchPattern(start, m_PosZeroFloat()))
    return false;
  Value term = sum->getOperand(
      sum.getLhs() == second.getRegionOutputArgs().front() ? 1 : 0);
  auto product = term.getDefiningOp<arith::MulFOp>();
  auto isFactor = [&](Value value) {
    while (isCast(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    return isa<BlockArgument>(value);
  };
  return product && llvm::all_of(product->getOperands(), isFactor);
}

/// Decides whether the second contraction can multiply what it gets.
bool StreamFinder::finish() {
  Operation *between = nullptr;
  linalg::LinalgOp second = chain.second;
  for (Value factor : second.getDpsInputs())
    if (kinds.contains(factor.getDefiningOp()))
      between = factor.getDefiningOp();
  Kind kind = between ? kinds.lookup(between) : Kind::Row;
  const ChainStream::Link *factor = stream.find(between);
  while (factor && factor->weight)
    factor = stream.find(factor->weight->get().getDefiningOp());
  if (stream.weights)
    stream.guarded = stream.weights;
  else if (factor && factor->op != chain.first)
    stream.guarded = factor->op;
  if (kind == Kind::Score)
    return llvm::all_of(stream.links, [](const ChainStream::Link &link) {
      return link.role == StreamRole::Columns;
    });
  if ((kind != Kind::Weight && kind != Kind::Share) || !isLinear(chain.second))
    return false;
  stream.needsLargest = stream.largest && needsLargest(stream.largest);
  return true;
}

std::optional<ChainStream> StreamFinder::find() {
  for (const ContractionChain::Link &link : chain.links)
    if (!add(link))
      return std::nullopt;
  if (!finish())
    return std::nullopt;
  return std::move(stream);
}

std::optional<ChainStream> findStream(const ContractionChain &chain) {
  return StreamFinder(chain).find();
}

bool hasSoftmax(const ContractionChain &chain) {
  std::optional<ChainStream> stream = findStream(chain);
  return stream && stream->largest;
}

} // namespace mlir::workgroup
