//===- Chip.h - The chips that are compiled for -----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table of the supported chips and what the passes need to know of them.
// The sizes are those of the CUDA C++ Programming Guide, "Compute
// Capabilities".
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TARGET_CHIP_H
#define WORKGROUP_TARGET_CHIP_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Types.h"
#include "mlir/Support/LLVM.h"

namespace mlir::workgroup {

struct Chip {
  /// As in `sm_90a`.
  StringLiteral name;
  /// Version of the PTX language to emit, times ten: the oldest that LLVM,
  /// ptxas and the instructions of this project accept for the chip, so that
  /// the PTX runs on the oldest drivers that can run it.
  unsigned ptxVersion;
  /// Largest workgroup memory of a block in bytes, static and dynamic together.
  int64_t maxWorkgroupBytes;
  /// Limits of a multiprocessor: workgroup memory in bytes for all resident
  /// blocks, of which each takes some for the system; the number of resident
  /// blocks; the number of resident threads.
  int64_t multiprocessorBytes;
  int64_t systemBytesPerBlock;
  int64_t maxBlocks;
  int64_t maxThreads;
  /// The number of multiprocessors that the usual product with this chip has.
  int64_t multiprocessors;

  /// The number in the name: 90 of `sm_90a`.
  unsigned getArchitecture() const;

  /// True if it has what no other architecture has: `sm_90a`.
  bool isSpecific() const { return name.ends_with("a"); }

  /// True if threads can copy from global to workgroup memory asynchronously.
  bool hasAsyncCopies() const;

  /// True if tensor cores multiply factors of `type`, a float of 16 bits.
  bool hasMatrixProducts(Type type) const;

  /// True if there is TMA, which copies tiles of tensors and counts their bytes
  /// at mbarriers.
  bool hasTensorCopies() const;

  /// The workgroup memory in bytes that a block may have where an option gives
  /// `maxBytes`; 0 for all of the chip's.
  int64_t getCapacity(int64_t maxBytes) const {
    return maxBytes > 0 ? maxBytes : maxWorkgroupBytes;
  }

  /// The number of blocks of `numThreads` threads and `bytes` bytes of
  /// workgroup memory that are resident on a multiprocessor, registers aside.
  int64_t getResidentBlocks(int64_t bytes, int64_t numThreads) const;
};

/// All supported chips, oldest first.
ArrayRef<Chip> getChips();

/// The chip of that name; null if it is not supported.
const Chip *findChip(StringRef name);

/// The chip that is meant where none is named.
const Chip &getDefaultChip();

/// The names of all supported chips, for an error message.
std::string listChips();

/// `name` with each character that PTX identifiers cannot hold replaced by `_`.
std::string getPTXName(StringRef name);

/// The NVVM target of `module`; null if it has none.
NVVM::NVVMTargetAttr getTarget(gpu::GPUModuleOp module);

/// The chip that `op`, a `gpu.module` or a kernel, is compiled for: that of the
/// module's target, else the one named `name`, else the default. Null after an
/// error: the chip is unknown, or `name` is another than the target's.
const Chip *resolveChip(Operation *op, StringRef name);

} // namespace mlir::workgroup

#endif // WORKGROUP_TARGET_CHIP_H
