//===- Verify.h - What is refused before lowering ---------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last check before kernels are lowered: what upstream's conversion, LLVM
// or ptxas would compile to something else than the program says, or crash on,
// is refused at the operation with a remedy. Nothing is changed.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_VERIFY_H
#define WORKGROUP_TRANSFORMS_VERIFY_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Target/LaunchLimits.h"
#include <string>
#include <vector>

namespace mlir::workgroup {

struct VerifyKernelsOptions {
  /// Reject barriers in divergent control flow.
  bool verifyBarriers = true;
  /// Largest number of bytes of static workgroup memory of a kernel.
  int64_t maxStaticBytes = kMaxStaticWorkgroupBytes;
  /// Largest number of bytes of workgroup memory of a kernel, static and
  /// dynamic; 0 means that of the chip.
  int64_t maxBytes = 0;
  /// Alignment in bytes that a later pass will give every static buffer.
  int64_t assumeBufferAlignment = 1;
  /// Different arguments of a kernel are different memory.
  bool assumeDistinctArguments = false;
};

/// A kernel that takes more workgroup memory than it can have; in bytes.
struct MemoryShortage {
  std::string kernel;
  int64_t requiredBytes = 0, limitBytes = 0;
};

/// Rejects what the lowering to NVVM would miscompile. See pass
/// `workgroup-verify-kernels`. Appends what kernels lack to `shortages` if
/// given.
LogicalResult verifyKernels(ModuleOp module,
                            const VerifyKernelsOptions &options = {},
                            std::vector<MemoryShortage> *shortages = nullptr);

/// The pass `workgroup-verify-kernels`, which reports what kernels lack to
/// `shortages`; it must outlive the run.
std::unique_ptr<Pass>
createVerifyKernelsPass(const VerifyKernelsOptions &options,
                        std::vector<MemoryShortage> *shortages);

#define GEN_PASS_DECL
#include "workgroup/Transforms/Verify.h.inc"

} // namespace mlir::workgroup

#endif // WORKGROUP_TRANSFORMS_VERIFY_H
