//===- Assembly.h - Inline PTX as statements --------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text of inline assembly, as compilers such as Triton's write it: a few
// statements without labels and without registers of their own.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_ASSEMBLY_H
#define WORKGROUP_LIB_COMPILER_ASSEMBLY_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace mlir::workgroup {

/// An operand of a statement: one or several registers or numbers, or what an
/// address is made of.
struct AssemblyOperand {
  /// An operand of the assembly, by its number, a special register of PTX, or a
  /// number.
  struct Atom {
    std::optional<unsigned> place;
    StringRef special;
    int64_t number = 0;
  };

  SmallVector<Atom, 4> atoms;
  /// It is in brackets: the address that is the only atom, and that many bytes
  /// on.
  bool isAddress = false;
  int64_t offset = 0;
};

/// One statement, as `@$3 ld.global.v2.b32 { $0, $1 }, [ $2 + 0 ];`.
struct AssemblyStatement {
  /// The operand that decides whether it is executed, if one does.
  std::optional<unsigned> predicate;
  /// It is executed where the predicate does not hold.
  bool isNegated = false;
  /// The parts of the opcode, as `ld`, `global`, `v2`, `b32`.
  SmallVector<StringRef, 8> opcode;
  SmallVector<AssemblyOperand, 4> operands;

  bool has(StringRef part) const;
  StringRef last() const { return opcode.back(); }
};

/// The statements of `text`, which they refer to; nothing if it is not of the
/// form above.
std::optional<SmallVector<AssemblyStatement, 0>> parseAssembly(StringRef text);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_ASSEMBLY_H
