//===- HittingSetState.h - What is left to choose ---------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The matrix of a hitting set problem, choices by demands in bits, and the
// state of a search in it: which demands are open and which choices are left.
// `reduce` shrinks a state without loss, as for set covers: a demand that
// another one implies is dropped, a choice that another one replaces at no
// higher price is dropped, and a choice that is the only one for a demand is
// taken. What is left is solved by intervals or branch and bound.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PLACEMENT_HITTINGSETSTATE_H
#define WORKGROUP_LIB_ANALYSIS_PLACEMENT_HITTINGSETSTATE_H

#include "HittingSetProblem.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::workgroup {

/// Comparisons of demands with demands, or choices with choices: some tenths of
/// a second.
constexpr uint64_t kHittingSetBudget = uint64_t(1) << 25;

/// A problem as sets of bits.
class HittingSetMatrix {
public:
  explicit HittingSetMatrix(const HittingSetProblem &problem);

  unsigned getNumChoices() const { return problem.choices.size(); }
  unsigned getNumDemands() const { return problem.demands.size(); }
  unsigned getPriceSize() const { return problem.priceSize; }
  const Price &getPrice(unsigned choice) const {
    return problem.choices[choice].price;
  }
  unsigned getRank(unsigned choice) const {
    return problem.choices[choice].rank;
  }
  /// Which of two choices that do the same is taken.
  bool isPreferred(unsigned lhs, unsigned rhs) const {
    return std::pair(getRank(lhs), lhs) > std::pair(getRank(rhs), rhs);
  }
  /// The further demands that a choice makes.
  llvm::ArrayRef<unsigned> getDemands(unsigned choice) const {
    return problem.choices[choice].demands;
  }

  /// The choices that ask for something further.
  const llvm::BitVector &getConditions() const { return conditions; }
  const llvm::BitVector &getRequired() const { return required; }
  /// The choices that meet a demand.
  const llvm::BitVector &getChoices(unsigned demand) const {
    return choicesOf[demand];
  }
  /// The demands that a choice meets.
  const llvm::BitVector &getUses(unsigned choice) const {
    return usesOf[choice];
  }
  /// The choices with a price of which at least one is needed to meet a demand,
  /// whatever else is chosen.
  const llvm::BitVector &getSupport(unsigned demand) const {
    return supports[demand];
  }
  /// The least price in a set of choices, which is not empty.
  const Price &getLeastPrice(const llvm::BitVector &choices) const;
  /// True if `chosen` meet all that is required.
  bool isSolvedBy(llvm::ArrayRef<unsigned> chosen) const;

private:
  void addSupport(unsigned demand);

  const HittingSetProblem &problem;
  llvm::BitVector conditions, required;
  llvm::SmallVector<llvm::BitVector, 0> choicesOf, usesOf, supports;
  /// The choices of each price, the cheapest first.
  llvm::SmallVector<std::pair<Price, llvm::BitVector>, 0> layers;
};

/// The state of a search.
struct HittingSetState {
  explicit HittingSetState(const HittingSetMatrix &matrix);

  /// The demands that have to be met yet, those that are met or implied by open
  /// ones, and the choices that can be taken.
  llvm::BitVector open, done, available;

  llvm::BitVector getChoices(const HittingSetMatrix &matrix,
                             unsigned demand) const;
  /// The open demands, and those that may become open.
  llvm::BitVector getRelevant(const HittingSetMatrix &matrix) const;
  void choose(const HittingSetMatrix &matrix, unsigned choice);

  /// Settles the choices that ask for more: takes those whose demands are met,
  /// drops those that cannot be or are of no use. False if an open demand
  /// cannot be met.
  bool settle(const HittingSetMatrix &matrix);
  /// Drops demands that follow from others and choices that others can replace,
  /// and takes what is forced, until nothing changes or something is taken. No
  /// solution gets more expensive by it. False if there is none.
  bool reduce(const HittingSetMatrix &matrix,
              llvm::SmallVectorImpl<unsigned> &taken, uint64_t &work);
  /// Takes the only choices that demands have.
  bool takeForced(const HittingSetMatrix &matrix,
                  llvm::SmallVectorImpl<unsigned> &taken);
  /// Drops demands that follow from others, as far as the budget goes.
  bool dropImplied(const HittingSetMatrix &matrix, uint64_t &work);

private:
  bool settle(const HittingSetMatrix &matrix, unsigned choice,
              const llvm::BitVector &relevant);
  bool dropReplaceable(const HittingSetMatrix &matrix, uint64_t &work);
  bool isReplaceable(const HittingSetMatrix &matrix, unsigned choice,
                     const llvm::BitVector &uses, uint64_t &work) const;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PLACEMENT_HITTINGSETSTATE_H
