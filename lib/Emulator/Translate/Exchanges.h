//===- Exchanges.h - Values that lanes exchange --------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which reads of workgroup memory feed the exchanges between lanes, by
// shuffles, votes and matrix operations, and which writes follow from them:
// such a write comes after such a read, though nothing else orders the two.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_EXCHANGES_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_EXCHANGES_H

#include "Provenance.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::workgroup::emulator {

struct Exchanges {
  /// Exchanges, by their numbers, of an instruction.
  using Sets = llvm::DenseMap<const llvm::Instruction *, llvm::BitVector>;
  /// Those that the values of loads go into, and those that stores keep the
  /// outcome of.
  Sets feeds, follows;
  /// There is one that a read feeds and that a write follows.
  bool hasOrder = false;
};

Exchanges findExchanges(const llvm::Function &function,
                        const Provenances &provenances);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_EXCHANGES_H
