//===- Exchanges.h - Values that lanes exchange --------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which reads of workgroup and global memory feed the exchanges between lanes,
// by shuffles, votes and matrix operations, and which writes follow from them:
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
  /// There is one that a read of workgroup memory feeds and that a write of it
  /// follows; and such a one of the same buffer in global memory.
  bool ordersShared = false, ordersGlobal = false;
  /// The numbers of such exchanges, from 1 on; of others, 0.
  llvm::DenseMap<const llvm::Instruction *, uint32_t> numbers;
};

Exchanges findExchanges(const llvm::Function &function,
                        const Provenances &provenances);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_EXCHANGES_H
