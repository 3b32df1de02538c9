//===- FormKernels.cpp - Functions of what becomes one kernel -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass groups the operations of each block of a host function, moves each
// group into a private function of its own, and leaves a call. Users come
// first, so that each makes for itself what operations without inputs make. The
// function is in destination-passing style: results are put into tensors that
// are arguments.
//
//===----------------------------------------------------------------------===//

#include "ChainRows.h"
#include "ChainSums.h"
#include "ChainWeights.h"
#include "KernelFunctionBuilder.h"
#include "LoopKernels.h"
#include "Support/Remarks.h"
#include "Transforms/Linalg/TensorEncodings.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Target/Chip.h"
#include "workgroup/Transforms/Kernels.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_FORMKERNELSPASS
#include "workgroup/Transforms/Kernels.h.inc"

/// True if the result is put into an argument.
static bool hasDestination(Value result) {
  while (linalg::LinalgOp op = getTensorOp(result.getDefiningOp()))
    result = op.getTiedOpOperand(cast<OpResult>(result))->get();
  return isa<BlockArgument>(result);
}

/// True for what this pass makes: a private function of nothing but one group
/// and what it reads, whose results are put into arguments.
static bool isFormed(func::FuncOp function, const FormKernelsOptions &options) {
  if (!function.isPrivate() || !function.getBody().hasOneBlock())
    return false;
  Block &body = function.front();
  auto results = body.getTerminator()->getOperands();
  std::vector<KernelGroup> groups = groupOps(body, &options);
  if (groups.size() != 1 || results.empty() ||
      results.back().getDefiningOp() != groups.front().getRoot())
    return false;
  auto isOfKernel = [](Operation &op) {
    return getTensorOp(&op) ||
           (op.getNumRegions() == 0 && isMemoryEffectFree(&op));
  };
  return llvm::all_of(body.without_terminator(), isOfKernel) &&
         llvm::all_of(results, hasDestination);
}

static void remarkOn(const KernelGroup &group, StringRef name) {
  std::string ops;
  llvm::raw_string_ostream os(ops);
  llvm::interleaveComma(group.getOps(), os, [&](linalg::LinalgOp op) {
    os << getClassName(classify(op));
  });
  recordRemark(RemarkId::FormKernels_FormedKernel, group.getRoot())
      << "operations became a kernel" << remark::metric("Kernel", name)
      << remark::metric("Operations", ops);
}

/// Forms the kernels of `block`, whose number goes on from `next`.
/// Leaves out what canonicalization has shown to do nothing.
static void eraseEmpty(func::FuncOp function) {
  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](linalg::LinalgOp op) {
    if (isTensorOp(op) && isEmpty(op))
      ops.push_back(op);
  });
  for (linalg::LinalgOp op : ops) {
    op->replaceAllUsesWith(op.getDpsInits());
    op->erase();
  }
}

static void formKernels(func::FuncOp function, Block &block,
                        const FormKernelsOptions &options, unsigned &next) {
  if (options.chainBytes != 0) {
    addChainRows(block, options);
    narrowChainWeights(block, options);
    widenChainSums(block, options);
  }
  SmallVector<std::pair<linalg::LinalgOp, StringRef>> whyNot;
  std::vector<KernelGroup> groups = groupOps(block, &options, &whyNot);
  for (auto [op, reason] : whyNot)
    recordRemark(RemarkId::FormKernels_KernelOfItsOwn, op)
        << ("it is not in the kernel of what uses it: " + reason).str();
  unsigned number = next += groups.size();
  // Users first: they make for themselves what generators make.
  for (const KernelGroup &group : llvm::reverse(groups)) {
    std::string name = llvm::formatv("{0}_{1}_{2}", function.getName(),
                                     --number, getClassName(group.getClass()));
    remarkOn(group, name);
    KernelFunctionBuilder(group).outline(function, name);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isUnused(&op))
      op.erase();
}

/// Marks the arguments as not writable: what callers pass is theirs, and
/// bufferization would write into it.
static void protectArguments(func::FuncOp function) {
  StringRef writable = bufferization::BufferizationDialect::kWritableAttrName;
  if (!function.isPublic())
    return;
  for (BlockArgument argument : function.getArguments())
    if (isa<TensorType>(argument.getType()) &&
        !function.getArgAttr(argument.getArgNumber(), writable))
      function.setArgAttr(argument.getArgNumber(), writable,
                          BoolAttr::get(function.getContext(), false));
}

/// Refuses operations by name that work on tensors and never will on buffers;
/// bufferization only tells that there is something.
static LogicalResult checkBufferizable(func::FuncOp function) {
  auto check = [](Operation *op) {
    auto isTensor = [](Type type) { return isa<TensorType>(type); };
    if (isa<bufferization::BufferizableOpInterface>(op) ||
        (llvm::none_of(op->getOperandTypes(), isTensor) &&
         llvm::none_of(op->getResultTypes(), isTensor)))
      return WalkResult::advance();
    op->emitOpError("works on tensors, and there is no form of it that works "
                    "on buffers; lower it to operations of the linalg "
                    "dialect before");
    return WalkResult::interrupt();
  };
  return failure(function.walk(check).wasInterrupted());
}

LogicalResult formKernels(ModuleOp module, const FormKernelsOptions &options) {
  if (!resolveChip(module, options.chip) || failed(checkEncodings(module)))
    return failure();
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isDeclaration() && !getKernelLoop(function) &&
        !isFormed(function, options))
      functions.push_back(function);
  for (func::FuncOp function : functions) {
    if (failed(checkBufferizable(function)))
      return failure();
    eraseEmpty(function);
    formLoopKernels(function);
    SmallVector<Block *> blocks;
    function.walk([&](Block *block) {
      if (llvm::any_of(*block, [](Operation &op) { return getTensorOp(&op); }))
        blocks.push_back(block);
    });
    protectArguments(function);
    if (blocks.empty())
      continue;
    unsigned next = 0;
    for (Block *block : blocks)
      formKernels(function, *block, options, next);
  }
  return success();
}

namespace {

struct FormKernelsPass : impl::FormKernelsPassBase<FormKernelsPass> {
  using FormKernelsPassBase::FormKernelsPassBase;

  void runOnOperation() override {
    if (failed(formKernels(getOperation(),
                           {chainBytes, chainBlocks, chip, narrow})))
      signalPassFailure();
  }
};

} // namespace

StringRef getFormKernelsName() { return FormKernelsPass::getArgumentName(); }

} // namespace mlir::workgroup
