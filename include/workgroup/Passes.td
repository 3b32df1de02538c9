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

include "workgroup/CopyPasses.td"
include "workgroup/KernelPasses.td"
include "workgroup/LinalgPasses.td"
include "workgroup/LoopPasses.td"
include "workgroup/MemoryPasses.td"
include "workgroup/SyncPasses.td"
include "workgroup/TilePasses.td"

#endif // WORKGROUP_PASSES
