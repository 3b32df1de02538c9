//===- VerifyKernels.cpp - Reject kernels that would be miscompiled -------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per thing that upstream's lowering to NVVM gets wrong without a
// message, or with one that does not name the op. The numbers B1 to B13 are
// those of docs/verification.md, which shows each of them.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Program/OpEffects.h"
#include "KernelChecks.h"
#include "Support/Remarks.h"
#include "Target/OperationNeeds.h"
#include "Transforms/Checks/NestedLaunches.h"
#include "Transforms/NVVM/MatrixElementwise.h"
#include "Transforms/Sync/InlinedProgram.h"
#include "Transforms/Sync/KernelSync.h"
#include "WarpGroups.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/Transforms/ParallelLoopMapper.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/RegionUtils.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Analysis/ArgumentAliases.h"
#include "workgroup/Analysis/Uniformity.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/Chip.h"
#include "workgroup/Transforms/ProgramChecks.h"
#include "workgroup/Transforms/Sync.h"
#include "workgroup/Transforms/Verify.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_VERIFYKERNELSPASS
#include "workgroup/Transforms/Verify.h.inc"

namespace {

class KernelVerifier {
public:
  KernelVerifier(ModuleOp module, const VerifyKernelsOptions &options,
                 std::vector<MemoryShortage> &shortages)
      : module(module), options(options), shortages(shortages),
        arguments(module, options.assumeDistinctArguments),
        uniformity(module, UniformityUnit::Block, &arguments) {}

  LogicalResult verify();

private:
  void verifyOp(Operation *op);
  void verifyAllocation(Operation *op);
  void verifyLaunch(gpu::LaunchOp launch);
  void verifyFunction(gpu::GPUFuncOp function);
  void verifyBuffers(Operation *scope);
  void verifyReturn(Operation *op);
  void verifyMapping(Operation *op, ArrayAttr mapping);
  void verifyBarrier(Operation *op);
  void verifyGroupProduct(Operation *op);
  bool isReachedTogether(Operation *barrier);
  void verifyCopy(Operation *op);
  void verifyStrides(Operation *op);
  void verifyGlobals();
  void verifyExtent(memref::GetGlobalOp get);

  InFlightDiagnostic error(Operation *op, const Twine &message) {
    hasFailed = true;
    return op->emitOpError(message);
  }

  ModuleOp module;
  const VerifyKernelsOptions &options;
  std::vector<MemoryShortage> &shortages;
  ArgumentAliases arguments;
  UniformityAnalysis uniformity;
  /// The kernels that were asked for, with the barriers that all threads of the
  /// block reach together.
  DenseMap<Operation *, DenseSet<Operation *>> reached;
  bool hasFailed = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// B1, B2: workgroup memory that nobody has placed
//===----------------------------------------------------------------------===//

void KernelVerifier::verifyAllocation(Operation *op) {
  if (isa<memref::DeallocOp>(op)) {
    if (isWorkgroupMemory(op->getOperand(0).getType()))
      error(op, "of workgroup memory, which is static; workgroup-hoist-allocs "
                "erases it");
    return;
  }
  if (llvm::none_of(op->getResultTypes(), isWorkgroupMemory))
    return;
  if (isa<memref::ReallocOp, gpu::AllocOp>(op))
    error(op, "in workgroup memory, which is static; allocate by memref.alloc "
              "a buffer that is large enough for all uses");
  else if (isInDeviceCode(op))
    error(op, "in workgroup memory was not hoisted; run workgroup-hoist-allocs "
              "after gpu-kernel-outlining");
  else
    error(op,
          "in workgroup memory was not hoisted and stands in host code; run "
          "workgroup-sink-allocs before gpu-kernel-outlining, or make its "
          "function private if only kernels call it");
}

void KernelVerifier::verifyLaunch(gpu::LaunchOp launch) {
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(launch.getBody(), captured);
  for (Value value : captured) {
    if (!isWorkgroupMemory(value.getType()))
      continue;
    // An allocation is reported where it stands.
    Operation *root = getRootBuffer(value).getDefiningOp();
    if (!isa_and_nonnull<memref::AllocOp, memref::AllocaOp, gpu::AllocOp>(root))
      error(launch, "uses workgroup memory of the host; allocate it in the "
                    "kernel, or next to the launch and run "
                    "workgroup-sink-allocs");
  }
}

void KernelVerifier::verifyFunction(gpu::GPUFuncOp function) {
  if (function.isKernel())
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
      if (isWorkgroupMemory(type))
        error(function, "is a kernel with workgroup memory as argument ")
            << i
            << ", which no launch can pass; run workgroup-sink-allocs, or make "
               "it a workgroup attribution";
}

/// Upstream's bare pointer of what `memref.get_global` gives is the one to
/// free, which a global has none of (0xdeadbeef stands for it).
void KernelVerifier::verifyReturn(Operation *op) {
  if (!op->hasTrait<OpTrait::ReturnLike>() ||
      !isa_and_nonnull<FunctionOpInterface>(op->getParentOp()) ||
      !isInDeviceCode(op))
    return;
  for (Value operand : op->getOperands())
    if (isa<BaseMemRefType>(operand.getType()) &&
        isa_and_nonnull<memref::GetGlobalOp>(
            getRootBuffer(operand).getDefiningOp()))
      error(op, "returns a global, whose address the lowering would lose; take "
                "it by memref.get_global in the caller");
}

void KernelVerifier::verifyBuffers(Operation *scope) {
  if (failed(verifyAttributions(scope))) {
    hasFailed = true;
    return;
  }
  if (auto function = dyn_cast<gpu::GPUFuncOp>(scope))
    for (BlockArgument buffer : function.getWorkgroupAttributions())
      hasFailed |= failed(verifyBufferAlignment(buffer, function, options));
}

//===----------------------------------------------------------------------===//
// B3, B4: parallel loops that nobody has distributed
//===----------------------------------------------------------------------===//

/// True if `op` maps to lanes more iterations than a warp has; `count` is
/// theirs.
static bool overflowsLanes(scf::ForallOp op, int64_t &count) {
  if (llvm::none_of(*op.getMapping(), llvm::IsaPred<gpu::GPULaneMappingAttr>))
    return false;
  count = 1;
  for (auto [lower, upper, step] :
       llvm::zip_equal(op.getMixedLowerBound(), op.getMixedUpperBound(),
                       op.getMixedStep())) {
    std::optional<int64_t> from = getConstantIntValue(lower),
                           to = getConstantIntValue(upper),
                           by = getConstantIntValue(step);
    if (!from || !to || !by || *by <= 0)
      return false;
    count *= std::max<int64_t>(llvm::divideCeilSigned(*to - *from, *by), 0);
  }
  return count > kWarpSize;
}

/// True if `mapping`, of one loop, is to a processor: `sequential` asks for a
/// loop.
static bool isProcessorMapping(Attribute mapping) {
  auto loop = dyn_cast<gpu::ParallelLoopDimMappingAttr>(mapping);
  return !loop || loop.getProcessor() != gpu::Processor::Sequential;
}

void KernelVerifier::verifyMapping(Operation *op, ArrayAttr mapping) {
  bool isMapped = mapping && llvm::any_of(mapping, isProcessorMapping);
  if (!isMapped)
    return;
  int64_t count;
  if (auto forall = dyn_cast<scf::ForallOp>(op);
      forall && overflowsLanes(forall, count)) {
    error(op, "maps ") << count
                       << " iterations to the 32 lanes of a warp, of which the "
                          "rest would never run; distribute it cyclically";
    return;
  }
  error(op, "is mapped to processors but was not distributed: every thread "
            "would run all of its iterations; resolve the mapping, for example "
            "by transform.gpu.map_nested_forall_to_threads");
}

//===----------------------------------------------------------------------===//
// B5: barriers in divergent control flow
//===----------------------------------------------------------------------===//

/// The barriers of `kernel` that all threads of the block are known to reach
/// together, as `workgroup-verify-sync` sees them.
static DenseSet<Operation *> findReached(ModuleOp module, Operation *kernel,
                                         const SyncOptions &options) {
  DenseSet<Operation *> reached;
  InlinedProgram program(module);
  Operation *scope = kernel;
  if (program.getRoot() != module) { // there are calls
    program.getRoot()->walk([&](Operation *op) {
      bool isCopy = op != kernel && program.getOriginal(op) == kernel;
      scope = isCopy ? op : scope;
    });
    program.inlineInto(scope);
  }
  SyncAnalyses analyses(program, options);
  KernelSync sync(scope, analyses);
  SyncTree tree = sync.makeTree(UniformityUnit::Block);
  if (!tree.getUnstructured())
    for (unsigned node : tree.getBarriers())
      reached.insert(program.getOriginal(tree.getBarrier(node)));
  return reached;
}

/// True if arithmetic, or where branches meet again, shows that all threads of
/// the block reach `barrier` together.
bool KernelVerifier::isReachedTogether(Operation *barrier) {
  Operation *scope = getExecutionScope(barrier);
  if (!isKernel(scope))
    return false;
  auto [known, isNew] = reached.try_emplace(scope);
  if (isNew)
    known->second =
        findReached(module, scope, {options.assumeDistinctArguments});
  return known->second.contains(barrier);
}

void KernelVerifier::verifyBarrier(Operation *op) {
  if (!options.verifyBarriers || !isBlockMeeting(op))
    return;
  Operation *scope = getExecutionScope(op);
  // Outside of any function nobody executes it. What is lowered to LLVM was
  // verified before; nothing is known of it now.
  if (!scope || getBlockShape(scope).isSingleThread() ||
      isa<LLVM::LLVMFuncOp>(scope))
    return;
  std::optional<Divergence> why = uniformity.getDivergence(op);
  if (!why || isReachedTogether(op))
    return;
  hasFailed = true;
  InFlightDiagnostic diagnostic =
      emitError(op->getLoc(), "barrier in divergent control flow: '")
      << op->getName()
      << "' is not known to be reached by all threads of the block together; "
         "move it to where all of them pass";
  why->explain(diagnostic);
}

/// A warp group multiplies together, with all of its threads.
void KernelVerifier::verifyGroupProduct(Operation *op) {
  if (!isa<GroupProductOp, AwaitProductsOp>(op) ||
      isOfWholeGroups(op, uniformity))
    return;
  BlockShape shape = getBlockShape(getExecutionScope(op));
  if (std::optional<int64_t> numThreads = shape.getNumThreads();
      numThreads && *numThreads % kWarpGroupThreads != 0)
    error(op,
          "needs blocks of whole warp groups, of 128 threads each, not of " +
              Twine(*numThreads) + " threads");
  std::optional<Divergence> why = uniformity.getDivergence(op);
  if (!why)
    return;
  hasFailed = true;
  InFlightDiagnostic diagnostic =
      op->emitOpError("is not known to be executed by all threads of the block "
                      "together; move it to where all of them pass");
  why->explain(diagnostic);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void KernelVerifier::verifyCopy(Operation *op) {
  auto copy = dyn_cast<linalg::CopyOp>(op);
  bool isCopy =
      isa<memref::CopyOp>(op) || (copy && copy.hasPureBufferSemantics());
  if (isCopy && isInDeviceCode(op))
    error(op, "in device code was not lowered; run workgroup-lower-copies");
  if (isa<RingOp>(op))
    error(op, "was not lowered; run workgroup-lower-rings");
  if (isa<GatherOp>(op))
    error(op, "was not lowered; run workgroup-lower-copies");
  if (isa<CopyOp>(op))
    error(op, "fills no tile of a ring; use memref.copy or linalg.copy");
}

//===----------------------------------------------------------------------===//
// B10: views that go backwards
//===----------------------------------------------------------------------===//

/// Addresses are computed as if no index, and no stride, were below zero: LLVM
/// drops what would be added to others.
void KernelVerifier::verifyStrides(Operation *op) {
  auto isNegative = [](int64_t stride) {
    return ShapedType::isStatic(stride) && stride < 0;
  };
  bool isBackwards = false;
  if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op))
    isBackwards = llvm::any_of(cast.getStaticStrides(), isNegative);
  else if (auto view = dyn_cast<memref::SubViewOp>(op))
    isBackwards = llvm::any_of(view.getStaticStrides(), isNegative);
  if (isBackwards && isInDeviceCode(op))
    error(op,
          "goes backwards through memory, which upstream's lowering of "
          "memrefs miscompiles; view it forwards, and turn the index round");
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

void KernelVerifier::verifyOp(Operation *op) {
  if (isa<memref::AllocOp, memref::AllocaOp, memref::ReallocOp, gpu::AllocOp,
          memref::DeallocOp>(op))
    return verifyAllocation(op);
  if (auto launch = dyn_cast<gpu::LaunchOp>(op)) {
    verifyLaunch(launch);
    return verifyBuffers(op);
  }
  if (auto function = dyn_cast<gpu::GPUFuncOp>(op)) {
    verifyFunction(function);
    return verifyBuffers(op);
  }
  if (auto forall = dyn_cast<scf::ForallOp>(op))
    return verifyMapping(op, forall.getMappingAttr());
  if (auto parallel = dyn_cast<scf::ParallelOp>(op))
    return verifyMapping(
        op, parallel->getAttrOfType<ArrayAttr>(gpu::getMappingAttrName()));
  if (auto get = dyn_cast<memref::GetGlobalOp>(op)) {
    if (isInDeviceCode(op)) {
      verifyExtent(get);
      hasFailed |= failed(verifyBufferAlignment(get, op, options));
    }
    return;
  }
  hasFailed |= failed(verifyAccessAlignment(op, options));
  verifyBarrier(op);
  verifyGroupProduct(op);
  verifyCopy(op);
  if (isInDeviceCode(op))
    hasFailed |= failed(verifyElementTypes(op));
  verifyStrides(op);
  verifyReturn(op);
  hasFailed |= failed(verifyMatrixElementwise(op));
}

//===----------------------------------------------------------------------===//
// Globals
//===----------------------------------------------------------------------===//

/// True if `kernels` does nothing with `global` but load from it.
static bool isOnlyLoaded(memref::GlobalOp global, gpu::GPUModuleOp kernels) {
  WalkResult result = kernels.walk([&](memref::GetGlobalOp get) {
    bool isLoaded =
        get.getName() != global.getSymName() ||
        llvm::all_of(
            get->getUsers(),
            llvm::IsaPred<memref::LoadOp, vector::LoadOp, memref::DimOp>);
    return isLoaded ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

/// LLVM places a variable of no bytes among the others, as if it had one.
void KernelVerifier::verifyExtent(memref::GetGlobalOp get) {
  auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
      get, get.getNameAttr());
  if (global && isWorkgroupMemory(get.getType()) &&
      get.getType().hasStaticShape() && get.getType().getNumElements() == 0 &&
      !global.isExternal() && !get->use_empty())
    error(get, "is a buffer without elements, next to which others begin; for "
               "dynamic memory leave out the initial value of its "
               "memref.global");
}

/// Outlining gives each kernel's module a copy of the globals that it uses.
void KernelVerifier::verifyGlobals() {
  llvm::MapVector<StringAttr, SmallVector<memref::GlobalOp, 1>> copies;
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    for (auto global : kernels.getOps<memref::GlobalOp>())
      if (!global.getConstant() && !isWorkgroupMemory(global.getType()) &&
          module.lookupSymbol<memref::GlobalOp>(global.getSymNameAttr()) &&
          !SymbolTable::symbolKnownUseEmpty(global, kernels))
        copies[global.getSymNameAttr()].push_back(global);
  for (auto &[name, globals] : copies) {
    auto original = module.lookupSymbol<memref::GlobalOp>(name);
    bool isHostsToo = !SymbolTable::symbolKnownUseEmpty(original, module);
    bool isOnlyRead =
        !isHostsToo && llvm::all_of(globals, [](memref::GlobalOp global) {
          return isOnlyLoaded(global,
                              cast<gpu::GPUModuleOp>(global->getParentOp()));
        });
    if (isOnlyRead || (globals.size() == 1 && !isHostsToo))
      continue;
    error(globals.front(), "is a variable of which each module of kernels, and "
                           "the host, would have one of its own; pass the "
                           "buffer as an argument, or make it constant");
  }
}

LogicalResult KernelVerifier::verify() {
  if (failed(checkNestedLaunches(module)))
    return failure();
  verifyGlobals();
  hasFailed |= failed(verifyProgram(module));
  module.walk([&](Operation *op) { verifyOp(op); });
  SmallVector<Operation *> scopes = collectDeviceScopes(module);
  for (Operation *scope : scopes)
    if (isKernel(scope))
      hasFailed |= failed(verifyMatrixOperands(scope, uniformity));
  hasFailed |=
      failed(verifyWorkgroupMemory(module, scopes, options, shortages));
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    hasFailed |= failed(verifyOperations(kernels));
  return failure(hasFailed);
}

LogicalResult verifyKernels(ModuleOp module,
                            const VerifyKernelsOptions &options,
                            std::vector<MemoryShortage> *shortages) {
  std::vector<MemoryShortage> unwanted;
  return KernelVerifier(module, options, shortages ? *shortages : unwanted)
      .verify();
}

namespace {
struct VerifyKernelsPass final
    : impl::VerifyKernelsPassBase<VerifyKernelsPass> {
  using VerifyKernelsPassBase::VerifyKernelsPassBase;

  void runOnOperation() override {
    if (maxStaticBytes < 0 || maxBytes < 0 ||
        !llvm::isPowerOf2_64(assumeBufferAlignment)) {
      emitError(getOperation()->getLoc())
          << "max-static-bytes and max-bytes must not be negative, and "
             "assume-buffer-alignment must be a power of two";
      return signalPassFailure();
    }
    if (failed(verifyKernels(getOperation(),
                             {verifyBarriers, maxStaticBytes, maxBytes,
                              assumeBufferAlignment, assumeDistinctArguments},
                             shortages)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }

  std::vector<MemoryShortage> *shortages = nullptr;
};
} // namespace

std::unique_ptr<Pass>
createVerifyKernelsPass(const VerifyKernelsOptions &options,
                        std::vector<MemoryShortage> *shortages) {
  auto pass = std::make_unique<VerifyKernelsPass>(VerifyKernelsPassOptions{
      options.verifyBarriers, options.maxStaticBytes, options.maxBytes,
      options.assumeBufferAlignment, options.assumeDistinctArguments});
  pass->shortages = shortages;
  return pass;
}

} // namespace mlir::workgroup
