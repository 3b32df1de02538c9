//===- OperationNeeds.cpp - What operations need of a chip ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers are the larger ones of what the PTX ISA says and of what LLVM's
// patterns ask for; test/python/operations/test_operations.py holds them
// against LLVM and ptxas, operation by operation.
//
//===----------------------------------------------------------------------===//

#include "OperationNeeds.h"
#include "ProductNeeds.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

// Architectures, as `OperationNeeds` counts them.
static constexpr OperationNeeds kEach;
static constexpr OperationNeeds kAmpere{80, false, 70};
static constexpr OperationNeeds kHopper{90, false, 80};
static constexpr OperationNeeds kCluster{90, false, 78};
static constexpr OperationNeeds kHopperOnly{90, true, 80};
static constexpr OperationNeeds kF8{89, false, 81, 78};
static constexpr OperationNeeds kLdMatrix{75, false, 65};
static constexpr OperationNeeds kBlackwell{100, false, 86};
static constexpr OperationNeeds kBlackwellOnly{100, true, 86};

/// `needs` in version `ptxVersion` of PTX.
static OperationNeeds since(unsigned ptxVersion, OperationNeeds needs) {
  needs.ptxVersion = ptxVersion;
  return needs;
}

//===----------------------------------------------------------------------===//
// Operations of which all variants need the same
//===----------------------------------------------------------------------===//

static OperationNeeds findByName(StringRef name) {
  return llvm::StringSwitch<OperationNeeds>(name)
      // Clusters of blocks.
      .Cases({"gpu.cluster_id", "gpu.cluster_dim", "gpu.cluster_dim_blocks",
              "gpu.cluster_block_id", "nvvm.mapa", "nvvm.cluster.arrive",
              "nvvm.cluster.wait", "nvvm.fence.sc.cluster",
              "nvvm.griddepcontrol"},
             kCluster)
      .StartsWith("nvvm.read.ptx.sreg.cluster", kCluster)
      .StartsWith("nvvm.read.ptx.sreg.nclusterid", kCluster)
      .Case("nvvm.read.ptx.sreg.aggr.smem.size", since(81, kHopper))
      .Cases({"nvvm.cluster.arrive.relaxed", "nvvm.fence.mbarrier.init"},
             kHopper)
      .StartsWith("nvvm.clusterlaunchcontrol.", kBlackwell)
      // Fences between proxies.
      .Cases({"nvgpu.tma.fence.descriptor", "nvvm.fence.proxy.acquire",
              "nvvm.fence.proxy.release"},
             since(83, kHopper))
      .Cases({"nvvm.fence.sync_restrict", "nvvm.fence.proxy.sync_restrict"},
             since(86, kHopper))
      // Copies by threads, and by TMA.
      .Cases({"nvgpu.device_async_copy", "nvgpu.device_async_create_group",
              "nvgpu.device_async_wait"},
             kAmpere)
      .StartsWith("nvvm.cp.async.bulk.", kHopper)
      .StartsWith("nvvm.cp.async.", kAmpere)
      .StartsWith("nvgpu.tma.", kHopper)
      .Cases({"nvvm.prefetch", "nvvm.elect.sync"}, kHopper)
      .Case("nvvm.st.bulk", kBlackwell)
      .Case("nvgpu.ldmatrix", kLdMatrix)
      // Barriers in memory.
      .Cases(
          {"nvgpu.mbarrier.arrive.expect_tx", "nvgpu.mbarrier.try_wait.parity"},
          kHopper)
      .Cases({"nvgpu.mbarrier.init", "nvgpu.mbarrier.arrive",
              "nvgpu.mbarrier.arrive.nocomplete", "nvgpu.mbarrier.test.wait",
              "nvvm.mbarrier.init", "nvvm.mbarrier.inval",
              "nvvm.mbarrier.arrive.nocomplete",
              "nvvm.mbarrier.arrive_drop.nocomplete"},
             kAmpere)
      .StartsWith("nvvm.mbarrier.", kHopper)
      // Products of warp groups, and in tensor memory.
      .StartsWith("nvgpu.warpgroup.", kHopperOnly)
      .Case("workgroup.group_product", kHopperOnly)
      .StartsWith("nvvm.wgmma.", kHopperOnly)
      .Case("nvvm.setmaxregister", kHopperOnly)
      .Case("nvvm.tcgen05.mma_smem_desc", kEach) // arithmetic
      .StartsWith("nvvm.tcgen05.", kBlackwellOnly)
      // Conversions to narrow floats.
      .Cases({"nvvm.convert.bf16x2.to.f8x2", "nvvm.convert.f8x2.to.bf16x2",
              "nvvm.convert.f6x2.to.f16x2", "nvvm.convert.f4x2.to.f16x2",
              "nvvm.convert.f32x2.to.f6x2", "nvvm.convert.f32x2.to.f4x2"},
             kBlackwellOnly)
      .StartsWith("nvvm.convert.f32x4.", kBlackwellOnly)
      .Cases({"nvvm.convert.f16x2.to.f8x2", "nvvm.convert.f8x2.to.f16x2"}, kF8)
      .Default(kEach);
}

//===----------------------------------------------------------------------===//
// Operations whose variants differ
//===----------------------------------------------------------------------===//

/// True if `value` is a pointer to the workgroup memory of a cluster.
static bool isInCluster(Value value) {
  return cast<LLVM::LLVMPointerType>(value.getType()).getAddressSpace() ==
         static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster);
}

/// True if `value` is a pointer to the workgroup memory of the block.
static bool isInBlock(Value value) {
  return cast<LLVM::LLVMPointerType>(value.getType()).getAddressSpace() ==
         static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);
}

/// The needs of operations on mbarriers that came with Hopper.
template <typename OpTy>
static OperationNeeds getBarrierNeeds(OpTy op) {
  return op.getRelaxed() ? since(86, kHopper) : kHopper;
}

/// The needs of arriving at, and of testing, an mbarrier, which are older.
template <typename OpTy>
static OperationNeeds getOldBarrierNeeds(OpTy op, bool isOld) {
  isOld &= !op.getRelaxed() && op.getScope() == NVVM::MemScopeKind::CTA &&
           !isInCluster(op.getAddr());
  return isOld ? kAmpere : getBarrierNeeds(op);
}

static OperationNeeds getLoadModeNeeds(NVVM::TMALoadMode mode) {
  bool isOld =
      mode == NVVM::TMALoadMode::TILE || mode == NVVM::TMALoadMode::IM2COL;
  return isOld ? kHopper : kBlackwellOnly;
}

static OperationNeeds getStoreModeNeeds(NVVM::TMAStoreMode mode) {
  return mode == NVVM::TMAStoreMode::TILE_SCATTER4 ? kBlackwellOnly : kHopper;
}

static OperationNeeds
getNeedsOfLoad(NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp op) {
  if (op.getGroup())
    return kBlackwellOnly;
  if (!op.getIsCTAOnly())
    return getLoadModeNeeds(op.getMode());
  OperationNeeds needs = getLoadModeNeeds(op.getMode());
  if (op.getMode() == NVVM::TMALoadMode::TILE_GATHER4 ||
      op.getMode() == NVVM::TMALoadMode::IM2COL_W)
    return kBlackwell;
  return since(86, needs);
}

static bool isSaturating(NVVM::SaturationMode mode) {
  return mode == NVVM::SaturationMode::SATFINITE;
}

static OperationNeeds getNeedsOfTF32(NVVM::ConvertFloatToTF32Op op) {
  bool isOld = op.getRnd() == NVVM::FPRoundingMode::RNA;
  if (isSaturating(op.getSat()))
    return isOld ? since(81, kAmpere) : kBlackwell;
  return isOld ? kAmpere : kCluster;
}

/// The needs of conversions of two f32 to two f16 or bf16.
template <typename OpTy>
static OperationNeeds getNeedsOfHalves(OpTy op) {
  if (op.getRnd() == NVVM::FPRoundingMode::RS)
    return kBlackwellOnly;
  return isSaturating(op.getSat()) ? since(81, kAmpere) : kAmpere;
}

static OperationNeeds getMatrixNeeds(NVVM::LdStMatrixEltType element,
                                     OperationNeeds needs) {
  return element == NVVM::LdStMatrixEltType::B16 ? needs : kBlackwellOnly;
}

/// The needs of operations of warps and blocks; none if `op` is another one.
static std::optional<OperationNeeds> findOfThreads(Operation *op) {
  using Needs = std::optional<OperationNeeds>;
  return llvm::TypeSwitch<Operation *, Needs>(op)
      .Case([](NVVM::BarrierOp barrier) {
        // The result is that of a reduction.
        bool isKnown = !barrier.getRes() || barrier.getReductionOp();
        return isKnown ? kEach : OperationNeeds::makeUnknown();
      })
      .Case([](NVVM::ReduxOp redux) {
        return redux.getType().isInteger() ? kAmpere : kBlackwellOnly;
      })
      .Case([](NVVM::MembarOp fence) {
        bool isOfCluster = fence.getScope() == NVVM::MemScopeKind::CLUSTER;
        return isOfCluster ? kCluster : kEach;
      })
      .Case([](NVVM::FenceProxyOp fence) {
        return fence.getKind() == NVVM::ProxyKind::alias
                   ? OperationNeeds{70, false, 75}
                   : kHopper;
      })
      .Case([](NVVM::MBarrierArriveOp arrive) {
        return getOldBarrierNeeds(arrive, /*isOld=*/!arrive.getCount());
      })
      .Case([](NVVM::MBarrierTestWaitOp test) {
        bool isPhase = test.getStateOrPhase().getType().isInteger(32);
        OperationNeeds needs = getOldBarrierNeeds(test, /*isOld=*/true);
        return isPhase ? since(std::max(needs.ptxVersion, 71u), needs) : needs;
      })
      .Case<NVVM::MBarrierArriveExpectTxOp, NVVM::MBarrierArriveDropOp,
            NVVM::MBarrierArriveDropExpectTxOp>(
          [](auto barrier) { return getBarrierNeeds(barrier); })
      .Case([](NVVM::MBarrierTryWaitOp wait) {
        return wait.getRelaxed() ? since(86, kCluster) : kCluster;
      })
      .Case([](NVVM::ClusterLaunchControlTryCancelOp cancel) {
        return cancel.getMulticast() ? kBlackwellOnly : kBlackwell;
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// The needs of copies and conversions; none if `op` is another one.
static std::optional<OperationNeeds> findOfData(Operation *op) {
  using Needs = std::optional<OperationNeeds>;
  return llvm::TypeSwitch<Operation *, Needs>(op)
      .Case([](NVVM::CpAsyncBulkSharedCTAToGlobalOp copy) {
        return copy.getByteMask() ? kBlackwell : kHopper;
      })
      .Case([](NVVM::CpAsyncBulkGlobalToSharedClusterOp copy) {
        return isInBlock(copy.getDstMem()) ? since(86, kHopper) : kHopper;
      })
      .Case([](NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp copy) {
        return getNeedsOfLoad(copy);
      })
      .Case([](NVVM::CpAsyncBulkTensorPrefetchOp prefetch) {
        return getLoadModeNeeds(prefetch.getMode());
      })
      .Case<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp,
            NVVM::CpAsyncBulkTensorReduceOp>(
          [](auto copy) { return getStoreModeNeeds(copy.getMode()); })
      .Case([](NVVM::LdMatrixOp load) {
        return getMatrixNeeds(load.getEltType(), kLdMatrix);
      })
      .Case([](NVVM::StMatrixOp store) {
        return getMatrixNeeds(store.getEltType(), kCluster);
      })
      .Case([](NVVM::ConvertFloatToTF32Op cvt) { return getNeedsOfTF32(cvt); })
      .Case<NVVM::ConvertF32x2ToF16x2Op, NVVM::ConvertF32x2ToBF16x2Op>(
          [](auto convert) { return getNeedsOfHalves(convert); })
      .Case([](NVVM::ConvertF32x2ToF8x2Op convert) {
        return isa<Float8E8M0FNUType>(convert.getDstTy()) ? kBlackwellOnly
                                                          : kF8;
      })
      .Default([](Operation *) { return std::nullopt; });
}

OperationNeeds getNeeds(Operation *op) {
  bool isOwn = op->getName().getDialectNamespace() == "workgroup";
  if (!isa<gpu::GPUDialect, nvgpu::NVGPUDialect, NVVM::NVVMDialect>(
          op->getDialect()) &&
      !isOwn && !isa<LLVM::CallIntrinsicOp>(op))
    return kEach;
  for (auto find : {findNeedsOfProduct, findOfThreads, findOfData})
    if (std::optional<OperationNeeds> needs = find(op))
      return *needs;
  return findByName(op->getName().getStringRef());
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

unsigned getNeededPTXVersion(Operation *root, const Chip &chip) {
  unsigned version = 0;
  root->walk([&](Operation *op) {
    OperationNeeds needs = getNeeds(op);
    if (needs.isMetBy(chip))
      version = std::max(version, needs.getPTXVersion(chip));
  });
  return version;
}

/// The version of PTX, times ten, that `target` asks for, or that LLVM chooses
/// for `chip` if it names none.
static unsigned getPTXVersion(NVVM::NVVMTargetAttr target, const Chip &chip) {
  constexpr unsigned kOfHopper = 78;
  unsigned version = chip.name == "sm_90" ? kOfHopper : chip.ptxVersion;
  for (StringRef feature : llvm::split(target.getFeatures(), ','))
    if (feature.consume_front("+ptx"))
      feature.consumeInteger(10, version);
  return version;
}

/// 8.3 for 83.
static std::string printVersion(unsigned version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

static void reportChip(Operation *op, const OperationNeeds &needs,
                       const Chip &chip) {
  if (needs.isUnknown) {
    op->emitOpError("has no instruction that LLVM knows, with these types and "
                    "attributes, on any chip");
    return;
  }
  InFlightDiagnostic error =
      op->emitOpError("with these types and attributes is not in ")
      << chip.name;
  SmallVector<StringRef> others;
  for (const Chip &other : getChips())
    if (needs.isMetBy(other))
      others.push_back(other.name);
  if (!others.empty())
    error << ", but in " << llvm::join(others, ", ")
          << "; compile for one of these, or write it by other operations";
  else
    error << ", nor in another chip that is compiled for: it is of sm_"
          << needs.architecture << "a; write it by other operations";
}

/// Fails after an error if `chip` lacks `op`, or its PTX does.
static LogicalResult verify(Operation *op, const Chip &chip,
                            unsigned ptxVersion) {
  OperationNeeds needs = getNeeds(op);
  if (!needs.isMetBy(chip)) {
    reportChip(op, needs, chip);
    return failure();
  }
  unsigned needed = needs.getPTXVersion(chip);
  if (needed <= ptxVersion)
    return success();
  return op->emitOpError("needs version ")
         << printVersion(needed)
         << " of PTX, but the target of its module asks for "
         << printVersion(ptxVersion) << "; name +ptx" << needed
         << " in the target's features, or leave the target out";
}

LogicalResult verifyOperations(gpu::GPUModuleOp module) {
  NVVM::NVVMTargetAttr target = getTarget(module);
  const Chip *chip = target ? findChip(target.getChip()) : nullptr;
  if (!chip) // others report that
    return success();
  unsigned ptxVersion = getPTXVersion(target, *chip);
  bool hasFailed = false;
  module.walk([&](Operation *op) {
    hasFailed |= failed(verify(op, *chip, ptxVersion));
  });
  return failure(hasFailed);
}

} // namespace mlir::workgroup
