//===- MatrixFragments.h - Matrices in the lanes of a warp ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How PTX deals the elements of a matrix out to the registers of the lanes, and
// the conversion from and to these registers.
//
// Every operand and every accumulator of mma follows one rule, but for those of
// one shape that is older and not covered. Let the outer dimension be the rows
// of A, C and D and the columns of B, the inner dimension the other one. Eight
// times four lanes cover a tile of eight outer indices and four groups of
// `width` consecutive inner indices; a lane holds one group of each tile, tiles
// ordered along the outer dimension first. A group fills a register for
// operands, and is a pair for accumulators.
//
// PTX leaves the fragments of wmma open. They follow the same rule here, so
// that accumulators of equal shape hold the same elements in the same order,
// whatever their type and whoever computed them.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_ISA_MATRIXFRAGMENTS_H
#define WORKGROUP_LIB_EMULATOR_ISA_MATRIXFRAGMENTS_H

#include "Warp.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace mlir::workgroup::emulator {

/// The types of the elements of matrices.
enum class Scalar : uint8_t {
  F16,
  BF16,
  TF32,
  F32,
  F64,
  E4M3,
  E5M2,
  S8,
  U8,
  S4,
  U4,
  B1,
  S32
};

/// The numbers that products and sums of elements are computed in.
enum class Arithmetic : uint8_t { Float, Double, Integer };

/// The type that PTX and the intrinsics call `name`.
std::optional<Scalar> parseScalar(llvm::StringRef name);

/// The bits that an element takes in registers and in memory.
unsigned getBits(Scalar type);

Arithmetic getArithmetic(Scalar type);

/// The type of accumulators whose type the intrinsics leave out because of that
/// of the operands.
Scalar getAccumulatorType(Scalar operand);

/// The steps along the dimensions of a matrix: what each adds to the offset of
/// an element, in elements.
struct Strides {
  uint64_t outer, inner;
};

/// The elements of a matrix that each lane holds, by the rule above.
struct Fragment {
  Scalar type = Scalar::F32;
  unsigned outer = 0, inner = 0;
  unsigned width = 1;
  /// Elements that a lane holds. May be more than its share: the matrix is then
  /// held several times over.
  unsigned numElements = 0;

  /// The fragment of A or B.
  static Fragment getOperand(Scalar type, unsigned outer, unsigned inner,
                             bool isWmma);
  /// The fragment of C or D.
  static Fragment getAccumulator(Scalar type, unsigned rows, unsigned columns);

  /// True if the lanes have equal shares of whole groups. What follows requires
  /// this.
  bool isValid() const;

  /// The elements of the matrix per lane.
  unsigned getShare() const { return outer * inner / kWarpSize; }

  unsigned getNumRegisters() const;

  /// The offset of an element of a lane is the sum of what the lane contributes
  /// and what the position of the element within the lane's registers does.
  uint64_t getLaneOffset(unsigned lane, Strides strides) const;
  uint64_t getElementOffset(unsigned element, Strides strides) const;
};

/// Converts the fragment in registers `first` and up of all lanes to `matrix`,
/// of the type that goes with the arithmetic of the fragment's: uint32_t stands
/// for integers modulo 2^32. Of elements held several times, the first counts.
void gather(const Fragment &fragment, const uint32_t *const registers[],
            unsigned first, Strides strides, float *matrix);
void gather(const Fragment &fragment, const uint32_t *const registers[],
            unsigned first, Strides strides, double *matrix);
void gather(const Fragment &fragment, const uint32_t *const registers[],
            unsigned first, Strides strides, uint32_t *matrix);

/// Converts `matrix` to the fragment, an accumulator, in registers 0 and up of
/// all lanes. Rounds to the nearest, ties to even.
void scatter(const Fragment &fragment, uint32_t *const registers[],
             Strides strides, const float *matrix);
void scatter(const Fragment &fragment, uint32_t *const registers[],
             Strides strides, const double *matrix);
void scatter(const Fragment &fragment, uint32_t *const registers[],
             Strides strides, const uint32_t *matrix);

/// Converts `count` elements that lie one behind the other in memory, of no
/// less than a byte each, as `gather` does.
void unpack(Scalar type, const uint8_t *memory, unsigned count, float *values);
/// The float of 16 bits that is nearest to `value`, ties to even.
uint16_t packNarrow(Scalar type, float value);
void unpack(Scalar type, const uint8_t *memory, unsigned count,
            uint32_t *values);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_ISA_MATRIXFRAGMENTS_H
