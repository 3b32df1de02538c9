//===- BodyCalls.cpp - Calls in bodies ------------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyCalls.h"
#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CFGToSCF.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

namespace {

/// Puts what one body calls, and what that calls in turn, where it is called.
class BodyInliner {
public:
  BodyInliner(SymbolTable &symbols, Operation *around,
              llvm::SetVector<func::FuncOp> &inlined)
      : symbols(symbols), around(around), inlined(inlined) {}

  LogicalResult inlineCall(CallOpInterface call);

private:
  InFlightDiagnostic refuse(CallOpInterface call);
  FailureOr<func::FuncOp> findCallee(CallOpInterface call);
  LogicalResult inlineBlock(CallOpInterface call, Block &block);

  SymbolTable &symbols;
  Operation *around;
  llvm::SetVector<func::FuncOp> &inlined;
  /// The functions that the call at hand stands in, the outermost first.
  SmallVector<func::FuncOp> path;
};

} // namespace

InFlightDiagnostic BodyInliner::refuse(CallOpInterface call) {
  InFlightDiagnostic error = call.emitOpError("in the body of '")
                             << around->getName() << "'";
  if (!path.empty())
    error.attachNote(around->getLoc()) << "the body is that of this operation";
  return error;
}

/// The function that `call` names, with a body to put in its place.
FailureOr<func::FuncOp> BodyInliner::findCallee(CallOpInterface call) {
  auto direct = dyn_cast<func::CallOp>(call.getOperation());
  if (!direct) {
    refuse(call) << " calls a function that is not named, and a kernel has no "
                    "such calls; call it by func.call";
    return failure();
  }
  auto callee = symbols.lookup<func::FuncOp>(direct.getCallee());
  if (!callee || callee.isExternal()) {
    refuse(call) << " calls '@" << direct.getCallee()
                 << "', which has no body in this module to put there; define "
                    "it, or write what it computes";
    return failure();
  }
  if (llvm::is_contained(path, callee)) {
    refuse(call) << " calls '@" << direct.getCallee()
                 << "', which calls itself, and has no end to put there; write "
                    "it as a loop";
    return failure();
  }
  return callee;
}

/// Makes one block with branches of regions of what is several blocks.
static LogicalResult structure(func::FuncOp function) {
  if (function.getBody().hasOneBlock())
    return success();
  ControlFlowToSCFTransformation transformation;
  DominanceInfo dominance(function);
  return success(succeeded(transformCFGToSCF(function.getBody(), transformation,
                                             dominance)) &&
                 function.getBody().hasOneBlock());
}

/// Copies `block`, of the function that is called, to before `call`.
LogicalResult BodyInliner::inlineBlock(CallOpInterface call, Block &block) {
  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map(block.getArguments(), call.getArgOperands());
  SmallVector<CallOpInterface> calls;
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping)->walk([&](CallOpInterface nested) {
      calls.push_back(nested);
    });
  for (auto [result, returned] : llvm::zip_equal(
           call->getResults(), block.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(returned));
  call->erase();
  return success(llvm::all_of(calls, [&](CallOpInterface nested) {
    return succeeded(inlineCall(nested));
  }));
}

LogicalResult BodyInliner::inlineCall(CallOpInterface call) {
  FailureOr<func::FuncOp> callee = findCallee(call);
  if (failed(callee))
    return failure();
  inlined.insert(*callee);
  OwningOpRef<func::FuncOp> copy = callee->clone();
  if (failed(structure(*copy))) {
    refuse(call) << " calls '@" << callee->getName()
                 << "', whose blocks are not those of loops and branches; "
                    "write it by operations of scf";
    return failure();
  }
  path.push_back(*callee);
  LogicalResult outcome = inlineBlock(call, copy->getBody().front());
  path.pop_back();
  return outcome;
}

/// Leaves out those of `functions` that only bodies called.
static void eraseUncalled(ModuleOp module,
                          llvm::SetVector<func::FuncOp> &functions) {
  bool hasChanged = true;
  while (hasChanged) {
    hasChanged = functions.remove_if([&](func::FuncOp function) {
      if (!function.isPrivate() ||
          !SymbolTable::symbolKnownUseEmpty(function, module))
        return false;
      function.erase();
      return true;
    });
  }
}

LogicalResult inlineBodyCalls(ModuleOp module) {
  SmallVector<std::pair<Operation *, CallOpInterface>> calls;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<linalg::LinalgOp, tensor::GenerateOp, tensor::PadOp>(op) ||
        isInDeviceCode(op))
      return WalkResult::advance();
    op->walk([&](CallOpInterface call) { calls.emplace_back(op, call); });
    return WalkResult::skip();
  });
  SymbolTable symbols(module);
  llvm::SetVector<func::FuncOp> inlined;
  for (auto [around, call] : calls)
    if (failed(BodyInliner(symbols, around, inlined).inlineCall(call)))
      return failure();
  eraseUncalled(module, inlined);
  return success();
}

} // namespace mlir::workgroup
