//===- ScheduleChecks.cpp - Checks of what schedules do -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After upstream's transform operations have mapped a loop, nothing tells that
// some of its iterations are gone. So they are looked at before, wherever the
// operations are applied from: the check is part of how their context applies
// them. The number B4 is that of docs/verification.md.
//
//===----------------------------------------------------------------------===//

#include "workgroup/Transforms/ScheduleChecks.h"
#include "MappedLoops.h"
#include "mlir/Dialect/GPU/TransformOps/GPUTransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Target/LaunchLimits.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

namespace mlir::workgroup {

using Shape = std::array<int64_t, 3>;

static std::string print(const Shape &shape) {
  return llvm::formatv("{0}x{1}x{2}", shape[0], shape[1], shape[2]);
}

/// Calls `visit` for the ids of each processor of a box of `shape`.
static void forEachId(const Shape &shape,
                      function_ref<void(const Shape &)> visit) {
  for (int64_t z = 0; z < shape[2]; ++z)
    for (int64_t y = 0; y < shape[1]; ++y)
      for (int64_t x = 0; x < shape[0]; ++x)
        visit({x, y, z});
}

static LogicalResult checkExtents(scf::ForallOp loop,
                                  const MappedLoop &mapped) {
  if (llvm::all_of(mapped.getExtents(),
                   [](int64_t count) { return count > 0; }))
    return success();
  return loop.emitOpError("has no iteration, which no mapping can express; "
                          "leave the loop out");
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

namespace {

/// The iterations of a nest of mapped loops that are run in a block, or grid,
/// of known shape.
class Coverage {
public:
  Coverage(ArrayRef<MappedLoop> nest, const Shape &shape, bool isPredicated);

  /// The number of iterations, and of those that run.
  int64_t getWanted() const { return wanted; }
  int64_t getRun() const { return run.size(); }
  /// True if some run that the loop does not have.
  bool hasForeign() const { return isForeign; }
  bool isRight() const { return !isForeign && getRun() == wanted; }

private:
  void add(ArrayRef<MappedLoop> nest, const Shape &ids, const Shape &shape,
           bool isPredicated);

  int64_t wanted = 1;
  std::set<Iteration> run;
  bool isForeign = false;
};

} // namespace

Coverage::Coverage(ArrayRef<MappedLoop> nest, const Shape &shape,
                   bool isPredicated) {
  SmallVector<int64_t> extents;
  for (const MappedLoop &loop : nest)
    llvm::append_range(extents, loop.getExtents());
  wanted = multiply(extents);
  forEachId(shape,
            [&](const Shape &ids) { add(nest, ids, shape, isPredicated); });
}

/// Adds what the processor `ids` runs.
void Coverage::add(ArrayRef<MappedLoop> nest, const Shape &ids,
                   const Shape &shape, bool isPredicated) {
  Iteration all;
  for (const MappedLoop &loop : nest) {
    std::optional<Iteration> own = loop.getIteration(ids, shape, isPredicated);
    if (!own)
      return;
    for (auto [value, extent] : llvm::zip_equal(*own, loop.getExtents()))
      isForeign |= value >= extent;
    llvm::append_range(all, *own);
  }
  run.insert(std::move(all));
}

/// The error that a loop of `mapped`, with `around` it, does not run as it is.
static LogicalResult emitCoverageError(scf::ForallOp loop,
                                       const MappedLoop &mapped,
                                       const Coverage &coverage,
                                       const Shape &shape,
                                       scf::ForallOp around) {
  StringRef processors = mapped.isOfBlocks() ? "blocks" : "threads";
  if (coverage.hasForeign()) {
    return loop.emitOpError("is mapped so that ")
           << processors
           << " run iterations that it does not have; choose as many "
              "processors by the mask as there are iterations";
  }
  InFlightDiagnostic error =
      loop.emitOpError("is mapped so that only ")
      << coverage.getRun() << " of its " << coverage.getWanted()
      << " iterations run in "
      << (mapped.isOfBlocks() ? "a grid of " : "a block of ") << print(shape)
      << " " << processors;
  if (mapped.isMasked())
    return error << "; choose as many processors by the mask as there are "
                    "iterations";
  if (!around)
    return error << "; tile the loop, or map it to more " << processors;
  error << ", with those of the loop around it: its threads are shared out "
           "already; make one loop of both, or nest lanes in warps";
  error.attachNote(around.getLoc()) << "the loop around it";
  return error;
}

/// B4, and whatever else upstream takes for a loop that runs whole.
static LogicalResult checkThreads(scf::ForallOp loop, const Shape &block,
                                  int64_t warpSize) {
  SmallVector<MappedLoop> nest;
  scf::ForallOp outer;
  for (auto around = loop; around;
       around = around->getParentOfType<scf::ForallOp>()) {
    std::optional<MappedLoop> mapped = MappedLoop::get(around, warpSize);
    if (!mapped || mapped->isOfBlocks())
      return success(); // refused by upstream
    nest.insert(nest.begin(), *mapped);
    outer = around != loop && !outer ? around : outer;
  }
  const MappedLoop &mapped = nest.back();
  if (failed(checkExtents(loop, mapped)))
    return failure();
  if (mapped.isOfLanes() && mapped.isMasked())
    return loop.emitOpError("masks lanes, which upstream takes for all of "
                            "them; leave the mask out");
  int64_t count = multiply(mapped.getExtents());
  if (mapped.isOfLanes() && count > warpSize)
    return loop.emitOpError("maps ")
           << count << " iterations to the " << warpSize
           << " lanes of a warp, of which the rest would never run; distribute "
              "it cyclically";
  Coverage coverage(nest, block, /*isPredicated=*/true);
  return coverage.isRight()
             ? success()
             : emitCoverageError(loop, mapped, coverage, block, outer);
}

//===----------------------------------------------------------------------===//
// Launches that change
//===----------------------------------------------------------------------===//

/// The first operation in `launch` that depends on which thread, or if
/// `isOfGrid` which block, executes it.
static Operation *findUseOfIds(gpu::LaunchOp launch, bool isOfGrid) {
  gpu::KernelDim3 ids = isOfGrid ? launch.getBlockIds() : launch.getThreadIds();
  Operation *found = nullptr;
  launch.walk([&](Operation *op) {
    bool isId = isOfGrid ? isa<gpu::BlockIdOp, gpu::GlobalIdOp>(op)
                         : isa<gpu::ThreadIdOp, gpu::LaneIdOp,
                               gpu::SubgroupIdOp, gpu::GlobalIdOp>(op);
    bool usesId = llvm::any_of(op->getOperands(), [&](Value operand) {
      return operand == ids.x || operand == ids.y || operand == ids.z;
    });
    if (usesId || (isId && !op->use_empty()))
      found = op;
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

/// Fails if loops of `launch` were mapped to other sizes than `shape`, which
/// the launch is given now. One of one thread, or block, is not mapped yet.
static LogicalResult checkResize(gpu::LaunchOp launch, const Shape &shape,
                                 bool isOfGrid) {
  gpu::KernelDim3 sizes = isOfGrid ? launch.getGridSizeOperandValues()
                                   : launch.getBlockSizeOperandValues();
  Shape known;
  for (auto [size, value] :
       llvm::zip_equal(known, std::array{sizes.x, sizes.y, sizes.z})) {
    std::optional<int64_t> number = getConstantIntValue(value);
    if (!number)
      return success();
    size = *number;
  }
  if (known == shape || known == Shape{1, 1, 1})
    return success();
  Operation *use = findUseOfIds(launch, isOfGrid);
  if (!use)
    return success();
  StringRef whole = isOfGrid ? "a grid of " : "a block of ",
            part = isOfGrid ? " blocks" : " threads";
  InFlightDiagnostic error =
      use->emitOpError("is mapped to ")
      << whole << print(known) << part << ", which the schedule makes " << whole
      << print(shape) << "; map all loops of a launch to the same sizes";
  error.attachNote(launch.getLoc()) << "the launch";
  return error;
}

static std::optional<Shape> getShape(ArrayRef<int64_t> sizes) {
  bool isShape = sizes.size() == 3 &&
                 llvm::all_of(sizes, [](int64_t size) { return size > 0; });
  return isShape ? std::optional(Shape{sizes[0], sizes[1], sizes[2]})
                 : std::nullopt;
}

static LogicalResult check(transform::MapNestedForallToThreads map,
                           Operation *target) {
  auto launch = dyn_cast<gpu::LaunchOp>(target);
  std::optional<Shape> block = getShape(map.getBlockDims());
  if (!launch || !block || multiply(*block) > kMaxBlockThreads)
    return success(); // refused by upstream
  if (failed(checkResize(launch, *block, /*isOfGrid=*/false)))
    return failure();
  auto walk = [&](scf::ForallOp loop) {
    return succeeded(checkThreads(loop, *block, map.getWarpSize()))
               ? WalkResult::advance()
               : WalkResult::interrupt();
  };
  return failure(launch.walk<WalkOrder::PreOrder>(walk).wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Upstream puts zero in place of the size of a block where it means its id,
/// along dimensions in which there is one block.
static LogicalResult checkBlockSizes(Operation *root,
                                     const MappedLoop &mapped) {
  ArrayRef<int64_t> sizes = mapped.getSizes();
  auto walk = [&](gpu::BlockDimOp op) {
    auto dim = static_cast<unsigned>(op.getDimension());
    if (op->use_empty() || (dim < sizes.size() && sizes[dim] != 1))
      return WalkResult::advance();
    op.emitOpError("would be zero after transform.gpu.map_forall_to_blocks, "
                   "which takes it for the id of a block; write its value");
    return WalkResult::interrupt();
  };
  return failure(root->walk(walk).wasInterrupted());
}

/// Checks the iterations that the blocks of a loop run which upstream maps to
/// blocks.
static LogicalResult checkBlocks(scf::ForallOp loop, const MappedLoop &mapped,
                                 std::optional<Shape> given) {
  constexpr int64_t kMaskedBlocks = 64;
  if (failed(checkExtents(loop, mapped)))
    return failure();
  ArrayRef<int64_t> sizes = mapped.getSizes();
  if (!given && sizes.size() > 3)
    return loop.emitOpError("is mapped to ")
           << sizes.size()
           << " dimensions of blocks, of which a grid without grid_dims has "
              "the first three; give the schedule grid_dims, or make a loop of "
              "fewer dimensions";
  Shape grid = {1, 1, 1};
  llvm::copy(sizes.take_front(3), grid.begin());
  grid = given.value_or(grid);
  if (!mapped.isMasked() || multiply(grid) > kMaskedBlocks)
    return success(); // all of them run, or upstream refuses it
  Coverage coverage(mapped, grid, /*isPredicated=*/given.has_value());
  return coverage.isRight()
             ? success()
             : emitCoverageError(loop, mapped, coverage, grid, nullptr);
}

/// The only outermost loop in `target`, null for none or several.
static scf::ForallOp findOuterLoop(Operation *target) {
  SmallVector<scf::ForallOp> loops;
  target->walk([&](scf::ForallOp loop) {
    if (!loop->getParentOfType<scf::ForallOp>())
      loops.push_back(loop);
  });
  return loops.size() == 1 ? loops.front() : scf::ForallOp();
}

static LogicalResult check(transform::MapForallToBlocks map,
                           Operation *target) {
  scf::ForallOp loop = findOuterLoop(target);
  std::optional<MappedLoop> mapped =
      loop ? MappedLoop::get(loop, kWarpSize) : std::nullopt;
  bool isMade = map.getGenerateGpuLaunch();
  auto launch = dyn_cast<gpu::LaunchOp>(target);
  std::optional<Shape> given = getShape(map.getGridDims());
  bool isWrong = !given && !map.getGridDims().empty();
  if (!mapped || !mapped->isOfBlocks() || isWrong || (!isMade && !launch))
    return success(); // refused by upstream
  if (given && launch && !isMade &&
      failed(checkResize(launch, *given, /*isOfGrid=*/true)))
    return failure();
  Operation *root = isMade ? loop : loop->getParentOp();
  if (failed(checkBlockSizes(root, *mapped)))
    return failure();
  return checkBlocks(loop, *mapped, given);
}

//===----------------------------------------------------------------------===//
// Where they are applied
//===----------------------------------------------------------------------===//

using Interface = transform::TransformOpInterface;

/// Applies `op`, of class `MapOp`, unless it would drop iterations.
template <typename MapOp>
static DiagnosedSilenceableFailure
applyChecked(const Interface::Concept *model, Operation *op,
             transform::TransformRewriter &rewriter,
             transform::TransformResults &results,
             transform::TransformState &state) {
  auto map = cast<MapOp>(op);
  for (Operation *target : state.getPayloadOps(map.getTarget()))
    if (failed(check(map, target)))
      return DiagnosedSilenceableFailure::definiteFailure();
  using Model =
      transform::detail::TransformOpInterfaceInterfaceTraits::Model<MapOp>;
  return Model::apply(model, op, rewriter, results, state);
}

/// Has `context` apply operations of class `MapOp` so.
template <typename MapOp>
static void addCheck(MLIRContext *context) {
  std::optional<RegisteredOperationName> name =
      RegisteredOperationName::lookup(MapOp::getOperationName(), context);
  if (name)
    if (Interface::Concept *model = name->getInterface<Interface>())
      model->apply = applyChecked<MapOp>;
}

void registerScheduleChecks(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, transform::TransformDialect *) {
        addCheck<transform::MapNestedForallToThreads>(context);
        addCheck<transform::MapForallToBlocks>(context);
      });
}

} // namespace mlir::workgroup
