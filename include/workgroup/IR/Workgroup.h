//===- Workgroup.h - The dialect `workgroup` --------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect has rings: buffers in workgroup memory that the iterations of a
// loop use in turn, so that copies run ahead of their readers. `put` and
// `commit` fill a slot, `get` and `release` read one. An attribute is the
// layout of tiles as tensor copies and matrix instructions of the hardware have
// it. Workgroup.td defines all of them; this header includes what is generated.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_IR_WORKGROUP_H
#define WORKGROUP_IR_WORKGROUP_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "workgroup/IR/WorkgroupDialect.h.inc"

namespace mlir::workgroup {
/// The most blocks that rings may ask for to go through all tiles.
constexpr int64_t kMaxPersistentBlocks = 65535;
} // namespace mlir::workgroup

#define GET_ATTRDEF_CLASSES
#include "workgroup/IR/WorkgroupAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "workgroup/IR/WorkgroupTypes.h.inc"

#define GET_OP_CLASSES
#include "workgroup/IR/Workgroup.h.inc"

#endif // WORKGROUP_IR_WORKGROUP_H
