//===- Remarks.cpp - Optimisation remarks of this project -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remarks.h"

namespace mlir::workgroup {

static StringRef getCategory(RemarkSource source) {
  switch (source) {
  case RemarkSource::DistributeLoops:
    return "workgroup-distribute-loops";
  case RemarkSource::EliminateBarriers:
    return "workgroup-eliminate-barriers";
  case RemarkSource::InsertBarriers:
    return "workgroup-insert-barriers";
  case RemarkSource::FormKernels:
    return "workgroup-form-kernels";
  case RemarkSource::FormLaunches:
    return "workgroup-form-launches";
  case RemarkSource::FormRings:
    return "workgroup-form-rings";
  case RemarkSource::LowerRings:
    return "workgroup-lower-rings";
  case RemarkSource::SinkAllocs:
    return "workgroup-sink-allocs";
  case RemarkSource::HoistAllocs:
    return "workgroup-hoist-allocs";
  case RemarkSource::HoistCopies:
    return "workgroup-hoist-copies";
  case RemarkSource::LowerContractions:
    return "workgroup-lower-contractions";
  case RemarkSource::LowerCopies:
    return "workgroup-lower-copies";
  case RemarkSource::LowerDynamicMemory:
    return "workgroup-lower-dynamic-memory";
  case RemarkSource::MapToThreads:
    return "workgroup-map-to-threads";
  case RemarkSource::MergeKernels:
    return "workgroup-merge-kernels";
  case RemarkSource::NormalizeLinalg:
    return "workgroup-normalize-linalg";
  case RemarkSource::PackMemory:
    return "workgroup-pack-memory";
  case RemarkSource::PlaceBuffers:
    return "workgroup-place-buffers";
  case RemarkSource::ResolveBankConflicts:
    return "workgroup-resolve-bank-conflicts";
  case RemarkSource::StageOperands:
    return "workgroup-stage-operands";
  case RemarkSource::TileKernel:
    return "workgroup-tile-kernel";
  case RemarkSource::VerifyKernels:
    return "workgroup-verify-kernels";
  case RemarkSource::VerifySync:
    return "workgroup-verify-sync";
  }
  llvm_unreachable("unknown remark source");
}

remark::RemarkOpts remarkOptions(RemarkSource source, StringRef name,
                                 Operation *op) {
  return remark::RemarkOpts::name(name)
      .category(getCategory(source))
      .function(getScopeName(getExecutionScope(op)));
}

} // namespace mlir::workgroup
