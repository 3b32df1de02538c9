//===- Transforms.h - The functions behind the passes -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a pass does, as a function that another project can call. Each touches
// nothing outside of the operation it is given. On failure it has emitted
// diagnostics, and the IR may only be discarded.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_H
#define WORKGROUP_TRANSFORMS_H

#include "workgroup/Transforms/Banks.h"
#include "workgroup/Transforms/Contractions.h"
#include "workgroup/Transforms/Copies.h"
#include "workgroup/Transforms/Device.h"
#include "workgroup/Transforms/Import.h"
#include "workgroup/Transforms/Kernels.h"
#include "workgroup/Transforms/Launch.h"
#include "workgroup/Transforms/Linalg.h"
#include "workgroup/Transforms/Loops.h"
#include "workgroup/Transforms/Memory.h"
#include "workgroup/Transforms/NVVM.h"
#include "workgroup/Transforms/Rings.h"
#include "workgroup/Transforms/Sync.h"
#include "workgroup/Transforms/Threads.h"
#include "workgroup/Transforms/Verify.h"

#endif // WORKGROUP_TRANSFORMS_H
