//===- Transforms.h - The functions behind the passes -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a pass does, as a function that another project can call. Each touches
// nothing outside of the operation it is given. On failure it has emitted
// diagnostics, and the IR may only be discarded.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_H
#define WORKGROUP_TRANSFORMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::workgroup {

/// Respells memrefs inside `root` whose memory space is a number of another
/// system: each of `mappings` is `N:workgroup`, `N:private` or `N:global`. See
/// option `from-spaces` of pass `workgroup-sink-allocs`.
LogicalResult mapMemorySpaces(Operation *root, ArrayRef<std::string> mappings);

/// Moves workgroup and private allocations of host code inside `root` into the
/// kernels that use them. See pass `workgroup-sink-allocs`.
LogicalResult sinkAllocs(Operation *root);

/// Splits views inside `root` that upstream's passes crash on. See pass
/// `workgroup-split-views`.
void splitViews(Operation *root);

struct HoistAllocsOptions {
  /// Smallest alignment in bytes of buffers of a `gpu.func`.
  int64_t defaultAlignment = 16;
  /// Put a barrier where a loop allocates a buffer again.
  bool insertBarriers = false;
};

/// Turns workgroup allocations in device code inside `root` into buffers of
/// their kernel. See pass `workgroup-hoist-allocs`.
LogicalResult hoistAllocs(Operation *root,
                          const HoistAllocsOptions &options = {});

/// Who does what of the iterations of a loop: processor p of n. See pass
/// `workgroup-distribute-loops`.
enum class DistributionStrategy { Cyclic, Guarded, Exact, Block, BlockCyclic };

struct DistributeLoopsOptions {
  /// Of each dimension, the last one of all further ones; cyclic if empty.
  SmallVector<DistributionStrategy> strategies;
  /// What loops without a mapping go to, from the outermost on.
  SmallVector<std::string> levels;
  /// Numbers of function arguments, of each dimension.
  SmallVector<unsigned> ids, counts;
  /// Consecutive iterations of the block-cyclic strategy.
  int64_t chunk = 1;

  DistributionStrategy getStrategy(size_t dim) const {
    return strategies.empty()
               ? DistributionStrategy::Cyclic
               : strategies[std::min(dim, strategies.size() - 1)];
  }
};

/// Gives the iterations of parallel loops inside `root` to processors. See pass
/// `workgroup-distribute-loops`.
LogicalResult distributeLoops(Operation *root,
                              const DistributeLoopsOptions &options = {});

/// What is known of the program: see pass `workgroup-normalize-linalg`.
struct NormalizeLinalgOptions {
  bool keepAssertions = false;
  bool assumeDistinctArguments = false;
};

/// Brings linalg of the host in `module` into the form that schedules match.
/// See pass `workgroup-normalize-linalg`.
LogicalResult normalizeLinalg(ModuleOp module,
                              const NormalizeLinalgOptions &options = {});

/// Which chains of contractions become one kernel: see pass
/// `workgroup-form-kernels`.
struct FormKernelsOptions {
  /// Workgroup memory for the rows that a block keeps between contractions, and
  /// tiles of what it multiplies; 0 for a kernel of each contraction.
  int64_t chainBytes = 0;
  /// The least number of blocks that are worth it, if each has much to do.
  int64_t chainBlocks = 0;
};

/// Makes private functions, which become kernels, of the operations on tensors
/// in `module`. See pass `workgroup-form-kernels`.
LogicalResult formKernels(ModuleOp module,
                          const FormKernelsOptions &options = {});

/// Tiles of a kernel: see pass `workgroup-tile-kernel`.
struct TileKernelOptions {
  /// Iterations of each parallel loop that a block does; 0 for all.
  SmallVector<int64_t> block;
  /// Iterations of the loops over sums that are done at a time; 0 for all.
  SmallVector<int64_t> reduction;
  /// Iterations of each loop of the one reduction that a block does, if blocks
  /// share its sums; 0 for all.
  SmallVector<int64_t> split;
  /// Columns of the first of two chained contractions that are made at a time;
  /// 0 for all.
  int64_t columns = 0;
  /// Whether every user of an element-wise result computes it for itself.
  bool recompute = false;
};

/// Makes a loop over blocks of `function`, of which the operations are tiled.
LogicalResult tileKernel(func::FuncOp function,
                         const TileKernelOptions &options);

/// Puts the buffers of blocks inside `function` into workgroup memory. See pass
/// `workgroup-place-buffers`.
LogicalResult placeBuffers(func::FuncOp function);

/// Makes loops over threads of the operations of blocks inside `function`, for
/// blocks of `threads` threads. See pass `workgroup-map-to-threads`.
LogicalResult mapToThreads(func::FuncOp function, int64_t threads);

/// How loops over blocks become launches.
struct FormLaunchesOptions {
  /// Threads of a block along x, y and z; empty to take those that the loops
  /// over threads have.
  SmallVector<int64_t, 3> threads;
};

/// Makes launches of the loops over blocks on the host inside `root`. See pass
/// `workgroup-form-launches`.
LogicalResult formLaunches(Operation *root,
                           const FormLaunchesOptions &options = {});

/// Hoists copies in device code inside `root` out of loops that do not change
/// their sources. See pass `workgroup-hoist-copies`.
void hoistCopies(Operation *root);

/// What is wrong with `slots` as the number of slots of rings to be formed;
/// empty if nothing is.
std::string getSlotsObstacle(int64_t slots);

struct FormRingsOptions {
  /// How many slots a ring is to have, if the loop has as many turns and the
  /// memory suffices; no ring is formed for one.
  int64_t slots = 2;
  /// Largest number of bytes of workgroup memory of a kernel; 0 means that of
  /// the chip.
  int64_t maxBytes = 0;
  /// Different memref arguments of a kernel or host function do not overlap.
  bool assumeDistinctArguments = false;
  /// The chip to compile for; empty for that of the `gpu.module`'s target.
  std::string chip = "";
};

/// Makes the copies of loops in device code inside `root` rings. See pass
/// `workgroup-form-rings`.
LogicalResult formRings(Operation *root, const FormRingsOptions &options = {});

/// How copies from global to workgroup memory are done: by loads and stores, by
/// cp.async, by TMA, or by whichever of them chip and operands allow and is a
/// gain.
enum class CopyStrategy { Auto, Sync, CpAsync, TMA };

struct LowerCopiesOptions {
  /// Surround copies done by the whole block by barriers.
  bool insertBarriers = true;
  /// Alignment in bytes that memref arguments may be assumed to have.
  int64_t assumeAlignment = 1;
  /// Different memref arguments of a kernel or host function do not overlap.
  bool assumeDistinctArguments = false;
  /// Accesses per thread up to which a copy becomes straight-line code.
  int64_t unrollLimit = 8;
  /// Widest access in bytes.
  int64_t vectorBytes = 16;
  CopyStrategy strategy = CopyStrategy::Auto;
  /// Whether what is copied by cp.async does not stay in the L1 cache.
  bool bypassL1 = true;
  /// The chip to compile for; empty for that of the `gpu.module`'s target.
  std::string chip = "";
  /// Whether a copy that cannot be lowered is an error, or stays.
  bool isStrict = true;
  /// Threads of a block along x, y and z that kernels shall be launched with if
  /// they do not say themselves; empty if that is not known.
  SmallVector<int64_t> blockSize = {};
};

/// Lowers copies in device code inside `root` to loads and stores. See pass
/// `workgroup-lower-copies`.
LogicalResult lowerCopies(Operation *root,
                          const LowerCopiesOptions &options = {});

struct StageOperandsOptions {
  /// Rows and columns of the result for each thread; empty for no choice.
  SmallVector<int64_t> thread = {};
  /// Largest number of bytes of workgroup memory for the tiles of a
  /// contraction; 0 for that of the chip.
  int64_t maxBytes = 0;
  /// The chip to compile for; empty for that of the `gpu.module`'s target.
  std::string chip = "";
  /// Different memref arguments of a function do not overlap.
  bool assumeDistinctArguments = false;
};

/// Copies operands of contractions of blocks inside `root` to workgroup memory.
/// See pass `workgroup-stage-operands`.
LogicalResult stageOperands(Operation *root,
                            const StageOperandsOptions &options = {});

/// Shares out contractions of tiles in device code inside `root` to threads.
/// `assumeAlignment` is the alignment in bytes that memref arguments have. See
/// pass `workgroup-lower-contractions`.
LogicalResult lowerContractions(Operation *root, int64_t assumeAlignment = 1);

/// Lowers `gpu.dynamic_shared_memory` in the `gpu.module`s inside `root` to an
/// extern symbol. See pass `workgroup-lower-dynamic-memory`.
void lowerDynamicMemory(Operation *root);

/// How the copies of a ring run ahead: by cp.async where chip and operands
/// allow, through registers, or by TMA.
enum class RingEngine { Auto, Registers, CpAsync, TMA };

struct LowerRingsOptions {
  RingEngine engine = RingEngine::Auto;
  /// Of the copies; barriers are no choice here.
  LowerCopiesOptions copies;
};

/// Lowers the rings in device code inside `root`. See pass
/// `workgroup-lower-rings`.
LogicalResult lowerRings(Operation *root,
                         const LowerRingsOptions &options = {});

/// Where workgroup buffers with disjoint lives share bytes.
enum class Reuse { Always, Auto, Never };

/// When workgroup memory is dynamic: sized by the launch.
enum class DynamicMemory { Auto, Always, Never };

struct PackMemoryOptions {
  Reuse reuse = Reuse::Always;
  DynamicMemory dynamic = DynamicMemory::Auto;
  /// Largest number of bytes of static workgroup memory of a kernel.
  int64_t maxStaticBytes = 49152;
  /// Largest number of bytes of workgroup memory of a kernel; 0 means that of
  /// the chip.
  int64_t maxBytes = 0;
  /// Smallest alignment in bytes of a buffer in the arena.
  int64_t alignment = 16;
  /// Put barriers between lives that share bytes.
  bool insertBarriers = true;
  /// The chip to compile for; empty means the target of the `gpu.module`.
  std::string chip;
};

/// Where a workgroup buffer of a kernel has its bytes.
struct BufferPlacement {
  Location loc;
  /// The type of the buffer; null for what the lowering of an operation takes.
  MemRefType type;
  /// Nothing if only the launch knows.
  std::optional<int64_t> bytes;
  int64_t alignment;
  /// In bytes from the start of the memory that the buffers are packed into;
  /// nothing for a variable of its own.
  std::optional<int64_t> offset;
  /// Whether other buffers have some of the bytes before or after it.
  bool isShared = false;
};

/// The workgroup memory of a kernel.
struct MemoryPlacement {
  std::string kernel;
  /// What launches have to ask for does not include buffers of sizes that only
  /// they know.
  int64_t staticBytes = 0, dynamicBytes = 0;
  /// What a block of the chip can have in all.
  int64_t maxBytes = 0;
  /// Whether the memory that buffers are packed into is dynamic.
  bool isPackedDynamic = false;
  std::vector<BufferPlacement> buffers;
};

/// Packs the workgroup buffers of all kernels of `module`. See pass
/// `workgroup-pack-memory`. Appends the memory of each kernel to `placements`
/// if given.
LogicalResult packMemory(ModuleOp module, const PackMemoryOptions &options = {},
                         std::vector<MemoryPlacement> *placements = nullptr);

/// When rows of workgroup buffers are swizzled.
enum class Swizzle { Always, Auto };

struct ResolveBankConflictsOptions {
  /// Whether wavefronts alone count, or the arithmetic of a swizzle as well.
  Swizzle swizzle = Swizzle::Always;
  /// Workgroup memory in bytes that a kernel may have when its rows are padded;
  /// 0 means what static memory can have.
  int64_t maxBytes = 0;
  /// The chip of kernels without a target.
  std::string chip;
};

/// Gives workgroup buffers in device code inside `root` layouts with fewer bank
/// conflicts. See pass `workgroup-resolve-bank-conflicts`.
LogicalResult
resolveBankConflicts(Operation *root,
                     const ResolveBankConflictsOptions &options = {});

struct VerifyKernelsOptions {
  /// Reject barriers in divergent control flow.
  bool verifyBarriers = true;
  /// Largest number of bytes of static workgroup memory of a kernel.
  int64_t maxStaticBytes = 49152;
  /// Largest number of bytes of workgroup memory of a kernel, static and
  /// dynamic; 0 means that of the chip.
  int64_t maxBytes = 0;
  /// Alignment in bytes that a later pass will give every static buffer.
  int64_t assumeBufferAlignment = 1;
  /// Different arguments of a kernel are different memory.
  bool assumeDistinctArguments = false;
};

/// Rejects what the lowering to NVVM would miscompile. See pass
/// `workgroup-verify-kernels`.
LogicalResult verifyKernels(ModuleOp module,
                            const VerifyKernelsOptions &options = {});

/// Gives every `gpu.module` of `module` a `#nvvm.target` for `chip`. See pass
/// `workgroup-attach-target`.
LogicalResult attachTarget(ModuleOp module, StringRef chip);

/// A part of an original argument of a flattened kernel.
struct ArgumentPart {
  enum class Kind {
    /// The argument itself: a scalar or a vector.
    Value,
    /// The start of the argument's buffer.
    Pointer,
    /// The extent of the argument along `dim`.
    Extent,
    /// The stride of the argument along `dim`, in elements.
    Stride,
    /// The distance of the argument's first element from the start of its
    /// buffer, in elements.
    Offset,
    /// The argument itself, a tensor map: 128 bytes, passed by value.
    TensorMap,
  };
  Kind kind;
  /// Index among the original arguments.
  unsigned argument;
  /// Dimension of an extent or stride, else 0.
  unsigned dim = 0;
};

/// A parameter of a flattened kernel: the parts that it stands for. There are
/// several if all launches pass the same value for them.
using KernelParameter = SmallVector<ArgumentPart, 1>;

/// The interface of a kernel before and after its arguments were flattened.
struct KernelSignature {
  std::string name;
  SmallVector<Type> arguments;
  SmallVector<KernelParameter> parameters;
  /// The sizes that every launch has to have, if the kernel tells them.
  std::optional<std::array<int64_t, 3>> knownBlock, knownGrid;
  /// Bytes of dynamic workgroup memory that the kernel is known to need.
  int64_t dynamicBytes = 0;
};

/// Flattens the arguments of all kernels of `module` and makes their names
/// unique. Appends the signature of each kernel to `signatures` if given. See
/// pass `workgroup-flatten-kernel-arguments`.
LogicalResult
flattenKernelArguments(ModuleOp module,
                       SmallVectorImpl<KernelSignature> *signatures = nullptr);

//===----------------------------------------------------------------------===//
// Synchronisation
//===----------------------------------------------------------------------===//

struct SyncOptions {
  /// Different memref arguments of a kernel or host function do not overlap.
  bool assumeDistinctArguments = false;
  /// What is not known to be free of races is an error.
  bool isStrict = false;
  /// Insertion warns of what may race and no barrier can order.
  bool warns = true;
  /// Insertion fails where no barrier can order; otherwise it only warns.
  bool refuses = true;
  /// Insertion may use barriers of a part of the block's warps.
  bool hasNamedBarriers = false;
};

/// What is known of the synchronisation of a kernel; the graver, the larger.
enum class SyncVerdict { Safe, Maybe, Race, Unfixable, Divergent };

/// Something that is wrong with it.
struct SyncFinding {
  SyncVerdict verdict = SyncVerdict::Maybe;
  /// An operation, by its name, and where it stands.
  struct Place {
    std::string op;
    LocationAttr location;
  };
  /// Where it is wrong, and the other access if there is one. The operations
  /// may be copies of those of the program, in place of calls.
  Place at;
  std::optional<Place> other;
  std::string message;
  SmallVector<std::pair<LocationAttr, std::string>, 1> notes;
  /// Two threads for which it happens, by their ids: that of `other` first, or
  /// that which gets to a barrier. Empty if none are known.
  SmallVector<std::array<int64_t, 3>, 2> threads;
  /// The blocks that those are of, if they are of different ones.
  SmallVector<std::array<int64_t, 3>, 2> blocks;
  /// Where they meet, in bytes from where the buffer begins or, if its strides
  /// are not constants, as indices.
  SmallVector<int64_t, 1> place;
};

struct SyncReport {
  std::string kernel;
  LocationAttr location;
  SyncVerdict verdict = SyncVerdict::Safe;
  std::vector<SyncFinding> findings;
};

/// Tells kernels inside `root` the sizes of blocks and grids that all of their
/// launches inside `root` have, and functions those that all have who call
/// them. See pass `workgroup-infer-launch-sizes`.
void inferLaunchSizes(Operation *root);

/// Inserts the fewest barriers that order what different threads do in the
/// kernels inside `root`. Fails, with a diagnostic, where none can.
LogicalResult insertBarriers(Operation *root, const SyncOptions &options = {});

/// Removes barriers that order nothing which others do not order.
void eliminateBarriers(Operation *root, const SyncOptions &options = {});

/// Reports accesses that nothing orders: by diagnostics and, if it is given, in
/// `reports`, one for each kernel and each function that no kernel calls. Fails
/// if there are some for sure.
LogicalResult verifySync(Operation *root, const SyncOptions &options = {},
                         std::vector<SyncReport> *reports = nullptr);

} // namespace mlir::workgroup

#endif // WORKGROUP_TRANSFORMS_H
