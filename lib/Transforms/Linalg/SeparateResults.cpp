//===- SeparateResults.cpp - Results along different loops ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of one operation, one result may be computed for each element of a row, and
// another be the sum of the row. Each becomes an operation of its own, whose
// reductions are the loops that do not go along it. A result that reads what
// another one starts from reads it as an input; one that reads what another one
// is up to then, as the place of a maximum does, stays with it.
//
//===----------------------------------------------------------------------===//

#include "LinalgClasses.h"
#include "ResultPlaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::workgroup {

namespace {

/// What a part of a body is computed from.
struct BodySlice {
  DenseSet<Operation *> ops;
  /// Results of which it reads what they are so far.
  llvm::SmallBitVector outputs;
};

/// Results that are computed together.
struct ResultGroup {
  SmallVector<unsigned> results;
  /// What they take of the body.
  DenseSet<Operation *> ops;
  /// Starts of others that these read.
  SmallVector<unsigned> readStarts;
  llvm::SmallBitVector loops;
};

class ResultSeparator {
public:
  ResultSeparator(RewriterBase &rewriter, linalg::GenericOp op)
      : rewriter(rewriter), op(op) {}

  /// False if nothing is to be done, or can be.
  bool makeGroups();
  void apply();

private:
  /// What `values`, of the body, are computed from.
  BodySlice findSlice(ArrayRef<Value> values);
  bool addSlice(ResultGroup &group, ArrayRef<Value> values);
  bool hasAllLoops(const llvm::SmallBitVector &loops);
  bool needsGroups();
  ResultGroup &getGroup(const llvm::SmallBitVector &loops);
  linalg::GenericOp makeOp(const ResultGroup &group);

  RewriterBase &rewriter;
  linalg::GenericOp op;
  /// Of each result, the loops that go along it.
  SmallVector<llvm::SmallBitVector> loops;
  SmallVector<ResultGroup> groups;
};

} // namespace

BodySlice ResultSeparator::findSlice(ArrayRef<Value> values) {
  BodySlice slice;
  slice.outputs.resize(op.getNumDpsInits());
  SmallVector<Value> worklist(values);
  auto add = [&](Operation *made) {
    while (made->getBlock() != op.getBody())
      made = made->getParentOp();
    if (slice.ops.insert(made).second)
      made->walk([&](Operation *inner) {
        llvm::append_range(worklist, inner->getOperands());
      });
  };
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!op.getRegion().isAncestor(value.getParentRegion()))
      continue; // of outside
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      add(value.getDefiningOp());
    else if (argument.getOwner() != op.getBody())
      add(argument.getOwner()->getParentOp());
    else if (argument.getArgNumber() >= op.getNumDpsInputs())
      slice.outputs.set(argument.getArgNumber() - op.getNumDpsInputs());
  }
  return slice;
}

/// True if each iteration of `op` has an element of its own in a result that
/// `along` go along.
bool ResultSeparator::hasAllLoops(const llvm::SmallBitVector &along) {
  return llvm::all_of(llvm::enumerate(op.getStaticLoopRanges()), [&](auto at) {
    return at.value() == 1 || along.test(at.index());
  });
}

/// True if some result goes along a reduction.
bool ResultSeparator::needsGroups() {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  return llvm::any_of(loops, [&](const llvm::SmallBitVector &along) {
    return llvm::any_of(along.set_bits(), [&](unsigned loop) {
      return kinds[loop] == utils::IteratorType::reduction;
    });
  });
}

/// The group of results that `along` go along.
ResultGroup &ResultSeparator::getGroup(const llvm::SmallBitVector &along) {
  for (ResultGroup &group : groups)
    if (group.loops == along)
      return group;
  ResultGroup &group = groups.emplace_back();
  group.loops = along;
  return group;
}

/// Lets `group` compute `values`; false if they depend on what another result
/// is so far, in the middle of its loops.
bool ResultSeparator::addSlice(ResultGroup &group, ArrayRef<Value> values) {
  BodySlice slice = findSlice(values);
  group.ops.insert(slice.ops.begin(), slice.ops.end());
  for (unsigned other : slice.outputs.set_bits()) {
    if (loops[other] == group.loops)
      continue;
    if (!hasAllLoops(loops[other]))
      return false;
    if (!llvm::is_contained(group.readStarts, other))
      group.readStarts.push_back(other);
  }
  return true;
}

bool ResultSeparator::makeGroups() {
  for (OpOperand &init : op.getDpsInitsMutable()) {
    std::optional<ResultPlaces> places = getResultPlaces(op, init);
    if (!places)
      return false;
    loops.push_back(places->loops);
  }
  if (!needsGroups())
    return false;
  Operation *yield = op.getBody()->getTerminator();
  for (unsigned result = 0; result < loops.size(); ++result) {
    ResultGroup &group = getGroup(loops[result]);
    group.results.push_back(result);
    if (!addSlice(group, yield->getOperand(result)))
      return false;
  }
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isMemoryEffectFree(&inner))
      continue;
    // An assertion, say.
    groups.front().ops.insert(&inner);
    if (!addSlice(groups.front(), llvm::to_vector(inner.getOperands())) ||
        inner.getNumRegions() != 0)
      return false;
  }
  return true;
}

/// The operation that computes `group`.
linalg::GenericOp ResultSeparator::makeOp(const ResultGroup &group) {
  SmallVector<Value> inputs(op.getInputs()), starts;
  SmallVector<AffineMap> maps;
  SmallVector<unsigned> arguments;
  for (OpOperand *input : op.getDpsInputOperands()) {
    maps.push_back(op.getMatchingIndexingMap(input));
    arguments.push_back(input->getOperandNumber());
  }
  auto add = [&](unsigned result, SmallVectorImpl<Value> &operands) {
    OpOperand *init = op.getDpsInitOperand(result);
    operands.push_back(init->get());
    maps.push_back(op.getMatchingIndexingMap(init));
    arguments.push_back(init->getOperandNumber());
  };
  for (unsigned result : group.readStarts)
    add(result, inputs);
  for (unsigned result : group.results)
    add(result, starts);
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (unsigned loop : group.loops.set_bits())
    kinds[loop] = utils::IteratorType::parallel;
  return linalg::GenericOp::create(
      rewriter, op.getLoc(), ValueRange(starts).getTypes(), inputs, starts,
      maps, kinds, [&](OpBuilder &builder, Location loc, ValueRange values) {
        IRMapping mapping;
        for (auto [argument, value] : llvm::zip_equal(arguments, values))
          mapping.map(op.getBody()->getArgument(argument), value);
        for (Operation &inner : op.getBody()->without_terminator())
          if (group.ops.contains(&inner))
            builder.clone(inner, mapping);
        SmallVector<Value> yielded;
        for (unsigned result : group.results)
          yielded.push_back(mapping.lookupOrDefault(
              op.getBody()->getTerminator()->getOperand(result)));
        linalg::YieldOp::create(builder, loc, yielded);
      });
}

void ResultSeparator::apply() {
  rewriter.setInsertionPoint(op);
  SmallVector<Value> results(op.getNumResults());
  for (const ResultGroup &group : groups) {
    linalg::GenericOp made = makeOp(group);
    for (auto [result, value] :
         llvm::zip_equal(group.results, made.getResults()))
      results[result] = value;
  }
  rewriter.replaceOp(op, results);
}

void separateResults(RewriterBase &rewriter, linalg::GenericOp op) {
  ResultSeparator separator(rewriter, op);
  if (isTensorOp(op) && !isEmpty(op) && separator.makeGroups())
    separator.apply();
}

} // namespace mlir::workgroup
