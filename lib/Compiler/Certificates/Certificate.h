//===- Certificate.h - Why compiled kernels do not race ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A certificate says of the LLVM IR of kernels why their threads do not race on
// workgroup memory, so that a program that knows nothing of this compiler can
// check it on the text: docs/certificates.md.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_CERTIFICATES_CERTIFICATE_H
#define WORKGROUP_LIB_COMPILER_CERTIFICATES_CERTIFICATE_H

#include "workgroup/Compiler/Records.h"
#include "llvm/IR/Module.h"

namespace mlir::workgroup {

/// The certificate of the kernels of `module`, whose text is `text`, as a
/// document. `verdicts` are what was proved of the kernels before they were
/// lowered; `kernels` say what their tensor maps are.
std::string writeCertificate(const llvm::Module &module, llvm::StringRef text,
                             llvm::StringRef chip,
                             const std::vector<SyncRecord> &verdicts,
                             const std::vector<KernelRecord> &kernels);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_CERTIFICATES_CERTIFICATE_H
