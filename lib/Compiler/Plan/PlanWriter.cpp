//===- PlanWriter.cpp - The steps of a host function ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanWriter.h"
#include "Compiler/Records/Records.h"
#include "DeviceSteps.h"
#include "PlanScalars.h"
#include "Support/Views.h"
#include "TokenOrder.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

using llvm::json::Array;
using llvm::json::Object;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static Array getGroups(ArrayRef<ReassociationIndices> groups) {
  Array array;
  for (const ReassociationIndices &group : groups)
    array.push_back(Array(group));
  return array;
}

bool PlanWriter::writeView(Operation *op, Array &steps) {
  Object step = values.makeStep(op);
  step["source"] = values.operand(op->getOperand(0));
  bool isKnown =
      llvm::TypeSwitch<Operation *, bool>(op)
          .Case<memref::CastOp, memref::AssumeAlignmentOp,
                memref::MemorySpaceCastOp, nvgpu::TmaCreateDescriptorOp>(
              [&](auto) {
                step["op"] = "memref.cast";
                return true;
              })
          .Case<memref::SubViewOp>([&](memref::SubViewOp view) {
            step["offsets"] = values.mixed(view.getMixedOffsets());
            step["sizes"] = values.mixed(view.getMixedSizes());
            step["strides"] = values.mixed(view.getMixedStrides());
            Array dropped;
            llvm::SmallBitVector isDropped = getDroppedDims(view);
            for (unsigned dim : isDropped.set_bits())
              dropped.push_back(dim);
            step["dropped"] = std::move(dropped);
            return true;
          })
          .Case<memref::ReinterpretCastOp>([&](memref::ReinterpretCastOp view) {
            step["offsets"] = values.mixed(view.getMixedOffsets());
            step["sizes"] = values.mixed(view.getMixedSizes());
            step["strides"] = values.mixed(view.getMixedStrides());
            return true;
          })
          .Case<memref::TransposeOp>([&](memref::TransposeOp view) {
            Array order;
            for (AffineExpr dim : view.getPermutation().getResults())
              order.push_back(cast<AffineDimExpr>(dim).getPosition());
            step["permutation"] = std::move(order);
            return true;
          })
          .Case<memref::ExpandShapeOp>([&](memref::ExpandShapeOp view) {
            step["sizes"] = values.mixed(view.getMixedOutputShape());
            return true;
          })
          .Case<memref::CollapseShapeOp>([&](memref::CollapseShapeOp view) {
            step["groups"] = getGroups(view.getReassociationIndices());
            return true;
          })
          .Default(false);
  if (!isKnown)
    return values.refuse(
        op, "'" + op->getName().getStringRef() +
                "' op makes a view that a launch plan cannot "
                "express; use memref.subview, or do it in a kernel");
  steps.push_back(std::move(step));
  return true;
}

/// The elements of a constant, one byte for a truth value, as hexadecimal
/// digits; nothing if they are not at hand.
static std::optional<std::string> getElements(Attribute attribute) {
  if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(attribute)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || resource.getElementType().isInteger(1))
      return std::nullopt;
    return llvm::toHex(
        StringRef(blob->getData().data(), blob->getData().size()),
        /*LowerCase=*/true);
  }
  auto elements = dyn_cast_or_null<DenseElementsAttr>(attribute);
  if (!elements || !elements.getElementType().isIntOrIndexOrFloat())
    return std::nullopt;
  std::string bytes;
  auto add = [&](const APInt &value) {
    for (unsigned bit = 0; bit < value.getBitWidth(); bit += 8)
      bytes.push_back(static_cast<char>(value.extractBitsAsZExtValue(
          std::min(8u, value.getBitWidth() - bit), bit)));
  };
  if (isa<FloatType>(elements.getElementType()))
    for (const APFloat &value : elements.getValues<APFloat>())
      add(value.bitcastToAPInt());
  else
    for (const APInt &value : elements.getValues<APInt>())
      add(value);
  return llvm::toHex(bytes, /*LowerCase=*/true);
}

/// Describes memory of the program that outlives its functions; nothing if its
/// elements are not at hand.
static std::optional<Object> describeGlobal(memref::GlobalOp global) {
  Object item{{"name", global.getSymName()},
              {"dtype", printType(global.getType().getElementType())},
              {"shape", Array(global.getType().getShape())}};
  if (!global.getConstant())
    item["mutable"] = true;
  if (global.isUninitialized())
    return item;
  std::optional<std::string> elements =
      getElements(global.getInitialValueAttr());
  if (!elements)
    return std::nullopt;
  item["hex"] = std::move(*elements);
  return item;
}

bool PlanWriter::writeData(Operation *op, Array &steps) {
  auto get = cast<memref::GetGlobalOp>(op);
  auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
      op, get.getNameAttr());
  bool isKnown = global && global.getInitialValue() &&
                 (global.getConstant() || !global.getType().getMemorySpace());
  if (!isKnown)
    return values.refuse(
        op, "'memref.get_global' op is of memory that is defined elsewhere, or "
            "in a memory space, which a launch plan cannot express; pass it "
            "as an argument");
  auto [it, isNew] = dataOf.try_emplace(global.getSymNameAttr(), data.size());
  if (isNew) {
    std::optional<Object> item = describeGlobal(global);
    if (!item)
      return values.refuse(global,
                           "'memref.global' op has elements that a launch "
                           "plan cannot express; pass them as an argument");
    data.push_back(std::move(*item));
  }
  Object step = values.makeStep(op);
  step["data"] = it->second;
  steps.push_back(std::move(step));
  return true;
}

/// The extents that only an allocation knows.
static ValueRange getDynamicSizes(Operation *op) {
  return llvm::TypeSwitch<Operation *, ValueRange>(op)
      .Case<memref::AllocOp, memref::AllocaOp, gpu::AllocOp>(
          [](auto alloc) { return alloc.getDynamicSizes(); });
}

bool PlanWriter::writeMemory(Operation *op, Array &steps) {
  Object step = values.makeStep(op);
  if (isa<memref::AllocOp, memref::AllocaOp, gpu::AllocOp>(op)) {
    auto type = cast<MemRefType>(op->getResult(0).getType());
    if (!type.getLayout().isIdentity())
      return values.refuse(op,
                           "'" + op->getName().getStringRef() +
                               "' op has a layout, which a launch plan cannot "
                               "express; allocate contiguous memory");
    SmallVector<Value> sizes = llvm::to_vector(getDynamicSizes(op));
    step["op"] = "memref.alloc";
    step["dtype"] = printType(type.getElementType());
    Builder builder(op->getContext());
    step["shape"] =
        values.mixed(getMixedValues(type.getShape(), sizes, builder));
  } else if (isa<memref::DeallocOp, gpu::DeallocOp>(op)) {
    step["op"] = "memref.dealloc";
    step["source"] = values.operand(op->getOperand(op->getNumOperands() - 1));
  } else if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    step["source"] = values.operand(copy.getSource());
    step["target"] = values.operand(copy.getTarget());
  } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
    step["source"] = values.operand(load.getMemRef());
    step["indices"] = values.operands(load.getIndices());
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    step["value"] = values.operand(store.getValueToStore());
    step["target"] = values.operand(store.getMemRef());
    step["indices"] = values.operands(store.getIndices());
  } else {
    auto dim = cast<memref::DimOp>(op);
    step["source"] = values.operand(dim.getSource());
    step["dim"] = values.operand(dim.getIndex());
  }
  steps.push_back(std::move(step));
  return true;
}

//===----------------------------------------------------------------------===//
// Control flow and launches
//===----------------------------------------------------------------------===//

void PlanWriter::writeFrees(Operation *op, Array &steps) {
  for (Value buffer : freesAfter.lookup(op))
    steps.push_back(Object{{"op", "memref.dealloc"},
                           {"results", Array()},
                           {"source", values.operand(buffer)},
                           {"loc", getLocation(op)}});
}

/// Writes `region` as what `step` does under `name`.
bool PlanWriter::writeRegion(Region &region, Object &step, StringRef name) {
  Array steps, arguments;
  bool isWritten = true;
  if (!region.empty()) {
    if (!region.hasOneBlock()) {
      auto function = dyn_cast<func::FuncOp>(region.getParentOp());
      StringRef name =
          function ? function.getName() : step.getString("op").value_or("");
      return values.refuse(region.front().getTerminator(),
                           "'" + name +
                               "' branches, which a launch plan cannot "
                               "express; use scf.if and scf.for");
    }
    arguments = values.numbers(region.front().getArguments());
    isWritten = writeBlock(region.front(), steps);
  }
  step[name] =
      Object{{"arguments", std::move(arguments)}, {"steps", std::move(steps)}};
  return isWritten;
}

bool PlanWriter::writeControl(Operation *op, Array &steps) {
  Object step = values.makeStep(op);
  bool isWritten = true;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    step["lower"] = values.operand(loop.getLowerBound());
    step["upper"] = values.operand(loop.getUpperBound());
    step["step"] = values.operand(loop.getStep());
    if (loop.getUnsignedCmp()) {
      Type type = loop.getInductionVar().getType();
      step["unsigned"] = type.isIndex() ? IndexType::kInternalStorageBitWidth
                                        : type.getIntOrFloatBitWidth();
    }
    step["init"] = values.operands(loop.getInitArgs());
    isWritten = writeRegion(loop.getRegion(), step, "body");
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    step["condition"] = values.operand(branch.getCondition());
    isWritten = writeRegion(branch.getThenRegion(), step, "then") &&
                writeRegion(branch.getElseRegion(), step, "else");
  } else {
    auto loop = cast<scf::WhileOp>(op);
    step["init"] = values.operands(loop.getInits());
    isWritten = writeRegion(loop.getBefore(), step, "before") &&
                writeRegion(loop.getAfter(), step, "after");
  }
  steps.push_back(std::move(step));
  return isWritten;
}

bool PlanWriter::writeLaunch(gpu::LaunchFuncOp launch, Array &steps) {
  Object step = values.makeStep(launch);
  gpu::KernelDim3 grid = launch.getGridSizeOperandValues();
  gpu::KernelDim3 block = launch.getBlockSizeOperandValues();
  step["kernel"] = static_cast<int64_t>(numLaunches++);
  step["grid"] = values.operands({grid.x, grid.y, grid.z});
  step["block"] = values.operands({block.x, block.y, block.z});
  Value bytes = launch.getDynamicSharedMemorySize();
  step["shared"] = bytes ? values.operand(bytes) : llvm::json::Value(0);
  if (launch.hasClusterSize()) {
    gpu::KernelDim3 cluster = launch.getClusterSizeOperandValues();
    step["cluster"] = values.operands({cluster.x, cluster.y, cluster.z});
  }
  step["args"] = values.operands(launch.getKernelOperands());
  steps.push_back(std::move(step));
  return true;
}

/// Writes what a region without results does.
bool PlanWriter::writeInline(scf::ExecuteRegionOp op, Array &steps) {
  if (op.getNumResults() || !op.getRegion().hasOneBlock())
    return values.refuse(
        op, "'scf.execute_region' op has results or branches, which "
            "a launch plan cannot express");
  if (!writeBlock(op.getRegion().front(), steps))
    return false;
  steps.pop_back(); // hands on nothing
  return true;
}

bool PlanWriter::writeCall(func::CallOp call, Array &steps) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (callee && callee.isDeclaration() && isPrintOfMemory(call))
    return writePrint(call, values, steps);
  if (!callee || callee.isDeclaration())
    return values.refuse(
        call, "'func.call' op is of '@" + call.getCallee() +
                  "', which is defined elsewhere: a launch plan cannot express "
                  "it; do what it does before or behind the call of this "
                  "function");
  Object step = values.makeStep(call);
  step["callee"] = call.getCallee();
  step["args"] = values.operands(call.getOperands());
  steps.push_back(std::move(step));
  return true;
}

bool PlanWriter::writeOp(Operation *op, Array &steps) {
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    Object step = values.makeStep(op);
    step["args"] = values.operands(op->getOperands());
    steps.push_back(std::move(step));
    return true;
  }
  if (isMemoryEffectFree(op) && op->use_empty())
    return true;
  if (op->hasTrait<OpTrait::ConstantLike>())
    return getConstant(op->getResult(0)) ||
           values.refuse(op,
                         "'" + op->getName().getStringRef() +
                             "' op is of a type whose constants a launch plan "
                             "cannot express; make it in the kernel");
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<gpu::LaunchFuncOp>(
          [&](auto launch) { return writeLaunch(launch, steps); })
      .Case<func::CallOp>([&](auto call) { return writeCall(call, steps); })
      .Case<scf::ExecuteRegionOp>(
          [&](auto region) { return writeInline(region, steps); })
      .Case<scf::ForOp, scf::IfOp, scf::WhileOp>(
          [&](auto) { return writeControl(op, steps); })
      .Case<memref::AllocOp, memref::AllocaOp, gpu::AllocOp, memref::DeallocOp,
            gpu::DeallocOp, memref::LoadOp, memref::StoreOp, memref::DimOp,
            memref::CopyOp>([&](auto) { return writeMemory(op, steps); })
      .Case<gpu::WaitOp, gpu::MemcpyOp, gpu::MemsetOp, gpu::HostRegisterOp,
            gpu::HostUnregisterOp>(
          [&](auto) { return writeDevice(op, values, steps); })
      .Case<vector::PrintOp, vector::TransferReadOp>(
          [&](auto) { return writePrint(op, values, steps); })
      .Case<memref::GetGlobalOp>([&](auto) { return writeData(op, steps); })
      .Case<nvgpu::TmaCreateDescriptorOp>(
          [&](auto) { return writeView(op, steps); })
      .Default([&](Operation *) {
        return getViewSource(op) ? writeView(op, steps)
                                 : writeScalar(op, values, steps);
      });
}

bool PlanWriter::writeBlock(Block &block, Array &steps) {
  addFrees(block, freesAfter);
  for (Operation &op : block) {
    if (!writeOp(&op, steps))
      return false;
    writeFrees(&op, steps);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The types that values of a plan have: all but those of tokens.
static Array printTypes(TypeRange types) {
  Array texts;
  for (Type type : types)
    if (!isa<gpu::AsyncTokenType>(type))
      texts.push_back(printType(type));
  return texts;
}

Object PlanWriter::write(func::FuncOp function) {
  Object record{{"name", function.getName()},
                {"loc", getLocation(function)},
                {"arguments", printTypes(function.getArgumentTypes())},
                {"results", printTypes(function.getResultTypes())}};
  unsigned first = numLaunches;
  if (std::optional<TokenConflict> conflict = findTokenConflict(function))
    values.refuse(
        conflict->second,
        "'" + conflict->second->getName().getStringRef() +
            "' op touches memory that the asynchronous '" +
            conflict->first->getName().getStringRef() + "' op in line " +
            Twine(getSourceLocation(conflict->first->getLoc()).line) +
            " touches, too, and neither waits for the other; let one depend "
            "on the other's token, or wait for it by gpu.wait");
  if (recursive.contains(function))
    values.refuse(function,
                  "'" + function.getName() +
                      "' calls itself, which a launch plan cannot express; "
                      "use scf.for or scf.while");
  else
    writeRegion(function.getBody(), record, "body");
  if (!values.isRefused())
    return record;
  record.erase("body");
  record["refusal"] = values.takeRefusal();
  numLaunches = first;
  function.walk([&](gpu::LaunchFuncOp) { ++numLaunches; });
  return record;
}

} // namespace mlir::workgroup
