//===- WarpgroupOps.h - What four warps do together ----------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `wgmma` and `setmaxnreg` (PTX ISA, "Asynchronous Warpgroup Level Matrix
// Instructions"), as one record of what the operation does. A product arrives
// as inline assembly; a form that is not known is nothing, and the kernel is
// refused.
//
// Warp w of a warpgroup computes rows 16 * w to 16 * w + 15 of D, with those
// rows of A and all of B. Its fragments are dealt out to lanes as those of mma.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_ISA_WARPGROUPOPS_H
#define WORKGROUP_LIB_EMULATOR_ISA_WARPGROUPOPS_H

#include "MatrixFragments.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace mlir::workgroup::emulator {

/// The warps of a warpgroup.
constexpr unsigned kGroupWarps = 4;

/// Where a matrix lies in workgroup memory (PTX ISA, "Matrix Descriptor
/// Format"): in chunks of 16 bytes, eight of which, one for each of eight rows
/// or columns, are a core matrix.
struct MatrixDescriptor {
  static constexpr unsigned kChunk = 16;

  static MatrixDescriptor decode(uint64_t bits);

  uint64_t start = 0;
  /// Bytes from one core matrix to the next in either direction; which is which
  /// depends on the major dimension and on the swizzle.
  uint64_t leading = 0, stride = 0;
  unsigned baseOffset = 0;
  /// The logarithm of the chunks that a swizzle permutes; zero if there is
  /// none.
  unsigned swizzle = 0;

  /// The address of the chunk that holds inner elements `chunk`, counted in
  /// chunks, of the outer index `row`.
  uint64_t getChunkByRows(unsigned row, unsigned chunk) const;
  /// The address of the chunk that holds outer elements `chunk` of the inner
  /// index `column`, where the outer dimension is the one that is contiguous.
  uint64_t getChunkByColumns(unsigned column, unsigned chunk) const;

private:
  uint64_t permute(uint64_t address) const;
};

/// D = A * B + D, of a warpgroup.
struct WgmmaOp {
  static constexpr unsigned kRows = 16; // of a warp
  static constexpr unsigned kInnerBytes = 32;

  Scalar a = Scalar::F16, b = Scalar::F16, d = Scalar::F32;
  unsigned n = 0;
  /// A comes in registers.
  bool hasFragmentA = false;
  /// Whether the outer dimension is the contiguous one in memory.
  bool isTransposedA = false, isTransposedB = false;
  bool negatesA = false, negatesB = false;
  bool saturates = false;

  unsigned getInner() const { return kInnerBytes * 8 / getBits(a); }
  Fragment getFragmentA() const {
    return Fragment::getOperand(a, kRows, getInner(), /*isWmma=*/false);
  }
  Fragment getAccumulator() const {
    return Fragment::getAccumulator(d, kRows, n);
  }

  // The registers of the operands, one behind the other: A or its descriptor,
  // the descriptor of B, whether D is read, and D.
  unsigned getRegisterOfB() const {
    return hasFragmentA ? getFragmentA().getNumRegisters() : 2;
  }
  unsigned getRegisterOfScale() const { return getRegisterOfB() + 2; }
  unsigned getRegisterOfD() const { return getRegisterOfScale() + 1; }

  /// True if D may stay in the registers of `other` without a fence.
  bool hasShapeOf(const WgmmaOp &other) const {
    return n == other.n && d == other.d && getInner() == other.getInner();
  }

  /// Gives the host address of the chunk at `address` of A or of B; null if
  /// there is none.
  using Access =
      llvm::function_ref<const uint8_t *(bool isB, uint64_t address)>;

  /// Executes the part of warp `warp` of the warpgroup. registers[lane] holds
  /// the operands, and receives D from register 0 on.
  void execute(unsigned warp, uint32_t *const registers[kWarpSize],
               Access access) const;
};

/// An operation of a warpgroup.
struct WarpgroupOp {
  enum class Kind {
    /// `wgmma.fence`, `.mma_async`, `.commit_group`, `.wait_group`.
    Fence,
    Multiply,
    Commit,
    Wait,
    /// `setmaxnreg.dec` and `.inc`.
    ReleaseRegisters,
    RequestRegisters,
  };
  Kind kind = Kind::Fence;
  WgmmaOp product;

  /// Decodes the name of an intrinsic, as `llvm.nvvm.wgmma.fence.sync.aligned`;
  /// nullopt if it is none of those above. The number that comes with it is an
  /// operand.
  static std::optional<WarpgroupOp> decode(llvm::StringRef intrinsic);
};

/// A value in the text of assembly: the number of an operand of it, or a
/// constant.
struct AssemblyValue {
  std::optional<unsigned> operand;
  int64_t constant = 0;
};

/// The text of assembly that multiplies, and the operands as it names them.
struct WgmmaAssembly {
  WgmmaOp op;
  llvm::SmallVector<AssemblyValue> d, a;
  AssemblyValue b, scale;
  /// What PTX wants to be constants, as far as the types have them.
  std::optional<AssemblyValue> signA, signB, transposeA, transposeB;

  static std::optional<WgmmaAssembly> decode(llvm::StringRef text);
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_ISA_WARPGROUPOPS_H
