//===- Alignment.h - Proved alignment of memory accesses --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vector accesses are as wide as their alignment is proved to be. This analysis
// finds the largest power of two that divides an index, and from it the
// alignment of the first element of a memref: of its root buffer, and of every
// offset that views add to it. Nothing is assumed that the IR does not say,
// except what the client states in `AlignmentOptions`.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_ANALYSIS_ALIGNMENT_H
#define WORKGROUP_ANALYSIS_ALIGNMENT_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace mlir::workgroup {

/// The alignment in bytes of memory that the runtime provides: by allocation on
/// the host, or as the dynamic workgroup memory of a launch.
constexpr int64_t kRuntimeAlignment = 16;

/// Facts that the client of the analysis knows or can bring about.
struct AlignmentOptions {
  /// Alignment in bytes of memref arguments of kernels and host functions,
  /// where no attribute says more; 1 if nothing is known.
  int64_t arguments = 1;
  /// Alignment in bytes that the client will give to the workgroup buffers of
  /// `getRaisableBuffer`, should it rely on it; 1 if it will not.
  int64_t workgroup = 1;
  /// The operation that the client may change.
  Operation *anchor = nullptr;
};

/// Alignment of memrefs and divisibility of indices. Results are cached; an
/// instance must not outlive a change of the IR it has looked at.
class AlignmentAnalysis {
public:
  explicit AlignmentAnalysis(AlignmentOptions options = {})
      : options(options) {}

  /// The largest power of two, up to `kMaxDivisor`, that is known to divide
  /// `index`.
  int64_t getDivisor(OpFoldResult index);

  /// The alignment in bytes of the first element of `memref`, which is ranked
  /// and strided. At least 1.
  int64_t getAlignment(Value memref);

  /// Takes the first element of `memref` for aligned to `alignment` bytes: the
  /// client will make it so.
  void assume(Value memref, int64_t alignment) {
    pointers[memref] = {alignment, kMaxDivisor, alignment};
  }

  /// The operation that the client may change; null if none.
  Operation *getAnchor() const { return options.anchor; }

  static constexpr int64_t kMaxDivisor = int64_t(1) << 30;

private:
  /// The address of a memref: alignment in bytes of the buffer that it points
  /// into, the divisor of its offset in elements, and the alignment in bytes of
  /// its first element.
  struct Pointer {
    int64_t base = 1;
    int64_t offset = 1;
    int64_t first = 1;
  };

  int64_t computeDivisor(Value index);
  int64_t getArgumentDivisor(BlockArgument argument);
  int64_t getAffineDivisor(AffineExpr expr, ValueRange operands,
                           unsigned numDims);
  Pointer getPointer(Value memref);
  Pointer computePointer(Value memref);
  Pointer getViewPointer(Operation *view, Value source);
  int64_t getRootAlignment(Value root);
  int64_t getArgumentAlignment(BlockArgument argument, int64_t natural);

  AlignmentOptions options;
  unsigned depth = 0;
  DenseMap<Value, int64_t> divisors;
  DenseMap<Value, Pointer> pointers;
};

/// The number of bytes from one element of `type` to the next in memory, as
/// LLVM lays it out: one for `i1` and `i4`, four for `i24`. Nothing for types
/// whose size MLIR does not know.
std::optional<int64_t> getElementBytes(MemRefType type, Operation *scope);

/// The alignment in bytes that LLVM gives to a variable of `type`'s element.
int64_t getNaturalAlignment(MemRefType type, Operation *scope);

/// The workgroup buffer behind `memref` if its alignment can be raised without
/// touching anything outside `anchor`: an allocation, the `memref.get_global`
/// of a global, an attribution of a `gpu.func`. Null otherwise.
Value getRaisableBuffer(Value memref, Operation *anchor);

/// The alignment in bytes that the IR states for `buffer`, a result of
/// `getRaisableBuffer`; 0 if it states none.
int64_t getStatedAlignment(Value buffer);

/// The global that `buffer` is a `memref.get_global` of; null if it is none.
memref::GlobalOp getGlobal(Value buffer);

/// The position of `buffer` among the workgroup attributions of its `gpu.func`,
/// which becomes `function`; nothing if it is none.
std::optional<unsigned> getAttributionIndex(Value buffer,
                                            gpu::GPUFuncOp &function);

/// An access that is to be aligned to `alignment` bytes.
struct AlignedAccess {
  Value memref;
  /// The indices of the first element that is accessed; none if that is the
  /// first one of `memref`.
  ValueRange indices;
  int64_t alignment;
  /// Whether the op says so, or the instruction asks for it.
  bool isPromised = true;
};

/// The accesses of `op` to workgroup memory with the alignment that it promises
/// or needs; none if `op` is no access of a known kind.
SmallVector<AlignedAccess, 2> getAlignedAccesses(Operation *op);

/// The distance in bytes of the first element of `memref` from the start of its
/// root buffer; nothing if it is not constant.
std::optional<int64_t> getConstantOffset(Value memref);

/// The distance in bytes of the first element that `access` touches from the
/// start of its root buffer; nothing if it is not constant.
std::optional<int64_t> getConstantOffset(const AlignedAccess &access);

/// The alignment in bytes, a power of two, that `buffer` must have for the
/// accesses to it to be aligned as they promise or need: those of the same
/// function, and of functions and kernels that it is passed to, through views,
/// selections, branches and loops. An access at a place that no alignment of
/// the buffer makes right asks for none.
int64_t getNeededAlignment(Value buffer);

} // namespace mlir::workgroup

#endif // WORKGROUP_ANALYSIS_ALIGNMENT_H
