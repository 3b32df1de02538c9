//===- Rings.cpp - Operations on rings ------------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A ring is right if it is a queue on every path. Each operation adds to or
// takes from a few counters; a block is summed up by what it does to them in
// all, and how far they go down and up on the way. Loops have to leave them as
// they are, branches have to agree.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/ADT/DenseSet.h"
#include <array>
#include <limits>

using namespace mlir;
using namespace mlir::workgroup;

#define GET_OP_CLASSES
#include "workgroup/IR/Workgroup.cpp.inc"

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

namespace {

/// Slots that are being filled, that are full or being read, that are full and
/// not yet read, and that are being read.
enum Counter { Open, Used, Ready, Held, NumCounters };

/// The effect of some code on a counter: in all, and how far down and up on the
/// way.
struct Course {
  int64_t net = 0, least = 0, most = 0;

  void append(const Course &next) {
    least = std::min(least, net + next.least);
    most = std::max(most, net + next.most);
    net += next.net;
  }
};

using Courses = std::array<Course, NumCounters>;

class RingChecker {
public:
  explicit RingChecker(RingOp ring) : ring(ring) {}

  LogicalResult check();

private:
  LogicalResult collectUsers();
  FailureOr<Courses> follow(Block &block);
  FailureOr<Courses> followRegions(Operation *op);
  void append(Courses &courses, Operation *user);
  LogicalResult checkReaders(GetOp get);

  InFlightDiagnostic fail(Operation *where, const Twine &what) {
    InFlightDiagnostic diagnostic = ring.emitOpError(what);
    diagnostic.attachNote(where->getLoc()) << "here";
    return diagnostic;
  }

  RingOp ring;
  DenseSet<Operation *> users;
  /// Blocks that hold users, directly or inside of their operations.
  DenseSet<Block *> blocks;
  /// Whether other warps put slots than get them: how many of them are put or
  /// full at a time is then up to them.
  bool isOfSpecialized = false;
  bool isFollowed(size_t counter) const {
    return !isOfSpecialized || counter == Open || counter == Held;
  }
  /// Slots that wait to become empty though they are released, at most, and at
  /// least.
  int64_t mostLag = 0, leastLag = std::numeric_limits<int64_t>::max();
};

} // namespace

LogicalResult RingChecker::collectUsers() {
  Region *region = ring->getParentRegion();
  for (Operation *user : ring.getRing().getUsers()) {
    if (!isa<PutOp, CommitOp, GetOp, ReleaseOp>(user))
      return fail(user, "is used by what is neither put, commit, get nor "
                        "release");
    users.insert(user);
    if (auto release = dyn_cast<ReleaseOp>(user)) {
      mostLag = std::max<int64_t>(mostLag, release.getLag());
      leastLag = std::min<int64_t>(leastLag, release.getLag());
    }
    for (Block *block = user->getBlock(); block;
         block = block->getParentOp()->getBlock()) {
      blocks.insert(block);
      isOfSpecialized |= isa<SpecializeOp>(block->getParentOp());
      if (block->getParent() == region)
        break;
    }
  }
  return success();
}

void RingChecker::append(Courses &courses, Operation *user) {
  auto add = [&](Counter counter, int64_t change) {
    courses[counter].append(
        {change, std::min<int64_t>(change, 0), std::max<int64_t>(change, 0)});
  };
  if (isa<PutOp>(user)) {
    add(Open, 1);
    add(Used, 1);
  } else if (isa<CommitOp>(user)) {
    add(Open, -1);
    add(Ready, 1);
  } else if (isa<GetOp>(user)) {
    add(Ready, -1);
    add(Held, 1);
  } else {
    add(Held, -1);
    add(Used, -1);
  }
}

/// The effect of `op`, which has users in its regions: each iteration of a loop
/// has to leave all counters as they are, and all regions of another operation
/// have to do the same.
FailureOr<Courses> RingChecker::followRegions(Operation *op) {
  std::optional<Courses> whole;
  bool isLoop = isa<LoopLikeOpInterface>(op);
  for (Region &region : op->getRegions()) {
    Courses courses;
    for (Block &block : region) {
      FailureOr<Courses> part = follow(block);
      if (failed(part))
        return failure();
      // Blocks of unstructured control flow come in any order and number.
      bool mustBeNeutral = isLoop || !region.hasOneBlock();
      for (auto [i, course] : llvm::enumerate(courses)) {
        if (mustBeNeutral && isFollowed(i) && (*part)[i].net != 0)
          return fail(op,
                      "is left otherwise after an iteration than before it");
        course.append((*part)[i]);
      }
    }
    // A branch that is not there does nothing.
    for (unsigned i = 0; whole && i < NumCounters; ++i) {
      if (isFollowed(i) && (*whole)[i].net != courses[i].net)
        return fail(op, "is used otherwise in one branch than in another");
      courses[i].least = std::min(courses[i].least, (*whole)[i].least);
      courses[i].most = std::max(courses[i].most, (*whole)[i].most);
    }
    whole = courses;
  }
  return whole.value_or(Courses());
}

FailureOr<Courses> RingChecker::follow(Block &block) {
  Courses courses;
  if (!blocks.contains(&block))
    return courses;
  for (Operation &op : block) {
    if (users.contains(&op)) {
      append(courses, &op);
    } else if (op.getNumRegions() != 0) {
      FailureOr<Courses> inner = followRegions(&op);
      if (failed(inner))
        return failure();
      for (auto [course, next] : llvm::zip_equal(courses, *inner))
        course.append(next);
    }
  }
  return courses;
}

/// What reads a slot has to be done when that becomes empty.
LogicalResult RingChecker::checkReaders(GetOp get) {
  for (Operation *reader : get->getUsers()) {
    auto product = dyn_cast<GroupProductOp>(reader);
    if (product && int64_t(product.getPending()) > leastLag)
      return fail(product, "is released while a product reads the slot: " +
                               Twine(product.getPending()) +
                               " may be under way, and the lag is " +
                               Twine(leastLag));
  }
  return success();
}

LogicalResult RingChecker::check() {
  if (failed(collectUsers()))
    return failure();
  for (Operation *user : users)
    if (auto get = dyn_cast<GetOp>(user); get && failed(checkReaders(get)))
      return failure();
  Courses total;
  Region &region = *ring->getParentRegion();
  for (Block &block : region) {
    FailureOr<Courses> part = follow(block);
    if (failed(part))
      return failure();
    for (auto [i, course] : llvm::enumerate(total)) {
      if (!region.hasOneBlock() && isFollowed(i) && (*part)[i].net != 0)
        return fail(&block.front(), "is left otherwise at the end of a block "
                                    "than at its start");
      course.append((*part)[i]);
    }
  }
  int64_t numSlots = ring.getRing().getType().getSlots();
  if (total[Open].least < 0 || total[Open].most > 1 || total[Open].net != 0)
    return ring.emitOpError("has puts and commits that do not take turns");
  if (isFollowed(Ready) && total[Ready].least < 0)
    return ring.emitOpError("would deadlock: a slot is got before it is "
                            "committed");
  if (total[Held].least < 0)
    return ring.emitOpError("has a release without a slot that was got");
  int64_t used = total[isOfSpecialized ? Held : Used].most + mostLag;
  if (used > numSlots)
    return ring.emitOpError("would deadlock: ")
           << used << " slots are in use at a time, and there "
           << (numSlots == 1 ? "is " : "are ") << numSlots;
  return success();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult RingOp::verify() {
  std::optional<int64_t> producers = getProducers();
  if (producers && (*producers <= 0 || *producers % kWarpSize != 0))
    return emitOpError("asks for ") << *producers
                                    << " threads that fill it, which are no "
                                       "whole warps";
  if (int64_t blocks = getBlocks().value_or(1);
      blocks <= 0 || blocks > kMaxPersistentBlocks)
    return emitOpError("asks for ") << blocks << " blocks";
  return RingChecker(*this).check();
}

LogicalResult ReleaseOp::verify() {
  int64_t lag = getLag();
  if (lag >= 0)
    return success();
  return emitOpError("has a lag of ") << lag << ", which is negative";
}

LogicalResult SpecializeOp::verify() {
  constexpr int64_t kWarp = 32, kGroup = 128, kUnit = 8, kLeast = 24,
                    kMost = 240;
  if (getConsumers() <= 0 || getProducers() <= 0 || getConsumers() % kWarp ||
      getProducers() % kWarp)
    return emitOpError("needs whole warps of consumers and of producers, not ")
           << getConsumers() << " and " << getProducers() << " threads";
  std::optional<ArrayRef<int64_t>> registers = getRegisters();
  if (!registers)
    return success();
  if (registers->size() != 2)
    return emitOpError("needs two numbers of registers, of a consumer and of a "
                       "producer");
  for (int64_t number : *registers)
    if (number % kUnit != 0 || number < kLeast || number > kMost)
      return emitOpError("asks for ")
             << number << " registers, no multiple of 8 from 24 to 240";
  if (getConsumers() % kGroup != 0 || getProducers() % kGroup != 0)
    return emitOpError("changes registers of ")
           << getConsumers() << " and " << getProducers()
           << " threads, which are no whole warp groups of 128";
  return success();
}

static LogicalResult verifyTiles(Operation *op, RingType ring,
                                 ValueRange tiles) {
  if (llvm::equal(tiles.getTypes(), ring.getTiles()))
    return success();
  return op->emitOpError("gives other tiles than ") << ring << " has";
}

LogicalResult PutOp::verify() {
  return verifyTiles(*this, getRing().getType(), getTiles());
}

LogicalResult GetOp::verify() {
  return verifyTiles(*this, getRing().getType(), getTiles());
}

/// Checks the tile that `op` fills.
static LogicalResult verifyFilled(Operation *op, MemRefType tile) {
  if (tile.hasStaticShape() && isWorkgroupMemory(tile))
    return success();
  return op->emitOpError("fills a tile of constant extents in workgroup "
                         "memory, not ")
         << tile;
}

LogicalResult GatherOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  auto tile = cast<MemRefType>(getTile().getType());
  if (failed(verifyFilled(*this, tile)))
    return failure();
  if (source.getElementType() != tile.getElementType() || tile.getRank() == 0 ||
      source.getRank() == 0)
    return emitOpError("needs dimensions, and a source of the tile's element "
                       "type, not ")
           << source;
  if (getMap().getNumDims() != tile.getRank() ||
      getMap().getNumResults() != source.getRank())
    return emitOpError("needs a map from the ")
           << tile.getRank() << " dimensions of its tile to the "
           << source.getRank() << " of its source, not " << getMapAttr();
  if (getMap().getNumSymbols() != getSymbols().size())
    return emitOpError("has ") << getSymbols().size() << " symbols for the "
                               << getMap().getNumSymbols() << " of its map";
  if (!getExtents().empty() &&
      static_cast<int64_t>(getExtents().size()) != tile.getRank())
    return emitOpError("has ") << getExtents().size() << " extents for the "
                               << tile.getRank() << " dimensions of its tile";
  return success();
}

LogicalResult CopyOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  auto tile = cast<MemRefType>(getTile().getType());
  if (failed(verifyFilled(*this, tile)))
    return failure();
  SmallVector<int64_t> shape(tile.getShape());
  if (std::optional<TileLayoutAttr> layout = getLayout()) {
    if (tile.getRank() != 1 ||
        tile.getNumElements() != layout->getNumElements())
      return emitOpError("needs storage of rank 1 for a tile of layout ")
             << *layout << ", not " << tile;
    shape = {layout->getRows(), layout->getColumns()};
  }
  if (source.getRank() != static_cast<int64_t>(shape.size()) ||
      source.getElementType() != tile.getElementType())
    return emitOpError("needs a source of the tile's rank and element type, "
                       "not ")
           << source;
  for (auto [extent, limit] : llvm::zip_equal(source.getShape(), shape))
    if (!ShapedType::isDynamic(extent) && extent > limit)
      return emitOpError("has a source of extent ")
             << extent << ", larger than the tile's " << limit;
  return success();
}
