//===- WarpOps.h - What the lanes of a warp do together ------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shuffles, votes, matches, reductions and elections: operations without
// memory effects on the registers of lanes, as the PTX ISA defines them. Which
// lanes take part is the caller's to find out.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_ISA_WARPOPS_H
#define WORKGROUP_LIB_EMULATOR_ISA_WARPOPS_H

#include "Warp.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace mlir::workgroup::emulator {

/// The combination of the predicates of its threads by `barrier.cta.red`.
enum class BarrierReduction { Count, And, Or };

class WarpOp {
public:
  enum class Kind {
    Sync,
    ShuffleUp,
    ShuffleDown,
    ShuffleXor,
    ShuffleIndex,
    VoteAll,
    VoteAny,
    VoteUniform,
    VoteBallot,
    MatchAny,
    MatchAll,
    ReduceAdd,
    ReduceMin,
    ReduceMax,
    ReduceMinUnsigned,
    ReduceMaxUnsigned,
    ReduceAnd,
    ReduceOr,
    ReduceXor,
    ReduceMinFloat,
    ReduceMaxFloat,
    Elect,
    /// Which lanes happen to be there: nobody waits for others.
    ActiveMask,
  };

  /// Decodes the name of an intrinsic, as `llvm.nvvm.shfl.sync.bfly.i32p`;
  /// nullopt if it is none of those above.
  static std::optional<WarpOp> decode(llvm::StringRef intrinsic);

  Kind getKind() const { return kind; }

  /// The register that holds the mask of the lanes that take part.
  unsigned getMaskRegister() const { return maskRegister; }

  /// True if both ask for the same thing, so that lanes at either can meet.
  bool operator==(const WarpOp &other) const;

  /// Executes the operation for the lanes in `lanes`. `registers[lane]` holds
  /// the operands, one after the other, of each of these lanes, and receives
  /// the results. Returns the lanes that read a value of a lane that does not
  /// take part, which is undefined.
  uint32_t execute(uint32_t lanes, uint32_t *const registers[kWarpSize]) const;

private:
  uint32_t shuffle(uint32_t lanes, uint32_t *const registers[kWarpSize]) const;
  void vote(uint32_t lanes, uint32_t *const registers[kWarpSize]) const;
  void match(uint32_t lanes, uint32_t *const registers[kWarpSize]) const;
  void reduce(uint32_t lanes, uint32_t *const registers[kWarpSize]) const;

  Kind kind = Kind::Sync;
  unsigned maskRegister = 0;
  /// The values of a match have 64 bits.
  bool isWide = false;
  /// A reduction of floats compares magnitudes; one NaN makes the result NaN.
  bool isAbsolute = false, keepsNaN = false;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_ISA_WARPOPS_H
