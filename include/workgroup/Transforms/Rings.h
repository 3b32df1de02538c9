//===- Rings.h - Copies that run ahead --------------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Software pipelining of copies: the copies of a loop to workgroup memory
// become a ring of several slots, so that those of later iterations are under
// way while an iteration reads its slot. Forming decides which loops get a
// ring; lowering chooses the engine of the copies (registers, `cp.async`, TMA).
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_RINGS_H
#define WORKGROUP_TRANSFORMS_RINGS_H

#include "mlir/Pass/Pass.h"
#include "workgroup/Transforms/Copies.h"
#include "llvm/Support/CommandLine.h"
#include <string>

namespace mlir::workgroup {

/// The reason why `slots` cannot be the number of slots of rings to be formed;
/// empty if it can.
std::string getSlotsObstacle(int64_t slots);

/// The reason why a block cannot get `producers` threads more that only fill
/// rings; empty if it can.
std::string getProducersObstacle(int64_t producers);

/// The reason why `blocks` cannot be the number of blocks that go through all
/// tiles of a kernel; empty if it can.
std::string getBlocksObstacle(int64_t blocks);

struct FormRingsOptions {
  /// The number of slots that a ring is to have, if the loop has as many
  /// iterations and the memory suffices; no ring is formed for one.
  int64_t slots = 2;
  /// Largest number of bytes of workgroup memory of a kernel; 0 means that of
  /// the chip.
  int64_t maxBytes = 0;
  /// Different memref arguments of a kernel or host function do not overlap.
  bool assumeDistinctArguments = false;
  /// The chip to compile for; empty for that of the `gpu.module`'s target.
  std::string chip = "";
  /// The threads that blocks are to get more to fill the rings; 0 for none.
  int64_t producers = 0;
  /// The blocks that are to go through all tiles, if producers fill the rings;
  /// 0 for a block for each tile.
  int64_t blocks = 0;
};

/// Makes the copies of loops in device code inside `root` rings. See pass
/// `workgroup-form-rings`.
LogicalResult formRings(Operation *root, const FormRingsOptions &options = {});

/// The engine of the copies of a ring, by which they run ahead: cp.async where
/// chip and operands allow, registers, or TMA.
enum class RingEngine { Auto, Registers, CpAsync, TMA };

struct LowerRingsOptions {
  RingEngine engine = RingEngine::Auto;
  /// Options of the copies; barriers are no choice here.
  LowerCopiesOptions copies;
};

/// Lowers the rings in device code inside `root`. See pass
/// `workgroup-lower-rings`.
LogicalResult lowerRings(Operation *root,
                         const LowerRingsOptions &options = {});

struct SpecializeWarpsOptions {
  /// The threads that a block gets more: whole warps; 0 for as many as its
  /// rings ask for.
  int64_t producers = 128;
  /// As of `LowerRingsOptions`.
  int64_t assumeAlignment = 0;
  bool assumeDistinctArguments = false;
  std::string chip = "";
};

/// Gives kernels inside `root` whose rings TMA fills for products of warp
/// groups warps of their own for that. See pass `workgroup-specialize-warps`.
void specializeWarps(Operation *root,
                     const SpecializeWarpsOptions &options = {});

struct PersistGridOptions {
  /// The blocks that are to go through all tiles; 0 for as many as rings of a
  /// kernel ask for.
  int64_t blocks = 0;
  /// Different memref arguments of a kernel or host function do not overlap.
  bool assumeDistinctArguments = false;
};

/// Lets the blocks of kernels inside `root` that have warps of their own for
/// their rings go through several tiles each. See pass
/// `workgroup-persist-grid`.
void persistGrid(Operation *root, const PersistGridOptions &options = {});

/// Moves the loads that the first products of an iteration wait for to the
/// iteration before, in loops of device code inside `root`; those of fused
/// multiply-adds only with `fma`. See pass `workgroup-rotate-loops`.
void rotateLoops(Operation *root, bool fma = false);

inline llvm::cl::ValuesClass getRingEngineValues() {
  return llvm::cl::values(
      clEnumValN(RingEngine::Auto, "auto",
                 "by cp.async where chip and operands allow"),
      clEnumValN(RingEngine::Registers, "registers",
                 "by loads before, and stores after, the readers"),
      clEnumValN(RingEngine::CpAsync, "cp-async",
                 "as auto, with a remark where the chip has none"),
      clEnumValN(RingEngine::TMA, "tma",
                 "by TMA where chip and operands allow, with a remark where "
                 "they do not; then as cp-async"));
}

#define GEN_PASS_DECL
#include "workgroup/Transforms/Rings.h.inc"

} // namespace mlir::workgroup

#endif // WORKGROUP_TRANSFORMS_RINGS_H
