//===- HoistAllocs.cpp - Hoist workgroup allocations ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Workgroup memory is static: one buffer per block for every allocation op. An
// allocation that runs repeatedly therefore hands out the same bytes each time,
// which is right as long as no two of its activations live together; where that
// is not plain to see the pass refuses.
//
// Collect finds the allocations, decide computes for each the buffer that
// replaces it, apply creates the buffers and reroutes the uses.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Memory/BufferLiveness.h"
#include "BufferEscape.h"
#include "BufferMeetings.h"
#include "Support/Remarks.h"
#include "Transforms/Utils/BufferAlignment.h"
#include "Transforms/Utils/BufferTypes.h"
#include "Transforms/Utils/ConservativeBarriers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Analysis/Uniformity.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Transforms/Memory.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_HOISTALLOCSPASS
#include "workgroup/Transforms/Memory.h.inc"

namespace {

/// An allocation and the buffer that will replace it.
struct HoistedAlloc {
  Operation *op;
  /// The kernel or device function that it stands in.
  Operation *scope;
  /// The buffer, contiguous: of the allocation's own type if that is
  /// contiguous, else one-dimensional and as large as the layout spans.
  MemRefType bufferType;
  /// Alignment in bytes; 0 leaves it to the element type.
  int64_t alignment = 0;
  /// Runs more than once per execution of the kernel.
  bool isRepeated = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

static bool isWorkgroupAllocation(Operation *op) {
  return isa<memref::AllocOp, memref::AllocaOp>(op) &&
         isWorkgroupMemory(op->getResult(0).getType());
}

/// The kernels and device functions inside `root` whose buffers can be placed.
/// A function outside of any `gpu.module` that a kernel calls is none of them:
/// outlining will copy it into one.
static SmallVector<Operation *> collectScopes(Operation *root) {
  SmallVector<std::pair<CallOpInterface, FunctionOpInterface>> calls;
  SmallVector<Operation *> scopes = collectDeviceScopes(root, &calls);
  DenseSet<Operation *> called;
  for (auto [call, callee] : calls)
    called.insert(callee);
  llvm::erase_if(scopes, [&](Operation *scope) {
    return called.contains(scope) &&
           !scope->getParentOfType<gpu::GPUModuleOp>();
  });
  return scopes;
}

static SmallVector<HoistedAlloc> collectAllocs(ArrayRef<Operation *> scopes) {
  SmallVector<HoistedAlloc> allocs;
  for (Operation *scope : scopes)
    scope->walk([&](Operation *op) {
      if (isWorkgroupAllocation(op))
        allocs.push_back({op, scope, {}});
    });
  return allocs;
}

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// Says why `op` has no constant span.
static LogicalResult emitSpanError(Operation *op) {
  auto type = cast<MemRefType>(op->getResult(0).getType());
  InFlightDiagnostic error = op->emitOpError("in workgroup memory has ");
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return error << "a layout that is not strided; normalize its layout map, "
                    "or give it a strided layout";
  if (type.hasStaticShape() && !ShapedType::isDynamic(offset) &&
      llvm::none_of(strides, ShapedType::isDynamic))
    return error << "more elements, or elements before its start, than any "
                    "buffer can have; shrink its extents and strides";
  return error
         << "a dynamic size without a constant upper bound; bound its "
            "extents, for example by affine.min with a constant, and make "
            "its strides and offset constant";
}

static LogicalResult decide(HoistedAlloc &alloc,
                            const HoistAllocsOptions &options,
                            const DenseSet<Operation *> &recursive,
                            DominanceInfo &dominance) {
  Operation *op = alloc.op;
  if (recursive.contains(alloc.scope))
    return op->emitOpError("in workgroup memory is inside recursive function '")
           << getScopeName(alloc.scope)
           << "'; its activations cannot share one buffer, so allocate it in "
              "the kernel and pass it on";
  alloc.isRepeated = isInLoop(op, alloc.scope) || !isKernel(alloc.scope);
  if (alloc.isRepeated)
    if (Operation *escape = findEscape(op, dominance))
      return emitEscapeError(op, escape, "workgroup");
  std::optional<int64_t> span = getBufferSpan(op);
  if (!span)
    return emitSpanError(op);
  alloc.bufferType = getBufferType(op, *span);
  Value buffer = op->getResult(0);
  alloc.alignment = std::max({getStatedAlignment(buffer),
                              getNaturalAlignment(alloc.bufferType, op),
                              getNeededAlignment(buffer)});
  if (!isa<gpu::LaunchOp>(alloc.scope))
    alloc.alignment = std::max(alloc.alignment, options.defaultAlignment);
  return success();
}

/// The reason why the buffer cannot be made by a pass that runs on `root`;
/// empty if it can.
static StringRef getObstacle(const HoistedAlloc &alloc, Operation *root) {
  if (isa<gpu::LaunchOp>(alloc.scope))
    return alloc.alignment > getNaturalAlignment(alloc.bufferType, alloc.scope)
               ? "a buffer of gpu.launch cannot carry its alignment; it can be "
                 "hoisted once the kernel is outlined"
               : "";
  if (isa<gpu::GPUFuncOp>(alloc.scope))
    return "";
  Operation *table = SymbolTable::getNearestSymbolTable(alloc.scope);
  return root->isAncestor(table)
             ? ""
             : "its module is outside of the operation that the pass runs on";
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

/// Creates the buffer; the value stands for it at the allocation.
static Value createBuffer(const HoistedAlloc &alloc, RewriterBase &rewriter,
                          SymbolTableCollection &symbols) {
  Location loc = alloc.op->getLoc();
  if (auto launch = dyn_cast<gpu::LaunchOp>(alloc.scope))
    return launch.addWorkgroupAttribution(alloc.bufferType, loc);
  if (auto function = dyn_cast<gpu::GPUFuncOp>(alloc.scope)) {
    Value buffer = function.addWorkgroupAttribution(alloc.bufferType, loc);
    raiseAlignment(buffer, alloc.alignment);
    return buffer;
  }
  OpBuilder detached(loc.getContext()); // the table inserts it, renamed
  auto global = memref::GlobalOp::create(
      detached, loc, (getScopeName(alloc.scope) + "_buffer").str(),
      rewriter.getStringAttr("private"), alloc.bufferType,
      /*initial_value=*/rewriter.getUnitAttr(), /*constant=*/false,
      rewriter.getI64IntegerAttr(alloc.alignment));
  Operation *table = SymbolTable::getNearestSymbolTable(alloc.scope);
  symbols.getSymbolTable(table).insert(global, alloc.scope->getIterator());
  return memref::GetGlobalOp::create(rewriter, loc, alloc.bufferType,
                                     global.getSymName());
}

static void hoist(const HoistedAlloc &alloc, RewriterBase &rewriter,
                  SymbolTableCollection &symbols) {
  Operation *op = alloc.op;
  rewriter.setInsertionPoint(op);
  Value buffer = createBuffer(alloc, rewriter, symbols);
  Value view = createViewOfType(rewriter, op, buffer);
  auto remark = recordRemark(RemarkId::HoistAllocs_Hoisted, op);
  remark << "workgroup buffer hoisted"
         << remark::metric("Alignment", alloc.alignment);
  if (std::optional<int64_t> bytes = getElementBytes(alloc.bufferType, op))
    remark << remark::metric("Bytes",
                             alloc.bufferType.getNumElements() * *bytes);
  replaceBuffer(rewriter, op->getResult(0), view);
  rewriter.eraseOp(op);
}

namespace {

/// Finds where barriers keep apart what iterations do with one buffer: the last
/// one's readers have to be done before it is filled again.
class IterationBarriers {
public:
  explicit IterationBarriers(Operation *root) : uniformity(root) {}

  /// The operation before which `alloc` needs a barrier; null if it needs none.
  /// Fails, and says why, if it needs one where none can stand.
  FailureOr<Operation *> find(const HoistedAlloc &alloc);

private:
  Operation *findPointBefore(const HoistedAlloc &alloc);
  std::optional<BufferMeeting> findMeeting(const HoistedAlloc &alloc);

  UniformityAnalysis uniformity;
  /// Of the kernels with allocations in divergent code.
  DenseMap<Operation *, std::unique_ptr<BufferLiveness>> liveness;
  DenseMap<Operation *, std::unique_ptr<BufferMeetings>> meetings;
};

} // namespace

/// The operation before which all threads of the block are together before they
/// get to `alloc` in the same iteration; null if there is none.
Operation *IterationBarriers::findPointBefore(const HoistedAlloc &alloc) {
  std::unique_ptr<BufferLiveness> &ofScope = liveness[alloc.scope];
  if (!ofScope)
    ofScope = std::make_unique<BufferLiveness>(alloc.scope, &uniformity);
  BufferUses uses;
  uses.ops.insert(alloc.op);
  BufferLife life = ofScope->getLife(uses, alloc.op);
  return ofScope->isWithinIteration(life, alloc.op) ? life.begin : nullptr;
}

std::optional<BufferMeeting>
IterationBarriers::findMeeting(const HoistedAlloc &alloc) {
  std::unique_ptr<BufferMeetings> &ofScope = meetings[alloc.scope];
  if (!ofScope)
    ofScope = std::make_unique<BufferMeetings>(alloc.scope);
  return ofScope->find(alloc.op->getResult(0));
}

FailureOr<Operation *> IterationBarriers::find(const HoistedAlloc &alloc) {
  std::optional<Divergence> why = uniformity.getDivergence(alloc.op);
  if (!why)
    return alloc.op->getNextNode();
  if (Operation *before = findPointBefore(alloc))
    return before;
  std::optional<BufferMeeting> meeting;
  if (isKernel(alloc.scope)) {
    meeting = findMeeting(alloc);
    if (!meeting)
      return nullptr;
  }
  InFlightDiagnostic error = alloc.op->emitOpError(
      "cannot synchronize the uses of this workgroup buffer in consecutive "
      "iterations: not all threads of the block get here together; allocate it "
      "outside of the divergent code and place the barriers by hand");
  why->explain(error);
  if (meeting)
    meeting->explain(error);
  return error;
}

/// Puts the barriers that repeated allocations need.
static LogicalResult insertBarriers(ArrayRef<HoistedAlloc> allocs,
                                    Operation *root, RewriterBase &rewriter) {
  IterationBarriers barriers(root);
  SmallVector<std::pair<Operation *, Operation *>> found;
  for (const HoistedAlloc &alloc : allocs) {
    if (!alloc.isRepeated || getBlockShape(alloc.scope).isSingleThread())
      continue;
    FailureOr<Operation *> before = barriers.find(alloc);
    if (failed(before))
      return failure();
    if (*before)
      found.emplace_back(alloc.op, *before);
  }
  for (auto [op, before] : found)
    if (insertBarrierBefore(rewriter, before))
      recordRemark(RemarkId::HoistAllocs_InsertedBarrier, op)
          << "barrier before the buffer is used again";
  return success();
}

/// Erases deallocations of workgroup memory, which is static now.
static void eraseDeallocs(ArrayRef<Operation *> scopes,
                          RewriterBase &rewriter) {
  SmallVector<memref::DeallocOp> deallocs;
  for (Operation *scope : scopes)
    scope->walk([&](memref::DeallocOp dealloc) {
      Operation *root = getRootBuffer(dealloc.getMemref()).getDefiningOp();
      bool isLeft = root && isWorkgroupAllocation(root);
      if (isWorkgroupMemory(dealloc.getMemref().getType()) && !isLeft)
        deallocs.push_back(dealloc);
    });
  for (memref::DeallocOp dealloc : deallocs)
    rewriter.eraseOp(dealloc);
}

/// True if `symbol`, on the host, is of use to kernels only: it needs workgroup
/// memory, or threads.
static bool isOfKernels(Operation *symbol) {
  if (auto global = dyn_cast<memref::GlobalOp>(symbol))
    return isWorkgroupMemory(global.getType());
  auto function = dyn_cast<FunctionOpInterface>(symbol);
  if (function && isDeviceFunction(function))
    return true;
  bool needs = false, launches = false;
  symbol->walk([&](Operation *op) {
    launches |= isa<gpu::LaunchOp, gpu::LaunchFuncOp>(op);
    needs |= isWorkgroupAllocation(op) ||
             (isa<memref::GetGlobalOp>(op) &&
              isWorkgroupMemory(op->getResult(0).getType()));
  });
  return needs && !launches;
}

/// True if outlining has made `copy` from `symbol`.
static bool isCopyOf(Operation *copy, Operation *symbol) {
  if (!copy || copy->getName() != symbol->getName())
    return false;
  if (auto global = dyn_cast<memref::GlobalOp>(symbol)) {
    // The copy may be respelled by now.
    Attribute space = getWorkgroupSpace(copy->getContext());
    return withMemorySpace(cast<memref::GlobalOp>(copy).getType(), space) ==
           withMemorySpace(global.getType(), space);
  }
  auto function = dyn_cast<FunctionOpInterface>(symbol);
  return function && cast<FunctionOpInterface>(copy).getFunctionType() ==
                         function.getFunctionType();
}

/// Erases what outlining has copied into a `gpu.module` and left on the host,
/// where nothing uses it and nothing could.
static void eraseHostLeftovers(Operation *root, RewriterBase &rewriter) {
  auto module = dyn_cast<ModuleOp>(root);
  if (!module)
    return;
  auto kernelModules = llvm::to_vector(module.getOps<gpu::GPUModuleOp>());
  SmallVector<SymbolOpInterface> candidates;
  for (auto symbol : module.getOps<SymbolOpInterface>())
    if (llvm::any_of(kernelModules, [&](gpu::GPUModuleOp kernels) {
          return isCopyOf(kernels.lookupSymbol(symbol.getNameAttr()), symbol);
        }))
      if (isOfKernels(symbol))
        candidates.push_back(symbol);
  for (bool changed = true; changed;) { // a function may be used by another one
    changed = false;
    llvm::erase_if(candidates, [&](SymbolOpInterface symbol) {
      if (!SymbolTable::symbolKnownUseEmpty(symbol, module))
        return false;
      rewriter.eraseOp(symbol);
      changed = true;
      return true;
    });
  }
}

LogicalResult hoistAllocs(Operation *root, const HoistAllocsOptions &options) {
  IRRewriter rewriter(root->getContext());
  // First of all: a function that nobody calls any more proves nothing.
  eraseHostLeftovers(root, rewriter);
  SmallVector<Operation *> scopes = collectScopes(root);
  SmallVector<HoistedAlloc> allocs = collectAllocs(scopes);
  DenseSet<Operation *> recursive;
  if (!allocs.empty())
    recursive = findRecursiveFunctions(root);
  DominanceInfo dominance;
  bool hasFailed = false;
  for (HoistedAlloc &alloc : allocs)
    hasFailed |= failed(decide(alloc, options, recursive, dominance));
  if (hasFailed)
    return failure();
  llvm::erase_if(allocs, [&](const HoistedAlloc &alloc) {
    StringRef why = getObstacle(alloc, root);
    if (!why.empty())
      recordRemark(RemarkId::HoistAllocs_NotHoisted, alloc.op)
          << remark::reason("{0}", why.str());
    return !why.empty();
  });

  if (options.insertBarriers && failed(insertBarriers(allocs, root, rewriter)))
    return failure();
  SymbolTableCollection symbols;
  for (const HoistedAlloc &alloc : allocs)
    hoist(alloc, rewriter, symbols);
  eraseDeallocs(scopes, rewriter);
  for (Operation *scope : scopes)
    normalizeAttributions(rewriter, scope, options.defaultAlignment);
  normalizeGlobals(rewriter, root, options.defaultAlignment);
  return success();
}

namespace {
struct HoistAllocsPass final : impl::HoistAllocsPassBase<HoistAllocsPass> {
  using HoistAllocsPassBase::HoistAllocsPassBase;

  void runOnOperation() override {
    constexpr int64_t kMaxAlignment = int64_t(1) << 16;
    if (!llvm::isPowerOf2_64(defaultAlignment) ||
        defaultAlignment > kMaxAlignment) {
      emitError(getOperation()->getLoc())
          << "default-alignment must be a power of two up to 65536, not "
          << defaultAlignment.getValue();
      return signalPassFailure();
    }
    if (failed(mapMemorySpaces(getOperation(), fromSpaces)) ||
        failed(hoistAllocs(getOperation(), {defaultAlignment, insertBarriers})))
      signalPassFailure();
  }
};
} // namespace

} // namespace mlir::workgroup
