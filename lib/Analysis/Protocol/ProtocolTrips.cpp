//===- ProtocolTrips.cpp - Loops that wait for each other
//------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProtocolTrips.h"
#include "ProtocolPeriods.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::workgroup {

namespace {
/// Compares the numbers of iterations of loops.
class TripComparison {
public:
  explicit TripComparison(const UniformityAnalysis &uniformity)
      : uniformity(uniformity) {}

  /// True if all threads go through as many iterations of both, and of the
  /// loops around them.
  bool areSame(scf::ForOp lhs, scf::ForOp rhs);

private:
  bool areSame(Value lhs, Value rhs);

  const UniformityAnalysis &uniformity;
  /// How many more values are compared; bounds are made of a few.
  unsigned effort = 256;
};
} // namespace

/// True if all threads have the same number in both. Warps that go their own
/// ways compute it each for themselves.
bool TripComparison::areSame(Value lhs, Value rhs) {
  std::optional<int64_t> constant = getConstantIntValue(lhs);
  if (constant && constant == getConstantIntValue(rhs))
    return true;
  if (lhs == rhs)
    return uniformity.isUniform(lhs);
  Operation *left = lhs.getDefiningOp(), *right = rhs.getDefiningOp();
  if (!left || !right || effort == 0)
    return false;
  --effort;
  bool isAlike =
      left->getNumRegions() == 0 && left->getNumResults() == 1 &&
      isMemoryEffectFree(left) && uniformity.isUniform(lhs) &&
      OperationEquivalence::isEquivalentTo(
          left, right, OperationEquivalence::ignoreValueEquivalence,
          /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
  return isAlike && llvm::all_of_zip(left->getOperands(), right->getOperands(),
                                     [&](Value one, Value other) {
                                       return areSame(one, other);
                                     });
}

bool TripComparison::areSame(scf::ForOp lhs, scf::ForOp rhs) {
  if (!lhs || !rhs)
    return lhs == rhs;
  return areSame(lhs.getLowerBound(), rhs.getLowerBound()) &&
         areSame(lhs.getUpperBound(), rhs.getUpperBound()) &&
         areSame(lhs.getStep(), rhs.getStep()) &&
         areSame(lhs->getParentOfType<scf::ForOp>(),
                 rhs->getParentOfType<scf::ForOp>());
}

/// The wait of `stream` in the loop that goes on; that loop if there is none.
static Operation *findWaiting(const ProtocolStream &stream) {
  auto wait = llvm::find_if(stream.events, [&](const ProtocolEvent &event) {
    return event.kind == ProtocolEvent::Wait &&
           stream.endless->isProperAncestor(event.op);
  });
  return wait == stream.events.end() ? stream.endless : wait->op;
}

void addProtocolTrips(ArrayRef<ProtocolStream> streams, const ProtocolRun &run,
                      const UniformityAnalysis &uniformity,
                      std::vector<ProtocolFinding> &faults) {
  bool areInStep = isInStep(streams, run);
  scf::ForOp first;
  for (const ProtocolStream &stream : streams) {
    auto loop = dyn_cast_or_null<scf::ForOp>(stream.endless);
    if (!loop)
      continue;
    first = first ? first : loop;
    if (areInStep && TripComparison(uniformity).areSame(first, loop))
      continue;
    Operation *op = findWaiting(stream);
    bool isKnown = llvm::any_of(faults, [&](const ProtocolFinding &fault) {
      return fault.op == op && fault.isStuck;
    });
    if (isKnown)
      return;
    faults.push_back(
        {op,
         "possible deadlock: '" + op->getName().getStringRef().str() +
             "' may wait for ever: the loops that wait for each other are not "
             "known to have the same number of iterations",
         /*isCertain=*/false, /*isStuck=*/true});
    return;
  }
}

} // namespace mlir::workgroup
