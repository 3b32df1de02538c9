//===- VerifyThreadBuffers.cpp - Own buffers that threads share -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a kernel allocates in no memory space, or in private memory, each thread
// has one of. A thread that reads there what only others have written reads
// what nobody has written. What is written by each thread whole, or read by the
// thread that has written it, is its own business; and what is not known is
// taken to be so: a register array with an index that is loaded looks the same.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Access/OwnAccesses.h"
#include "ThreadElements.h"
#include "Transforms/Utils/BufferTypes.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/LaunchLimits.h"
#include "workgroup/Transforms/ProgramChecks.h"

namespace mlir::workgroup {

namespace {

/// The buffers of the threads of one kernel.
class OwnBuffers {
public:
  OwnBuffers(Operation *scope, const UniformityAnalysis &uniformity);

  /// Emits an error for each that threads share. With `mayMapSpaces`, not of
  /// those in a memory space that is a number, but for that of private memory:
  /// it may come to mean another memory.
  LogicalResult verify(bool mayMapSpaces);

private:
  /// An access to one buffer.
  struct Access {
    const ThreadAccess *access;
    /// The loop over threads that it is in.
    Operation *loop;
    ThreadTouches touches;

    /// True if it reads, whatever threads find.
    bool isCertainRead() const {
      return access->kind != AccessKind::Write && touches.isCertain;
    }
  };

  bool isEscaping(Value buffer) const;
  bool isShareable(Value buffer, unsigned root) const;
  bool isSharedOut(const ThreadAccess &access, Value buffer) const;
  std::optional<SmallVector<Access, 0>> collect(Value buffer, unsigned root);
  LogicalResult verify(Value buffer, unsigned root);
  TouchedUnits unite(ArrayRef<Access> accesses) const;
  LogicalResult verify(Value buffer, const Access &write, const Access &read,
                       const TouchedUnits &own);

  const UniformityAnalysis &uniformity;
  OwnAccesses own;
  ThreadElements elements;
  DenseSet<Operation *> known;
};

} // namespace

/// The shape of the block; where it is not known, one that has several threads
/// along x and y, if a block may be that large.
static std::array<int64_t, 3> getAssumedShape(Operation *scope) {
  constexpr std::array<int64_t, 3> likely = {64, 4, 1};
  BlockShape shape = getBlockShape(scope);
  int64_t numKnown = 1, numLikely = 1;
  for (auto [size, other] : llvm::zip_equal(shape.sizes, likely)) {
    if (size && (*size < 1 || *size > kMaxBlockThreads))
      return {1, 1, 1}; // no block is that large
    numKnown *= size.value_or(1);
    numLikely *= size.value_or(other);
  }
  if (numKnown > kMaxBlockThreads)
    return {1, 1, 1};
  std::array<int64_t, 3> assumed;
  for (auto [into, size, other] : llvm::zip_equal(assumed, shape.sizes, likely))
    into = size.value_or(numLikely <= kMaxBlockThreads ? other : 1);
  return assumed;
}

OwnBuffers::OwnBuffers(Operation *scope, const UniformityAnalysis &uniformity)
    : uniformity(uniformity), own(collectOwnAccesses(scope, uniformity)),
      elements(scope, getAssumedShape(scope), uniformity) {
  for (const ThreadAccess &access : own.accesses)
    known.insert(access.op);
}

/// True if something that is not understood could access `buffer`.
bool OwnBuffers::isEscaping(Value buffer) const {
  return llvm::any_of(buffer.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (getViewSource(user) == use.get())
      return llvm::any_of(user->getResults(), [&](Value view) {
        return isa<BaseMemRefType>(view.getType()) && isEscaping(view);
      });
    return !known.contains(user) &&
           !isa<memref::DeallocOp, memref::DimOp>(user);
  });
}

/// True if threads do different parts of `access`: in a loop over threads, or
/// as their ids tell.
bool OwnBuffers::isSharedOut(const ThreadAccess &access, Value buffer) const {
  if (findMappedLoop(access.op, buffer) ||
      !uniformity.isUniformPoint(access.op))
    return true;
  if (!access.footprint)
    return false;
  return llvm::any_of(
      access.footprint->coordinates, [&](const LinearIndex &index) {
        return llvm::any_of(index.terms,
                            [&](const auto &term) {
                              return !uniformity.isUniform(term.first);
                            }) ||
               llvm::any_of(index.affineTerms, [&](const auto &term) {
                 return !llvm::all_of(term.operands, [&](Value operand) {
                   return uniformity.isUniform(operand);
                 });
               });
      });
}

/// True if a part of `buffer` may be written by some threads only.
bool OwnBuffers::isShareable(Value buffer, unsigned root) const {
  bool isWritten = false, isRead = false;
  for (const ThreadAccess &access : own.accesses) {
    if (!llvm::is_contained(access.roots, root))
      continue;
    isRead |= access.kind != AccessKind::Write;
    isWritten |= access.isWrite() && isSharedOut(access, buffer);
  }
  return isWritten && isRead && !isEscaping(buffer);
}

/// All accesses to `buffer` but reads that threads may not do; nothing if it is
/// not known of some which elements they write.
std::optional<SmallVector<OwnBuffers::Access, 0>>
OwnBuffers::collect(Value buffer, unsigned root) {
  auto type = cast<MemRefType>(buffer.getType());
  Operation *op = buffer.getDefiningOp();
  std::optional<int64_t> unit = getElementBytes(type, op);
  std::optional<int64_t> bytes =
      type.hasStaticShape() ? getStaticBytes(type, op) : std::nullopt;
  constexpr int64_t kMaxBits = 1 << 26;
  if (!unit || *unit < 1 || !bytes ||
      *bytes / *unit > kMaxBits / elements.getNumThreads())
    return std::nullopt;
  SmallVector<Access, 0> accesses;
  for (const ThreadAccess &access : own.accesses) {
    if (!llvm::is_contained(access.roots, root))
      continue;
    std::optional<ThreadTouches> touches =
        elements.find(access, {*unit, *bytes / *unit});
    if (!touches && access.isWrite())
      return std::nullopt;
    bool isRead = access.roots.size() == 1 && touches && touches->isCertain;
    if (isRead || access.isWrite())
      accesses.push_back(
          {&access, findMappedLoop(access.op, buffer), std::move(*touches)});
  }
  return accesses;
}

/// The elements that each thread writes by those of `accesses` that are writes.
TouchedUnits OwnBuffers::unite(ArrayRef<Access> accesses) const {
  TouchedUnits all(elements.getNumThreads());
  for (const Access &access : accesses)
    if (access.access->isWrite())
      for (auto [units, own] : llvm::zip_equal(all, access.touches.units))
        units |= own;
  return all;
}

/// Fails if a thread reads by `read` what others write by `write`, and the
/// thread itself, which writes `own`, does not.
LogicalResult OwnBuffers::verify(Value buffer, const Access &write,
                                 const Access &read, const TouchedUnits &own) {
  llvm::BitVector written;
  for (const llvm::BitVector &units : write.touches.units)
    written |= units;
  for (int64_t thread = 0; thread < elements.getNumThreads(); ++thread) {
    llvm::BitVector missing = read.touches.units[thread];
    missing &= written;
    missing.reset(own[thread]);
    if (missing.none())
      continue;
    InFlightDiagnostic error = emitError(
        buffer.getLoc(), "buffer is shared by threads but lives in per-thread "
                         "memory; run workgroup-place-buffers or give it "
                         "#gpu.address_space<workgroup>");
    auto [x, y, z] = elements.getIds(thread);
    error.attachNote(read.access->op->getLoc())
        << "thread (" << x << ", " << y << ", " << z
        << ") reads an element here";
    error.attachNote(write.access->op->getLoc())
        << "that other threads write here, each in a buffer of its own";
    return error;
  }
  return success();
}

/// Between two loops over threads, what a thread has written before the first
/// one does not count: it was to be replaced.
LogicalResult OwnBuffers::verify(Value buffer, unsigned root) {
  if (!isShareable(buffer, root))
    return success();
  std::optional<SmallVector<Access, 0>> accesses = collect(buffer, root);
  if (!accesses)
    return success();
  TouchedUnits ever = unite(*accesses), later;
  for (auto [number, write] : llvm::enumerate(*accesses)) {
    if (!write.access->isWrite() || write.access->roots.size() != 1 ||
        !isSharedOut(*write.access, buffer))
      continue;
    if (write.loop)
      later = unite(ArrayRef(*accesses).drop_front(number));
    for (const Access &read : *accesses) {
      bool isBetweenLoops = write.loop && read.loop && write.loop != read.loop;
      if (read.isCertainRead() &&
          failed(verify(buffer, write, read, isBetweenLoops ? later : ever)))
        return failure();
    }
  }
  return success();
}

LogicalResult OwnBuffers::verify(bool mayMapSpaces) {
  if (elements.getNumThreads() == 1)
    return success();
  bool hasFailed = false;
  for (auto [number, root] : llvm::enumerate(own.roots)) {
    if (!root.value || !isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(
                           root.value.getDefiningOp()))
      continue;
    Attribute space = cast<MemRefType>(root.value.getType()).getMemorySpace();
    bool mayBeMapped = isa_and_nonnull<IntegerAttr>(space) &&
                       getMemorySpace(root.value) != MemorySpace::Private;
    if (!mayMapSpaces || !mayBeMapped)
      hasFailed |= failed(verify(root.value, number));
  }
  return failure(hasFailed);
}

/// True if `scope` allocates memory that each thread has for itself.
static bool hasOwnBuffers(Operation *scope) {
  return scope
      ->walk([](Operation *op) {
        bool isOwn = isa<memref::AllocOp, memref::AllocaOp>(op) &&
                     !isWorkgroupMemory(op->getResult(0).getType());
        return isOwn ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult verifyThreadBuffers(Operation *root, bool mayMapSpaces) {
  SmallVector<Operation *> scopes = collectDeviceScopes(root);
  llvm::erase_if(scopes, [](Operation *scope) {
    return !getBody(scope) || !hasOwnBuffers(scope);
  });
  if (scopes.empty())
    return success();
  bool hasFailed = false;
  UniformityAnalysis uniformity(root, UniformityUnit::Block);
  for (Operation *scope : scopes)
    hasFailed |= failed(OwnBuffers(scope, uniformity).verify(mayMapSpaces));
  return failure(hasFailed);
}

} // namespace mlir::workgroup
