//===- Passes.td - Passes of mlir-workgroup ----------------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every pass works before outlining (`gpu.launch`) and after (`gpu.func`), may
// run on any operation that holds kernels, touches nothing outside of it, and
// changes nothing when it runs a second time.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_PASSES
#define WORKGROUP_PASSES

include "workgroup/Transforms/Banks.td"
include "workgroup/Transforms/Contractions.td"
include "workgroup/Transforms/Copies.td"
include "workgroup/Transforms/Device.td"
include "workgroup/Transforms/Import.td"
include "workgroup/Transforms/Kernels.td"
include "workgroup/Transforms/Launch.td"
include "workgroup/Transforms/Linalg.td"
include "workgroup/Transforms/Loops.td"
include "workgroup/Transforms/Memory.td"
include "workgroup/Transforms/NVVM.td"
include "workgroup/Transforms/Rings.td"
include "workgroup/Transforms/Sync.td"
include "workgroup/Transforms/Threads.td"
include "workgroup/Transforms/Verify.td"

#endif // WORKGROUP_PASSES
