//===- LaunchChecks.cpp - Launches that no GPU takes ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes of launches against the limits of the hardware (CUDA C++ programming
// guide, technical specifications per compute capability), and against what
// attributes of the kernel promise: grids, blocks, clusters, and bytes of
// dynamic memory. Only constants are compared; what is not known is taken to
// fit.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Utils/KernelBuffers.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Target/Chip.h"
#include "workgroup/Target/LaunchLimits.h"
#include "workgroup/Transforms/ProgramChecks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

namespace {

/// Sizes along x, y and z, as far as they are known.
using Sizes = std::array<std::optional<int64_t>, 3>;

/// The unit of sizes, their limits, and the remedy for more.
struct Kind {
  /// As in "70000 blocks along y".
  StringRef units;
  std::array<int64_t, 3> most;
  /// What to do instead of more.
  StringRef remedy;
};

constexpr StringRef kNames[] = {"x", "y", "z"};

} // namespace

static Kind getGrid() {
  return {"blocks", kMaxGridSizes,
          "map them to x, or have each block do the work of several"};
}

static Kind getBlock() {
  return {"threads", kMaxBlockSizes, "launch smaller blocks, and more of them"};
}

static Kind getCluster() {
  return {"blocks of a cluster",
          {kMaxClusterBlocks, kMaxClusterBlocks, kMaxClusterBlocks},
          "launch smaller clusters"};
}

static Sizes getSizes(gpu::KernelDim3 operands) {
  return {getConstantIntValue(operands.x), getConstantIntValue(operands.y),
          getConstantIntValue(operands.z)};
}

/// The sizes in attribute `name` of `kernel`, the last of which may be missing.
/// What the GPU dialect gives any function, `gpu.func` has without its prefix.
static Sizes getSizes(Operation *kernel, StringRef name) {
  if (isa<gpu::GPUFuncOp>(kernel))
    name.consume_front("gpu.");
  auto attribute = kernel->getAttrOfType<DenseI32ArrayAttr>(name);
  if (!attribute || attribute.empty() || attribute.size() > 3)
    return {};
  Sizes sizes = {1, 1, 1};
  llvm::copy(attribute.asArrayRef(), sizes.begin());
  return sizes;
}

/// Their product, of those that are known.
static int64_t multiply(const Sizes &sizes) {
  int64_t product = 1;
  for (std::optional<int64_t> size : sizes)
    if (llvm::MulOverflow(product, size.value_or(1), product))
      return std::numeric_limits<int64_t>::max();
  return product;
}

static std::string print(const Sizes &sizes) {
  return llvm::formatv("{0}x{1}x{2}", sizes[0].value_or(1),
                       sizes[1].value_or(1), sizes[2].value_or(1));
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Fails if `sizes` are none of which `op` can have as many: "asks for", or
/// what else `says` so.
static LogicalResult checkSizes(Operation *op, const Twine &says,
                                const Sizes &sizes, const Kind &kind) {
  for (auto [size, most, name] : llvm::zip_equal(sizes, kind.most, kNames)) {
    if (!size || (*size >= 1 && *size <= most))
      continue;
    return op->emitOpError(says)
           << " " << *size << " " << kind.units << " along " << name
           << ", of which GPUs take 1 to " << most << "; "
           << (*size < 1 ? "leave it out where there is nothing to do"
                         : kind.remedy);
  }
  return success();
}

static LogicalResult checkBlock(Operation *op, const Twine &says,
                                const Sizes &sizes) {
  if (failed(checkSizes(op, says, sizes, getBlock())))
    return failure();
  if (multiply(sizes) <= kMaxBlockThreads)
    return success();
  return op->emitOpError(says)
         << " blocks of " << print(sizes) << " = " << multiply(sizes)
         << " threads, of which GPUs take 1 to " << kMaxBlockThreads << "; "
         << getBlock().remedy;
}

/// The chip that `kernel` is compiled for, null if that is not said.
static const Chip *getChip(Operation *kernel) {
  auto module =
      kernel ? kernel->getParentOfType<gpu::GPUModuleOp>() : gpu::GPUModuleOp();
  NVVM::NVVMTargetAttr target =
      module ? getTarget(module) : NVVM::NVVMTargetAttr();
  return target ? findChip(target.getChip()) : nullptr;
}

static LogicalResult checkCluster(Operation *op, const Twine &says,
                                  const Sizes &sizes, const Chip *chip) {
  if (failed(checkSizes(op, says, sizes, getCluster())))
    return failure();
  int64_t count = multiply(sizes);
  if (count > kMaxClusterBlocks)
    return op->emitOpError(says)
           << " clusters of " << print(sizes) << " = " << count
           << " blocks, of which GPUs take 1 to " << kMaxClusterBlocks << "; "
           << getCluster().remedy;
  if (count > 1 && chip && !chip->hasTensorCopies())
    return op->emitOpError(says)
           << " clusters of " << print(sizes) << " blocks, which " << chip->name
           << " does not have; compile for sm_90 or later, or launch without";
  return success();
}

/// A grid is made of whole clusters.
static LogicalResult checkWhole(Operation *op, const Twine &says,
                                const Sizes &grid, const Sizes &cluster) {
  for (auto [blocks, part, name] : llvm::zip_equal(grid, cluster, kNames))
    if (blocks && part && *part > 0 && *blocks % *part != 0)
      return op->emitOpError(says)
             << " " << *blocks << " blocks along " << name
             << ", which are no whole number of clusters of " << *part
             << "; launch a multiple of that";
  return success();
}

//===----------------------------------------------------------------------===//
// Dynamic memory
//===----------------------------------------------------------------------===//

/// The end of what `view` takes of dynamic memory, 0 if that is not known.
static int64_t getEnd(memref::ViewOp view) {
  std::optional<int64_t> shift = getConstantIntValue(view.getByteShift());
  MemRefType type = view.getType();
  SmallVector<int64_t> shape(type.getShape());
  auto size = view.getSizes().begin();
  for (int64_t &extent : shape)
    if (ShapedType::isDynamic(extent))
      extent = getConstantIntValue(*size++).value_or(0);
  auto whole = MemRefType::get(shape, type.getElementType());
  std::optional<int64_t> bytes = getStaticBytes(whole, view);
  return shift && bytes && *bytes > 0 ? getEnd(*shift, *bytes) : 0;
}

/// The bytes of dynamic memory that views in `kernel` and in what it calls are
/// known to need. A view in a branch does not count, as a launch may not take
/// it. `at` is set to the view that needs the most.
static int64_t getNeededBytes(Operation *kernel, Operation *&at) {
  KernelBuffers memory = collectKernelBuffers(kernel);
  int64_t needed = memory.leastDynamicBytes;
  at = needed > 0 ? memory.windows.front() : nullptr;
  for (Operation *window : memory.windows)
    for (Operation *user : window->getUsers())
      if (auto view = dyn_cast<memref::ViewOp>(user);
          view && isa<gpu::DynamicSharedMemoryOp>(window) &&
          getEnd(view) > needed && memory.isAlwaysExecuted(view)) {
        needed = getEnd(view);
        at = view;
      }
  return needed;
}

/// Fails if a launch of `kernel` by `op` asks for less dynamic memory than the
/// kernel needs. Nothing asked for, `asked` is null.
static LogicalResult checkDynamicBytes(Operation *op, Value asked,
                                       Operation *kernel) {
  std::optional<int64_t> bytes = asked ? getConstantIntValue(asked) : 0;
  if (!bytes)
    return success();
  if (*bytes < 0)
    return op->emitOpError("asks for a negative number of bytes of dynamic "
                           "workgroup memory; ask for what the kernel uses");
  Operation *view = nullptr;
  int64_t needed = getNeededBytes(kernel, view);
  if (*bytes >= needed)
    return success();
  InFlightDiagnostic error =
      op->emitOpError("asks for ")
      << *bytes << " bytes of dynamic workgroup memory, of which views in its "
      << "kernel need ";
  if (needed <= std::numeric_limits<int32_t>::max())
    error << needed << "; ask for as many by dynamic_shared_memory_size";
  else
    error << "more than any GPU has; let them begin earlier";
  error.attachNote(view->getLoc()) << "they end here";
  return error;
}

//===----------------------------------------------------------------------===//
// Launches and kernels
//===----------------------------------------------------------------------===//

namespace {
/// The sizes of a launch, or those that its kernel is known to have. Without
/// clusters, there is no size of them.
struct GivenSizes {
  Sizes grid, block, cluster;
};
} // namespace

/// The sizes of `gpu.launch` and `gpu.launch_func` alike.
template <typename LaunchOp>
static GivenSizes getGivenSizes(LaunchOp launch) {
  GivenSizes sizes = {getSizes(launch.getGridSizeOperandValues()),
                      getSizes(launch.getBlockSizeOperandValues()),
                      {}};
  if (!launch.hasClusterSize())
    return sizes;
  if constexpr (std::is_same_v<LaunchOp, gpu::LaunchOp>)
    sizes.cluster = getSizes(*launch.getClusterSizeOperandValues());
  else
    sizes.cluster = getSizes(launch.getClusterSizeOperandValues());
  return sizes;
}

template <typename LaunchOp>
static LogicalResult checkLaunch(LaunchOp launch, Operation *kernel) {
  constexpr StringLiteral says = "asks for";
  GivenSizes sizes = getGivenSizes(launch);
  if (failed(checkSizes(launch, says, sizes.grid, getGrid())) ||
      failed(checkBlock(launch, says, sizes.block)) ||
      failed(checkCluster(launch, says, sizes.cluster, getChip(kernel))) ||
      failed(checkWhole(launch, says, sizes.grid, sizes.cluster)))
    return failure();
  return kernel ? checkDynamicBytes(launch, launch.getDynamicSharedMemorySize(),
                                    kernel)
                : success();
}

//===----------------------------------------------------------------------===//
// What kernels are compiled for
//===----------------------------------------------------------------------===//

/// Says that `op` has `sizes`, of `what`, where `kernel` takes others.
static InFlightDiagnostic emitMismatch(Operation *op, Operation *kernel,
                                       StringRef says, StringRef what,
                                       const Sizes &sizes,
                                       const Twine &others) {
  InFlightDiagnostic error = op->emitOpError(says)
                             << " " << what << " of " << print(sizes)
                             << ", where the kernel is compiled for " << others;
  if (op != kernel)
    error.attachNote(kernel->getLoc()) << "the kernel";
  return error;
}

/// Fails if `sizes`, of `what`, are others than attribute `name` of the kernel
/// promises to whoever compiles it.
static LogicalResult checkPromise(Operation *op, Operation *kernel,
                                  StringRef says, StringRef what,
                                  const Sizes &sizes, StringRef name) {
  Sizes known = getSizes(kernel, name);
  for (auto [size, promised] : llvm::zip_equal(sizes, known))
    if (size && promised && size != promised)
      return emitMismatch(op, kernel, says, what, sizes,
                          print(known) + " by " + name +
                              "; make both the same");
  return success();
}

/// Fails if `sizes`, of `what`, have a product above `most`, which attribute
/// `name` of the kernel promises.
static LogicalResult checkMost(Operation *op, Operation *kernel, StringRef says,
                               StringRef what, const Sizes &sizes, int64_t most,
                               StringRef name) {
  if (multiply(sizes) <= most)
    return success();
  return emitMismatch(op, kernel, says, what, sizes,
                      "products of " + Twine(most) + " at most by " + name +
                          "; make them smaller, or that larger");
}

/// The most blocks of a cluster that `kernel` says it takes.
static std::optional<int64_t> getMostClusterBlocks(Operation *kernel) {
  auto count = kernel->getAttrOfType<IntegerAttr>(
      NVVM::NVVMDialect::getClusterMaxBlocksAttrName());
  return count ? count.getValue().trySExtValue() : std::nullopt;
}

/// Fails if `op`, a launch of `kernel` or the kernel itself, has sizes that
/// `kernel` is not compiled for. Clusters that only the kernel tells of are
/// those of its launches.
static LogicalResult checkPromises(Operation *op, Operation *kernel,
                                   StringRef says, const GivenSizes &sizes) {
  const StringRef cluster[] = {
      gpu::GPUDialect::KnownClusterSizeAttrHelper::getNameStr(),
      NVVM::NVVMDialect::getClusterDimAttrName()};
  StringRef maxBlock = NVVM::NVVMDialect::getMaxntidAttrName(),
            maxCluster = NVVM::NVVMDialect::getClusterMaxBlocksAttrName();
  auto isOther = [&](StringRef what, const Sizes &sizes, StringRef name) {
    return failed(checkPromise(op, kernel, says, what, sizes, name));
  };
  if (isOther("blocks", sizes.block,
              gpu::GPUDialect::KnownBlockSizeAttrHelper::getNameStr()) ||
      isOther("blocks", sizes.block, NVVM::NVVMDialect::getReqntidAttrName()) ||
      isOther("a grid", sizes.grid,
              gpu::GPUDialect::KnownGridSizeAttrHelper::getNameStr()))
    return failure();
  if (Sizes most = getSizes(kernel, maxBlock);
      most[0] && failed(checkMost(op, kernel, says, "blocks", sizes.block,
                                  multiply(most), maxBlock)))
    return failure();
  for (StringRef name : cluster)
    if (isOther("clusters", sizes.cluster, name) ||
        failed(checkWhole(op, says, sizes.grid, getSizes(kernel, name))))
      return failure();
  std::optional<int64_t> most = getMostClusterBlocks(kernel);
  return most ? checkMost(op, kernel, says, "clusters", sizes.cluster, *most,
                          maxCluster)
              : success();
}

static LogicalResult checkLaunch(gpu::LaunchFuncOp launch,
                                 SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(
      launch, launch.getKernelAttr());
  if (failed(checkLaunch(launch, kernel)))
    return failure();
  return kernel
             ? checkPromises(launch, kernel, "asks for", getGivenSizes(launch))
             : success();
}

/// What attributes of a kernel promise of its launches.
static LogicalResult checkKernel(FunctionOpInterface kernel) {
  using Block = gpu::GPUDialect::KnownBlockSizeAttrHelper;
  using Grid = gpu::GPUDialect::KnownGridSizeAttrHelper;
  using Cluster = gpu::GPUDialect::KnownClusterSizeAttrHelper;
  const Chip *chip = getChip(kernel);
  auto says = [](StringRef name) { return "has by " + name.str(); };
  for (StringRef name :
       {StringRef(Block::getNameStr()), NVVM::NVVMDialect::getMaxntidAttrName(),
        NVVM::NVVMDialect::getReqntidAttrName()})
    if (failed(checkBlock(kernel, says(name), getSizes(kernel, name))))
      return failure();
  for (StringRef name : {StringRef(Cluster::getNameStr()),
                         NVVM::NVVMDialect::getClusterDimAttrName()})
    if (failed(checkCluster(kernel, says(name), getSizes(kernel, name), chip)))
      return failure();
  StringRef grid = Grid::getNameStr(),
            most = NVVM::NVVMDialect::getClusterMaxBlocksAttrName();
  if (std::optional<int64_t> count = getMostClusterBlocks(kernel))
    if (failed(checkCluster(kernel, says(most), {*count, 1, 1}, chip)))
      return failure();
  if (failed(checkSizes(kernel, says(grid), getSizes(kernel, grid), getGrid())))
    return failure();
  // One attribute may say other than another one.
  StringRef dim = NVVM::NVVMDialect::getClusterDimAttrName();
  GivenSizes known = {getSizes(kernel, grid),
                      getSizes(kernel, Block::getNameStr()),
                      getSizes(kernel, Cluster::getNameStr())};
  if (!known.block[0])
    known.block = getSizes(kernel, NVVM::NVVMDialect::getReqntidAttrName());
  if (!known.cluster[0])
    known.cluster = getSizes(kernel, dim);
  return checkPromises(kernel, kernel, "is for", known);
}

LogicalResult verifyLaunches(Operation *root) {
  bool hasFailed = false;
  SymbolTableCollection symbols;
  root->walk([&](Operation *op) {
    if (auto launch = dyn_cast<gpu::LaunchOp>(op))
      hasFailed |= failed(checkLaunch(launch, op));
    else if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
      hasFailed |= failed(checkLaunch(launch, symbols));
    else if (auto function = dyn_cast<FunctionOpInterface>(op);
             function && isKernel(op))
      hasFailed |= failed(checkKernel(function));
  });
  return failure(hasFailed);
}

} // namespace mlir::workgroup
