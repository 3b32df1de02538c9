//===- NeededAlignment.cpp - Alignment that accesses ask for --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The alignment of a buffer is the largest that one of its accesses asks for: a
// vector, a fragment of `wmma`, a row of `ldmatrix`, the tile of a TMA copy
// (PTX ISA, alignment of operands of these instructions). The uses of a buffer
// are followed through views and into callees. A promise of an operation counts
// only if the constant address of the access, where it is known, can keep it.
//
//===----------------------------------------------------------------------===//

#include "BufferFlow.h"
#include "MemRefAddress.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Places in buffers
//===----------------------------------------------------------------------===//

/// The bytes from the start of its root to the first element of `address`, if
/// that is constant.
static std::optional<int64_t> getConstantByte(const MemRefAddress &address) {
  if (!llvm::all_of(address.origin, [](const LinearIndex &index) {
        return index.isConstant();
      }))
    return std::nullopt;
  if (!address.basis)
    return address.origin.front().constant;
  // Indices into a memref, some strides of which are not constant.
  auto type = cast<MemRefType>(address.basis.getType());
  SmallVector<int64_t> strides;
  int64_t element;
  if (failed(type.getStridesAndOffset(strides, element)) ||
      ShapedType::isDynamic(element) || !address.base ||
      !address.base->isConstant())
    return std::nullopt;
  int64_t byte = address.base->constant + element * address.elementBytes;
  for (auto [index, bytes] :
       llvm::zip_equal(address.origin, address.coordinateBytes)) {
    if (index.constant != 0 && ShapedType::isDynamic(bytes))
      return std::nullopt;
    byte += index.constant == 0 ? 0 : index.constant * bytes;
  }
  return byte;
}

std::optional<int64_t> getConstantOffset(Value memref) {
  return getConstantOffset(AlignedAccess{memref, {}, /*alignment=*/1});
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// The alignment of a tile in workgroup memory that the tensor map of type
/// `type` describes.
static int64_t getTileAlignment(Type type) {
  switch (cast<nvgpu::TensorMapDescriptorType>(type).getSwizzle()) {
  case nvgpu::TensorMapSwizzleKind::SWIZZLE_NONE:
    return 128;
  case nvgpu::TensorMapSwizzleKind::SWIZZLE_32B:
    return 256;
  case nvgpu::TensorMapSwizzleKind::SWIZZLE_64B:
    return 512;
  case nvgpu::TensorMapSwizzleKind::SWIZZLE_128B:
    return 1024;
  }
  llvm_unreachable("unknown swizzle");
}

/// The access of `op` if its alignment is what the operation says.
static std::optional<AlignedAccess> getPromisedAccess(Operation *op) {
  using Result = std::optional<AlignedAccess>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<vector::LoadOp, vector::StoreOp, vector::MaskedLoadOp,
            vector::MaskedStoreOp, vector::ExpandLoadOp,
            vector::CompressStoreOp>([](auto access) -> Result {
        return AlignedAccess{access.getBase(), access.getIndices(),
                             int64_t(access.getAlignment().value_or(1))};
      })
      .Case<memref::LoadOp, memref::StoreOp>([](auto access) -> Result {
        return AlignedAccess{access.getMemref(), access.getIndices(),
                             int64_t(access.getAlignment().value_or(1))};
      })
      .Case([](memref::AssumeAlignmentOp assume) -> Result {
        return AlignedAccess{
            assume.getMemref(), {}, int64_t(assume.getAlignment())};
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// The access of `op` if its alignment is what the instruction asks for.
static std::optional<AlignedAccess> getRequiredAccess(Operation *op) {
  using Result = std::optional<AlignedAccess>;
  auto make = [](Value memref, ValueRange indices, int64_t alignment) {
    return AlignedAccess{memref, indices, alignment, /*isPromised=*/false};
  };
  // Of the first element of a fragment (PTX ISA, wmma.load), and of a row.
  constexpr int64_t kFragmentBytes = 32, kRowBytes = 16;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](nvgpu::DeviceAsyncCopyOp copy) -> Result {
        auto type = cast<MemRefType>(copy.getDst().getType());
        int64_t bytes = getElementBytes(type, copy).value_or(0);
        return make(copy.getDst(), copy.getDstIndices(),
                    copy.getDstElements().getSExtValue() * bytes);
      })
      .Case([&](nvgpu::LdMatrixOp load) -> Result {
        return make(load.getSrcMemref(), load.getIndices(), kRowBytes);
      })
      .Case([&](gpu::SubgroupMmaLoadMatrixOp load) -> Result {
        return make(load.getSrcMemref(), load.getIndices(), kFragmentBytes);
      })
      .Case([&](gpu::SubgroupMmaStoreMatrixOp store) -> Result {
        return make(store.getDstMemref(), store.getIndices(), kFragmentBytes);
      })
      .Case([&](nvgpu::TmaAsyncLoadOp load) -> Result {
        Type map = load.getTensorMapDescriptor().getType();
        return make(load.getDst(), {}, getTileAlignment(map));
      })
      .Case([&](nvgpu::TmaAsyncStoreOp store) -> Result {
        Type map = store.getTensorMapDescriptor().getType();
        return make(store.getSrc(), {}, getTileAlignment(map));
      })
      .Case([&](nvgpu::WarpgroupGenerateDescriptorOp tile) -> Result {
        Type map = tile.getTensorMap().getType();
        return make(tile.getTensor(), {}, getTileAlignment(map));
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// The access to a tile of `layout`, which has to begin where the swizzle does.
static AlignedAccess getTileAccess(Value tile, TileLayoutAttr layout) {
  constexpr int64_t kPatternRows = 8;
  int64_t element =
      cast<MemRefType>(tile.getType()).getElementTypeBitWidth() / 8;
  return {tile,
          {},
          kPatternRows * layout.getSwizzleBytes(element),
          /*isPromised=*/false};
}

SmallVector<AlignedAccess, 2> getAlignedAccesses(Operation *op) {
  if (auto product = dyn_cast<GroupProductOp>(op))
    return {getTileAccess(product.getLhs(), product.getLhsLayout()),
            getTileAccess(product.getRhs(), product.getRhsLayout())};
  std::optional<AlignedAccess> access = getPromisedAccess(op);
  if (!access)
    access = getRequiredAccess(op);
  return access ? SmallVector<AlignedAccess, 2>{*access}
                : SmallVector<AlignedAccess, 2>();
}

std::optional<int64_t> getConstantOffset(const AlignedAccess &access) {
  auto isConstant = [](Value index) {
    return matchPattern(index, m_Constant());
  };
  if (!llvm::all_of(access.indices, isConstant))
    return std::nullopt; // as most are: strides take longer to find
  // A root is what it is for all who ask now.
  std::optional<MemRefAddress> address =
      MemRefAddress::of(access.memref, /*isFixed=*/[] { return true; });
  if (!address)
    return std::nullopt;
  for (auto [index, dimension] : llvm::zip(access.indices, address->dimensions))
    address->origin[dimension.coordinate].add(index, dimension.stride);
  return getConstantByte(*address);
}

//===----------------------------------------------------------------------===//
// What a buffer needs
//===----------------------------------------------------------------------===//

/// The alignment in bytes that the user of `use`, an alias of `buffer`, asks
/// of the buffer; 1 if none.
static int64_t getNeededAlignment(OpOperand &use, Value buffer) {
  int64_t needed = 1;
  for (const AlignedAccess &access : getAlignedAccesses(use.getOwner())) {
    if (access.memref != use.get() || !llvm::isPowerOf2_64(access.alignment))
      continue;
    // Where the address is known, the promise may be one that cannot be kept.
    std::optional<int64_t> byte = getRootBuffer(use.get()) == buffer
                                      ? getConstantOffset(access)
                                      : std::nullopt;
    if (byte.value_or(0) % access.alignment == 0)
      needed = std::max(needed, access.alignment);
  }
  return needed;
}

/// The one of `arguments` that `use` is passed to as one of `operands`; null if
/// it is an operand of another kind, such as the size of a launch.
static Value getPassedArgument(OpOperand &use, OperandRange operands,
                               Block::BlockArgListType arguments) {
  if (operands.empty())
    return Value(); // and it has no first operand to count from
  unsigned first = operands.getBeginOperandIndex();
  unsigned number = use.getOperandNumber();
  if (number < first ||
      number - first >= std::min(operands.size(), arguments.size()))
    return Value();
  return arguments[number - first];
}

/// The argument of a function that `use`, an operand of a call or a launch, is
/// passed to; null if there is none.
static Value getCalleeArgument(OpOperand &use) {
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(use.getOwner())) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(
        launch, launch.getKernelAttr());
    return kernel && !kernel.isExternal()
               ? getPassedArgument(use, launch.getKernelOperands(),
                                   kernel.getArguments())
               : Value();
  }
  auto call = dyn_cast<CallOpInterface>(use.getOwner());
  auto callee =
      call ? dyn_cast_or_null<CallableOpInterface>(call.resolveCallable())
           : nullptr;
  Region *body = callee ? callee.getCallableRegion() : nullptr;
  return body && !body->empty() ? getPassedArgument(use, call.getArgOperands(),
                                                    body->getArguments())
                                : Value();
}

int64_t getNeededAlignment(Value buffer) {
  int64_t alignment = 1;
  llvm::SmallSetVector<Value, 8> aliases;
  aliases.insert(buffer);
  for (unsigned i = 0; i < aliases.size(); ++i)
    for (OpOperand &use : aliases[i].getUses()) {
      alignment = std::max(alignment, getNeededAlignment(use, buffer));
      aliases.insert_range(getAliases(use));
      if (Value argument = getCalleeArgument(use))
        aliases.insert(argument);
    }
  return alignment;
}

} // namespace mlir::workgroup
