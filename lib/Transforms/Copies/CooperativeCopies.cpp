//===- CooperativeCopies.cpp - Copies by the whole block ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CooperativeCopies.h"
#include "Support/Remarks.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Analysis/ArgumentAliases.h"
#include "workgroup/Analysis/Uniformity.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// The size of the block
//===----------------------------------------------------------------------===//

/// True if `size` is one that `launch` may turn out to have.
static bool isPossible(ArrayRef<int64_t> size, gpu::LaunchFuncOp launch) {
  gpu::KernelDim3 block = launch.getBlockSizeOperandValues();
  std::array<Value, 3> operands = {block.x, block.y, block.z};
  for (auto [number, operand] : llvm::zip_equal(size, operands))
    if (getConstantIntValue(operand).value_or(number) != number)
      return false;
  return true;
}

LogicalResult stateBlockSize(Operation *root, ArrayRef<int64_t> size) {
  if (size.empty())
    return success();
  DenseSet<Operation *> stated;
  for (Operation *scope : collectDeviceScopes(root)) {
    auto kernel = dyn_cast<gpu::GPUFuncOp>(scope);
    if (kernel && kernel.isKernel() && !kernel.getKnownBlockSizeAttr()) {
      kernel.setKnownBlockSizeAttr(
          Builder(root->getContext())
              .getDenseI32ArrayAttr(llvm::to_vector_of<int32_t>(size)));
      stated.insert(kernel);
    } else if (isa<gpu::LaunchOp>(scope) &&
               !getBlockShape(scope).getNumThreads()) {
      recordRemark(RemarkId::LowerCopies_BlockSizeNotStated, scope)
          << remark::reason("block-size not used: only a kernel that is "
                            "outlined can state it")
          << remark::suggest("launch blocks of a constant size");
    }
  }
  SymbolTableCollection symbols;
  WalkResult result = root->walk([&](gpu::LaunchFuncOp launch) -> WalkResult {
    Operation *kernel =
        symbols.lookupNearestSymbolFrom(launch, launch.getKernelAttr());
    if (!stated.contains(kernel) || isPossible(size, launch))
      return WalkResult::advance();
    return launch.emitOpError("launches blocks of another size than ")
           << size[0] << "x" << size[1] << "x" << size[2]
           << ", which block-size promises";
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Who copies
//===----------------------------------------------------------------------===//

void reportLeft(const Copy &copy, StringRef why) {
  recordRemark(RemarkId::LowerCopies_NotLowered, copy.op)
      << "copy left as it is" << remark::reason("{0}", why.str());
}

static bool hasMemoryIn(const Copy &copy, MemorySpace space) {
  return getMemorySpace(copy.source) == space ||
         getMemorySpace(copy.target) == space;
}

/// The reason why threads do not execute `copy` together with the same
/// operands; nothing if they do.
static std::optional<Divergence>
getDivergence(const Copy &copy, const UniformityAnalysis &uniformity) {
  if (std::optional<Divergence> why = uniformity.getDivergence(copy.op))
    return why;
  for (Value operand : copy.op->getOperands())
    if (std::optional<Divergence> why = uniformity.getDivergence(operand))
      return why;
  return std::nullopt;
}

/// A copy to or from workgroup memory needs barriers if the block executes it
/// together; where that is undecided, there is nothing right to do.
static void emitUndecidedError(const Copy &copy, const Divergence &why) {
  InFlightDiagnostic error = copy.op->emitOpError(
      "cannot be synchronized: it is not known whether all threads of the "
      "block execute it together with the same operands; let conditions and "
      "indices depend on what all threads agree on (memory that the kernel may "
      "write is not among it: mark arguments llvm.noalias; nor are functions "
      "that others may call: make them private), or set insert-barriers=false "
      "and place the barriers by hand: each thread then does all of the copy");
  why.explain(error);
}

/// True if threads differ by design: by their ids or their own memory. A loop
/// over processors that nobody has distributed is for verify-kernels to report.
static bool isDecided(const Divergence &why) {
  if (isa_and_nonnull<scf::ForallOp, scf::ParallelOp>(why.control))
    return true;
  bool isOwnMemory = why.source && isa<BaseMemRefType>(why.source.getType()) &&
                     getMemorySpace(why.source) == MemorySpace::Private;
  return isOwnMemory || why.isByThreadId();
}

/// Why threads do not share the work of `copy`.
static StringRef getReason(const Copy &copy, const Divergence &why,
                           const UniformityAnalysis &uniformity) {
  if (hasMemoryIn(copy, MemorySpace::Private))
    return "private memory";
  if (!isDecided(why))
    return "not known to be executed by all threads together with the same "
           "operands";
  return uniformity.isUniformPoint(copy.op) ? "operands differ between threads"
                                            : "executed by divergent threads";
}

/// True if there may have to be barriers around `copy`, which threads do not
/// execute together because of `why`, or there must be none.
static bool isUndecided(const Copy &copy, const Divergence &why) {
  return !hasMemoryIn(copy, MemorySpace::Private) && !isDecided(why) &&
         hasMemoryIn(copy, MemorySpace::Workgroup);
}

LogicalResult decideCooperation(std::vector<Copy> &copies, Operation *root,
                                const LowerCopiesOptions &options) {
  ArgumentAliases aliases(root, options.assumeDistinctArguments);
  UniformityAnalysis uniformity(root, UniformityUnit::Block, &aliases);
  bool hasFailed = false;
  llvm::erase_if(copies, [&](Copy &copy) {
    if (getBlockShape(getExecutionScope(copy.op)).isSingleThread())
      return false;
    // A thread's own memory is another one for each: what is uniform is not.
    std::optional<Divergence> divergence = getDivergence(copy, uniformity);
    bool isPrivate = hasMemoryIn(copy, MemorySpace::Private);
    copy.isCooperative = !divergence && !isPrivate;
    if (copy.isCooperative)
      return false;
    Divergence why = divergence.value_or(Divergence());
    if (options.insertBarriers && isUndecided(copy, why)) {
      hasFailed |= options.isStrict;
      if (options.isStrict)
        emitUndecidedError(copy, why);
      else
        reportLeft(copy, getReason(copy, why, uniformity));
      return true;
    }
    if (!copy.filling)
      recordRemark(RemarkId::LowerCopies_CopyPerThread, copy.op)
          << "copy lowered per thread"
          << remark::reason("{0}", getReason(copy, why, uniformity).str());
    return false;
  });
  return failure(hasFailed);
}

} // namespace mlir::workgroup
