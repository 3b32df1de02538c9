//===- ProductRows.h - Rows of known and unknown length ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums of rows and columns are equal if both are, where columns stay below the
// length of a row. The length may be a number that is not known, of which rows
// are a product:
//
// n * row + column = n * row' + column', 0 <= column, column' < n -> row =
// row', column = column'
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_PRODUCTROWS_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_PRODUCTROWS_H

#include "EquationSystem.h"
#include "FactBounds.h"

namespace mlir::workgroup {

/// Takes places apart by rows.
class ProductRows {
public:
  using Form = EquationSystem::Form;

  /// Places from `first` on: up to `count` - 1 steps of each kind further,
  /// which is below `most`.
  struct Place {
    struct Step {
      Form count;
      int64_t stride, most;
    };
    Form first;
    SmallVector<Step, 2> steps;
  };

  ProductRows(EquationSystem &system, FactBounds &bounds)
      : system(system), bounds(bounds) {}

  /// Says that one of the places is the same.
  void add(const Place &first, const Place &second);

private:
  /// A constant, or that times an atom which both threads have the same of.
  using Base = std::pair<const SymbolicAtom *, int64_t>;
  /// A component of a number x in a sum: x / d, but for the multiples of the
  /// next larger divisor, which is `ratio` times d. With what it is multiplied.
  struct Component {
    Form number;
    int64_t ratio = 1, factor = 0;
  };
  /// The components of one number, the lowest one first.
  using ComponentChain = SmallVector<Component, 4>;
  /// A form, and what it is the sum of.
  struct Sum {
    explicit Sum(const Form &form);

    const Form &form;
    SmallVector<ComponentChain, 2> numbers;
    Form rest;
  };
  /// What a base times `upper` and `lower` is the sum of.
  struct Components {
    Form upper, lower;
    bool isKnown = true;
  };

  static void takeRemainders(Form &form,
                             SmallVectorImpl<ComponentChain> &numbers);
  template <typename Found>
  static void returnPart(ComponentChain &number, const Found &others,
                         Form &form);
  static SmallVector<ComponentChain, 2> takeNumbers(Form &form);
  SmallVector<Base> findBases(const Sum &sum);
  Components divide(const Sum &sum, const Base &base) const;
  std::optional<std::array<Place, 2>> findRow(const Place &place,
                                              const Sum &first,
                                              const Base &base, unsigned side);
  bool isNonNegative(const Form &form, unsigned side);
  bool isBelow(const Form &form, const Form &reach, const Base &base,
               unsigned side);

  EquationSystem &system;
  FactBounds &bounds;
  /// By side, the number of what is known of the thread, and of which version
  /// of that.
  std::pair<std::optional<unsigned>, FactBounds::State> states[2];
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_PRODUCTROWS_H
