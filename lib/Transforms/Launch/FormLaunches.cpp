//===- FormLaunches.cpp - Launches of loops over blocks -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First it is decided for all loops what becomes of them, so that nothing is
// changed if one cannot be launched.
//
//===----------------------------------------------------------------------===//

#include "LaunchGrid.h"
#include "Support/Remarks.h"
#include "Transforms/Checks/NestedLaunches.h"
#include "Transforms/Loops/UniformLoops.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/LaunchLimits.h"
#include "workgroup/Transforms/Launch.h"
#include "workgroup/Transforms/Loops.h"
#include "workgroup/Transforms/ProgramChecks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_FORMLAUNCHESPASS
#include "workgroup/Transforms/Launch.h.inc"

namespace {

/// The number of threads that the loops over threads in a body would like.
class WantedThreads {
public:
  explicit WantedThreads(Operation *blocks);

  /// A block of 256 threads if that is not known.
  std::array<int64_t, 3> getBlock() const;

private:
  void add(const ParallelLoop &loop);

  std::array<int64_t, 3> along = {1, 1, 1};
  int64_t linear = 1;
  bool isKnown = true, hasAny = false;
  /// Warps have x, y and z where rows of threads are whole warps.
  bool needsWholeRows = false;
};

/// A loop on the host that becomes a launch.
struct BlockLoop {
  ParallelLoop loop;
  std::array<int64_t, 3> block;
};

} // namespace

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// True if what runs some of the loop is smaller than a block.
static bool isOverThreads(const ParallelLoop &loop) {
  return loop.goesTo(ProcessorLevel::Threads) ||
         loop.goesTo(ProcessorLevel::Warps) ||
         loop.goesTo(ProcessorLevel::Lanes);
}

WantedThreads::WantedThreads(Operation *blocks) {
  blocks->walk([&](Operation *op) {
    std::optional<ParallelLoop> loop = ParallelLoop::getMapped(op);
    if (loop && isOverThreads(*loop))
      add(*loop);
  });
}

void WantedThreads::add(const ParallelLoop &loop) {
  hasAny = true;
  int64_t product = 1;
  // Threads that no iteration is for do no harm, but would miss a barrier.
  bool hasBarrier = UniformLoops::findMeeting(loop.op) != nullptr;
  for (auto [range, target] : llvm::zip_equal(loop.ranges, loop.targets)) {
    if (!target)
      continue;
    auto count = getNumIterations(range);
    int64_t size = std::min(count.value_or(0), kMaxBlockThreads);
    isKnown &= count.has_value();
    bool isOfWarps = target->level == ProcessorLevel::Warps;
    if (target->isLinear) {
      product =
          std::min(product * std::max<int64_t>(size, 1), kMaxBlockThreads);
      if (!isOfWarps && !hasBarrier)
        product = llvm::alignTo(product, kWarpSize);
      linear = std::max(linear, isOfWarps ? product * kWarpSize : product);
    } else {
      bool isOfRow = isOfWarps && target->dim == 0;
      needsWholeRows |= isOfWarps;
      int64_t &most = along[target->dim];
      most = std::max(most, isOfRow ? size * kWarpSize : size);
    }
  }
}

std::array<int64_t, 3> WantedThreads::getBlock() const {
  constexpr int64_t kDefault = 256;
  if (!hasAny || !isKnown)
    return {kDefault, 1, 1};
  int64_t row = needsWholeRows ? kWarpSize : 1;
  int64_t x = std::min<int64_t>(llvm::alignTo(along[0], row), kMaxBlockThreads);
  int64_t y = std::min(along[1], kMaxBlockThreads / x);
  int64_t z =
      std::min({along[2], kMaxBlockThreads / (x * y), kMaxBlockSizes[2]});
  int64_t most = std::min(linear, kMaxBlockThreads);
  if (x * y * z < most)
    x = std::min<int64_t>(llvm::alignTo(llvm::divideCeil(most, y * z), row),
                          llvm::alignDown(kMaxBlockThreads / (y * z), row));
  return {x, y, z};
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

namespace {

/// Looks for what every thread of a block would write the same memory by: in
/// the body of a loop over blocks, and in the functions that it calls.
class SharedWrites {
public:
  explicit SharedWrites(Operation *blocks) : blocks(blocks) { visit(blocks); }

  /// The first such operation of the body; null for none, or if threads are
  /// told apart.
  Operation *getFirst() const { return hasThreadIds ? nullptr : first; }

private:
  bool visit(Operation *scope);
  bool isPrivate(Value memory) const;
  bool isWrittenByAll(Operation *op) const;

  Operation *blocks, *first = nullptr;
  /// Those that are called, from the body inwards.
  SmallVector<std::pair<CallOpInterface, Operation *>> calls;
  bool hasThreadIds = false;
};

} // namespace

/// True if `memory` is the own one of each thread. An argument is what the call
/// passes.
bool SharedWrites::isPrivate(Value memory) const {
  for (const auto &[call, callee] : llvm::reverse(calls)) {
    while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
      memory = view.getViewSource();
    auto argument = dyn_cast<BlockArgument>(memory);
    if (!argument || argument.getOwner()->getParentOp() != callee)
      break;
    memory = CallOpInterface(call).getArgOperands()[argument.getArgNumber()];
  }
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  // That of the host is one for all.
  if (Operation *alloca = memory.getDefiningOp<memref::AllocaOp>())
    return blocks->isProperAncestor(alloca) ||
           llvm::any_of(calls, [&](const auto &call) {
             return call.second->isProperAncestor(alloca);
           });
  return getMemorySpace(memory) == MemorySpace::Private;
}

/// True if each thread that executes `op` writes what others write, too.
bool SharedWrites::isWrittenByAll(Operation *op) const {
  if (isa<linalg::LinalgOp, memref::CopyOp, GatherOp>(op))
    return false;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return false;
  SmallVector<MemoryEffects::EffectInstance> writes;
  effects.getEffects(writes);
  return llvm::any_of(writes, [&](const MemoryEffects::EffectInstance &effect) {
    Value memory = effect.getValue();
    return isa<MemoryEffects::Write>(effect.getEffect()) && memory &&
           isa<BaseMemRefType>(memory.getType()) && !isPrivate(memory);
  });
}

/// True if there is one in `scope`.
bool SharedWrites::visit(Operation *scope) {
  bool hasAny = false;
  scope->walk<WalkOrder::PreOrder>([&](Operation *op) {
    std::optional<ParallelLoop> loop = ParallelLoop::getMapped(op);
    if (op != scope && loop && isOverThreads(*loop))
      return WalkResult::skip();
    hasThreadIds |=
        isa<gpu::ThreadIdOp, gpu::LaneIdOp, gpu::SubgroupIdOp, gpu::GlobalIdOp>(
            op);
    bool isWrite = isWrittenByAll(op);
    auto call = dyn_cast<CallOpInterface>(op);
    Operation *callee = call ? call.resolveCallable() : nullptr;
    bool isOpen = llvm::any_of(
        calls, [&](const auto &outer) { return outer.second == callee; });
    if (callee && !isOpen) {
      calls.emplace_back(call, callee);
      isWrite |= visit(callee);
      calls.pop_back();
    }
    if (isWrite && calls.empty() && !first)
      first = op;
    hasAny |= isWrite;
    return WalkResult::advance();
  });
  return hasAny;
}

static LogicalResult check(const ParallelLoop &loop) {
  if (std::string obstacle = loop.getObstacle(); !obstacle.empty())
    return loop.op->emitOpError(obstacle);
  if (isOverThreads(loop))
    return loop.op->emitOpError(
        "goes both to blocks and to threads; put a loop over threads into one "
        "over blocks");
  if (LaunchGrid(loop).isTooLarge())
    return loop.op->emitOpError(
        "has more than 2^31 - 1 iterations for blocks; make a loop of some of "
        "them, or larger tiles");
  auto startsBlocks = [](Operation *op) {
    std::optional<ParallelLoop> mapped = ParallelLoop::getMapped(op);
    return isa<gpu::LaunchOp, gpu::LaunchFuncOp>(op) ||
           (mapped && mapped->goesTo(ProcessorLevel::Blocks));
  };
  if (Operation *inner = findExecuted(loop.op, startsBlocks)) {
    InFlightDiagnostic error =
        inner->emitOpError("starts blocks in a block; make one loop over "
                           "blocks of both, or a loop "
                           "over threads of the inner one");
    error.attachNote(loop.op->getLoc()) << "the loop over blocks around it";
    return error;
  }
  Operation *write = SharedWrites(loop.op).getFirst();
  if (!write)
    return success();
  InFlightDiagnostic error =
      write->emitOpError("writes memory in each thread of a block; put it in "
                         "an scf.forall that is mapped to threads");
  error.attachNote(loop.op->getLoc()) << "the loop over blocks";
  return error;
}

/// True if nothing executes `function`: what outlining has made a copy of for a
/// kernel.
static bool isDead(Operation *function) {
  auto symbol = cast<SymbolOpInterface>(function);
  return symbol.isPrivate() &&
         SymbolTable::symbolKnownUseEmpty(function, function->getParentOp());
}

/// True if `function` is executed by threads as it is.
static bool isDeviceCode(Operation *function,
                         const DenseSet<Operation *> &deviceScopes) {
  if (function->getParentOfType<gpu::GPUModuleOp>() ||
      deviceScopes.contains(function))
    return true;
  WalkResult result =
      function->walk<WalkOrder::PreOrder>([](Operation *op) -> WalkResult {
        std::optional<ParallelLoop> loop = ParallelLoop::getMapped(op);
        if (isa<gpu::LaunchOp>(op) ||
            (loop && loop->goesTo(ProcessorLevel::Blocks)))
          return WalkResult::skip();
        return isThreadOp(op) ? WalkResult::interrupt() : WalkResult::advance();
      });
  return result.wasInterrupted();
}

/// The loops over blocks on the host inside of `root`.
static SmallVector<ParallelLoop> collectLoops(Operation *root) {
  SmallVector<std::pair<CallOpInterface, FunctionOpInterface>> calls;
  collectDeviceScopes(root, &calls);
  DenseSet<Operation *> called;
  for (auto [call, function] : calls)
    called.insert(function);
  SmallVector<ParallelLoop> loops;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::LaunchOp, gpu::GPUModuleOp>(op))
      return WalkResult::skip();
    if (isa<FunctionOpInterface>(op) &&
        (isDeviceCode(op, called) || isDead(op)))
      return WalkResult::skip();
    std::optional<ParallelLoop> loop = ParallelLoop::getMapped(op);
    if (!loop || !loop->goesTo(ProcessorLevel::Blocks) ||
        !getExecutionScope(op))
      return WalkResult::advance();
    loops.push_back(std::move(*loop));
    return WalkResult::skip();
  });
  return loops;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

static void remark(const BlockLoop &formed, const LaunchGrid &grid) {
  auto [x, y, z] = formed.block;
  recordRemark(RemarkId::FormLaunches_FormedLaunch, formed.loop.op)
      << (grid.isFolded() ? "each iteration became a block; all dimensions of "
                            "the grid go to x"
                          : "each iteration became a block")
      << remark::metric("Block", llvm::formatv("{0}x{1}x{2}", x, y, z).str());
}

static void apply(RewriterBase &rewriter, const BlockLoop &formed) {
  ParallelLoop loop = formed.loop;
  Location loc = loop.op->getLoc();
  LaunchGrid grid(loop);
  if (grid.isEmpty()) {
    recordRemark(RemarkId::FormLaunches_ErasedLoop, loop.op)
        << "no launch for a loop that has no iteration";
    return rewriter.eraseOp(loop.op);
  }
  remark(formed, grid);
  rewriter.setInsertionPoint(loop.op);
  grid.makeCounts(rewriter);
  std::array<Value, 3> sizes = grid.makeSizes(rewriter), threads;
  for (auto [size, number] : llvm::zip_equal(threads, formed.block))
    size = arith::ConstantIndexOp::create(rewriter, loc, number);
  auto launch =
      gpu::LaunchOp::create(rewriter, loc, sizes[0], sizes[1], sizes[2],
                            threads[0], threads[1], threads[2]);
  rewriter.setInsertionPointToStart(&launch.getBody().front());
  Operation *end = gpu::TerminatorOp::create(rewriter, loc);
  rewriter.setInsertionPoint(end);
  SmallVector<OpFoldResult> values(loop.ranges.size());
  grid.makeInductionVars(rewriter, launch.getBlockIds(), values);
  Processor only{rewriter.getIndexAttr(0), rewriter.getIndexAttr(1)};
  for (auto [value, range, target] :
       llvm::zip_equal(values, loop.ranges, loop.targets))
    if (!target)
      value = distribute(rewriter, loc, range, only,
                         DistributionStrategy::Cyclic, /*chunk=*/1);
  loop.replaceBody(rewriter, values);
}

LogicalResult formLaunches(Operation *root,
                           const FormLaunchesOptions &options) {
  if (failed(checkNestedLaunches(root)))
    return failure();
  SmallVector<BlockLoop> formed;
  bool isFailed = false;
  for (ParallelLoop &loop : collectLoops(root)) {
    isFailed |= failed(check(loop));
    std::array<int64_t, 3> block = WantedThreads(loop.op).getBlock();
    if (!options.threads.empty()) {
      block = {1, 1, 1};
      llvm::copy(options.threads, block.begin());
    }
    formed.push_back({std::move(loop), block});
  }
  if (isFailed)
    return failure();
  IRRewriter rewriter(root->getContext());
  for (const BlockLoop &loop : formed)
    apply(rewriter, loop);
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct FormLaunchesPass final : impl::FormLaunchesPassBase<FormLaunchesPass> {
  using FormLaunchesPassBase::FormLaunchesPassBase;

  LogicalResult initializeOptions(
      StringRef text,
      function_ref<LogicalResult(const Twine &)> onError) override {
    if (failed(FormLaunchesPassBase::initializeOptions(text, onError)))
      return failure();
    int64_t product = 1;
    bool isWrong = threads.size() > 3;
    for (auto [dim, size] : llvm::enumerate(threads)) {
      int64_t limit = dim == 2 ? kMaxBlockSizes[2] : kMaxBlockThreads;
      isWrong |= size < 1 || size > limit;
      product *= isWrong ? 1 : size;
    }
    return isWrong || product > kMaxBlockThreads
               ? onError("threads has to be up to three sizes from 1 on, of " +
                         Twine(kMaxBlockThreads) + " threads at most, and " +
                         Twine(kMaxBlockSizes[2]) + " along z")
               : success();
  }

  void runOnOperation() override {
    FormLaunchesOptions options;
    llvm::append_range(options.threads, threads);
    if (failed(formLaunches(getOperation(), options)) ||
        failed(verifyThreadBuffers(getOperation(),
                                   /*mayMapSpaces=*/true)))
      signalPassFailure();
  }
};

} // namespace

} // namespace mlir::workgroup
