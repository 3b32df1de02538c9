//===- InstrumentCalls.cpp - Intrinsics and functions of the device -------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emulator/Math/MathLibrary.h"
#include "Emulator/State/RuntimeNames.h"
#include "Emulator/State/ThreadState.h"
#include "Instrument.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include <cstddef>

using namespace llvm;

namespace mlir::workgroup::emulator {

//===----------------------------------------------------------------------===//
// Special registers
//===----------------------------------------------------------------------===//

/// The offset of a register that has three parts in what holds it; nullopt if
/// `name` is none.
static std::optional<uint64_t> getVectorOffset(StringRef name) {
  return StringSwitch<std::optional<uint64_t>>(name)
      .Case("ctaid", offsetof(BlockIds, block))
      .Case("nctaid", offsetof(BlockIds, grid))
      .Case("ntid", offsetof(BlockIds, size))
      .Case("clusterid", offsetof(BlockIds, cluster))
      .Case("nclusterid", offsetof(BlockIds, numClusters))
      .Case("cluster.ctaid", offsetof(BlockIds, blockInCluster))
      .Case("cluster.nctaid", offsetof(BlockIds, clusterSize))
      .Default(std::nullopt);
}

/// A mask of lanes that compare in some way with the thread's own.
static Value *makeLaneMask(IRBuilder<> &builder, StringRef relation,
                           Value *lane) {
  Value *own = builder.CreateShl(builder.getInt32(1), lane);
  Value *below = builder.CreateSub(own, builder.getInt32(1));
  Value *upTo = builder.CreateOr(own, below);
  return relation == "eq"   ? own
         : relation == "lt" ? below
         : relation == "le" ? upTo
         : relation == "ge" ? builder.CreateNot(below)
                            : builder.CreateNot(upTo);
}

bool Instrumenter::instrumentRegister(IntrinsicInst &call, StringRef name) {
  if (!name.consume_front("llvm.nvvm.read.ptx.sreg."))
    return false;
  IRBuilder<> builder(&call);
  auto fromThread = [&](uint64_t offset) {
    return getField(builder, i32, thread, offset);
  };
  auto fromBlock = [&](uint64_t offset) {
    Value *ids = getField(builder, ptr, thread, offsetof(ThreadState, ids));
    return getField(builder, i32, ids, offset);
  };
  auto [base, part] = name.rsplit('.');
  unsigned dim = part == "x" ? 0 : part == "y" ? 1 : part == "z" ? 2 : 3;
  Value *value = nullptr;
  if (dim < 3 && base == "tid")
    value = fromThread(offsetof(ThreadState, thread) + 4 * dim);
  else if (auto offset = dim < 3 ? getVectorOffset(base) : std::nullopt)
    value = fromBlock(*offset + 4 * dim);
  else if (name == "cluster.ctarank")
    value = fromBlock(offsetof(BlockIds, rankInCluster));
  else if (name == "cluster.nctarank")
    value = fromBlock(offsetof(BlockIds, clusterBlocks));
  else if (base == "lanemask")
    value =
        makeLaneMask(builder, part, fromThread(offsetof(ThreadState, lane)));
  else if (name == "laneid")
    value = fromThread(offsetof(ThreadState, lane));
  else if (name == "warpid")
    value = fromThread(offsetof(ThreadState, warp));
  else if (name == "nwarpid")
    value = fromBlock(offsetof(BlockIds, numWarps));
  else if (name == "warpsize")
    value = builder.getInt32(kWarpSize);
  else if (name == "dynamic.smem.size")
    value = fromBlock(offsetof(BlockIds, dynamicBytes));
  else if (name == "smid")
    value = builder.getInt32(0);
  else if (name == "nsmid")
    value = builder.getInt32(1);
  else if (name.starts_with("clock") || name == "globaltimer")
    value = builder.CreateIntrinsic(Intrinsic::readcyclecounter, {});
  else
    return refuse(call, "special register '%" + name + "' is not emulated");
  // Launches that do not keep to the range are refused, but for clusters.
  std::optional<ConstantRange> range = call.getRange();
  if (name.contains("cluster"))
    range = std::nullopt;
  if (auto *load = dyn_cast<LoadInst>(value); load && range)
    load->setMetadata(
        LLVMContext::MD_range,
        MDBuilder(context).createRange(range->getLower(), range->getUpper()));
  replace(call, builder.CreateZExtOrTrunc(value, call.getType()));
  return true;
}

//===----------------------------------------------------------------------===//
// What threads do together
//===----------------------------------------------------------------------===//

/// Puts the operands where the others find them, lets the thread wait, and
/// takes the result from where the last of them put it.
void Instrumenter::suspendAt(CallInst &call, Operation operation,
                             ArrayRef<Value *> operands) {
  uint32_t number = tables.operations.size();
  bool isWarp = operation.warp || operation.matrix;
  operation.site = addSite(call);
  tables.operations.push_back(std::move(operation));
  IRBuilder<> builder(&call);
  storeRegisters(builder, operands);
  auto setField = [&](uint64_t offset, uint32_t value) {
    return builder.CreateStore(
        builder.getInt32(value),
        builder.CreateConstInBoundsGEP1_64(i8, thread, offset));
  };
  setField(offsetof(ThreadState, operation), number);
  Instruction *last = setField(offsetof(ThreadState, wait),
                               uint32_t(isWarp ? Wait::Warp : Wait::Barrier));
  suspensions.push_back(last);
  if (call.getType()->isVoidTy()) {
    call.eraseFromParent();
    return;
  }
  unsigned index = 0;
  replace(call, loadRegisters(builder, call.getType(), index));
}

/// Tells of the thread at a barrier, for which it does not wait.
void Instrumenter::arriveAt(CallInst &call) {
  IRBuilder<> builder(&call);
  SmallVector<Value *> operands(call.args());
  storeRegisters(builder, operands);
  callRuntime(builder, runtime::kArrive, voidType, {});
  call.eraseFromParent();
}

bool Instrumenter::instrumentBarrier(IntrinsicInst &call, StringRef name) {
  if (!name.consume_front("llvm.nvvm.barrier.cta."))
    return false;
  Operation operation;
  operation.isAligned = name.contains("aligned");
  bool isCounted = name.ends_with("count");
  operation.kind =
      isCounted ? Operation::Kind::BarrierCount : Operation::Kind::Barrier;
  SmallVector<Value *> operands(call.args());
  if (name.starts_with("arrive")) {
    arriveAt(call);
    return true;
  }
  if (name.consume_front("red."))
    operation.reduction = StringSwitch<BarrierReduction>(name.split('.').first)
                              .Case("popc", BarrierReduction::Count)
                              .Case("and", BarrierReduction::And)
                              .Default(BarrierReduction::Or);
  suspendAt(call, operation, operands);
  return true;
}

bool Instrumenter::instrumentWarp(IntrinsicInst &call, StringRef name) {
  std::optional<WarpOp> warp = WarpOp::decode(name);
  if (!warp)
    return false;
  Operation operation;
  operation.kind = Operation::Kind::Warp;
  operation.isAligned = false;
  operation.warp = warp;
  SmallVector<Value *> operands(call.args());
  suspendAt(call, operation, operands);
  return true;
}

static unsigned countRegisters(const DataLayout &layout, Type *type) {
  if (auto *record = dyn_cast<StructType>(type)) {
    unsigned count = 0;
    for (Type *element : record->elements())
      count += countRegisters(layout, element);
    return count;
  }
  return type->isVoidTy()
             ? 0
             : divideCeil(layout.getTypeStoreSize(type).getFixedValue(), 4);
}

bool Instrumenter::instrumentMatrix(IntrinsicInst &call, StringRef name) {
  std::optional<MatrixOp> matrix = MatrixOp::decode(name);
  if (!matrix)
    return false;
  const DataLayout &layout = module.getDataLayout();
  unsigned numOperands = 0;
  for (Value *operand : call.args())
    numOperands += countRegisters(layout, operand->getType());
  if (numOperands > kRegisters ||
      numOperands != matrix->getNumOperandRegisters() ||
      countRegisters(layout, call.getType()) != matrix->getNumResultRegisters())
    return refuse(call, "intrinsic '" + name +
                            "' has other operands than the emulator knows");
  Operation operation;
  operation.kind = Operation::Kind::Matrix;
  if (matrix->getKind() != MatrixOp::Kind::Compute) {
    bool isLoad = matrix->getKind() == MatrixOp::Kind::Load;
    operation.accessSite =
        addAccess(call, 0, isLoad ? AccessKind::Read : AccessKind::Write,
                  /*bytes=*/4, Align(1)); // a register of a lane
  }
  if (name.contains("matrix.sync")) {
    StringRef count = name.substr(name.find(".x") + 2, 1);
    operation.numRows = 8 * (count == "4" ? 4 : count == "2" ? 2 : 1);
    tables.sites[operation.accessSite].bytes = 16;
  }
  operation.matrix = std::move(matrix);
  SmallVector<Value *> operands(call.args());
  suspendAt(call, std::move(operation), operands);
  return true;
}

//===----------------------------------------------------------------------===//
// The rest
//===----------------------------------------------------------------------===//

/// Intrinsics that ask something of the thread, or tell the memory system what
/// it knows already.
bool Instrumenter::instrumentQuery(IntrinsicInst &call, StringRef name) {
  IRBuilder<> builder(&call);
  if (name == "llvm.nvvm.is_explicit_cluster") {
    Value *ids = getField(builder, ptr, thread, offsetof(ThreadState, ids));
    Value *has = getField(builder, i32, ids, offsetof(BlockIds, hasClusters));
    replace(call, builder.CreateIsNotNull(has));
    return true;
  }
  if (isFence(call)) {
    instrumentFence(call, getScope(call));
    call.eraseFromParent();
    return true;
  }
  if (name == "llvm.nvvm.nanosleep") {
    call.eraseFromParent();
    return true;
  }
  if (name == "llvm.nvvm.exit") {
    endThreadAfter(call);
    return true;
  }
  return false;
}

/// Ends the thread instead of executing what follows `call`, which goes away.
void Instrumenter::endThreadAfter(Instruction &call) {
  if (!end)
    end = BasicBlock::Create(context, "end", function);
  BasicBlock *block = call.getParent();
  SplitBlock(block, &call);
  block->getTerminator()->eraseFromParent();
  IRBuilder<>(block).CreateBr(end);
  if (!call.use_empty())
    call.replaceAllUsesWith(PoisonValue::get(call.getType()));
  call.eraseFromParent();
}

bool Instrumenter::bindMath(CallInst &call, StringRef name) {
  if (!findMathFunction(name))
    return false;
  // Names of intrinsics are LLVM's own.
  FunctionCallee host = module.getOrInsertFunction(
      ("emulator.math." + name).str(), call.getFunctionType());
  auto *callee = cast<Function>(host.getCallee());
  callee->setDoesNotThrow();
  callee->setWillReturn();
  bool takesMemory = false;
  for (const Use &operand : call.args()) {
    takesMemory |= operand->getType()->isPointerTy();
    // The host writes there unseen, which only private memory is for.
    if (operand->getType()->isPointerTy() && !isa<AllocaInst>(operand))
      return refuse(call, "'" + name +
                              "' that writes to memory of more than "
                              "its thread is not emulated");
  }
  if (!takesMemory)
    callee->setDoesNotAccessMemory();
  call.setCalledFunction(host);
  call.setAttributes({});
  return true;
}

/// True for an intrinsic of LLVM that the host executes as a GPU does: it has
/// nothing but its result, and one for all operands.
static bool isPure(const IntrinsicInst &call) {
  if (call.isAssumeLikeIntrinsic() ||
      call.getIntrinsicID() == Intrinsic::prefetch)
    return true;
  StringRef name = call.getCalledFunction()->getName();
  bool divides = isa<VPIntrinsic>(call) || name.contains("div.fix");
  return !Intrinsic::isTargetIntrinsic(call.getIntrinsicID()) && !divides &&
         !call.mayReadOrWriteMemory();
}

/// True for what blocks of a cluster wait for each other by, or access each
/// other's memory.
static bool isOfCluster(StringRef name) {
  constexpr StringLiteral parts[] = {
      "barrier.cluster.", ".mapa",          ".getctarank",
      "scope.cluster",    "cta.to.cluster", "clusterlaunchcontrol"};
  return any_of(parts, [&](StringRef part) { return name.contains(part); });
}

void Instrumenter::instrumentIntrinsic(IntrinsicInst &call) {
  StringRef name = call.getCalledFunction()->getName();
  if (call.getIntrinsicID() == Intrinsic::trap ||
      call.getIntrinsicID() == Intrinsic::debugtrap ||
      call.getIntrinsicID() == Intrinsic::ubsantrap) {
    IRBuilder<> builder(&call);
    callRuntime(builder, runtime::kTrap, voidType,
                {builder.getInt32(addSite(call))});
    return endThreadAfter(call);
  }
  if (!name.starts_with("llvm.nvvm.")) {
    if (!isPure(call))
      refuse(call, "intrinsic '" + name + "' is not emulated");
    return;
  }
  size_t before = errors.size();
  bool isDone = instrumentRegister(call, name) ||
                instrumentBarrier(call, name) || instrumentAsync(call, name) ||
                instrumentAsyncCopy(call, name) || instrumentWarp(call, name) ||
                instrumentMatrix(call, name) ||
                instrumentSpaceQuery(call, name) ||
                instrumentQuery(call, name) || bindMath(call, name);
  if (!isDone && errors.size() == before && isOfCluster(name))
    refuse(call, "intrinsic '" + name +
                     "' is for the blocks of a cluster to work together, which "
                     "is not emulated");
  else if (!isDone && errors.size() == before)
    refuse(call, "intrinsic '" + name + "' is not emulated");
}

void Instrumenter::instrumentAssembly(CallInst &call) {
  auto *assembly = cast<InlineAsm>(call.getCalledOperand());
  StringRef text = assembly->getAsmString();
  if (text == "bar.arrive $0, $1;" || text == "bar.arrive $0, $1") {
    arriveAt(call);
    return;
  }
  if (!instrumentAsyncAssembly(call, text))
    refuse(call, "inline assembly '" + text + "' is not emulated");
}

/// The text has to be a constant, the arguments a private buffer.
void Instrumenter::instrumentPrint(CallInst &call) {
  auto *text =
      dyn_cast<GlobalVariable>(getUnderlyingObject(call.getArgOperand(0)));
  auto *values =
      dyn_cast<AllocaInst>(getUnderlyingObject(call.getArgOperand(1)));
  bool isConstant = text && text->isConstant() && text->hasInitializer();
  bool hasNone = isa<ConstantPointerNull>(call.getArgOperand(1));
  if (!isConstant || (!values && !hasNone)) {
    refuse(call, "printing a text that is no constant is not emulated");
    return;
  }
  uint64_t bytes = 0;
  if (values)
    bytes = values->getAllocationSize(module.getDataLayout())->getFixedValue();
  IRBuilder<> builder(&call);
  callRuntime(builder, runtime::kPrint, voidType,
              {builder.CreateAddrSpaceCast(call.getArgOperand(0), ptr),
               call.getArgOperand(1), builder.getInt64(bytes)});
  replace(call, builder.getInt32(0));
}

void Instrumenter::instrumentCall(CallInst &call) {
  if (call.isInlineAsm())
    return instrumentAssembly(call);
  if (auto *intrinsic = dyn_cast<IntrinsicInst>(&call))
    return instrumentIntrinsic(*intrinsic);
  StringRef name = call.getCalledFunction()->getName();
  IRBuilder<> builder(&call);
  if (name == "__assertfail") {
    callRuntime(builder, runtime::kFailAssertion, voidType,
                {call.getArgOperand(0), builder.getInt32(addSite(call))});
    return endThreadAfter(call);
  }
  if (name == "vprintf")
    return instrumentPrint(call);
  if (name.starts_with("emulator.") || bindMath(call, name))
    return;
  refuse(call, "function '" + name + "' is not emulated");
}

} // namespace mlir::workgroup::emulator
