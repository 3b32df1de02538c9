//===- MatrixOps.h - The matrix operations of a warp ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The intrinsics that all lanes of a warp execute together on matrices which
// they hold in their registers: mma, wmma, ldmatrix and stmatrix.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_ISA_MATRIXOPS_H
#define WORKGROUP_LIB_EMULATOR_ISA_MATRIXOPS_H

#include "MatrixFragments.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <variant>

namespace mlir::workgroup::emulator {

/// D = A * B + C, summed up from C on in the order of the inner index of A: in
/// float for floats of up to 32 bits, whose products are exact, with fused
/// multiplication for doubles. D is rounded once, at the end.
struct MatrixProduct {
  /// The terms that are summed up over the inner index of A.
  enum class Term : uint8_t { Product, And, Xor };

  Term term = Term::Product;
  /// Whether integers that D cannot hold become the closest ones that it can;
  /// else they wrap around.
  bool saturates = false;
  Fragment a, b, c, d;
};

/// Moves a fragment from or to a matrix whose address each lane passes first
/// and, unless the matrix is dense, its stride, in elements, last.
struct FragmentMove {
  bool isStore = false;
  bool hasStride = false;
  /// Whether the stride is between outer indices, the inner ones being next to
  /// each other, or the other way round.
  bool isOuterStrided = true;
  Fragment fragment;
};

/// Moves `count` matrices of eight rows of eight 16-bit elements. Lane
/// 8 * m + r passes the address of row r of matrix m; register m of each lane
/// holds two elements of matrix m.
struct RowsMove {
  bool isStore = false;
  /// Whether the two are neighbours in a column, not in a row.
  bool isTransposed = false;
  unsigned count = 1;
};

/// An operation on matrices.
class MatrixOp {
public:
  /// Gives the host address of the `bytes` bytes at `address`, all bits of a
  /// pointer as the kernel has it, that `lane` reads or writes. A null pointer
  /// leaves the access out.
  using Access = llvm::function_ref<uint8_t *(unsigned lane, uint64_t address,
                                              unsigned bytes)>;

  enum class Kind { Compute, Load, Store };

  /// The operation of the intrinsic `name`, with or without the suffix of an
  /// overload; nullopt if it is none of those covered.
  static std::optional<MatrixOp> decode(llvm::StringRef name);

  Kind getKind() const;

  /// The registers that the operands and the results take.
  unsigned getNumOperandRegisters() const;
  unsigned getNumResultRegisters() const;

  /// False if the rows or columns of the matrix that a fragment moves from or
  /// to do not begin where the hardware wants them, by the operands of a lane.
  /// Addresses count from `origin`.
  ///
  /// The PTX ISA ("Matrix Storage for WMMA") asks for multiples of the fragment
  /// of a lane, CUDA C++ for 32 bytes at the start and 16 from one to the next:
  /// here it is the less of the two.
  bool isAligned(const uint32_t *registers, uint64_t origin) const;

  /// Executes the operation for all lanes. registers[lane] points to kRegisters
  /// registers that hold the operands one after the other: one register for up
  /// to 32 bits, two, the low word first, for 64. The results take their place,
  /// from register 0 on.
  ///
  /// Loads and stores give `access` the lane whose register is written or read,
  /// whichever lane had the address. Lanes follow one another, all accesses of
  /// one before those of the next. Products need some 40 KiB of stack.
  void execute(uint32_t *const registers[kWarpSize], Access access) const;

private:
  using Operation = std::variant<MatrixProduct, FragmentMove, RowsMove>;

  explicit MatrixOp(Operation operation) : operation(operation) {}

  /// The registers that a load or a store moves.
  unsigned getNumMovedRegisters() const;

  Operation operation;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_ISA_MATRIXOPS_H
