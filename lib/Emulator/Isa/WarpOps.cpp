//===- WarpOps.cpp - What the lanes of a warp do together -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpOps.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <limits>

namespace mlir::workgroup::emulator {

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static std::optional<WarpOp::Kind> decodeShuffle(llvm::StringRef mode) {
  using Kind = WarpOp::Kind;
  return llvm::StringSwitch<std::optional<Kind>>(mode)
      .Case("up", Kind::ShuffleUp)
      .Case("down", Kind::ShuffleDown)
      .Case("bfly", Kind::ShuffleXor)
      .Case("idx", Kind::ShuffleIndex)
      .Default(std::nullopt);
}

static std::optional<WarpOp::Kind> decodeVote(llvm::StringRef mode) {
  using Kind = WarpOp::Kind;
  return llvm::StringSwitch<std::optional<Kind>>(mode)
      .Case("all", Kind::VoteAll)
      .Case("any", Kind::VoteAny)
      .Case("uni", Kind::VoteUniform)
      .Case("ballot", Kind::VoteBallot)
      .Default(std::nullopt);
}

static std::optional<WarpOp::Kind> decodeReduction(llvm::StringRef mode) {
  using Kind = WarpOp::Kind;
  return llvm::StringSwitch<std::optional<Kind>>(mode)
      .Case("add", Kind::ReduceAdd)
      .Case("min", Kind::ReduceMin)
      .Case("max", Kind::ReduceMax)
      .Case("umin", Kind::ReduceMinUnsigned)
      .Case("umax", Kind::ReduceMaxUnsigned)
      .Case("and", Kind::ReduceAnd)
      .Case("or", Kind::ReduceOr)
      .Case("xor", Kind::ReduceXor)
      .Case("fmin", Kind::ReduceMinFloat)
      .Case("fmax", Kind::ReduceMaxFloat)
      .Default(std::nullopt);
}

std::optional<WarpOp> WarpOp::decode(llvm::StringRef intrinsic) {
  WarpOp op;
  std::optional<Kind> kind;
  llvm::StringRef name = intrinsic;
  if (!name.consume_front("llvm.nvvm."))
    return std::nullopt;
  if (name == "bar.warp.sync") {
    kind = Kind::Sync;
  } else if (name == "elect.sync") {
    kind = Kind::Elect;
  } else if (name == "activemask") {
    kind = Kind::ActiveMask;
  } else if (name.consume_front("shfl.sync.")) {
    kind = decodeShuffle(name.split('.').first);
  } else if (name.consume_front("vote.") && name.consume_back(".sync")) {
    kind = decodeVote(name);
  } else if (name.consume_front("match.")) {
    op.isWide = name.contains("i64");
    kind = name.starts_with("any.") ? Kind::MatchAny : Kind::MatchAll;
  } else if (name.consume_front("redux.sync.")) {
    op.isAbsolute = name.contains(".abs");
    op.keepsNaN = name.contains(".NaN");
    op.maskRegister = 1;
    kind = decodeReduction(name.split('.').first);
  }
  if (!kind)
    return std::nullopt;
  op.kind = *kind;
  return op;
}

bool WarpOp::operator==(const WarpOp &other) const {
  return kind == other.kind && isWide == other.isWide &&
         isAbsolute == other.isAbsolute && keepsNaN == other.keepsNaN;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

template <typename Function>
static void forEach(uint32_t lanes, Function run) {
  for (; lanes; lanes &= lanes - 1)
    run(static_cast<unsigned>(llvm::countr_zero(lanes)));
}

/// Operands: mask, value, lane or distance, clamp and segment mask. Results:
/// value, whether the source lane is in range.
uint32_t WarpOp::shuffle(uint32_t lanes,
                         uint32_t *const registers[kWarpSize]) const {
  uint32_t values[kWarpSize] = {};
  forEach(lanes, [&](unsigned lane) { values[lane] = registers[lane][1]; });
  uint32_t undefined = 0;
  forEach(lanes, [&](unsigned lane) {
    int distance = registers[lane][2] & 31, clamp = registers[lane][3] & 31;
    int segment = (registers[lane][3] >> 8) & 31, self = lane;
    int maxLane = (self & segment) | (clamp & ~segment);
    int minLane = self & segment;
    int source = self;
    bool isInRange = false;
    switch (kind) {
    case Kind::ShuffleUp:
      source = self - distance;
      isInRange = source >= maxLane;
      break;
    case Kind::ShuffleDown:
      source = self + distance;
      isInRange = source <= maxLane;
      break;
    case Kind::ShuffleXor:
      source = self ^ distance;
      isInRange = source <= maxLane;
      break;
    default:
      source = minLane | (distance & ~segment);
      isInRange = source <= maxLane;
      break;
    }
    source = isInRange ? source : self;
    bool isKnown = lanes >> source & 1;
    undefined |= uint32_t(!isKnown) << lane;
    // A value that no computation expects, rather than a plausible one.
    registers[lane][0] = isKnown ? values[source] : 0xdeadbeef;
    registers[lane][1] = isInRange;
  });
  return undefined;
}

void WarpOp::vote(uint32_t lanes, uint32_t *const registers[kWarpSize]) const {
  uint32_t ballot = 0;
  forEach(lanes,
          [&](unsigned lane) { ballot |= (registers[lane][1] & 1) << lane; });
  uint32_t result = ballot;
  if (kind == Kind::VoteAll)
    result = ballot == lanes;
  else if (kind == Kind::VoteAny)
    result = ballot != 0;
  else if (kind == Kind::VoteUniform)
    result = ballot == 0 || ballot == lanes;
  forEach(lanes, [&](unsigned lane) { registers[lane][0] = result; });
}

/// Results: the mask of the lanes with the same value and, if all lanes have
/// to have it, whether they do.
void WarpOp::match(uint32_t lanes, uint32_t *const registers[kWarpSize]) const {
  uint64_t values[kWarpSize] = {};
  forEach(lanes, [&](unsigned lane) {
    uint64_t high = isWide ? registers[lane][2] : 0;
    values[lane] = high << 32 | registers[lane][1];
  });
  forEach(lanes, [&](unsigned lane) {
    uint32_t equal = 0;
    forEach(lanes, [&](unsigned other) {
      equal |= uint32_t(values[other] == values[lane]) << other;
    });
    bool isAll = equal == lanes;
    registers[lane][0] = kind == Kind::MatchAny || isAll ? equal : 0;
    registers[lane][1] = isAll;
  });
}

static uint32_t combine(WarpOp::Kind kind, uint32_t a, uint32_t b) {
  using Kind = WarpOp::Kind;
  switch (kind) {
  case Kind::ReduceAdd:
    return a + b;
  case Kind::ReduceMin:
    return std::min<int32_t>(a, b);
  case Kind::ReduceMax:
    return std::max<int32_t>(a, b);
  case Kind::ReduceMinUnsigned:
    return std::min(a, b);
  case Kind::ReduceMaxUnsigned:
    return std::max(a, b);
  case Kind::ReduceAnd:
    return a & b;
  case Kind::ReduceOr:
    return a | b;
  default:
    return a ^ b;
  }
}

static float combineFloats(bool isMin, bool keepsNaN, float a, float b) {
  if (keepsNaN && (std::isnan(a) || std::isnan(b)))
    return std::numeric_limits<float>::quiet_NaN();
  return isMin ? std::fmin(a, b) : std::fmax(a, b);
}

void WarpOp::reduce(uint32_t lanes,
                    uint32_t *const registers[kWarpSize]) const {
  bool isFloat = kind == Kind::ReduceMinFloat || kind == Kind::ReduceMaxFloat;
  bool isFirst = true;
  uint32_t result = 0;
  forEach(lanes, [&](unsigned lane) {
    uint32_t value = registers[lane][0];
    if (isAbsolute)
      value &= 0x7fffffff;
    if (isFirst)
      result = value;
    else if (isFloat)
      result = llvm::bit_cast<uint32_t>(combineFloats(
          kind == Kind::ReduceMinFloat, keepsNaN, llvm::bit_cast<float>(result),
          llvm::bit_cast<float>(value)));
    else
      result = combine(kind, result, value);
    isFirst = false;
  });
  forEach(lanes, [&](unsigned lane) { registers[lane][0] = result; });
}

uint32_t WarpOp::execute(uint32_t lanes,
                         uint32_t *const registers[kWarpSize]) const {
  switch (kind) {
  case Kind::Sync:
    return 0;
  case Kind::ShuffleUp:
  case Kind::ShuffleDown:
  case Kind::ShuffleXor:
  case Kind::ShuffleIndex:
    return shuffle(lanes, registers);
  case Kind::VoteAll:
  case Kind::VoteAny:
  case Kind::VoteUniform:
  case Kind::VoteBallot:
    vote(lanes, registers);
    return 0;
  case Kind::MatchAny:
  case Kind::MatchAll:
    match(lanes, registers);
    return 0;
  case Kind::Elect: {
    uint32_t leader = llvm::countr_zero(lanes);
    forEach(lanes, [&](unsigned lane) {
      registers[lane][0] = leader;
      registers[lane][1] = lane == leader;
    });
    return 0;
  }
  case Kind::ActiveMask:
    forEach(lanes, [&](unsigned lane) { registers[lane][0] = lanes; });
    return 0;
  default:
    reduce(lanes, registers);
    return 0;
  }
}

} // namespace mlir::workgroup::emulator
