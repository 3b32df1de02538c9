//===- OpEffects.cpp - What operations do to memory -----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A hash table holds the kind of each operation by its type. Calls and
// operations of linalg, which are told by an interface, come behind it. The
// questions are answered by kinds alone, but for operands and attributes of
// barriers, fences and groups.
//
//===----------------------------------------------------------------------===//

#include "OpEffects.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/LLVMContext.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
/// The kinds of operations, by their types.
class KindTable {
public:
  KindTable();
  OpKind lookup(Operation *op) const {
    return kinds.lookup(op->getName().getTypeID());
  }

private:
  template <typename... Ops>
  void add(OpKind kind) {
    (kinds.try_emplace(TypeID::get<Ops>(), kind), ...);
  }
  void addOfThreads();
  void addOrders();
  void addMBarriers();
  void addAccesses();

  DenseMap<TypeID, OpKind> kinds;
};
} // namespace

/// Operations that access no memory and order nothing, and assembly.
void KindTable::addOfThreads() {
  add<memref::AllocOp, memref::AllocaOp, memref::DeallocOp, memref::DimOp,
      gpu::DynamicSharedMemoryOp, nvgpu::MBarrierCreateOp, nvgpu::MBarrierGetOp,
      RingOp>(OpKind::Storage);
  add<memref::PrefetchOp, affine::AffinePrefetchOp, nvgpu::TmaPrefetchOp>(
      OpKind::Prefetch);
  add<nvgpu::TmaCreateDescriptorOp, nvgpu::WarpgroupGenerateDescriptorOp>(
      OpKind::Descriptor);
  add<nvgpu::WarpgroupMmaInitAccumulatorOp, NVVM::SetMaxRegisterOp,
      NVVM::NanosleepOp, NVVM::MmaOp, NVVM::ConvertFloatToTF32Op,
      LLVM::DbgDeclareOp, LLVM::DbgValueOp, LLVM::DbgLabelOp>(OpKind::Private);
  add<gpu::PrintfOp, cf::AssertOp>(OpKind::Report);
  add<gpu::ShuffleOp, gpu::SubgroupReduceOp, NVVM::ShflOp, NVVM::VoteSyncOp,
      NVVM::MatchSyncOp, NVVM::ReduxOp, NVVM::ElectSyncOp>(
      OpKind::WarpExchange);
  add<LLVM::InlineAsmOp, LLVM::CallIntrinsicOp, NVVM::InlinePtxOp>(
      OpKind::Assembly);
}

/// Barriers, fences, groups and uses of rings.
void KindTable::addOrders() {
  add<gpu::AllReduceOp>(OpKind::BlockExchange);
  add<gpu::BarrierOp, NVVM::Barrier0Op, NVVM::BarrierOp>(OpKind::Barrier);
  add<NVVM::BarrierArriveOp>(OpKind::BarrierArrival);
  add<NVVM::SyncWarpOp>(OpKind::WarpBarrier);
  add<NVVM::ClusterArriveOp, NVVM::ClusterArriveRelaxedOp>(
      OpKind::ClusterArrival);
  add<NVVM::ClusterWaitOp>(OpKind::ClusterWait);
  add<NVVM::MembarOp, NVVM::FenceScClusterOp, NVVM::FenceSyncRestrictOp,
      NVVM::FenceProxyAcquireOp, NVVM::FenceProxyReleaseOp, nvgpu::TmaFenceOp,
      LLVM::FenceOp>(OpKind::Fence);
  add<NVVM::FenceProxyOp>(OpKind::ProxyFence);
  add<NVVM::FenceMbarrierInitOp, NVVM::WgmmaFenceAlignedOp>(OpKind::LocalFence);
  add<nvgpu::DeviceAsyncCreateGroupOp, NVVM::CpAsyncCommitGroupOp,
      NVVM::CpAsyncBulkCommitGroupOp, NVVM::WgmmaGroupSyncAlignedOp>(
      OpKind::GroupCommit);
  add<nvgpu::DeviceAsyncWaitOp, NVVM::CpAsyncWaitGroupOp,
      NVVM::CpAsyncBulkWaitGroupOp, NVVM::WgmmaWaitGroupSyncOp>(
      OpKind::GroupWait);
  add<AwaitProductsOp>(OpKind::GroupWait);
  add<PutOp, CommitOp, GetOp, ReleaseOp>(OpKind::RingUse);
}

void KindTable::addMBarriers() {
  add<nvgpu::MBarrierInitOp, NVVM::MBarrierInitOp, NVVM::MBarrierInvalOp>(
      OpKind::MBarrierInit);
  add<nvgpu::MBarrierArriveOp, nvgpu::MBarrierArriveNoCompleteOp,
      nvgpu::MBarrierArriveExpectTxOp, NVVM::MBarrierArriveOp,
      NVVM::MBarrierArriveNocompleteOp, NVVM::MBarrierArriveExpectTxOp,
      NVVM::MBarrierArriveDropOp, NVVM::MBarrierArriveDropNocompleteOp,
      NVVM::MBarrierArriveDropExpectTxOp, NVVM::MBarrierExpectTxOp,
      NVVM::MBarrierCompleteTxOp, NVVM::CpAsyncMBarrierArriveOp>(
      OpKind::MBarrierArrival);
  add<nvgpu::MBarrierTestWaitOp, nvgpu::MBarrierTryWaitParityOp,
      NVVM::MBarrierTestWaitOp, NVVM::MBarrierTryWaitOp,
      NVVM::MBarrierTryWaitParityOp>(OpKind::MBarrierWait);
}

void KindTable::addAccesses() {
  add<memref::LoadOp, memref::StoreOp, memref::CopyOp, affine::AffineLoadOp,
      affine::AffineStoreOp, affine::AffineVectorLoadOp,
      affine::AffineVectorStoreOp, vector::LoadOp, vector::StoreOp,
      vector::MaskedLoadOp, vector::MaskedStoreOp, vector::ExpandLoadOp,
      vector::CompressStoreOp, vector::TransferReadOp, vector::TransferWriteOp,
      vector::GatherOp, vector::ScatterOp>(OpKind::Access);
  add<gpu::SubgroupMmaLoadMatrixOp, gpu::SubgroupMmaStoreMatrixOp,
      nvgpu::LdMatrixOp, NVVM::LdMatrixOp>(OpKind::WarpAccess);
  add<GroupProductOp>(OpKind::GroupAccess);
  add<memref::AtomicRMWOp, memref::GenericAtomicRMWOp>(OpKind::AtomicAccess);
  add<nvgpu::DeviceAsyncCopyOp, NVVM::CpAsyncOp>(OpKind::AsyncCopy);
  add<nvgpu::TmaAsyncLoadOp, NVVM::CpAsyncBulkGlobalToSharedClusterOp,
      NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(OpKind::BulkLoad);
  add<nvgpu::TmaAsyncStoreOp, NVVM::CpAsyncBulkSharedCTAToGlobalOp,
      NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp,
      NVVM::CpAsyncBulkTensorReduceOp>(OpKind::BulkStore);
}

KindTable::KindTable() {
  addOfThreads();
  addOrders();
  addMBarriers();
  addAccesses();
}

/// The kind of a call of a function that no program defines: those of
/// libdevice, which compute, and those that print and give up.
static std::optional<OpKind> getKindOfLibrary(Operation *op) {
  auto call = dyn_cast<LLVM::CallOp>(op);
  std::optional<StringRef> callee = call ? call.getCallee() : std::nullopt;
  if (!callee)
    return std::nullopt;
  // A function of the program that is called so may do anything.
  auto function = SymbolTable::lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(
      call, call.getCalleeAttr());
  if (!function || !function.isExternal())
    return std::nullopt;
  if (*callee == "vprintf" || *callee == "__assertfail")
    return OpKind::Report;
  bool takesMemory = llvm::any_of(call.getOperandTypes(),
                                  llvm::IsaPred<LLVM::LLVMPointerType>);
  if (callee->starts_with("__nv_") && !takesMemory)
    return OpKind::Private;
  return std::nullopt;
}

/// True if the intrinsic `name` computes of its operands and nothing else, in
/// each thread for itself, as LLVM has it.
static bool isComputation(StringRef name) {
  thread_local llvm::DenseMap<llvm::Intrinsic::ID, bool> known;
  llvm::Intrinsic::ID number = llvm::Intrinsic::lookupIntrinsicID(name);
  if (number == llvm::Intrinsic::not_intrinsic)
    return false;
  auto [it, isNew] = known.try_emplace(number);
  if (isNew) {
    llvm::LLVMContext context;
    llvm::AttributeSet attributes =
        llvm::Intrinsic::getFnAttributes(context, number);
    it->second = attributes.getMemoryEffects().doesNotAccessMemory() &&
                 !attributes.hasAttribute(llvm::Attribute::Convergent);
  }
  return it->second;
}

/// True for products of matrices that nvvm has no operation for, which lanes
/// happen to be together, what keeps a load, and functions of numbers.
static bool isPrivateIntrinsic(StringRef name) {
  return name.starts_with("llvm.nvvm.mma.") || name == "llvm.nvvm.activemask" ||
         name == "llvm.fake.use" || isComputation(name);
}

/// True if `op` is of a dialect that has no calls and no structured operations,
/// as nearly all operations of a kernel are: to ask for interfaces takes
/// longer.
static bool hasNoCalls(Operation *op) {
  return isa_and_nonnull<arith::ArithDialect, vector::VectorDialect,
                         nvgpu::NVGPUDialect>(op->getDialect());
}

OpKind getOpKind(Operation *op) {
  static const KindTable table;
  OpKind kind = table.lookup(op);
  if (kind == OpKind::Assembly) {
    auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
    return call && isPrivateIntrinsic(call.getIntrin()) ? OpKind::Private
                                                        : kind;
  }
  if (kind != OpKind::Other || hasNoCalls(op))
    return kind;
  if (isa<CallOpInterface>(op))
    return getKindOfLibrary(op).value_or(OpKind::Call);
  return isa<linalg::LinalgOp>(op) ? OpKind::Access : OpKind::Other;
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

bool isFreeOfAccesses(Operation *op) {
  switch (getOpKind(op)) {
  case OpKind::Storage:
  case OpKind::Prefetch:
  case OpKind::Descriptor:
  case OpKind::Private:
  case OpKind::Report:
  case OpKind::WarpExchange:
  case OpKind::BlockExchange:
  case OpKind::Barrier:
  case OpKind::BarrierArrival:
  case OpKind::WarpBarrier:
  case OpKind::ClusterArrival:
  case OpKind::ClusterWait:
  case OpKind::Fence:
  case OpKind::ProxyFence:
  case OpKind::LocalFence:
  case OpKind::GroupCommit:
  case OpKind::GroupWait:
  case OpKind::RingUse:
    return true;
  default:
    return isMemoryEffectFree(op);
  }
}

bool isTransparent(Operation *op) {
  switch (getOpKind(op)) {
  case OpKind::Storage:
  case OpKind::Prefetch:
  case OpKind::Private:
  case OpKind::Report:
  case OpKind::WarpExchange:
  case OpKind::ProxyFence:
    return true;
  default:
    return isMemoryEffectFree(op);
  }
}

bool isSynchronousAccess(Operation *op) {
  OpKind kind = getOpKind(op);
  return kind == OpKind::Access || kind == OpKind::WarpAccess ||
         kind == OpKind::GroupAccess || kind == OpKind::AtomicAccess ||
         kind == OpKind::Prefetch;
}

bool isBarrierInBlock(Operation *op) {
  OpKind kind = getOpKind(op);
  return kind == OpKind::Barrier || kind == OpKind::BarrierArrival ||
         kind == OpKind::WarpBarrier;
}

bool isMBarrierOp(Operation *op) {
  OpKind kind = getOpKind(op);
  return kind == OpKind::MBarrierInit || kind == OpKind::MBarrierArrival ||
         kind == OpKind::MBarrierWait;
}

bool isBlockMeeting(Operation *op) {
  return isBlockBarrier(op) || getOpKind(op) == OpKind::BlockExchange;
}

bool isWarpBarrier(Operation *op) {
  auto sync = dyn_cast<NVVM::SyncWarpOp>(op);
  APInt mask;
  return sync && matchPattern(sync.getMask(), m_ConstantInt(&mask)) &&
         mask.isAllOnes();
}

bool isProxyFence(Operation *op, MemorySpace space) {
  auto fence = dyn_cast<NVVM::FenceProxyOp>(op);
  if (!fence)
    return false;
  NVVM::ProxyKind kind = fence.getKind();
  return kind == NVVM::ProxyKind::async ||
         (kind == NVVM::ProxyKind::async_shared &&
          space == MemorySpace::Workgroup) ||
         (kind == NVVM::ProxyKind::async_global &&
          space == MemorySpace::Global);
}

/// True if nobody writes by `pointer`, of what is passed by value.
static bool isNeverWritten(Value pointer) {
  return llvm::all_of(pointer.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<LLVM::GEPOp>(user))
      return isNeverWritten(user->getResult(0));
    auto copy = dyn_cast<LLVM::MemcpyOp>(user);
    return isa<LLVM::LoadOp>(user) || (copy && &use == &copy.getSrcMutable());
  });
}

bool isLoadOfParameter(Operation *op) {
  auto load = dyn_cast<LLVM::LoadOp>(op);
  Value base = load ? load.getAddr() : Value();
  auto isConstant = [](Value index) {
    return matchPattern(index, m_Constant());
  };
  while (auto step = base ? base.getDefiningOp<LLVM::GEPOp>() : LLVM::GEPOp())
    base = llvm::all_of(step.getDynamicIndices(), isConstant) ? step.getBase()
                                                              : Value();
  auto argument = dyn_cast_or_null<BlockArgument>(base);
  if (!argument || !argument.getOwner()->isEntryBlock())
    return false;
  Operation *owner = argument.getOwner()->getParentOp();
  auto kernel = dyn_cast<FunctionOpInterface>(owner);
  return kernel && isKernel(owner) &&
         kernel.getArgAttr(argument.getArgNumber(),
                           LLVM::LLVMDialect::getByValAttrName()) &&
         isNeverWritten(argument);
}

std::optional<AsyncGroup> getAsyncGroup(Operation *op) {
  using Result = std::optional<AsyncGroup>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<nvgpu::DeviceAsyncCreateGroupOp, NVVM::CpAsyncCommitGroupOp>(
          [](auto) -> Result {
            return AsyncGroup{AsyncGroup::Copies, /*isCommit=*/true};
          })
      .Case([](NVVM::CpAsyncBulkCommitGroupOp) -> Result {
        return AsyncGroup{AsyncGroup::Stores, /*isCommit=*/true};
      })
      .Case([](NVVM::WgmmaGroupSyncAlignedOp) -> Result {
        return AsyncGroup{AsyncGroup::Products, /*isCommit=*/true};
      })
      .Case([](nvgpu::DeviceAsyncWaitOp wait) -> Result {
        return AsyncGroup{AsyncGroup::Copies, /*isCommit=*/false,
                          wait.getNumGroups().value_or(0)};
      })
      .Case([](NVVM::CpAsyncWaitGroupOp wait) -> Result {
        return AsyncGroup{AsyncGroup::Copies, /*isCommit=*/false, wait.getN()};
      })
      .Case([](NVVM::CpAsyncBulkWaitGroupOp wait) -> Result {
        return AsyncGroup{AsyncGroup::Stores, /*isCommit=*/false,
                          wait.getGroup(), bool(wait.getRead())};
      })
      .Case([](NVVM::WgmmaWaitGroupSyncOp wait) -> Result {
        return AsyncGroup{AsyncGroup::Products, /*isCommit=*/false,
                          int64_t(wait.getGroup())};
      })
      .Case([](GroupProductOp product) -> Result {
        return AsyncGroup{AsyncGroup::TileProducts, /*isCommit=*/true,
                          int64_t(product.getPending()), /*isOfReads=*/false,
                          /*isWhole=*/true};
      })
      .Case([](AwaitProductsOp) -> Result {
        return AsyncGroup{AsyncGroup::TileProducts, /*isCommit=*/false};
      })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace mlir::workgroup
