//===- RegisterEmitter.cpp - What a thread asks about itself --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers by what they are about: the thread, its block and cluster, or the
// device, of which there is only one multiprocessor.
//
//===----------------------------------------------------------------------===//

#include "RegisterEmitter.h"
#include "Emulator/State/Tables.h"
#include "MemorySpaces.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Support/MathExtras.h"
#include <cstddef>

using namespace llvm;

namespace mlir::workgroup::emulator {

//===----------------------------------------------------------------------===//
// Special registers
//===----------------------------------------------------------------------===//

/// 0 to 2 for a name that ends in the letter of a dimension, else 3.
static unsigned getDimension(StringRef name) {
  return name.ends_with(".x")   ? 0
         : name.ends_with(".y") ? 1
         : name.ends_with(".z") ? 2
                                : 3;
}

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

Value *RegisterEmitter::readBlock(IRBuilder<> &builder, uint64_t offset) {
  Value *ids =
      context.getThreadField(builder, context.ptr, offsetof(ThreadState, ids));
  return context.getField(builder, context.i32, ids, offset);
}

/// What a register says of the thread in its block; null if it says none of
/// that.
Value *RegisterEmitter::getThreadRegister(IRBuilder<> &builder,
                                          StringRef name) {
  auto read = [&](uint64_t offset) {
    return context.getThreadField(builder, context.i32, offset);
  };
  if (unsigned dim = getDimension(name); dim < 3 && name.starts_with("tid."))
    return read(offsetof(ThreadState, thread) + 4 * dim);
  if (name == "laneid")
    return read(offsetof(ThreadState, lane));
  if (name == "warpid")
    return read(offsetof(ThreadState, warp));
  if (name.consume_front("lanemask."))
    return makeLaneMask(builder, name, read(offsetof(ThreadState, lane)));
  return nullptr;
}

/// The same of the block and its cluster.
Value *RegisterEmitter::getBlockRegister(IRBuilder<> &builder, StringRef name) {
  if (unsigned dim = getDimension(name); dim < 3)
    if (auto offset = getVectorOffset(name.rsplit('.').first))
      return readBlock(builder, *offset + 4 * dim);
  auto offset = StringSwitch<std::optional<uint64_t>>(name)
                    .Case("cluster.ctarank", offsetof(BlockIds, rankInCluster))
                    .Case("cluster.nctarank", offsetof(BlockIds, clusterBlocks))
                    .Case("nwarpid", offsetof(BlockIds, numWarps))
                    .Case("dynamic.smem.size", offsetof(BlockIds, dynamicBytes))
                    .Default(std::nullopt);
  return offset ? readBlock(builder, *offset) : nullptr;
}

/// The same of the device.
Value *RegisterEmitter::getOtherRegister(IRBuilder<> &builder, StringRef name) {
  if (name == "warpsize")
    return builder.getInt32(kWarpSize);
  if (name == "smid")
    return builder.getInt32(0);
  if (name == "nsmid")
    return builder.getInt32(1);
  if (name.starts_with("clock") || name == "globaltimer")
    return builder.CreateIntrinsic(Intrinsic::readcyclecounter, {});
  return nullptr;
}

bool RegisterEmitter::emitRegister(IntrinsicInst &call, StringRef name) {
  if (!name.consume_front("llvm.nvvm.read.ptx.sreg."))
    return false;
  IRBuilder<> builder(&call);
  Value *value = getThreadRegister(builder, name);
  if (!value)
    value = getBlockRegister(builder, name);
  if (!value)
    value = getOtherRegister(builder, name);
  if (!value)
    return context.refuse(call,
                          "special register '%" + name + "' is not emulated");
  // Launches that do not keep to the range are refused, but for clusters.
  std::optional<ConstantRange> range = call.getRange();
  if (name.contains("cluster"))
    range = std::nullopt;
  if (auto *load = dyn_cast<LoadInst>(value); load && range)
    load->setMetadata(LLVMContext::MD_range,
                      MDBuilder(context.context)
                          .createRange(range->getLower(), range->getUpper()));
  context.replace(call, builder.CreateZExtOrTrunc(value, call.getType()));
  return true;
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

bool RegisterEmitter::emitSpaceQuery(IntrinsicInst &call, StringRef name) {
  using Kind = Provenance::Kind;
  if (!name.consume_front("llvm.nvvm.isspacep."))
    return false;
  IRBuilder<> builder(&call);
  const Provenance &source = context.facts.provenances.get(call, 0);
  bool isConstant = source.kind == Kind::Variable &&
                    getSpace(*source.base) == NVPTXAS::ADDRESS_SPACE_CONST;
  StringRef known = source.kind == Kind::Shared    ? "shared"
                    : source.kind == Kind::Private ? "local"
                    : isConstant                   ? "const"
                    : source.kind == Kind::Unknown ? ""
                                                   : "global";
  name.consume_back(".cluster") || name.consume_back("_cluster");
  if (!known.empty()) {
    context.replace(call, builder.getInt1(name == known));
    return true;
  }
  bool mayBeConstant =
      any_of(context.module.globals(), [](GlobalVariable &variable) {
        return variable.getAddressSpace() == NVPTXAS::ADDRESS_SPACE_CONST;
      });
  if (name != "shared" && (!source.buffers.empty() || mayBeConstant))
    return context.refuse(call,
                          "intrinsic 'llvm.nvvm.isspacep." + name +
                              "' of an address that may be in one of several "
                              "memories is not emulated");
  Value *window = context.getThreadField(builder, context.i64,
                                         offsetof(ThreadState, shared));
  Value *isShared = builder.CreateICmpULT(
      builder.CreateSub(context.getOffset(builder, call.getArgOperand(0)),
                        window),
      builder.getInt64(kSharedWindow));
  context.replace(call, name == "shared"   ? isShared
                        : name == "global" ? builder.CreateNot(isShared)
                                           : builder.getFalse());
  return true;
}

/// The distance of an address in workgroup memory from the window of the
/// thread's own block: those of other blocks lie before it and behind it.
Value *RegisterEmitter::getDistance(IRBuilder<> &builder, Value *pointer) {
  return builder.CreateSExt(
      builder.CreateTrunc(context.getSharedOffset(builder, pointer),
                          context.i32),
      context.i64);
}

/// `mapa`: the address in another block of what `call` has an address of.
void RegisterEmitter::emitMap(IntrinsicInst &call) {
  IRBuilder<> builder(&call);
  Value *offset = builder.CreateAnd(getDistance(builder, call.getArgOperand(0)),
                                    builder.getInt64(kSharedWindow - 1));
  Value *ranks = builder.CreateSub(
      builder.CreateZExt(call.getArgOperand(1), context.i64),
      builder.CreateZExt(readBlock(builder, offsetof(BlockIds, rankInCluster)),
                         context.i64));
  Value *address = builder.CreateAdd(
      offset, builder.CreateMul(ranks, builder.getInt64(kSharedWindow)));
  if (getSpace(call) == 0)
    address = builder.CreateAdd(address, context.getWindow(builder));
  context.replace(call, builder.CreateIntToPtr(address, call.getType()));
}

bool RegisterEmitter::emitClusterQuery(IntrinsicInst &call, StringRef name) {
  IRBuilder<> builder(&call);
  if (name.starts_with("llvm.nvvm.mapa")) {
    emitMap(call);
    return true;
  }
  if (name.starts_with("llvm.nvvm.getctarank")) {
    Value *ranks = builder.CreateAShr(
        getDistance(builder, call.getArgOperand(0)), Log2_64(kSharedWindow));
    context.replace(call,
                    builder.CreateAdd(
                        builder.CreateTrunc(ranks, context.i32),
                        readBlock(builder, offsetof(BlockIds, rankInCluster))));
    return true;
  }
  if (name != "llvm.nvvm.is_explicit_cluster")
    return false;
  Value *has = readBlock(builder, offsetof(BlockIds, hasClusters));
  context.replace(call, builder.CreateIsNotNull(has));
  return true;
}

} // namespace mlir::workgroup::emulator
