//===- ResolveBankConflicts.cpp - Layouts without bank conflicts ----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collect finds the workgroup buffers of a kernel with everything that uses
// them, decide counts what their accesses cost in this layout and in others,
// apply rewrites the buffers for which another layout is better.
//
//===----------------------------------------------------------------------===//

#include "BankRewriter.h"
#include "Support/Remarks.h"
#include "TensorSwizzles.h"
#include "Transforms/Copies/TensorSwizzle.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Target/Chip.h"
#include "workgroup/Target/LaunchLimits.h"
#include "workgroup/Transforms/Banks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_RESOLVEBANKCONFLICTSPASS
#include "workgroup/Transforms/Banks.h.inc"

//===----------------------------------------------------------------------===//
// Capacity
//===----------------------------------------------------------------------===//

/// Bytes that are set aside for a buffer of `bytes` bytes.
static int64_t getReservedBytes(int64_t bytes) {
  return llvm::alignTo(bytes, kRuntimeAlignment);
}

/// The workgroup memory in bytes that `scope` may have. Padding must not make
/// dynamic memory of static memory, which takes other launches.
static int64_t getCapacity(const ResolveBankConflictsOptions &options) {
  return options.maxBytes > 0 ? options.maxBytes : kMaxStaticWorkgroupBytes;
}

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

static Location getLocation(const BankBuffer &buffer) {
  return buffer.definition ? buffer.definition->getLoc()
                           : buffer.roots.front().getLoc();
}

static void remarkMissed(const BankBuffer &buffer, Operation *scope,
                         const Twine &reason) {
  recordRemark(RemarkId::ResolveBankConflicts_NotResolved, scope,
               getLocation(buffer))
      << remark::reason("{0}", reason.str());
}

/// The wavefronts of all warps that a weighted count of the sampled ones
/// stands for.
static uint64_t getWavefronts(uint64_t count, const BankSampler &sampler) {
  return count / BankSampler::kWeightUnit * sampler.getWarpFactor() /
         sampler.getWarpDivisor();
}

static void remarkPassed(const BankBuffer &buffer, Operation *scope,
                         const LayoutChoice &choice,
                         const BankSampler &sampler) {
  const RowLayout &layout = choice.layout;
  bool isSwizzled = layout.isSwizzled();
  recordRemark(isSwizzled ? RemarkId::ResolveBankConflicts_Swizzled
                          : RemarkId::ResolveBankConflicts_Padded,
               scope, getLocation(buffer))
      << (isSwizzled
              ? llvm::formatv("rows swizzled in chunks of {0} bytes",
                              layout.chunkBytes)
              : llvm::formatv("rows padded by {0} bytes", layout.padBytes))
             .str()
      << remark::metric("WavefrontsBefore",
                        getWavefronts(choice.before, sampler))
      << remark::metric("WavefrontsAfter", getWavefronts(choice.after, sampler))
      << remark::metric("Bytes", buffer.getBytes(layout.padBytes));
}

/// Says why a buffer with conflicts is left as it is.
static void remarkConflicts(const BankBuffer &buffer, Operation *scope,
                            const LayoutChoice &choice, int64_t capacity) {
  double ratio = double(choice.before) / double(choice.least);
  std::string conflicts =
      llvm::formatv("its accesses take {0:f2} times as long as without bank "
                    "conflicts",
                    ratio);
  if (choice.isHindered)
    return remarkMissed(
        buffer, scope,
        conflicts + ", but " +
            (buffer.tensorLoads.empty() ? "padded" : "aligned") +
            " rows would exceed the " + Twine(capacity) +
            " bytes of workgroup memory that the kernel has");
  remarkMissed(buffer, scope,
               conflicts + ", and no layout of its rows is clearly better");
}

//===----------------------------------------------------------------------===//
// Decide and apply
//===----------------------------------------------------------------------===//

namespace {
/// Resolves the conflicts in one kernel.
class KernelResolver {
public:
  KernelResolver(Operation *root, Operation *scope, bool isCalled,
                 const ResolveBankConflictsOptions &options)
      : root(root), scope(scope), isCalled(isCalled), options(options) {}

  /// One round over all buffers. True if another one may find more. Fails
  /// after an error: the chip is unknown.
  FailureOr<bool> resolve(bool isFirst);

private:
  LayoutChoice choose(BankBuffer &buffer, BankSampler &sampler,
                      Operation *&unknown);
  LayoutChoice chooseRows(BankBuffer &buffer, BankSampler &sampler,
                          Operation *&unknown);
  std::optional<LayoutChoice> decide(BankBuffer &buffer, BankSampler &sampler,
                                     bool isFirst);

  Operation *root, *scope;
  bool isCalled;
  const ResolveBankConflictsOptions &options;
  int64_t getLimit(const BankBuffer &buffer) const;
  int64_t getRest(const BankBuffer &buffer) const;
  int64_t getResidentLimit() const;

  int64_t used = 0, capacity = 0, numThreads = 0;
  /// Which the kernel is compiled for.
  const Chip *chip = nullptr;
  /// What comes before the first buffer that is aligned for a swizzle by TMA,
  /// at most.
  int64_t alignmentBytes = getTensorPatternBytes(kPassBytes);
};
} // namespace

/// The most bytes with which as many blocks as now are resident.
int64_t KernelResolver::getResidentLimit() const {
  constexpr int64_t kStep = 256;
  int64_t blocks = chip->getResidentBlocks(used, numThreads);
  int64_t bytes = used;
  while (bytes + kStep <= chip->maxWorkgroupBytes &&
         chip->getResidentBlocks(bytes + kStep, numThreads) == blocks)
    bytes += kStep;
  return bytes;
}

/// The bytes that the kernel may have with another layout of `buffer`: memory
/// that is dynamic already may grow, that which TMA writes up to all there is.
int64_t KernelResolver::getLimit(const BankBuffer &buffer) const {
  if (options.maxBytes > 0 || used <= capacity || isCalled)
    return capacity;
  return buffer.tensorLoads.empty() ? getResidentLimit()
                                    : chip->maxWorkgroupBytes;
}

/// The bytes by which `buffer` may get larger; below zero if there is no room
/// for the alignment that TMA's swizzles need. Static memory may become dynamic
/// for that.
int64_t KernelResolver::getRest(const BankBuffer &buffer) const {
  int64_t rest = getLimit(buffer) - used;
  if (buffer.tensorLoads.empty())
    return std::max<int64_t>(rest, 0);
  rest -= alignmentBytes;
  bool isStatic = options.maxBytes <= 0 && used <= capacity;
  return isStatic ? std::max<int64_t>(rest, 0) : rest;
}

/// The best layout for the rows of `buffer`. `unknown` becomes an access of
/// which it is not known what threads address by it, if there is one.
LayoutChoice KernelResolver::choose(BankBuffer &buffer, BankSampler &sampler,
                                    Operation *&unknown) {
  SmallVector<SampledAccess> samples;
  for (const BankAccess &access : buffer.accesses) {
    if (std::optional<SampledAccess> sampled = sampler.sample(buffer, access))
      samples.push_back(std::move(*sampled));
    else if (!unknown)
      unknown = access.op;
  }
  return chooseLayout(buffer, samples,
                      getLayoutBytes(buffer, RowLayout()) + getRest(buffer),
                      options.swizzle);
}

/// The dimensions of `buffer` that have the bytes of all banks together, if the
/// last one does not; else one.
static int64_t getDimsOfPass(const BankBuffer &buffer) {
  bool hasMatrices =
      llvm::any_of(buffer.accesses, [](const BankAccess &access) {
        return access.isOfMatrix();
      });
  if (hasMatrices || !buffer.tensorLoads.empty())
    return 1;
  int64_t dims = 0, bytes = buffer.elementBytes;
  for (int64_t extent : llvm::reverse(buffer.type.getShape())) {
    if (bytes >= kPassBytes)
      break;
    bytes *= extent;
    ++dims;
  }
  return std::max<int64_t>(dims, 1);
}

/// As `choose`, of rows of several dimensions where that is better: to pad or
/// to swizzle a few bytes takes too much memory, or does not help.
LayoutChoice KernelResolver::chooseRows(BankBuffer &buffer,
                                        BankSampler &sampler,
                                        Operation *&unknown) {
  LayoutChoice choice = choose(buffer, sampler, unknown);
  int64_t dims = getDimsOfPass(buffer);
  if (choice.after <= choice.least || dims == 1)
    return choice;
  buffer.rowDims = dims;
  LayoutChoice joined = choose(buffer, sampler, unknown);
  if (joined.after < choice.after)
    return joined;
  buffer.rowDims = 1;
  return choice;
}

/// The layout for `buffer`, if it is to get another one.
std::optional<LayoutChoice>
KernelResolver::decide(BankBuffer &buffer, BankSampler &sampler, bool isFirst) {
  Operation *unknown = nullptr;
  LayoutChoice choice = chooseRows(buffer, sampler, unknown);
  int64_t reserved = getLayoutBytes(buffer, RowLayout());
  if (!choice.layout.isIdentity()) {
    used += getLayoutBytes(buffer, choice.layout) - reserved;
    if (!buffer.tensorLoads.empty())
      used += std::exchange(alignmentBytes, 0);
    return choice;
  }
  if (!isFirst)
    return std::nullopt;
  if (choice.before > choice.least)
    remarkConflicts(buffer, scope, choice, getLimit(buffer));
  else if (unknown)
    remarkMissed(buffer, scope,
                 "it is not known what the threads address by '" +
                     unknown->getName().getStringRef() + "'");
  return std::nullopt;
}

FailureOr<bool> KernelResolver::resolve(bool isFirst) {
  SmallVector<BankBuffer, 0> buffers = collectBankBuffers(root, scope);
  BlockShape shape = getBlockShape(scope);
  bool isKnown =
      shape.getNumThreads().value_or(kMaxBlockThreads + 1) <= kMaxBlockThreads;
  for (BankBuffer &buffer : buffers) {
    if (buffer.obstacle.empty() && !isKnown)
      buffer.obstacle =
          "the shape of the block is not known; launch blocks of "
          "constant sizes before outlining, or set known_block_size";
    if (!buffer.obstacle.empty() && isFirst)
      remarkMissed(buffer, scope, buffer.obstacle);
  }
  llvm::erase_if(buffers, [](const BankBuffer &buffer) {
    return !buffer.obstacle.empty();
  });
  if (buffers.empty())
    return false;
  chip = resolveChip(scope, options.chip);
  if (!chip)
    return failure();
  numThreads = *shape.getNumThreads();
  capacity = getCapacity(options);
  // What else the callers of a function have is not looked at.
  used = isCalled
             ? capacity
             : getReservedBytes(collectKernelBuffers(scope).getStaticBytes());

  BankSampler sampler(root, scope,
                      {*shape.sizes[0], *shape.sizes[1], *shape.sizes[2]});
  SmallVector<std::pair<BankBuffer *, LayoutChoice>> choices;
  for (BankBuffer &buffer : buffers)
    if (std::optional<LayoutChoice> choice = decide(buffer, sampler, isFirst))
      choices.emplace_back(&buffer, *choice);
  IRRewriter rewriter(root->getContext());
  bool hasConflicts = false;
  for (auto &[buffer, choice] : choices) {
    remarkPassed(*buffer, scope, choice, sampler);
    applyLayout(rewriter, *buffer, choice.layout, root);
    hasConflicts |= choice.after > choice.least;
  }
  return hasConflicts;
}

LogicalResult resolveBankConflicts(Operation *root,
                                   const ResolveBankConflictsOptions &options) {
  // A layout that is better and not good may be improved once more, so that
  // running the pass again changes nothing.
  constexpr unsigned kMaxRounds = 4;
  SmallVector<std::pair<CallOpInterface, FunctionOpInterface>> calls;
  SmallVector<Operation *> scopes = collectDeviceScopes(root, &calls);
  DenseSet<Operation *> called;
  for (auto [call, callee] : calls)
    called.insert(callee);
  for (Operation *scope : scopes) {
    KernelResolver resolver(root, scope, called.contains(scope), options);
    for (unsigned round = 0; round < kMaxRounds; ++round) {
      FailureOr<bool> mayFindMore = resolver.resolve(round == 0);
      if (failed(mayFindMore))
        return failure();
      if (!*mayFindMore)
        break;
    }
  }
  return success();
}

namespace {
struct ResolveBankConflictsPass final
    : impl::ResolveBankConflictsPassBase<ResolveBankConflictsPass> {
  using ResolveBankConflictsPassBase::ResolveBankConflictsPassBase;

  void runOnOperation() override {
    if (maxBytes < 0) {
      emitError(getOperation()->getLoc())
          << "max-bytes must not be negative, but is " << maxBytes.getValue();
      return signalPassFailure();
    }
    if (failed(resolveBankConflicts(getOperation(), {swizzle, maxBytes, chip})))
      signalPassFailure();
  }
};
} // namespace

} // namespace mlir::workgroup
