//===- Schedule.cpp - Applying transform dialect schedules ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/ParallelLoopMapper.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/TransformOps/LinalgTransformOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Remarks.h"
#include "workgroup/Pipelines.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

static transform::NamedSequenceOp findEntry(ModuleOp module) {
  transform::NamedSequenceOp entry;
  module.walk<WalkOrder::PreOrder>([&](transform::NamedSequenceOp sequence) {
    if (sequence.getSymName() !=
        transform::TransformDialect::kTransformEntryPointSymbolName)
      return WalkResult::skip();
    entry = sequence;
    return WalkResult::interrupt();
  });
  return entry;
}

bool hasSchedule(ModuleOp module) {
  return static_cast<bool>(findEntry(module));
}

/// Says what is wrong with a tiling that makes more or fewer loops than it
/// maps: nobody verifies them before upstream looks up the processors of each.
static LogicalResult checkMappings(ModuleOp schedule) {
  auto check = [](transform::TileUsingForallOp op) {
    std::optional<ArrayAttr> mapping = op.getMapping();
    SmallVector<OpFoldResult> sizes = op.getMixedNumThreads();
    if (sizes.empty())
      sizes = op.getMixedTileSizes();
    bool isKnown = !op.getPackedNumThreads() && !op.getPackedTileSizes() &&
                   llvm::all_of(sizes, llvm::IsaPred<Attribute>);
    size_t numLoops = llvm::count_if(
        sizes, [](OpFoldResult size) { return !isZeroInteger(size); });
    if (!mapping || !isKnown || numLoops == mapping->size())
      return WalkResult::advance();
    op.emitOpError("maps ") << mapping->size() << " of the " << numLoops
                            << " loops that it makes; list one processor for "
                               "each size that is not 0";
    return WalkResult::interrupt();
  };
  return failure(schedule.walk(check).wasInterrupted());
}

LogicalResult applySchedule(ModuleOp module, ModuleOp schedule) {
  if (failed(checkMappings(schedule)))
    return failure();
  transform::NamedSequenceOp entry = findEntry(schedule);
  if (!entry)
    return emitError(schedule.getLoc())
           << "schedule has no transform.named_sequence '@"
           << transform::TransformDialect::kTransformEntryPointSymbolName
           << "' to apply";
  return transform::applyTransformNamedSequence(module, entry,
                                                /*transformModule=*/ModuleOp(),
                                                transform::TransformOptions());
}

bool hasKernels(ModuleOp module) {
  auto isMapped = [](Operation *op) {
    if (auto forall = dyn_cast<scf::ForallOp>(op))
      return forall.getMapping().has_value();
    return isa<scf::ParallelOp>(op) && op->hasAttr(gpu::getMappingAttrName());
  };
  return module
      .walk([&](Operation *op) {
        bool isKernel =
            isa<gpu::GPUModuleOp, gpu::LaunchOp, gpu::LaunchFuncOp>(op);
        return isKernel || isMapped(op) ? WalkResult::interrupt()
                                        : WalkResult::advance();
      })
      .wasInterrupted();
}

bool hasWork(ModuleOp module) {
  auto isTensor = llvm::IsaPred<RankedTensorType>;
  auto isWork = [&](Operation *op) {
    return isa_and_nonnull<linalg::LinalgDialect>(op->getDialect()) ||
           isa<memref::CopyOp>(op) ||
           llvm::any_of(op->getResultTypes(), isTensor) ||
           llvm::any_of(op->getOperandTypes(), isTensor);
  };
  auto walk = [&](Operation *op) {
    return isWork(op) && !isInDeviceCode(op) ? WalkResult::interrupt()
                                             : WalkResult::advance();
  };
  return llvm::any_of(module.getOps<FunctionOpInterface>(),
                      [&](Operation *function) {
                        return function->walk(walk).wasInterrupted();
                      });
}

bool formsKernels(ModuleOp schedule) {
  return schedule
      .walk([](transform::ApplyRegisteredPassOp op) {
        StringRef name = op.getPassName();
        return name == kKernelPipeline || name == getFormKernelsName()
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

bool dropKernelFormation(ModuleOp schedule) {
  return schedule
      .walk([](transform::ApplyRegisteredPassOp op) {
        if (op.getPassName() != kKernelPipeline)
          return WalkResult::advance();
        op.getResult().replaceAllUsesWith(op.getTarget());
        op.erase();
        return WalkResult::interrupt();
      })
      .wasInterrupted();
}

LogicalResult checkAllScheduled(ModuleOp module) {
  auto check = [](linalg::LinalgOp op) {
    if (isInDeviceCode(op))
      return WalkResult::advance();
    auto function = op->getParentOfType<FunctionOpInterface>();
    auto isSpecial = [](Value operand) {
      auto type = dyn_cast<MemRefType>(operand.getType());
      return type && type.getMemorySpace();
    };
    if (llvm::any_of(op->getOperands(), isSpecial))
      op.emitOpError("is in no kernel, and none is formed of what works on "
                     "memory with a memory space; leave it out of the types of "
                     "the function: arguments of kernels are global memory");
    else
      op.emitOpError("is in no kernel: the schedule neither tiles nor launches "
                     "what is in '@")
          << (function ? function.getName() : StringRef("?"))
          << "', or workgroup-form-kernels can make no kernel of it; write it "
             "on tensors, or launch it by scf.forall mapped to blocks";
    return WalkResult::interrupt();
  };
  return failure(module.walk(check).wasInterrupted());
}

void reportHostWork(ModuleOp module, bool warns) {
  module.walk([&](linalg::LinalgOp op) {
    if (isInDeviceCode(op))
      return;
    remark::missed(op->getLoc(),
                   remark::RemarkOpts::name("LeftOnHost")
                       .category("workgroup-compile")
                       .function(getScopeName(getExecutionScope(op))))
        << remark::reason("it is outside of all kernels");
    if (warns)
      op->emitWarning("'")
          << op->getName()
          << "' op stays on the host: for a module that has kernels no "
             "schedule "
             "is chosen; put it into a module of its own, or give a schedule "
             "by --schedule FILE";
  });
}

void reportUnknownFunctions(ModuleOp module, ModuleOp schedule) {
  schedule.walk([&](transform::MatchOp op) {
    DictionaryAttr attributes = op.getOpAttrsAttr();
    auto name =
        attributes
            ? attributes.getAs<StringAttr>(SymbolTable::getSymbolAttrName())
            : StringAttr();
    if (!name || module.lookupSymbol(name))
      return;
    InFlightDiagnostic error = op.emitError("there is no function '@")
                               << name.getValue() << "' to match";
    auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
    error << "; there are ";
    llvm::interleaveComma(functions, error, [&](func::FuncOp function) {
      error << '@' << function.getName();
    });
  });
}

void eraseSchedules(ModuleOp module) {
  StringRef marker = transform::TransformDialect::kWithNamedSequenceAttrName;
  module->removeAttr(marker);
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (isa<transform::NamedSequenceOp>(op) ||
        (isa<ModuleOp>(op) && op.hasAttr(marker)))
      op.erase();
}

OwningOpRef<ModuleOp> unwrapProgram(OwningOpRef<ModuleOp> module) {
  while (llvm::hasSingleElement(*module->getBody())) {
    auto inner = dyn_cast<ModuleOp>(module->getBody()->front());
    if (!inner)
      break;
    inner->remove();
    module = inner;
  }
  return module;
}

} // namespace mlir::workgroup
